// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_per_block_key: encrypts one AES block at a time, under the key that comes with it, in
// few LUTs: it stores no key.
//
// A block is taken when valid_i and ready_o are high. key_i must hold in that clock and in the next
// one (the second half of an AES-256 key is read there); the key is in its upper bits, as in
// mae_aes_pkg. valid_o is high for one clock, block_o is zero in all others.
// As in mae_cipher_min_luts, each bit takes two LUTs for MixColumns, AddRoundKey and the entry of a
// block, one for its round key and one for its result (mae_preserved_xor); an S-box takes 32.
// Latency: Nr clocks from block to result: 10 for AES-128, 14 for AES-256.
// Throughput: one block in Nr + 1 clocks.
// Reset and clear: clear_i and a result erase block and round keys by the next clock; reset does so
// after the first clock in it in which no block is offered.
// Parameters: Legal: KeyLen Aes128 or Aes256; Sbox any of sbox_impl_e (SboxLut is the smallest in
// FPGAs).
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1, §5.2.

`include "mae_assert.svh"

module mae_cipher_per_block_key
  import mae_aes_pkg::*;
  import mae_round_pkg::shift_rows;
#(
    parameter key_len_e   KeyLen = Aes256,
    parameter sbox_impl_e Sbox   = SboxLut
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic   valid_i,
    output logic   ready_o,
    input  key_t   key_i,
    input  block_t block_i,
    output logic   valid_o,
    output block_t block_o
);

  `MAE_PARAM(KeyLenLegal, KeyLen inside {Aes128, Aes256})

  localparam bit Long = KeyLen == Aes256;  // a round key depends on the two before it

  typedef logic [31:0] word_t;
  typedef word_t [3:0] words_t;  // word 0 is the first one of FIPS 197

  logic busy_q;  // a block is in progress
  logic first_q;  // and in its first round
  logic last_q;  // or in its last one
  logic even_q;  // or in an even one
  logic [7:0] rcon_q;
  block_t state_q;  // after AddRoundKey
  words_t newer_q, older_q;  // round keys of the last step and of the one before it

  logic enter;
  assign ready_o = !busy_q && !clear_i;
  assign enter   = valid_i && ready_o;

  words_t [1:0] key;  // halves of the key
  for (genvar i = 0; i < 8; i++) begin : gen_key_word
    assign key[i/4][i%4] = key_i[32*(7-i)+:32];
  end

  // SubBytes of the state; SubWord, in every second step of AES-256 without RotWord, §5.2.
  logic   turn;
  word_t  word;
  block_t sub_state;
  word_t  sub_word;
  assign turn = !Long || even_q;
  assign word = turn ? {newer_q[3][23:0], newer_q[3][31:24]} : newer_q[3];
  mae_sbox #(
      .Kind (DirsEncrypt),
      .Impl (Sbox),
      .Regs (0),
      .Bytes(20)
  ) u_sbox (
      .clk_i,
      .rst_ni,
      .en_i     (1'b1),
      .inverse_i(1'b0),
      .in_i     ({state_q, word}),
      .out_o    ({sub_state, sub_word})
  );

  // The round key of this round, §5.2: a half of the key when a block enters, and in the first round
  // of AES-256 the other half.
  words_t round_key, given;
  word_t change;
  logic  take_key;
  assign change   = sub_word ^ (turn ? {rcon_q, 24'h000000} : '0);
  assign take_key = enter || (Long && first_q);
  assign given    = (Long && first_q) ? key[1] : key[0];
  for (genvar i = 0; i < 4; i++) begin : gen_key
    mae_preserved_xor #(
        .Terms (2),
        .Choice(2)
    ) u_word (
        .choose_i(take_key),
        .other_i (given[i]),
        .terms_i ({Long ? older_q[i] : newer_q[i], (i == 0) ? change : round_key[(i+3)%4]}),
        .add_i   ('0),
        .out_o   (round_key[i])
    );
  end

  // The result, §5.1: the last round, without MixColumns.
  words_t shifted, result;
  assign {shifted[0], shifted[1], shifted[2], shifted[3]} = shift_rows(sub_state);
  for (genvar i = 0; i < 4; i++) begin : gen_result
    mae_preserved_xor #(
        .Terms (2),
        .Choice(1)
    ) u_word (
        .choose_i(!last_q),
        .other_i ('0),
        .terms_i ({shifted[i], round_key[i]}),
        .add_i   ('0),
        .out_o   (result[i])
    );
  end

  block_t entered;
  mae_mix_columns_luts u_mix (
      .shifted_i({shifted[0], shifted[1], shifted[2], shifted[3]}),
      .enter_i  (enter),
      .block_i,
      .key_i    ({round_key[0], round_key[1], round_key[2], round_key[3]}),
      .state_o  (entered)
  );

  logic idle;  // no block in the next clock
  assign idle = clear_i || last_q || !(enter || busy_q);
  always_ff @(posedge clk_i) begin
    if (idle) begin
      state_q <= '0;
      newer_q <= '0;
      older_q <= '0;
      rcon_q  <= '0;
    end else begin
      state_q <= entered;
      newer_q <= round_key;
      older_q <= Long ? newer_q : '0;
      // Powers of x in GF(2^8), §5.2.
      if (enter) rcon_q <= 8'h01;
      else if (turn) rcon_q <= {rcon_q[6:0], 1'b0} ^ (rcon_q[7] ? 8'h1b : 8'h00);
    end
  end
  // The constant of the step before the last round's.
  localparam logic [7:0] End = Long ? 8'h40 : 8'h1b;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      first_q <= 1'b0;
      last_q  <= 1'b0;
      even_q  <= 1'b0;
    end else begin
      busy_q  <= enter || (busy_q && !last_q && !clear_i);
      first_q <= enter;
      even_q  <= busy_q && !even_q && !last_q && !clear_i;
      last_q  <= busy_q && !last_q && (Long ? rcon_q == End && !even_q : rcon_q == End) && !clear_i;
    end
  end

  assign valid_o = last_q;
  assign block_o = {result[0], result[1], result[2], result[3]};

endmodule
