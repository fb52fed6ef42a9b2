// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_pipe: encrypts and decrypts AES blocks in one unrolled pipeline with its own key
// expansion and key memory.
//
// This is mae_cipher_lanes with one lane; see there for ports, reset and clear.
// Latency: Nr * RegsPerRound + 1 clocks (11 for AES-128 with one register a round).
// Throughput: one block a clock.
// Parameters: Legal: KeyBanks 1..4; Dirs any of dirs_e; MaxKeyLen any of key_len_e; Sbox any of
// sbox_impl_e; RegsPerRound 1..3; KeyClocks, Flush, CtxBits as in mae_cipher_lanes.
// Security: constant-time; no masking.
// Source: FIPS 197; Dong et al..

module mae_cipher_pipe
  import mae_aes_pkg::*;
#(
    parameter int unsigned KeyBanks     = 2,
    parameter dirs_e       Dirs         = DirsBoth,
    parameter key_len_e    MaxKeyLen    = Aes256,
    parameter sbox_impl_e  Sbox         = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    parameter int unsigned KeyClocks    = 1,
    parameter bit          Flush        = 1'b0,
    parameter int unsigned CtxBits      = CtxWidth
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

  mae_cipher_lanes #(
      .Lanes       (1),
      .KeyBanks    (KeyBanks),
      .Dirs        (Dirs),
      .MaxKeyLen   (MaxKeyLen),
      .Sbox        (Sbox),
      .RegsPerRound(RegsPerRound),
      .KeyClocks   (KeyClocks),
      .Flush       (Flush),
      .CtxBits     (CtxBits)
  ) u_lanes (
      .clk_i,
      .rst_ni,
      .clear_i,
      .key_valid_i,
      .key_ready_o,
      .key_i,
      .req_valid_i,
      .req_ready_o,
      .req_i,
      .rsp_valid_o,
      .rsp_o
  );

endmodule
