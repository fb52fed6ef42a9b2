// SPDX-License-Identifier: Apache-2.0
//
// broken_stream: violates a stream rule on request, to test the assertions of mae_assert.svh.

`include "mae_assert.svh"

module broken_stream #(
    parameter int unsigned Fault = 0
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       ready_i,
    output logic       valid_o,
    output logic [7:0] data_o
);
  `MAE_PARAM(FaultLegal, Fault <= 3)

  logic [3:0] clock_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) clock_q <= '0;
    else if (!valid_o || ready_i || clock_q[1:0] != 2'd3) clock_q <= clock_q + 1'b1;
  end

  // Valid in clocks 1 to 3 of each four, and then until taken.
  assign valid_o = clock_q[1:0] != '0 && !(Fault == 1 && clock_q == 4'd6);
  assign data_o  = (Fault == 2 && clock_q == 4'd7) ? 8'hff : {6'd0, clock_q[3:2]};

  `MAE_STREAM_HOLDS(StreamHolds, valid_o, ready_i && clock_q[1:0] == 2'd3, data_o)
  `MAE_ASSERT(ClockSmall, !(Fault == 3 && clock_q == 4'd5))

endmodule
