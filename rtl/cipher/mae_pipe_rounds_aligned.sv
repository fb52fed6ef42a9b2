// SPDX-License-Identifier: Apache-2.0
//
// mae_pipe_rounds_aligned: encrypts AES blocks in one unrolled pipeline that has few glitches, for
// little energy in standard cells.
//
// The registers stand behind the S-boxes, whose outputs come at many times, and not behind
// AddRoundKey. So all bits that MixColumns and AddRoundKey add change together, and these are
// written as three exclusive-ors, one behind the other, for every bit, some of them with a constant
// 0; that keeps their results together until the next S-boxes. Mapping must keep them as written
// (mae_preserved_xor).
//
// Requests and results: see the interface in mae_aes_pkg; bank 0 and encryption alone are ever
// ready, and req_ready_o depends combinationally on both. Round keys come from an external key
// memory, which says by ready_i that all are there; used_o tells that a block enters in this clock.
// Latency: Nr clocks from request to result, and an exclusive-or behind the last register.
// Throughput: one block a clock.
// Reset and clear: clear_i removes all blocks by the next clock. The data registers have neither
// reset nor clear: zeros enter where no block enters, and the data left by clear_i or reset are
// shifted out in Nr clocks. rsp_o is 0 while rsp_valid_o is low.
// Parameters: KeyLen is the length of all keys. CtxBits is the number of context bits that are
// returned; the others are 0. Legal: KeyLen any of key_len_e; Sbox any of sbox_impl_e; CtxBits
// 0..8.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1.

`include "mae_assert.svh"

module mae_pipe_rounds_aligned
  import mae_aes_pkg::*;
#(
    parameter key_len_e KeyLen = Aes128,
    parameter sbox_impl_e Sbox = SboxOnehot,
    parameter int unsigned CtxBits = 0,
    localparam int unsigned Rounds = 10 + 2 * int'(KeyLen)
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        clear_i,
    input  logic        ready_i,
    input  block_t      keys_i     [Rounds+1],
    output logic        used_o,
    input  logic        req_valid_i,
    output logic        req_ready_o,
    input  cipher_req_t req_i,
    output logic        rsp_valid_o,
    output cipher_rsp_t rsp_o
);
  import mae_round_pkg::*;

  `MAE_PARAM(CtxBitsLegal, CtxBits <= CtxWidth)

  localparam ctx_t CtxMask = ctx_t'((1 << CtxBits) - 1);

  ctx_t ctx_q [Rounds+1];
  logic enter;
  assign req_ready_o = ready_i && req_i.bank == '0 && req_i.dir == Encrypt;
  assign enter       = req_valid_i && req_ready_o;
  assign used_o      = enter;

  logic [Rounds:1] valid_q;  // valid_q[r]: round r of a block has been done
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (clear_i) valid_q <= '0;
    else valid_q <= {valid_q[Rounds-1:1], enter};
  end
  always_comb ctx_q[0] = req_i.ctx & CtxMask;
  always_ff @(posedge clk_i) begin
    for (int unsigned r = 1; r <= Rounds; r++) ctx_q[r] <= ctx_q[r-1];
  end

  block_t state_q[Rounds+1];  // behind ShiftRows of a round
  always_comb state_q[0] = enter ? req_i.block : '0;
  for (genvar r = 1; r <= Rounds; r++) begin : gen_round
    block_t keyed, substituted;
    if (r == 1) begin : gen_first
      assign keyed = state_q[0] ^ keys_i[0];
    end else begin : gen_mix
      // MixColumns, §5.1.3, as in mae_round_pkg: a row is 2 (a[i] + a[i+1]) + a[i+1] + a[i+2] +
      // a[i+3]. One level of exclusive-ors is in each of these lines, or two that go beside.
      block_t next, sum, doubled, carried, opposite;
      block_t near, far, next_keyed;
      always_comb begin
        for (int unsigned c = 0; c < 4; c++) begin
          next[32*c+:32]     = {state_q[r-1][32*c+:24], state_q[r-1][32*c+24+:8]};
          opposite[32*c+:32] = {sum[32*c+:16], sum[32*c+16+:16]};
          for (int unsigned b = 0; b < 4; b++) begin
            doubled[32*c+8*b+:8] = {sum[32*c+8*b+:7], 1'b0};
            carried[32*c+8*b+:8] = sum[32*c+8*b+7] ? 8'h1b : 8'h00;
          end
        end
      end
      mae_preserved_xor #(
          .Width(128)
      ) u_sum (
          .choose_i(1'b0),
          .other_i ('0),
          .terms_i ({state_q[r-1], next}),
          .add_i   ('0),
          .out_o   (sum)
      );
      mae_preserved_xor #(
          .Width(128)
      ) u_key (
          .choose_i(1'b0),
          .other_i ('0),
          .terms_i ({next, keys_i[r-1]}),
          .add_i   ('0),
          .out_o   (next_keyed)
      );
      mae_preserved_xor #(
          .Width(128)
      ) u_far (
          .choose_i(1'b0),
          .other_i ('0),
          .terms_i ({doubled, opposite}),
          .add_i   ('0),
          .out_o   (far)
      );
      mae_preserved_xor #(
          .Width(128)
      ) u_near (
          .choose_i(1'b0),
          .other_i ('0),
          .terms_i ({next_keyed, carried}),
          .add_i   ('0),
          .out_o   (near)
      );
      mae_preserved_xor #(
          .Width(128)
      ) u_all (
          .choose_i(1'b0),
          .other_i ('0),
          .terms_i ({far, near}),
          .add_i   ('0),
          .out_o   (keyed)
      );
    end
    mae_sub_bytes #(
        .Kind (DirsEncrypt),
        .Impl (Sbox),
        .Regs (0),
        .Bytes(16)
    ) u_sub (
        .clk_i,
        .rst_ni   (1'b1),
        .en_i     (1'b1),
        .inverse_i(1'b0),
        .in_i     (keyed),
        .out_o    (substituted)
    );
    always_ff @(posedge clk_i) state_q[r] <= shift_rows(substituted);
  end

  assign rsp_valid_o = valid_q[Rounds];
  always_comb begin
    rsp_o = '0;
    if (rsp_valid_o) rsp_o = '{ctx: ctx_q[Rounds], block: state_q[Rounds] ^ keys_i[Rounds]};
  end

endmodule
