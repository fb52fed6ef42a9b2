// SPDX-License-Identifier: Apache-2.0
//
// Wraps mae_dma_read_row_arbiter in a small size with flat ports, for its test.

module read_rows_bench
  import mae_dma_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input  logic       final_valid_i,
    input  logic [1:0] final_ctx_i,
    input  logic [5:0] final_row_i,
    input  logic [4:0] final_bytes_i,
    input  logic       final_aborted_i,
    input  logic       final_zero_i,
    input  logic [1:0] look_ctx_i,
    output logic       look_ended_o,

    input  logic [2:0]      wake_i,
    input  logic [2:0]      room_i,
    output logic [2:0]      waits_o,
    output logic [1:0]      pick_ctx_o,
    input  logic [2:0][5:0] commit_row_i,

    output logic         rd_enable_o,
    output logic [  1:0] rd_row_o,
    output logic         rd_empties_o,
    input  logic [127:0] rd_data_i,

    output logic             row_valid_o,
    input  logic             row_ready_i,
    output dma_ctx_t         row_ctx_o,
    output logic     [127:0] row_data_o,
    output logic     [  4:0] row_bytes_o,
    output logic             row_last_o,

    output logic       finish_valid_o,
    output logic [1:0] finish_ctx_o
);
  typedef struct packed {
    logic [1:0] ctx;
    logic [5:0] row;
    logic [4:0] bytes;
    logic       aborted;
    logic       zero;
  } final_t;

  mae_dma_read_row_arbiter #(
      .DataWidth(128),
      .Contexts (3),
      .PageRows (4),
      .RowWidth (6),
      .final_t  (final_t)
  ) u_rows (
      .final_i({final_ctx_i, final_row_i, final_bytes_i, final_aborted_i, final_zero_i}),
      .commit_row_i(commit_row_i[pick_ctx_o]),
      .*
  );

endmodule
