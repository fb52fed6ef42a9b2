// SPDX-License-Identifier: Apache-2.0
//
// mae_clock_gate: passes the clock's pulses on while it is enabled. View for Gowin, 5 series.
//
// Ports, latency and throughput: rtl/prim/mae_clock_gate.sv. The gate drives a global clock, of
// which a device has few. Older families call it DQCE.
// Source: Gowin UG306 (DCE).

module mae_clock_gate (
    input  logic clk_i,
    input  logic enable_i,
    output logic clk_o
);
  DCE u_gate (
      .CLKIN (clk_i),
      .CE    (enable_i),
      .CLKOUT(clk_o)
  );

endmodule
