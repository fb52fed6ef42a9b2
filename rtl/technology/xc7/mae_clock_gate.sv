// SPDX-License-Identifier: Apache-2.0
//
// mae_clock_gate: passes the clock's pulses on while it is enabled. View for 7-series and
// UltraScale.
//
// Ports, latency and throughput: rtl/prim/mae_clock_gate.sv. The gate is a global clock buffer, of
// which a device has few.
// Source: AMD UG472 and UG572 (BUFGCE).

module mae_clock_gate (
    input  logic clk_i,
    input  logic enable_i,
    output logic clk_o
);
  BUFGCE u_gate (
      .I (clk_i),
      .CE(enable_i),
      .O (clk_o)
  );

endmodule
