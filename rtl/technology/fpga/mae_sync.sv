// SPDX-License-Identifier: Apache-2.0
//
// mae_sync: transfers bits from another clock domain through two registers. View for FPGAs.
//
// Ports, parameters, latency and throughput: rtl/prim/mae_sync.sv. Both registers are kept: they
// are not moved, merged or made a shift register. ASYNC_REG also places them next to each other.
// Source: AMD UG901 (ASYNC_REG, SHREG_EXTRACT); Lattice and Gowin tools (syn_preserve, syn_keep).

`include "mae_assert.svh"

module mae_sync #(
    parameter int unsigned Width = 1
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic [Width-1:0] data_i,
    output logic [Width-1:0] data_o
);
  `MAE_PARAM(WidthLegal, Width >= 1)

  (* ASYNC_REG = "TRUE", SHREG_EXTRACT = "NO", syn_preserve = 1, syn_keep = 1 *)
  logic [Width-1:0] first_q, second_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q  <= '0;
      second_q <= '0;
    end else begin
      first_q  <= data_i;
      second_q <= first_q;
    end
  end

  assign data_o = second_q;

endmodule
