// SPDX-License-Identifier: Apache-2.0
//
// mae_preserved_gates: computes Width logic gates of one kind, which standard-cell synthesis maps
// exactly as written. The module boundary is preserved for that (keep_hierarchy).
//
// Use it for circuits whose low energy depends on their structure. `maeslant synth` preserves
// module boundaries for designs of more than two lanes, or with --keep; in a flow that flattens the
// design first, these gates are optimized like any other logic.
// Latency: 0 clocks (combinational).
// Parameters: Width gates of Inputs inputs each. All = 1 selects AND, All = 0 selects OR; Low = 1
// inverts the output (NAND, NOR). Legal: Width >= 1, Inputs >= 1, Low and All 0 or 1.

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
