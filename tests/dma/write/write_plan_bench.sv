// SPDX-License-Identifier: Apache-2.0
//
// Wraps mae_dma_write_burst_plan in a small size with flat ports, for its test.

module write_plan_bench
  import mae_dma_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    output logic     [ 2:0] seg_ready_o,
    input  logic            seg_valid_i,
    input  logic            seg_abort_i,
    input  dma_ctx_t        seg_ctx_i,
    input  addr_t           seg_addr_i,
    input  logic     [31:0] seg_bytes_i,
    input  logic            seg_last_i,

    output logic [1:0]      look_ctx_o,
    input  logic [2:0][5:0] look_row_i,
    input  logic [2:0]      look_ended_i,
    input  logic [2:0][4:0] look_bytes_i,
    input  logic [2:0]      wake_i,

    input  logic         ready_i,
    output logic         aw_valid_o,
    output addr_t        aw_addr_o,
    output logic         burst_valid_o,
    output logic  [ 1:0] burst_ctx_o,
    output logic         burst_drop_o,
    output logic  [ 2:0] burst_row_o,
    output logic  [ 3:0] burst_offset_o,
    output logic  [ 7:0] burst_len_o,
    output logic  [ 3:0] burst_first_o,
    output logic  [ 3:0] burst_last_o,
    output logic  [ 3:0] burst_pages_o,
    output logic  [31:0] burst_bytes_o,

    input logic       b_valid_i,
    input logic [1:0] b_ctx_i,

    output logic finish_valid_o
);
  typedef struct packed {
    logic [1:0] ctx;
    logic       drop;
    logic [2:0] row;
    logic [3:0] offset;
    logic [7:0] len;
    logic [3:0] first;
    logic [3:0] last;
    logic [3:0] pages;
  } burst_t;

  burst_t burst;

  assign burst_ctx_o    = burst.ctx;
  assign burst_drop_o   = burst.drop;
  assign burst_row_o    = burst.row;
  assign burst_offset_o = burst.offset;
  assign burst_len_o    = burst.len;
  assign burst_first_o  = burst.first;
  assign burst_last_o   = burst.last;
  assign burst_pages_o  = burst.pages;

  mae_dma_write_burst_plan #(
      .DataWidth (128),
      .Contexts  (3),
      .PageRows  (4),
      .RowWidth  (6),
      .BurstBeats(4),
      .NumIds    (8),
      .burst_t   (burst_t)
  ) u_plan (
      .look_row_i  (look_row_i[look_ctx_o]),
      .look_ended_i(look_ended_i[look_ctx_o]),
      .look_bytes_i(look_bytes_i[look_ctx_o]),
      .burst_o     (burst),
      .*
  );

endmodule
