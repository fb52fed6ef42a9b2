// SPDX-License-Identifier: Apache-2.0
//
// mae_clock_gate: passes the clock's pulses on while it is enabled. View for Lattice ECP5.
//
// Ports, latency and throughput: rtl/prim/mae_clock_gate.sv. The gate drives a global clock, of
// which a device has few.
// Source: Lattice FPGA-TN-02200 (DCCA).

module mae_clock_gate (
    input  logic clk_i,
    input  logic enable_i,
    output logic clk_o
);
  DCCA u_gate (
      .CLKI(clk_i),
      .CE  (enable_i),
      .CLKO(clk_o)
  );

endmodule
