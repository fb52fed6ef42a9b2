// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_iter: encrypts and decrypts AES blocks with Units iterative units of one round a
// clock. The units share one key expansion and one key memory.
//
// Ports: see the interface in mae_aes_pkg; unit u is lane u. The ready outputs depend
// combinationally on bank and direction of the request and on key_valid_i and key_i.bank. The
// results depend combinationally on registers only. With Duplex = 1 the even units only encrypt and
// the odd units only decrypt, at the same time and from the same key memory (Kale et al.); a unit is
// never ready for the other direction.
// Latency: 10, 12 or 14 clocks for AES-128, -192, -256.
// Throughput: one block a unit in 10, 12 or 14 clocks. The next block is accepted in the clock of
// the result, and may depend on it.
// Reset and clear: clear_i erases all keys and data by the next clock and unloads all banks.
// Parameters: Legal: Units 1..16; KeyBanks 1..4; Dirs any of dirs_e; MaxKeyLen any of key_len_e
// (longer keys are not accepted); Sbox any of sbox_impl_e; Duplex 0, or 1 with an even number of
// units and Dirs = DirsBoth.
// Security: constant-time; no masking.
// Source: FIPS 197; Kumar et al. (parallel units beside one key expansion); Kale et al..

`include "mae_assert.svh"

module mae_cipher_iter
  import mae_aes_pkg::*;
#(
    parameter int unsigned Units     = 1,
    parameter int unsigned KeyBanks  = 1,
    parameter dirs_e       Dirs      = DirsBoth,
    parameter key_len_e    MaxKeyLen = Aes256,
    parameter sbox_impl_e  Sbox      = SboxTable,
    parameter bit          Duplex    = 1'b0
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic                    clear_i,
    input  logic                    key_valid_i,
    output logic                    key_ready_o,
    input  cipher_key_t             key_i,
    input  logic        [Units-1:0] req_valid_i,
    output logic        [Units-1:0] req_ready_o,
    input  cipher_req_t [Units-1:0] req_i,
    output logic        [Units-1:0] rsp_valid_o,
    output cipher_rsp_t [Units-1:0] rsp_o
);

  `MAE_PARAM(UnitsLegal, Units inside {[1 : 16]})
  `MAE_PARAM(DuplexLegal, !Duplex || (Units % 2 == 0 && Dirs == DirsBoth))

  localparam int unsigned Rounds = 10 + 2 * int'(MaxKeyLen);

  logic [KeyBanks-1:0] enc_ready, dec_ready, used;
  logic     [KeyBanks-1:0] unit_used[   Units];
  key_len_e                len      [KeyBanks];
  block_t                  keys     [KeyBanks] [Rounds+1];

  always_comb begin
    used = '0;
    for (int unsigned i = 0; i < Units; i++) used |= unit_used[i];
  end

  mae_round_key_mem #(
      .KeyBanks   (KeyBanks),
      .MaxKeyLen  (MaxKeyLen),
      .RoundClocks(1),
      .Sbox       (Sbox)
  ) u_keys (
      .clk_i,
      .rst_ni,
      .clear_i,
      .key_valid_i,
      .key_ready_o,
      .key_i,
      .used_i     (used),
      .enc_ready_o(enc_ready),
      .dec_ready_o(dec_ready),
      .len_o      (len),
      .keys_o     (keys)
  );

  for (genvar i = 0; i < Units; i++) begin : gen_unit
    mae_cipher_iter_unit #(
        .KeyBanks (KeyBanks),
        .Dirs     (!Duplex ? Dirs : (i % 2 == 0) ? DirsEncrypt : DirsDecrypt),
        .MaxKeyLen(MaxKeyLen),
        .Sbox     (Sbox)
    ) u_unit (
        .clk_i,
        .rst_ni,
        .clear_i,
        .enc_ready_i(enc_ready),
        .dec_ready_i(dec_ready),
        .len_i      (len),
        .keys_i     (keys),
        .used_o     (unit_used[i]),
        .req_valid_i(req_valid_i[i]),
        .req_ready_o(req_ready_o[i]),
        .req_i      (req_i[i]),
        .rsp_valid_o(rsp_valid_o[i]),
        .rsp_o      (rsp_o[i])
    );
  end

endmodule
