// SPDX-License-Identifier: Apache-2.0
//
// mae_round_key_mem: stores the round keys of KeyBanks AES keys and outputs all of them at once.
// They are computed by one mae_key_expand and serve simultaneous encryption and decryption.
//
// One key expansion runs at a time. A key waits (key_ready_o low) until no block of its bank is in
// flight; from the clock in which it is offered, no new block of that bank is accepted
// (enc_ready_o, dec_ready_o low), so it waits at most one cipher latency. used_i[b] tells that a
// block of bank b enters in this clock; its last round key is read Nr * RoundClocks clocks later.
// Because no pipeline here ever stalls, a timer knows whether a bank is in use. key_ready_o depends
// combinationally on key_i.bank.
// Latency: after a key was accepted in clock t, its bank serves encryption from t + 1 on (round key
// i is written in clock t + i * StepClocks, just before the first block can need it) and decryption
// from t + Nr * StepClocks + 1 on.
// Throughput: one key in Nr * StepClocks + 1 clocks.
// Reset and clear: clear_i erases keys, key schedule and bank states by the next clock, and the
// registers inside the S-boxes StepClocks - 1 clocks later.
// Parameters: RoundClocks is the number of clocks that a block spends in a round, StepClocks the
// number of clocks for a round key. Legal: KeyBanks 1..4; MaxKeyLen any of key_len_e; RoundClocks
// 1..3; StepClocks 1..RoundClocks; Sbox any of sbox_impl_e.
// Security: constant-time; no masking.
// Source: Kale et al., section 2.1 (key_mem); Dong et al. (one key expansion for all cores).

`include "mae_assert.svh"

module mae_round_key_mem
  import mae_aes_pkg::*;
#(
    parameter int unsigned KeyBanks = 2,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter int unsigned RoundClocks = 1,
    parameter int unsigned StepClocks = 1,
    parameter sbox_impl_e Sbox = SboxTable,
    localparam int unsigned Rounds = 10 + 2 * int'(MaxKeyLen)
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic                       clear_i,
    input  logic                       key_valid_i,
    output logic                       key_ready_o,
    input  cipher_key_t                key_i,
    input  logic        [KeyBanks-1:0] used_i,
    output logic        [KeyBanks-1:0] enc_ready_o,
    output logic        [KeyBanks-1:0] dec_ready_o,
    output key_len_e                   len_o      [KeyBanks],
    output block_t                     keys_o     [KeyBanks][Rounds+1]
);

  `MAE_PARAM(KeyBanksLegal, KeyBanks inside {[1 : 4]})
  `MAE_PARAM(RoundClocksLegal, RoundClocks inside {[1 : 3]})
  `MAE_PARAM(StepClocksLegal, StepClocks inside {[1 : RoundClocks]})

  localparam int unsigned TimerWidth = $clog2(MaxRounds * RoundClocks);
  typedef logic [TimerWidth-1:0] timer_t;

  logic [KeyBanks-1:0] begun_q;  // round key 0 is stored and the others follow
  logic [KeyBanks-1:0] whole_q;
  timer_t [KeyBanks-1:0] timer_q;
  logic [KeyBanks-1:0] in_use_q;  // the bank's timer is not 0
  // used_i arrives late and from all lanes, so the timer starts one clock later
  logic [KeyBanks-1:0] used_q;
  logic [Rounds:0] slot_q;  // destination of the next round key, one-hot
  bank_t bank_q;  // bank of the running expansion
  key_len_e len_q[KeyBanks];
  block_t keys_q[KeyBanks][Rounds+1];

  logic [KeyBanks-1:0] offered;
  always_comb begin
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      offered[b] = key_valid_i && key_i.bank == bank_t'(b);
    end
  end
  assign enc_ready_o = clear_i ? '0 : begun_q & ~offered;
  assign dec_ready_o = clear_i ? '0 : whole_q & ~offered;
  assign len_o       = len_q;
  assign keys_o      = keys_q;

  logic expand_ready, round_valid, last, take;
  block_t step_key, unused_key;
  assign take        = |(offered & ~(in_use_q | used_q)) && !clear_i;
  assign key_ready_o = take && expand_ready;

  logic [3:0] unused_index;
  key_t unused_end;
  mae_key_expand #(
      .MaxKeyLen (MaxKeyLen),
      .Backward  (1'b0),
      .Sbox      (Sbox),
      .StepClocks(StepClocks)
  ) u_expand (
      .clk_i,
      .rst_ni,
      .clear_i,
      .start_valid_i(take),
      .start_ready_o(expand_ready),
      .dir_i        (Encrypt),
      .len_i        (key_i.len),
      .key_i        (key_i.key),
      .round_valid_o(round_valid),
      .round_index_o(unused_index),
      .round_key_o  (unused_key),
      .step_key_o   (step_key),
      .last_o       (last),
      .end_o        (unused_end)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q  <= '0;
      whole_q  <= '0;
      timer_q  <= '0;
      in_use_q <= '0;
      used_q   <= '0;
      slot_q   <= '0;
      bank_q   <= '0;
      for (int unsigned b = 0; b < KeyBanks; b++) begin
        len_q[b] <= Aes128;
        for (int unsigned i = 0; i <= Rounds; i++) keys_q[b][i] <= '0;
      end
    end else if (clear_i) begin
      begun_q  <= '0;
      whole_q  <= '0;
      timer_q  <= '0;
      in_use_q <= '0;
      used_q   <= '0;
      slot_q   <= '0;
      bank_q   <= '0;
      for (int unsigned b = 0; b < KeyBanks; b++) begin
        len_q[b] <= Aes128;
        for (int unsigned i = 0; i <= Rounds; i++) keys_q[b][i] <= '0;
      end
    end else begin
      used_q <= used_i;
      if (key_ready_o) bank_q <= key_i.bank;
      if (key_ready_o) slot_q <= (Rounds + 1)'(2);
      else if (round_valid) slot_q <= last ? '0 : slot_q << 1;
      for (int unsigned b = 0; b < KeyBanks; b++) begin
        if (used_q[b]) begin
          timer_q[b]  <= timer_t'(32'(num_rounds(len_q[b])) * RoundClocks - 2);
          in_use_q[b] <= 1'b1;
        end else if (in_use_q[b]) begin
          timer_q[b]  <= timer_q[b] - timer_t'(1);
          in_use_q[b] <= timer_q[b] != timer_t'(1);
        end

        if (key_ready_o && offered[b]) begin
          begun_q[b] <= 1'b1;
          whole_q[b] <= 1'b0;
          len_q[b]   <= (MaxKeyLen == Aes128) ? Aes128 : key_i.len;
        end
        if (key_ready_o && offered[b]) keys_q[b][0] <= key_i.key[255:128];
        // Written in every clock of a step, so that the enable is a register; the last write
        // counts.
        if (bank_q == bank_t'(b)) begin
          if (last) whole_q[b] <= 1'b1;
          for (int unsigned i = 1; i <= Rounds; i++) begin
            if (slot_q[i]) keys_q[b][i] <= step_key;
          end
        end
      end
    end
  end

  `MAE_ASSERT(BankExists, !key_valid_i || 32'(key_i.bank) < KeyBanks)
  `MAE_ASSERT(KeyLength, !key_valid_i || key_i.len <= MaxKeyLen)
  `MAE_ASSERT(UsedWhenReady, (used_i & ~begun_q) == '0)

endmodule
