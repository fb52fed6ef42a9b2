// SPDX-License-Identifier: Apache-2.0
//
// mae_idle_clock: stops the clock of a pipeline while nothing is in it.
//
// Latency: none. A rising edge of clk_i passes if active_i is high, and the Clocks edges after it.
// Throughput: not applicable.
// Reset: Clocks edges pass after it, so that a pipeline without resets is emptied.
// Parameters: Clocks is at least the latency of the pipeline. Legal: Clocks >= 1.

`include "mae_assert.svh"

module mae_idle_clock #(
    parameter int unsigned Clocks = 1
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic active_i,  // something enters the pipeline, or changes all of it
    output logic clk_o
);
  `MAE_PARAM(ClocksLegal, Clocks >= 1)

  typedef logic [$clog2(Clocks+1)-1:0] count_t;
  count_t left_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) left_q <= count_t'(Clocks);
    else if (active_i) left_q <= count_t'(Clocks);
    else if (left_q != '0) left_q <= left_q - 1'b1;
  end

  mae_clock_gate u_gate (
      .clk_i,
      .enable_i(active_i || left_q != '0),
      .clk_o
  );

endmodule
