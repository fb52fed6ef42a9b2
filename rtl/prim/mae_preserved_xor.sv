// SPDX-License-Identifier: Apache-2.0
//
// mae_preserved_xor: adds (exclusive-or) Terms words bit by bit, with a choice between the sum and
// another word, in one LUT for each bit. The module boundary is preserved for that (keep_hierarchy).
//
// out_o = (choose_i ? other_i : sum of terms_i) ^ add_i. What a parameter leaves out is not built:
// its inputs are ignored.
// A mapper for LUTs shares partial sums and so takes more LUTs for long sums of words than for each
// bit alone; it cannot where a boundary is preserved. `maeslant synth --target xc7` preserves it.
// Latency: 0 clocks (combinational).
// Parameters: Choice 0: always the sum; 1: 0 where choose_i is set; 2: other_i where it is set.
// Added 1: add_i is added. Legal: Width >= 1; Terms >= 1; Choice 0..2; Added 0 or 1;
// Terms + Choice + Added <= 6.

`include "mae_assert.svh"

(* keep_hierarchy *)
module mae_preserved_xor #(
    parameter int unsigned Terms  = 2,
    parameter int unsigned Choice = 0,
    parameter bit          Added  = 1'b0,
    parameter int unsigned Width  = 32
) (
    input  logic                        choose_i,
    input  logic [Width-1:0]            other_i,
    input  logic [Terms-1:0][Width-1:0] terms_i,
    input  logic [Width-1:0]            add_i,
    output logic [Width-1:0]            out_o
);

  `MAE_PARAM(ChoiceLegal, Choice <= 2)
  `MAE_PARAM(OneLut, Terms >= 1 && Terms + Choice + 32'(Added) <= 6)

  always_comb begin
    out_o = '0;
    for (int unsigned i = 0; i < Terms; i++) out_o ^= terms_i[i];
    if (Choice != 0 && choose_i) out_o = (Choice == 2) ? other_i : '0;
    if (Added) out_o ^= add_i;
  end

  logic unused;
  assign unused = ^{choose_i, other_i, add_i};

endmodule
