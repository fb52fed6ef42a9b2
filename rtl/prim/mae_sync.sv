// SPDX-License-Identifier: Apache-2.0
//
// mae_sync: transfers bits from another clock domain through two registers.
//
// This is the generic view; rtl/technology has others of the same name (docs/adr/0040).
// The bits must come from registers, and either one alone of them changes in a clock of theirs, as
// in Gray code, or it does not matter that they arrive in different clocks.
// Latency: data_o takes a value at the second rising clk_i after it has come to data_i.
// Throughput: a value that is to be seen has to stay for more than one clock of clk_i.
// Reset: data_o is 0.
// Parameters: Width is the number of bits. Legal: Width >= 1.
// Constraint: place both registers of a bit next to each other; the path to the first one is the
// crossing (`maeslant constraints`).

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
