// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_lanes_luts: encrypts and decrypts AES blocks in Lanes unrolled pipelines, with few LUTs
// of an FPGA. They share one key expansion and one key memory.
//
// It is mae_cipher_lanes with one key bank, both directions, one register a round and Flush = 1, and
// has its ports and clocks; see there. The lanes are of mae_pipe_rounds_luts.
// Latency: Nr + 1 clocks: 11, 13, 15 for AES-128, -192, -256.
// Throughput: Lanes blocks a clock.
// Reset and clear: clear_i erases the key within 2 clocks, all data within the latency and 1 clock,
// and unloads the bank.
// Parameters: Sbox is that of the key expansion. Legal: Lanes 1..16; MaxKeyLen any of key_len_e
// (longer keys are not accepted); Sbox any of sbox_impl_e.
// Security: constant-time; no masking.
// Source: FIPS 197; Dong et al..

`include "mae_assert.svh"

module mae_cipher_lanes_luts
  import mae_aes_pkg::*;
#(
    parameter int unsigned Lanes     = 4,
    parameter key_len_e    MaxKeyLen = Aes256,
    parameter sbox_impl_e  Sbox      = SboxLut
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

  localparam int unsigned Rounds = 10 + 2 * int'(MaxKeyLen);

  logic [0:0] enc_ready, dec_ready;
  logic     [Lanes-1:0] used;
  key_len_e             len     [     1];
  block_t               keys    [     1] [Rounds+1];
  block_t               enc_keys[Rounds];

  mae_round_key_mem #(
      .KeyBanks   (1),
      .MaxKeyLen  (MaxKeyLen),
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
      .enc_ready_o(enc_ready),
      .dec_ready_o(dec_ready),
      .len_o      (len),
      .keys_o     (keys)
  );

  // Encryption reads the round keys in reverse order: with r rounds to go it needs round key Nr -
  // r. One multiplexer serves all lanes.
  always_comb begin
    for (int unsigned r = 0; r < Rounds; r++) begin
      enc_keys[r] = '0;
      case (len[0])
        Aes128:  if (r <= 10) enc_keys[r] = keys[0][10-r];
        Aes192:  if (r <= 12 && Rounds >= 12) enc_keys[r] = keys[0][12-r];
        default: if (Rounds >= 14) enc_keys[r] = keys[0][14-r];
      endcase
    end
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    mae_pipe_rounds_luts #(
        .MaxKeyLen(MaxKeyLen)
    ) u_rounds (
        .clk_i,
        .rst_ni,
        .clear_i,
        .enc_ready_i(enc_ready[0]),
        .dec_ready_i(dec_ready[0]),
        .len_i      (len[0]),
        .keys_i     (keys[0]),
        .enc_keys_i (enc_keys),
        .last_key_i (enc_keys[0]),
        .used_o     (used[i]),
        .req_valid_i(req_valid_i[i]),
        .req_ready_o(req_ready_o[i]),
        .req_i      (req_i[i]),
        .rsp_valid_o(rsp_valid_o[i]),
        .rsp_o      (rsp_o[i])
    );
  end

endmodule
