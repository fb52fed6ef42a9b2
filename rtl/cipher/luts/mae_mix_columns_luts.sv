// SPDX-License-Identifier: Apache-2.0
//
// mae_mix_columns_luts: MixColumns and AddRoundKey of a round, or the entry of a block with
// AddRoundKey, in two six-input LUTs a bit.
//
// state_o = (enter_i ? block_i : MixColumns(shifted_i)) ^ key_i.
// Latency: 0 clocks (combinational).
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1.3, §5.1.4.

module mae_mix_columns_luts
  import mae_aes_pkg::*;
(
    input  block_t shifted_i,  // after ShiftRows
    input  logic   enter_i,
    input  block_t block_i,
    input  block_t key_i,
    output block_t state_o
);

  typedef logic [31:0] word_t;

  // Byte r of a column becomes 2 a[r] + 3 a[r+1] + a[r+2] + a[r+3]. Doubling rotates the bits of a
  // byte to the left, and adds 1a where its first one is 1.
  function automatic word_t rotate_bits(input word_t w);
    for (int i = 0; i < 4; i++) rotate_bits[8*i+:8] = {w[8*i+:7], w[8*i+7]};
  endfunction
  function automatic word_t modulus(input word_t w);
    for (int i = 0; i < 4; i++) modulus[8*i+:8] = {8{w[8*i+7]}} & 8'h1a;
  endfunction

  for (genvar i = 0; i < 4; i++) begin : gen_column
    word_t a, next, remainder;
    assign a    = shifted_i[32*i+:32];
    assign next = {a[23:0], a[31:24]};
    mae_preserved_xor #(
        .Terms(5)
    ) u_remainder (
        .choose_i('0),
        .other_i ('0),
        .terms_i ({next, {a[15:0], a[31:16]}, {a[7:0], a[31:8]}, modulus(a), modulus(next)}),
        .add_i   ('0),
        .out_o   (remainder)
    );
    mae_preserved_xor #(
        .Terms (3),
        .Choice(2),
        .Added (1)
    ) u_enter (
        .choose_i(enter_i),
        .other_i (block_i[32*i+:32]),
        .terms_i ({rotate_bits(a), rotate_bits(next), remainder}),
        .add_i   (key_i[32*i+:32]),
        .out_o   (state_o[32*i+:32])
    );
  end

endmodule
