// SPDX-License-Identifier: Apache-2.0
//
// mae_reset_sync: synchronizes the release of an asynchronous reset with a clock. View for FPGAs.
//
// Ports, latency and throughput: rtl/prim/mae_reset_sync.sv. There is no test mode. Both registers
// are kept: ASYNC_REG also places them next to each other.
// Source: AMD UG901 (ASYNC_REG, SHREG_EXTRACT); Lattice and Gowin tools (syn_preserve, syn_keep).

module mae_reset_sync (
    input  logic clk_i,
    input  logic rst_ni,       // asynchronous reset
    input  logic test_mode_i,
    output logic rst_no        // reset of the clock domain of clk_i
);
  (* ASYNC_REG = "TRUE", SHREG_EXTRACT = "NO", syn_preserve = 1, syn_keep = 1 *)
  logic first_q, released_q;
  logic unused;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q    <= 1'b0;
      released_q <= 1'b0;
    end else begin
      first_q    <= 1'b1;
      released_q <= first_q;
    end
  end

  assign rst_no = released_q;
  assign unused = test_mode_i;  // an FPGA has no scan chain

endmodule
