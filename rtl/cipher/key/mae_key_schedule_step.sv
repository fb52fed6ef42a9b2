// SPDX-License-Identifier: Apache-2.0
//
// mae_key_schedule_step: one step of the key schedule for a pipeline in which every block has its
// own key.
//
// Latency: 0, combinational. Throughput: one step a clock. One S-box word (4 S-boxes).
// A window is the words of the key schedule from word 4i on, the first in bits 255:224, as many as
// the key has; its first four words are round key i. window_i is that of round Step - 1, window_o
// that of round Step; the window of round 0 is the key.
// Legal: Step 1..14 (steps above Nr of len_i give nothing of use); MaxKeyLen any of key_len_e,
// len_i not above it; Sbox any of sbox_impl_e. window_o is without meaning while valid_i is low.
// Source: FIPS 197 §5.2; P0 Figure 8. Constant-time: yes (the length is not secret). Masked: no.

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

  // The round constant that goes with rotation n, counted from 1.
  function automatic logic [7:0] rcon(input int unsigned n);
    logic [7:0] value;
    value = 8'h01;
    for (int unsigned i = 1; i < n; i++) value = {value[6:0], 1'b0} ^ (value[7] ? 8'h1b : 8'h00);
    return value;
  endfunction

  // Where a step stands in its length's pattern: AES-192 repeats after three steps, AES-256 after
  // two. Rotations so far, this step included.
  localparam int unsigned Phase192 = (Step - 1) % 3;
  localparam bit Rotates256 = Step % 2 == 1;
  localparam logic [7:0] Rcon128 = rcon(Step);
  localparam logic [7:0] Rcon192 = rcon(2 * ((Step - 1) / 3) + Phase192 + 1);
  localparam logic [7:0] Rcon256 = rcon((Step + 1) / 2);

  // What a build cannot need is a constant in it.
  key_len_e len;
  always_comb begin
    len = Aes128;
    if (MaxKeyLen != Aes128 && len_i == Aes192) len = Aes192;
    if (MaxKeyLen == Aes256 && len_i == Aes256) len = Aes256;
  end

  word_t [7:0] w;  // word 0 is the earliest
  always_comb for (int unsigned i = 0; i < 8; i++) w[i] = window_i[32*(7-i)+:32];

  // The word that goes through the S-boxes: the last of the window, or in AES-192 the one that
  // stands two places after it.
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

  // The four words behind the window.
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
