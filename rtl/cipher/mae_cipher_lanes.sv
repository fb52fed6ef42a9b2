// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_lanes: encrypts and decrypts AES blocks in Lanes unrolled pipelines. They share one
// key expansion and one key memory.
//
// Ports: see the interface in mae_aes_pkg. The ready outputs depend combinationally on bank and
// direction of the request and on key_valid_i and key_i.bank; the results come from registers.
// Blocks of different key lengths in one lane keep their order: the shorter one waits behind a
// longer one, for at most 2 or 4 rounds. While a key is loaded, blocks of the other banks continue
// (mae_round_key_mem).
// Latency: Nr * RegsPerRound + 1 clocks: 11, 13, 15 for AES-128, -192, -256 with one register a
// round; 5, 6, 7 with RoundsPerReg = 2.
// Throughput: Lanes blocks a clock.
// Reset and clear: clear_i erases all keys and data within 2 clocks (data with Flush = 1: within
// the latency and 1 clock) and unloads all banks.
// Parameters: KeyClocks is the number of clocks for a round key: decryption is accepted Nr *
// KeyClocks + 1 clocks after its key, instead of the Nr + 1 clocks of the interface. With
// RoundsPerReg = 2, encryption waits for all round keys, too. GateIdle = 1 stops the clock of a lane
// while it holds no block and none is offered to it, and that of the key memory while all lanes are
// idle and no key comes. Legal: Lanes 1..16; KeyBanks 1..4; Dirs any of dirs_e; MaxKeyLen any of
// key_len_e (longer keys are not accepted); Sbox any of sbox_impl_e; RegsPerRound 1..3; KeyClocks
// 1..RegsPerRound; RoundsPerReg, Flush, CtxBits as in mae_pipe_rounds; GateIdle 0 or 1.
// Security: constant-time; no masking.
// Source: FIPS 197; Dong et al..

`include "mae_assert.svh"

module mae_cipher_lanes
  import mae_aes_pkg::*;
#(
    parameter int unsigned Lanes        = 4,
    parameter int unsigned KeyBanks     = 2,
    parameter dirs_e       Dirs         = DirsBoth,
    parameter key_len_e    MaxKeyLen    = Aes256,
    parameter sbox_impl_e  Sbox         = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    parameter int unsigned RoundsPerReg = 1,
    parameter int unsigned KeyClocks    = 1,
    parameter bit          Flush        = 1'b0,
    parameter int unsigned CtxBits      = CtxWidth,
    parameter bit          GateIdle     = 1'b0
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

  logic [KeyBanks-1:0] enc_ready, dec_ready, used;
  logic     [KeyBanks-1:0] lane_used[   Lanes];
  key_len_e                len      [KeyBanks];
  block_t                  keys     [KeyBanks] [Rounds+1];
  block_t                  enc_keys [KeyBanks] [  Rounds];

  always_comb begin
    used = '0;
    for (int unsigned i = 0; i < Lanes; i++) used |= lane_used[i];
  end

  logic key_clk;
  if (GateIdle) begin : gen_key_gate
    // The longest that a timer of mae_round_key_mem runs, or an expansion, and the clocks around it.
    mae_idle_clock #(
        .Clocks(16 * RegsPerRound + 4)
    ) u_clock (
        .clk_i,
        .rst_ni,
        .active_i(key_valid_i || req_valid_i != '0 || clear_i),
        .clk_o   (key_clk)
    );
  end else begin : gen_key_clock
    assign key_clk = clk_i;
  end

  mae_round_key_mem #(
      .KeyBanks   (KeyBanks),
      .MaxKeyLen  (MaxKeyLen),
      .RoundClocks(RegsPerRound),
      .StepClocks (KeyClocks),
      .Sbox       (Sbox)
  ) u_keys (
      .clk_i      (key_clk),
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

  // Encryption reads the round keys in reverse order: with r rounds to go it needs round key Nr -
  // r. One multiplexer serves all lanes.
  always_comb begin
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      for (int unsigned r = 0; r < Rounds; r++) begin
        enc_keys[b][r] = '0;
        case (len[b])
          Aes128:  if (r <= 10) enc_keys[b][r] = keys[b][10-r];
          Aes192:  if (r <= 12 && Rounds >= 12) enc_keys[b][r] = keys[b][12-r];
          default: if (Rounds >= 14) enc_keys[b][r] = keys[b][14-r];
        endcase
      end
    end
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic lane_clk;

    if (GateIdle) begin : gen_gate
      // All positions of mae_pipe_rounds, and one clock more to shift zeros into the last one.
      mae_idle_clock #(
          .Clocks(Rounds * RegsPerRound / RoundsPerReg + 2)
      ) u_clock (
          .clk_i,
          .rst_ni,
          .active_i(req_valid_i[i] || clear_i),
          .clk_o   (lane_clk)
      );
    end else begin : gen_clock
      assign lane_clk = clk_i;
    end

    mae_pipe_rounds #(
        .KeyBanks    (KeyBanks),
        .Dirs        (Dirs),
        .MaxKeyLen   (MaxKeyLen),
        .Sbox        (Sbox),
        .RegsPerRound(RegsPerRound),
        .RoundsPerReg(RoundsPerReg),
        .Flush       (Flush),
        .CtxBits     (CtxBits)
    ) u_rounds (
        .clk_i      (lane_clk),
        .rst_ni,
        .clear_i,
        .enc_ready_i((RoundsPerReg > 1) ? dec_ready : enc_ready),
        .dec_ready_i(dec_ready),
        .len_i      (len),
        .keys_i     (keys),
        .enc_keys_i (enc_keys),
        .used_o     (lane_used[i]),
        .req_valid_i(req_valid_i[i]),
        .req_ready_o(req_ready_o[i]),
        .req_i      (req_i[i]),
        .rsp_valid_o(rsp_valid_o[i]),
        .rsp_o      (rsp_o[i])
    );
  end

endmodule
