// SPDX-License-Identifier: Apache-2.0
//
// Defines assertion macros for bus rules, each of which binds one side of the bus. Own: 1 if the port belongs
// to that side, which then has to keep the rule (assert); else the other side's, which a proof
// takes for granted (assume) and a simulation does not look at: a host may be hostile.
// MAE_RULE(name, own, property): on every rising clk_i outside reset.
// MAE_RULE_HOLDS(name, own, valid, ready, payload): valid and payload hold until taken.
`ifndef MAE_BUS_RULE_SVH
`define MAE_BUS_RULE_SVH

`define MAE_RULE(name, own, prop) \
  if (own) begin : gen_``name \
    always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) begin end else name: assert (prop) \
      else $error("%m: %s", `"name`"); \
  end else if (AssumeOther) begin : gen_``name \
    always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) begin end else name: assume (prop); \
  end

`define MAE_RULE_HOLDS(name, own, valid, ready, payload) \
  if (own || AssumeOther) begin : gen_hold_``name \
    logic wait_q; logic [$bits(payload)-1:0] last_q; \
    always_ff @(posedge clk_i or negedge rst_ni) begin \
      if (!rst_ni) begin wait_q <= 1'b0; last_q <= '0; end \
      else begin wait_q <= (valid) && !(ready); last_q <= payload; end \
    end \
    `MAE_RULE(name, own, !wait_q || ((valid) && last_q == (payload))) \
  end

`endif
