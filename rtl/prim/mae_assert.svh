// SPDX-License-Identifier: Apache-2.0
//
// Defines assertion macros for RTL: parameter checks, handshake rules, properties. They are active
// in simulation and in formal proofs, and empty in synthesis (macro SYNTHESIS).
//
//  MAE_ASSERT(name, property): the property holds at every rising clk_i outside reset (rst_ni).
//  MAE_STREAM_HOLDS(name, valid, ready, payload): once valid is high, valid and payload keep their
//    values until ready is high. A module with a clear_i passes `ready || clear_i` as ready,
//    because clear_i may end a stream.
//  MAE_ASSERT_AT, MAE_STREAM_HOLDS_AT: as above, with the clock and the reset as first arguments.
//  MAE_PARAM(name, condition): the parameters are legal; checked at elaboration.
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
