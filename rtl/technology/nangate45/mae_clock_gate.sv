// SPDX-License-Identifier: Apache-2.0
//
// mae_clock_gate: passes the clock's pulses on while it is enabled. View for Nangate45.
//
// Ports, latency and throughput: rtl/prim/mae_clock_gate.sv. SE is for tools that insert
// scan chains to connect.
// Source: the library's Liberty file (CLKGATETST, latch_posedge_precontrol).

module mae_clock_gate (
    input  logic clk_i,
    input  logic enable_i,
    output logic clk_o
);
  CLKGATETST_X8 u_gate (
      .CK (clk_i),
      .E  (enable_i),
      .SE (1'b0),
      .GCK(clk_o)
  );

endmodule
