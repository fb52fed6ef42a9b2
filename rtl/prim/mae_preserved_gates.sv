// SPDX-License-Identifier: Apache-2.0
//
// mae_preserved_gates: Width gates of one kind side by side, which synthesis for standard cells
// maps as they stand here: nothing is moved across this module's edge.
//
// Latency: 0 (combinational).
// Legal: Width, Inputs >= 1; Low 0 (AND, OR) or 1 (NAND, NOR); All 1 (AND) or 0 (OR).
// For circuits whose energy is in their structure. `maeslant synth` keeps modules where there are
// more than two lanes, or with --keep; where modules are merged first this is logic like any other.

(* keep_hierarchy *)
module mae_preserved_gates #(
    parameter bit          All    = 1'b1,
    parameter bit          Low    = 1'b0,
    parameter int unsigned Inputs = 2,
    parameter int unsigned Width  = 1
) (
    input  logic [Width-1:0][Inputs-1:0] in_i,
    output logic [Width-1:0]             out_o
);

  always_comb begin
    for (int unsigned i = 0; i < Width; i++) out_o[i] = (All ? &in_i[i] : |in_i[i]) ^ Low;
  end

endmodule
