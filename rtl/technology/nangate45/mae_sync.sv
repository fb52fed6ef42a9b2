// SPDX-License-Identifier: Apache-2.0
//
// mae_sync: transfers bits from another clock domain through two registers. View for Nangate45.
//
// Ports, parameters, latency and throughput: rtl/prim/mae_sync.sv. The registers are cells, so that
// nothing is moved between or in front of them.
// Source: the library's Liberty file (DFFR).

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

  logic [Width-1:0] first;

  for (genvar i = 0; i < Width; i++) begin : gen_bit
    DFFR_X1 u_first (
        .CK(clk_i),
        .RN(rst_ni),
        .D (data_i[i]),
        .Q (first[i]),
        .QN()
    );

    DFFR_X1 u_second (
        .CK(clk_i),
        .RN(rst_ni),
        .D (first[i]),
        .Q (data_o[i]),
        .QN()
    );
  end

endmodule
