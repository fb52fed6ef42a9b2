// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_single: encrypts and decrypts AES-GCM messages of one word, each with its own key, 96-bit
// IV and direction. A message has 0 to 16 bytes, with up to 32 bytes of AAD.
//
// No backpressure: a message is accepted in the clock in which it is offered; its result is valid
// for one clock, from a register. A user that cannot always accept a result limits the number of
// messages in progress (docs/adr/0002). Encryption outputs ciphertext and tag; decryption outputs
// the verdict, the plaintext only if the verdict is good, and no tag. Bytes beyond the lengths are
// 0 in the result. Three blocks, 0, J0 and J0 + 1, pass the rounds beside the key schedule. With H:
// GHASH = (h4 * H^2 ^ h2) * H^2 ^ (h3 * H^2 ^ h1) * H, two products and then two products; H^2 is a
// linear map of H.
// Latency: Nr + 6 clocks with the Nr of MaxKeyLen (Aes128: 16), for every message and key length.
// Throughput: one message a clock, without any key loading.
// Reset and clear: both erase all messages by the next clock.
// Parameters: Legal: MaxKeyLen any of key_len_e, key_i.len at most MaxKeyLen; Sbox any of
// sbox_impl_e. A tag of 0 bytes is refused.
// Security: constant-time, the verdict too; no masking.
// Source: SP 800-38D §7; Ghosh et al., section 4.2 and figure 8.

`include "mae_assert.svh"

module mae_gcm_single
  import mae_aes_pkg::*;
  import mae_gcm_single_pkg::*;
#(
    parameter key_len_e   MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox      = SboxTable
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          clear_i,
    input  logic          req_valid_i,
    input  gcm_beat_key_t key_i,
    input  gcm_beat_msg_t msg_i,
    output logic          rsp_valid_o,
    output gcm_beat_rsp_t rsp_o
);

  // ---- H, E(K, J0) and the keystream, in clock Nr + 1.
  typedef struct packed {
    dir_e          dir;
    gcm_beat_msg_t msg;
  } user_t;
  user_t user_in, user;
  logic valid;
  block_t [2:0] blocks;
  block_t h, h2, mask, text;
  assign user_in = '{dir: key_i.dir, msg: msg_i};

  mae_per_block_key_rounds #(
      .Blocks   (3),
      .UserWidth($bits(user_t)),
      .MaxKeyLen(MaxKeyLen),
      .Sbox     (Sbox)
  ) u_rounds (
      .clk_i,
      .rst_ni,
      .clear_i,
      .valid_i (req_valid_i),
      .len_i   (key_i.len),
      .key_i   (key_i.key),
      .blocks_i({128'd0, key_i.iv, 32'd1, key_i.iv, 32'd2}),
      .user_i  (user_in),
      .valid_o (valid),
      .blocks_o(blocks),
      .user_o  (user)
  );
  assign h    = blocks[2];
  assign h2   = ghash_square(h);
  assign mask = blocks[1];
  assign text = (user.msg.data ^ blocks[0]) & first_bytes({1'b0, user.msg.data_bytes});

  gcm_beat_terms_t terms;
  assign terms = gcm_beat_terms(
      user.msg.aad,
      user.msg.aad_bytes,
      (user.dir == Encrypt) ? text : user.msg.data,
      user.msg.data_bytes
  );

  // ---- The inner products, in clocks Nr + 1 and Nr + 2.
  typedef struct packed {
    logic          valid;
    block_t        h;
    block_t        h2;
    block_t        to_h2;  // factor of the outer H^2, without the term h4 * H^2
    block_t        to_h;
    gcm_beat_end_t rest;
  } inner_t;
  inner_t inner_q, outer_q;
  logic   [1:0] unused_valid;
  block_t [1:0] product;

  mae_gf128_mul #(
      .OutReg(1'b0)
  ) u_mul_h4 (
      .clk_i,
      .rst_ni,
      .clear_i,
      .valid_i  (valid),
      .a_i      (terms.h4),
      .b_i      (h2),
      .valid_o  (unused_valid[0]),
      .product_o(product[0])
  );
  mae_gf128_mul #(
      .OutReg(1'b0)
  ) u_mul_h3 (
      .clk_i,
      .rst_ni,
      .clear_i,
      .valid_i  (valid),
      .a_i      (terms.h3),
      .b_i      (h2),
      .valid_o  (unused_valid[1]),
      .product_o(product[1])
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inner_q <= '0;
      outer_q <= '0;
    end else if (clear_i) begin
      inner_q <= '0;
      outer_q <= '0;
    end else begin
      inner_q <= '0;
      if (valid) begin
        inner_q <= '{
            valid: 1'b1,
            h: h,
            h2: h2,
            to_h2: terms.h2,
            to_h: terms.h1,
            rest: '{
                ctx: user.msg.ctx,
                dir: user.dir,
                tag_bytes: user.msg.tag_bytes,
                tag: user.msg.tag,
                mask: mask,
                text: text
            }
        };
      end
      outer_q       <= inner_q;
      outer_q.to_h2 <= inner_q.to_h2 ^ product[0];
      outer_q.to_h  <= inner_q.to_h ^ product[1];
    end
  end

  // ---- The outer products, the tag and the verdict, from clock Nr + 3 on.
  mae_gcm_single_tag #(
      .Terms(2)
  ) u_tag (
      .clk_i,
      .rst_ni,
      .clear_i,
      .valid_i(outer_q.valid),
      .a_i    ({outer_q.to_h2, outer_q.to_h}),
      .b_i    ({outer_q.h2, outer_q.h}),
      .end_i  (outer_q.rest),
      .rsp_valid_o,
      .rsp_o
  );

  `MAE_ASSERT(LegalLength, !req_valid_i || key_i.len <= MaxKeyLen)
  `MAE_ASSERT(LegalWord, !req_valid_i || (msg_i.aad_bytes <= 6'd32 && msg_i.data_bytes <= 5'd16))

endmodule
