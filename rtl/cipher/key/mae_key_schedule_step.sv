// SPDX-License-Identifier: Apache-2.0
//
// mae_key_schedule_step: computes one step of the AES key schedule, for pipelines in which every
// block has its own key.
//
// A window is the words of the key schedule from word 4i on, as many as the key has, the first one
// in bits 255:224; its first four words are round key i. window_i belongs to round Step - 1,
// window_o to round Step; the window of round 0 is the key. One S-box word (4 S-boxes).
// Latency: 0 clocks (combinational).
// Throughput: one step a clock.
// Parameters: Legal: Step 1..14 (the output of steps above Nr of len_i is not meaningful);
// MaxKeyLen any of key_len_e, len_i at most MaxKeyLen; Sbox any of sbox_impl_e. window_o is not
// meaningful while valid_i is low.
// Security: constant-time (the key length is not secret); no masking.
// Source: FIPS 197 §5.2; Ghosh et al., figure 8.

`include "mae_assert.svh"

module mae_key_schedule_step
  import mae_aes_pkg::*;
#(
    parameter int unsigned Step      = 1,
    parameter key_len_e    MaxKeyLen = Aes256,
    parameter sbox_impl_e  Sbox      = SboxTable
) (
    input  logic     clk_i,
    input  logic     rst_ni,
    input  logic     valid_i,
    input  key_len_e len_i,
    input  key_t     window_i,
    output key_t     window_o
);

  `MAE_PARAM(StepLegal, Step inside {[1 : 14]})

  typedef logic [31:0] word_t;

  // Round constant of the n-th RotWord, counted from 1.
  function automatic logic [7:0] rcon(input int unsigned n);
    logic [7:0] value;
    value = 8'h01;
    for (int unsigned i = 1; i < n; i++) value = {value[6:0], 1'b0} ^ (value[7] ? 8'h1b : 8'h00);
    return value;
  endfunction

  // Position of a step in the pattern of its key length: AES-192 repeats after three steps, AES-256
  // after two. The round constants count the RotWords so far, this step included.
  localparam int unsigned Phase192 = (Step - 1) % 3;
  localparam bit Rotates256 = Step % 2 == 1;
  localparam logic [7:0] Rcon128 = rcon(Step);
  localparam logic [7:0] Rcon192 = rcon(2 * ((Step - 1) / 3) + Phase192 + 1);
  localparam logic [7:0] Rcon256 = rcon((Step + 1) / 2);

  // Signals that this configuration does not need are constants.
  key_len_e len;
  always_comb begin
    len = Aes128;
    if (MaxKeyLen != Aes128 && len_i == Aes192) len = Aes192;
    if (MaxKeyLen == Aes256 && len_i == Aes256) len = Aes256;
  end

  word_t [7:0] w;  // word 0 is the first in the schedule
  always_comb for (int unsigned i = 0; i < 8; i++) w[i] = window_i[32*(7-i)+:32];

  // The word that goes through the S-boxes: the last word of the window or, in AES-192, the one two
  // places after it.
  word_t tail, chosen, substituted, sub;
  logic rotates;
  logic [7:0] constant;
  always_comb begin
    case (len)
      Aes128:  tail = w[3];
      Aes192:  tail = w[5];
      default: tail = w[7];
    endcase
    chosen   = tail;
    rotates  = 1'b1;
    constant = Rcon128;
    if (len == Aes192) begin
      if (Phase192 == 1) chosen = w[1] ^ w[0] ^ tail;
      rotates  = Phase192 != 2;
      constant = Rcon192;
    end else if (len == Aes256) begin
      rotates  = Rotates256;
      constant = Rcon256;
    end
  end

  mae_sbox #(
      .Kind (DirsEncrypt),
      .Impl (Sbox),
      .Regs (0),
      .Bytes(4)
  ) u_sbox (
      .clk_i,
      .rst_ni,
      .en_i     (valid_i),
      .inverse_i(1'b0),
      .in_i     (rotates ? {chosen[23:0], chosen[31:24]} : chosen),
      .out_o    (substituted)
  );
  assign sub = substituted ^ {rotates ? constant : 8'h00, 24'h000000};

  // The four words that follow the window.
  word_t [3:0] made;
  always_comb begin
    made[0] = w[0] ^ ((len == Aes192 && Phase192 != 0) ? tail : sub);
    made[1] = w[1] ^ made[0];
    made[2] = w[2] ^ ((len == Aes192 && Phase192 == 1) ? sub : made[1]);
    made[3] = w[3] ^ made[2];
    case (len)
      Aes128:  window_o = {made[0], made[1], made[2], made[3], 128'd0};
      Aes192:  window_o = {w[4], w[5], made[0], made[1], made[2], made[3], 64'd0};
      default: window_o = {w[4], w[5], w[6], w[7], made[0], made[1], made[2], made[3]};
    endcase
  end

  `MAE_ASSERT(LegalLength, !valid_i || len_i <= MaxKeyLen)

endmodule
