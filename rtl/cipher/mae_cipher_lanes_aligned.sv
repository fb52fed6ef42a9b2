// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_lanes_aligned: encrypts in Lanes unrolled AES pipelines on one key expansion, for the
// least energy a block.
//
// Requests and results: see the interface in mae_aes_pkg, an index for each lane; bank 0 and
// encryption alone are ever ready, and only when all round keys are there.
// Latency: Nr clocks (mae_pipe_rounds_aligned).
// Throughput: Lanes blocks a clock; one key in Nr + 1 clocks.
// Reset and clear: clear_i removes keys and blocks by the next clock; data registers are shifted
// out in Nr clocks.
// Parameters: KeyLen is the length of all keys: another one is an error of the user. Legal: Lanes
// 1..16; KeyLen any of key_len_e; Sbox any of sbox_impl_e; CtxBits 0..8.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1; Dong et al. (one key expansion for all cores).

`include "mae_assert.svh"

module mae_cipher_lanes_aligned
  import mae_aes_pkg::*;
#(
    parameter int unsigned Lanes   = 4,
    parameter key_len_e    KeyLen  = Aes128,
    parameter sbox_impl_e  Sbox    = SboxOnehot,
    parameter int unsigned CtxBits = 0
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic                    clear_i,
    input  logic                    key_valid_i,
    output logic                    key_ready_o,
    input  cipher_key_t             key_i,
    input  logic        [Lanes-1:0] req_valid_i,
    output logic        [Lanes-1:0] req_ready_o,
    input  cipher_req_t [Lanes-1:0] req_i,
    output logic        [Lanes-1:0] rsp_valid_o,
    output cipher_rsp_t [Lanes-1:0] rsp_o
);

  `MAE_PARAM(LanesLegal, Lanes inside {[1 : 16]})

  localparam int unsigned Rounds = 10 + 2 * int'(KeyLen);

  logic [Lanes-1:0] used;
  logic [0:0] unused_enc_ready, ready;
  key_len_e unused_len[1];
  block_t keys[1][Rounds+1];

  mae_round_key_mem #(
      .KeyBanks   (1),
      .MaxKeyLen  (KeyLen),
      .RoundClocks(1),
      .StepClocks (1),
      .Sbox       (Sbox)
  ) u_keys (
      .clk_i,
      .rst_ni,
      .clear_i,
      .key_valid_i,
      .key_ready_o,
      .key_i,
      .used_i     (|used),
      .enc_ready_o(unused_enc_ready),
      .dec_ready_o(ready),
      .len_o      (unused_len),
      .keys_o     (keys)
  );

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    mae_pipe_rounds_aligned #(
        .KeyLen (KeyLen),
        .Sbox   (Sbox),
        .CtxBits(CtxBits)
    ) u_rounds (
        .clk_i,
        .rst_ni,
        .clear_i,
        .ready_i    (ready[0]),
        .keys_i     (keys[0]),
        .used_o     (used[i]),
        .req_valid_i(req_valid_i[i]),
        .req_ready_o(req_ready_o[i]),
        .req_i      (req_i[i]),
        .rsp_valid_o(rsp_valid_o[i]),
        .rsp_o      (rsp_o[i])
    );
  end

  `MAE_ASSERT(KeyLength, !key_valid_i || key_i.len == KeyLen)

endmodule
