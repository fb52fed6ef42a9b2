// SPDX-License-Identifier: Apache-2.0
//
// Wraps mae_dma_write_burst_send in a small size with flat ports, for its test.

module write_send_bench (
    input logic clk_i,
    input logic rst_ni,

    input  logic       burst_valid_i,
    output logic       burst_ready_o,
    input  logic [1:0] burst_ctx_i,
    input  logic       burst_drop_i,
    input  logic [2:0] burst_row_i,
    input  logic [3:0] burst_offset_i,
    input  logic [7:0] burst_len_i,
    input  logic [3:0] burst_first_i,
    input  logic [3:0] burst_last_i,
    input  logic [3:0] burst_pages_i,

    output logic         rd_enable_o,
    output logic [  1:0] rd_ctx_o,
    output logic [  2:0] rd_row_o,
    output logic [  3:0] rd_offset_o,
    input  logic [127:0] rd_data_i,

    output logic         w_valid_o,
    input  logic         w_ready_i,
    output logic [127:0] w_data_o,
    output logic [ 15:0] w_strb_o,
    output logic         w_last_o,

    output logic free_valid_o
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

  mae_dma_write_burst_send #(
      .DataWidth (128),
      .PageRows  (4),
      .CountWidth(4),
      .CtxWidth  (2),
      .burst_t   (burst_t)
  ) u_send (
      .burst_i({
        burst_ctx_i,
        burst_drop_i,
        burst_row_i,
        burst_offset_i,
        burst_len_i,
        burst_first_i,
        burst_last_i,
        burst_pages_i
      }),
      .*
  );

endmodule
