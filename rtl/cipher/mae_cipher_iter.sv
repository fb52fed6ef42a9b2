// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_iter: Units iterative cipher units, one round a clock each, on one key memory.
//
// Latency: 10, 12 or 14 clocks for AES-128, -192, -256. Throughput: a block per unit every 10, 12
// or 14 clocks: the next one is taken in the clock of the answer, also when it is made from it.
// Legal: Units 1..16; KeyBanks 1..4; Dirs any of dirs_e; MaxKeyLen any of key_len_e (keys above it
// are not taken); Sbox any of sbox_impl_e; Duplex 0 or 1.
// Duplex = 1: the even units only encrypt and the odd ones only decrypt, at once and from the same
// key memory (P3); Units even, Dirs = DirsBoth. A unit is never ready for the other direction.
// Ports: the contract in mae_aes_pkg; unit u is lane u. Readies are combinational in bank,
// direction and in key_valid_i, key_i.bank. Answers are combinational from registers only.
// clear_i: all keys and data are gone in the next clock, all banks are unloaded.
// Source: FIPS 197; P1 (units beside one key expansion); P3. Constant-time: yes. Masked: no.

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
