// SPDX-License-Identifier: Apache-2.0
//
// mae_axis_checker: watches one AXI4-Stream port and asserts the rules of the side that owns it;
// drives nothing. Latency: none, a violation is reported at the clock edge at which it is seen.
//
// Receiver: 1 if the port is a receiver's (it has no rules to keep: TREADY is free, §2.2.1).
// AssumeOther: in proofs, the rules of the other side are assumed. flush_i: a clear or an abort,
// with which a transmitter may drop what it offers; tie it to 0 where there is none.
// Width: of all that goes with TVALID: TDATA, TKEEP, TLAST, TUSER.
// Source: ARM IHI 0051: §2.2.1 (handshake), §2.7.2 (reset).

`include "mae_bus_rule.svh"

module mae_axis_checker #(
    parameter bit Receiver = 1'b0,
    parameter bit AssumeOther = 1'b0,
    parameter int unsigned Width = 8
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             flush_i,
    input logic             tvalid,
    input logic             tready,
    input logic [Width-1:0] payload
);
  localparam bit Transmitter = !Receiver;

  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end

  // §2.2.1: what is offered stays until it is taken.
  `MAE_RULE_HOLDS(AxisHolds, Transmitter, tvalid, tready || flush_i, payload)
  // §2.7.2: TVALID is low until the first edge at which reset is high.
  `MAE_RULE(AxisReset, Transmitter, out_of_reset_q || !tvalid)

endmodule
