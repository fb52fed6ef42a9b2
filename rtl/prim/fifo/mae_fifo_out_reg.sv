// SPDX-License-Identifier: Apache-2.0
//
// mae_fifo_out_reg: buffers words in first-in first-out order, with an optional register at the
// output (Cut = 1). The register is behind the output multiplexer of a mae_fifo and shortens the
// path at out_data_o.
//
// Ready and valid depend on registers only. The capacity is Depth words, with Cut = 1 two more.
// Latency: 1 + Cut clocks.
// Throughput: one word a clock; with Depth = 1 one word in two clocks.
// Reset and clear: reset and clear_i empty the FIFO and the register; see mae_fifo for Zero.
// Parameters: see mae_fifo. Legal: Width >= 1, Depth >= 1, Cut and Zero 0 or 1.

module mae_fifo_out_reg #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 2,
    parameter bit          Cut   = 1'b0,
    parameter bit          Zero  = 1'b1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [Width-1:0] in_data_i,

    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_data_o
);

  logic valid, ready;
  logic [Width-1:0] data;
  logic [$clog2(Depth+1)-1:0] unused_count;
  mae_fifo #(
      .Width(Width),
      .Depth(Depth),
      .Zero (Zero)
  ) u_fifo (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i,
      .in_ready_o,
      .in_data_i,
      .out_valid_o(valid),
      .out_ready_i(ready),
      .out_data_o (data),
      .count_o    (unused_count)
  );
  mae_stream_reg_opt #(
      .Width(Width),
      .Cut  (Cut)
  ) u_cut (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i(valid),
      .in_ready_o(ready),
      .in_data_i (data),
      .out_valid_o,
      .out_ready_i,
      .out_data_o
  );

endmodule
