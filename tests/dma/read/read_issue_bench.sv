// SPDX-License-Identifier: Apache-2.0
//
// Wraps mae_dma_read_burst_issue in a small size with flat ports, for its test.

module read_issue_bench
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

    output logic        ar_valid_o,
    input  logic        ar_ready_i,
    input  logic        r_valid_i,
    output logic  [2:0] ar_id_o,
    output addr_t       ar_addr_o,
    output logic  [7:0] ar_len_o,

    output logic       burst_valid_o,
    output logic [1:0] burst_id_o,
    output logic [1:0] burst_ctx_o,
    output logic [5:0] burst_pages_o,
    output logic [2:0] burst_row_o,
    output logic [3:0] burst_offset_o,
    output logic [3:0] burst_first_o,
    output logic [3:0] burst_last_o,
    output logic [5:0] burst_stop_row_o,
    output logic       final_valid_o,
    output logic [1:0] final_ctx_o,
    output logic [5:0] final_row_o,
    output logic [4:0] final_bytes_o,
    output logic       final_aborted_o,
    output logic       final_zero_o,

    output logic take_o,

    input logic [3:0]      id_busy_i,
    input logic [2:0]      open_i,
    input logic [2:0]      ended_i,
    input logic [2:0]      rooms_i,
    input logic [2:0]      page_i,
    input logic [2:0][2:0] tail_i,
    input logic [2:0]      wake_i
);
  typedef struct packed {
    logic [1:0]      ctx;
    logic [1:0][2:0] pages;
    logic [2:0]      row;
    logic [3:0]      offset;
    logic [3:0]      first;
    logic [3:0]      last;
  } burst_t;

  typedef struct packed {
    logic [1:0] ctx;
    logic [5:0] row;
    logic [4:0] bytes;
    logic       aborted;
    logic       zero;
  } final_t;

  burst_t       burst;
  final_t       final_row;
  logic   [1:0] look_ctx;

  assign {burst_ctx_o, burst_pages_o, burst_row_o, burst_offset_o, burst_first_o, burst_last_o} =
      burst;
  assign {final_ctx_o, final_row_o, final_bytes_o, final_aborted_o, final_zero_o} = final_row;

  mae_dma_read_burst_issue #(
      .DataWidth (128),
      .Contexts  (3),
      .IdWidth   (3),
      .Pages     (8),
      .PageRows  (4),
      .BurstBeats(4),
      .Window    (9),
      .NumIds    (4),
      .burst_t   (burst_t),
      .final_t   (final_t)
  ) u_issue (
      .burst_o   (burst),
      .id_busy_i (id_busy_i[burst_id_o]),
      .final_o   (final_row),
      .look_ctx_o(look_ctx),
      .open_i    (open_i[look_ctx]),
      .ended_i   (ended_i[look_ctx]),
      .room_i    (rooms_i[look_ctx]),
      .tail_i    (tail_i[look_ctx]),
      .*
  );

endmodule
