// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_min_luts: encrypts AES-128 blocks in few six-input LUTs of an FPGA at one round a clock,
// with one key. Its round keys are computed in the clock that uses them.
//
// Ports: see the interface in mae_aes_pkg, with one lane and bank 0. req_ready_o depends
// combinationally on the request's bank and direction and on key_valid_i and key_i.bank,
// key_ready_o on key_i.bank. The results depend combinationally on registers only.
// Each bit takes two LUTs for MixColumns, AddRoundKey and the entry of a block, one for its round key
// and one for its result (mae_preserved_xor); an S-box takes 32. State and keys are erased by
// synchronous resets, which cost no LUT. mae_cipher_min_area has fewer gates and more LUTs.
// Latency: 10 clocks. A key is accepted in any clock in which no block is in progress, or in the
// clock of its result.
// Throughput: one block in 10 clocks. The next block is accepted in the clock of the result, and may
// depend on it.
// Reset and clear: clear_i erases key and data by the next clock; reset does so after the first
// clock in it in which no key is offered.
// Parameters: Legal: Dirs DirsEncrypt; MaxKeyLen Aes128 (other keys and directions are for
// mae_cipher_min_area); Sbox any of sbox_impl_e (SboxLut is the smallest here).
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1, §5.2.

`include "mae_assert.svh"

module mae_cipher_min_luts
  import mae_aes_pkg::*;
  import mae_round_pkg::shift_rows;
#(
    parameter dirs_e      Dirs      = DirsEncrypt,
    parameter key_len_e   MaxKeyLen = Aes128,
    parameter sbox_impl_e Sbox      = SboxLut
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              clear_i,
    input  logic              key_valid_i,
    output logic              key_ready_o,
    input  cipher_key_t       key_i,
    input  logic        [0:0] req_valid_i,
    output logic        [0:0] req_ready_o,
    input  cipher_req_t [0:0] req_i,
    output logic        [0:0] rsp_valid_o,
    output cipher_rsp_t [0:0] rsp_o
);

  `MAE_PARAM(DirsLegal, Dirs == DirsEncrypt)
  `MAE_PARAM(MaxKeyLenLegal, MaxKeyLen == Aes128)

  typedef logic [31:0] word_t;
  typedef word_t [3:0] words_t;  // word 0 is the first one of FIPS 197

  logic loaded_q;  // there is a key
  logic busy_q;  // a block is in progress
  logic last_q;  // and in its last round
  ctx_t ctx_q;
  block_t state_q;  // after AddRoundKey; 0 without a block
  words_t key_q;  // the key
  words_t round_key_q;  // of the round key before this round's
  logic [7:0] rcon_q;

  logic free, offered, load, enter;
  assign free = (!busy_q || last_q) && !clear_i;
  assign offered = key_valid_i && key_i.bank == '0;
  assign key_ready_o = free && key_i.bank == '0;
  assign load = offered && free;
  assign req_ready_o[0] = free && loaded_q && !offered && req_i[0].bank == '0 &&
      req_i[0].dir == Encrypt;
  assign enter = req_valid_i[0] && req_ready_o[0];

  // SubBytes of the state, and SubWord(RotWord) of the last word of the round key, §5.2.
  block_t sub_state;
  word_t  sub_word;
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
      .in_i     ({state_q, round_key_q[3][23:0], round_key_q[3][31:24]}),
      .out_o    ({sub_state, sub_word})
  );

  // The round key of this round, §5.2, or the key when a block enters. A word after the second is the
  // sum of the one before, which is chosen alike, and its own.
  words_t round_key;
  word_t  change;
  assign change = sub_word ^ {rcon_q, 24'h000000};
  for (genvar i = 0; i < 4; i++) begin : gen_key
    mae_preserved_xor #(
        .Terms (3),
        .Choice(2)
    ) u_word (
        .choose_i(enter),
        .other_i(key_q[i]),
        .terms_i({
          round_key_q[i], (i == 1) ? round_key_q[0] : '0, (i < 2) ? change : round_key[(i+3)%4]
        }),
        .add_i('0),
        .out_o(round_key[i])
    );
  end

  // The result, §5.1: the last round, without MixColumns. A block may enter in this clock, so that
  // round_key cannot serve. A word after the second takes the round key's word out of the result
  // before it.
  words_t shifted, result;
  assign {shifted[0], shifted[1], shifted[2], shifted[3]} = shift_rows(sub_state);
  for (genvar i = 0; i < 4; i++) begin : gen_result
    localparam int unsigned Before = (i + 3) % 4;
    mae_preserved_xor #(
        .Terms (4),
        .Choice(1)
    ) u_word (
        .choose_i(!last_q),
        .other_i('0),
        .terms_i({
          shifted[i],
          round_key_q[i],
          (i == 0) ? '0 : (i == 1) ? round_key_q[0] : shifted[Before],
          (i < 2) ? change : result[Before]
        }),
        .add_i('0),
        .out_o(result[i])
    );
  end

  block_t entered;
  mae_mix_columns_luts u_mix (
      .shifted_i({shifted[0], shifted[1], shifted[2], shifted[3]}),
      .enter_i  (enter),
      .block_i  (req_i[0].block),
      .key_i    ({round_key[0], round_key[1], round_key[2], round_key[3]}),
      .state_o  (entered)
  );

  logic idle;  // no block in the next clock
  assign idle = clear_i || (free && !enter);
  always_ff @(posedge clk_i) begin
    if (idle) state_q <= '0;
    else state_q <= entered;
    // Powers of x in GF(2^8), §5.2.
    if (idle) rcon_q <= '0;
    else if (enter) rcon_q <= 8'h01;
    else rcon_q <= {rcon_q[6:0], 1'b0} ^ (rcon_q[7] ? 8'h1b : 8'h00);
    if (clear_i || !loaded_q) round_key_q <= '0;
    else if (enter || busy_q) round_key_q <= round_key;
    if (clear_i || (!loaded_q && !load)) key_q <= '0;
    else if (load) begin
      for (int i = 0; i < 4; i++) key_q[i] <= key_i.key[32*(7-i)+:32];
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loaded_q <= 1'b0;
      busy_q   <= 1'b0;
      last_q   <= 1'b0;
      ctx_q    <= '0;
    end else begin
      loaded_q <= (loaded_q || load) && !clear_i;
      busy_q   <= enter || (busy_q && !last_q && !clear_i);
      last_q   <= busy_q && rcon_q == 8'h1b && !clear_i;  // of round 9; 36 is that of round 10
      if (enter) ctx_q <= req_i[0].ctx;
    end
  end

  assign rsp_valid_o[0] = last_q;
  assign rsp_o[0]       = '{ctx: ctx_q, block: {result[0], result[1], result[2], result[3]}};

  `MAE_ASSERT(BankExists, !key_valid_i || key_i.bank == '0)
  `MAE_ASSERT(KeyLength, !key_valid_i || key_i.len == Aes128)
  `MAE_ASSERT(DirBuilt, !req_valid_i || req_i[0].dir == Encrypt)

endmodule
