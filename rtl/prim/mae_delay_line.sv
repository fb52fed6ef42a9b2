// SPDX-License-Identifier: Apache-2.0
//
// mae_delay_line: delays words by a fixed number of clocks, in a memory.
//
// Latency: Clocks from input to output, whose data come from the memory without a register.
// Throughput: one word a clock.
// Reset and clear: reset drops all words. After clear_i the words inside still come, in their
// clocks, as zeros; both erase the memory within Clocks clocks.
// Parameters: Width is the word width in bits. Legal: Width >= 1, Clocks >= 1.

`include "mae_assert.svh"

module mae_delay_line #(
    parameter int unsigned Width  = 8,
    parameter int unsigned Clocks = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic             valid_i,
    input  logic [Width-1:0] data_i,
    output logic             valid_o,
    output logic [Width-1:0] data_o
);
  `MAE_PARAM(WidthLegal, Width >= 1)
  `MAE_PARAM(ClocksLegal, Clocks >= 1)

  localparam int unsigned PlaceBits = (Clocks > 1) ? $clog2(Clocks) : 1;
  localparam int unsigned CountBits = $clog2(Clocks + 1);

  logic [Width-1:0] words_q[Clocks];
  logic [Clocks-1:0] valid_q;
  logic [PlaceBits-1:0] place_q;  // of the oldest word
  logic [CountBits-1:0] old_q;  // words still to be erased
  logic erasing;

  assign erasing = old_q != '0;
  assign valid_o = valid_q[Clocks-1];
  assign data_o  = erasing ? '0 : words_q[place_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      place_q <= '0;
      old_q   <= CountBits'(Clocks);
    end else begin
      valid_q <= Clocks'({valid_q, valid_i});
      place_q <= (place_q == PlaceBits'(Clocks - 1)) ? '0 : place_q + 1'b1;
      if (clear_i) old_q <= CountBits'(Clocks);
      else if (erasing) old_q <= old_q - 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i || erasing || clear_i) begin
      words_q[place_q] <= (valid_i && !clear_i) ? data_i : '0;
    end
  end

endmodule
