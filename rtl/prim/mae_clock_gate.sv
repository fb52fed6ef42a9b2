// SPDX-License-Identifier: Apache-2.0
//
// mae_clock_gate: passes the clock's pulses on while it is enabled, without shortening one.
//
// This is the generic view; rtl/technology has others of the same name (docs/adr/0040).
// A view may pass all pulses on: the gate saves energy, and registers behind it must hold what they
// have to hold by themselves.
// Latency: enable_i, from registers of clk_i or from inputs of its domain, decides about the next
// rising edge; no clock is added.
// Throughput: not applicable.
// Test: the gate has no test input. Tools that insert scan chains connect that of the library's
// cell with their scan enable.

module mae_clock_gate (
    input  logic clk_i,
    input  logic enable_i,
    output logic clk_o
);
  logic enable_q;

  // Open while the clock is low: enable_q cannot change while it is high.
  always_latch if (!clk_i) enable_q = enable_i;

  assign clk_o = clk_i & enable_q;

endmodule
