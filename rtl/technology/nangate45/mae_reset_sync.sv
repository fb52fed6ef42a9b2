// SPDX-License-Identifier: Apache-2.0
//
// mae_reset_sync: synchronizes the release of an asynchronous reset with a clock. View for
// Nangate45.
//
// Ports, latency, throughput and test mode: rtl/prim/mae_reset_sync.sv. Registers and multiplexer
// are cells, so that nothing is moved between them and no gate adds a pulse to the reset.
// Source: the library's Liberty file (DFFR, MUX2).

module mae_reset_sync (
    input  logic clk_i,
    input  logic rst_ni,       // asynchronous reset
    input  logic test_mode_i,
    output logic rst_no        // reset of the clock domain of clk_i
);
  logic first, released;

  DFFR_X1 u_first (
      .CK(clk_i),
      .RN(rst_ni),
      .D (1'b1),
      .Q (first),
      .QN()
  );

  DFFR_X1 u_released (
      .CK(clk_i),
      .RN(rst_ni),
      .D (first),
      .Q (released),
      .QN()
  );

  MUX2_X1 u_test (
      .A(released),
      .B(rst_ni),
      .S(test_mode_i),
      .Z(rst_no)
  );

endmodule
