// SPDX-License-Identifier: Apache-2.0
//
// mae_stream_reg: registers a stream in both directions (a skid buffer), so that no combinational
// path runs through it.
//
// Valid, data and ready come from registers only. A second register takes the word that arrives in
// the clock in which ready falls.
// Latency: 1 clock.
// Throughput: one word a clock.
// Reset and clear: reset and clear_i drop both words and set them to zero. With Zero = 1, each
// register is also set to zero when its word has left it: use it for secrets.
// Parameters: Width is the word width in bits. Legal: Width >= 1, Zero 0 or 1.

`include "mae_assert.svh"

module mae_stream_reg #(
    parameter int unsigned Width = 8,
    parameter bit          Zero  = 1'b0
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
  `MAE_PARAM(WidthLegal, Width >= 1)

  logic             out_valid_q;
  logic [Width-1:0] out_data_q;
  logic             skid_valid_q;
  logic [Width-1:0] skid_data_q;

  assign in_ready_o  = !skid_valid_q;
  assign out_valid_o = out_valid_q;
  assign out_data_o  = out_data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_q  <= 1'b0;
      out_data_q   <= '0;
      skid_valid_q <= 1'b0;
      skid_data_q  <= '0;
    end else if (clear_i) begin
      out_valid_q  <= 1'b0;
      out_data_q   <= '0;
      skid_valid_q <= 1'b0;
      skid_data_q  <= '0;
    end else if (!out_valid_q || out_ready_i) begin
      // The word in the skid register leaves before the input.
      out_valid_q <= skid_valid_q || in_valid_i;
      if (skid_valid_q) out_data_q <= skid_data_q;
      else if (in_valid_i) out_data_q <= in_data_i;
      else if (Zero) out_data_q <= '0;
      skid_valid_q <= 1'b0;
      if (Zero) skid_data_q <= '0;
    end else if (in_valid_i && in_ready_o) begin
      skid_valid_q <= 1'b1;
      skid_data_q  <= in_data_i;
    end
  end

  `MAE_ASSERT(SkidBehindOut, !skid_valid_q || out_valid_q)
  `MAE_STREAM_HOLDS(OutHolds, out_valid_o, out_ready_i || clear_i, out_data_o)

endmodule
