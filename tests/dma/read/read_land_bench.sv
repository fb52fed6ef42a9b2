// SPDX-License-Identifier: Apache-2.0
//
// Wraps mae_dma_read_reorder in a small size with flat ports, for its test.

module read_land_bench (
    input logic clk_i,
    input logic rst_ni,

    input  logic       burst_valid_i,
    input  logic [2:0] burst_id_i,
    input  logic [1:0] burst_ctx_i,
    input  logic [5:0] burst_pages_i,
    input  logic [2:0] burst_row_i,
    input  logic [3:0] burst_offset_i,
    input  logic [3:0] burst_first_i,
    input  logic [3:0] burst_last_i,
    input  logic [5:0] burst_stop_row_i,
    output logic       id_busy_o,

    input logic         r_valid_i,
    input logic [  3:0] r_id_i,
    input logic [127:0] r_data_i,
    input logic [  1:0] r_resp_i,
    input logic         r_last_i,

    output logic         wr_valid_o,
    output logic [  1:0] wr_ctx_o,
    output logic [  5:0] wr_pages_o,
    output logic [  2:0] wr_row_o,
    output logic [  3:0] wr_offset_o,
    output logic [ 15:0] wr_strobe_o,
    output logic [127:0] wr_data_o,
    output logic [  1:0] wr_resp_o,

    output logic [2:0] open_o,
    output logic [2:0] commit_o,
    input  logic [1:0] row_ctx_i,
    output logic [5:0] row_o
);
  typedef struct packed {
    logic [1:0] ctx;
    logic [1:0][2:0] pages;
    logic [2:0] row;
    logic [3:0] offset;
    logic [3:0] first;
    logic [3:0] last;
  } burst_t;

  mae_dma_read_reorder #(
      .DataWidth (128),
      .Contexts  (3),
      .IdWidth   (4),
      .PageRows  (4),
      .PageWidth (3),
      .RowWidth  (6),
      .BurstBeats(4),
      .NumIds    (8),
      .burst_t   (burst_t)
  ) u_land (
      .burst_i({
        burst_ctx_i, burst_pages_i, burst_row_i, burst_offset_i, burst_first_i, burst_last_i
      }),
      .*
  );

endmodule
