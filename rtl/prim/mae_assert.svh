// SPDX-License-Identifier: Apache-2.0
//
// Assertions that are live in simulation and formal and vanish in synthesis.
// MAE_ASSERT(name, property): holds on every rising clk_i outside reset.
// MAE_STREAM_HOLDS(name, valid, ready, payload): once valid, valid and payload hold until taken.
//   A module with clear_i passes `ready || clear_i`, so that a stream may end there.
// MAE_ASSERT_AT, MAE_STREAM_HOLDS_AT: the same with a clock and a reset of that name.
// MAE_PARAM(name, condition): a legal parameter value, checked at elaboration.
`ifndef MAE_ASSERT_SVH
`define MAE_ASSERT_SVH

`ifdef SYNTHESIS
`define MAE_ASSERT_AT(clk, rst_n, name, prop)
`define MAE_STREAM_HOLDS_AT(clk, rst_n, name, valid, ready, payload)
`else
`define MAE_ASSERT_AT(clk, rst_n, name, prop) \
  always_ff @(posedge clk or negedge rst_n) if (!rst_n) begin end else name: assert (prop) \
    else $error("%m: %s", `"name`");

`define MAE_STREAM_HOLDS_AT(clk, rst_n, name, valid, ready, payload) \
  logic name``_wait_q; logic [$bits(payload)-1:0] name``_last_q; \
  always_ff @(posedge clk or negedge rst_n) begin \
    if (!rst_n) begin name``_wait_q <= 1'b0; name``_last_q <= '0; end \
    else begin name``_wait_q <= (valid) && !(ready); name``_last_q <= payload; end \
  end \
  always_ff @(posedge clk or negedge rst_n) if (!rst_n) begin end else \
    name: assert (!name``_wait_q || ((valid) && name``_last_q == (payload))) \
    else $error("%m: %s", `"name`");
`endif

`define MAE_ASSERT(name, prop) `MAE_ASSERT_AT(clk_i, rst_ni, name, prop)
`define MAE_STREAM_HOLDS(name, valid, ready, payload) \
  `MAE_STREAM_HOLDS_AT(clk_i, rst_ni, name, valid, ready, payload)
`define MAE_PARAM(name, cond) if (!(cond)) begin : name $fatal(1, `"illegal parameter: name`"); end

`endif
