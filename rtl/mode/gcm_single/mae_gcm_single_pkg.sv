// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_single_pkg: defines the types and the GHASH terms of AES-GCM messages of one word (SP
// 800-38D §7). They are those of mae_gcm_single and mae_gcm_prefetch.

package mae_gcm_single_pkg;
  import mae_aes_pkg::*;
  import mae_ghash_pkg::*;

  typedef logic [95:0] gcm_beat_iv_t;
  typedef logic [63:0] gcm_beat_count_t;

  // A message. Byte 0 of a field is in its most significant bits; bytes beyond the lengths are
  // ignored. Words of 32, 64 and 128 bits have 4, 8 and 16 data bytes.
  typedef struct packed {
    ctx_t         ctx;         // returned with the result
    logic [5:0]   aad_bytes;   // 0..32
    logic [255:0] aad;
    logic [4:0]   data_bytes;  // 0..16
    block_t       data;
    logic [4:0]   tag_bytes;   // number of bytes of tag; decryption only
    block_t       tag;         // expected tag; decryption only
  } gcm_beat_msg_t;

  // Key, IV and direction of a message.
  typedef struct packed {
    dir_e         dir;
    key_len_e     len;
    key_t         key;
    gcm_beat_iv_t iv;
  } gcm_beat_key_t;

  // A stream of messages under one key: message n has the IV iv XOR n.
  typedef struct packed {
    dir_e            dir;
    key_len_e        len;
    key_t            key;
    gcm_beat_iv_t    iv;
    gcm_beat_count_t sequence_first;
  } gcm_beat_load_t;

  // The result. Decryption: ok is the verdict, data is 0 unless ok, and tag is 0.
  typedef struct packed {
    ctx_t   ctx;
    logic   ok;
    block_t data;
    block_t tag;
  } gcm_beat_rsp_t;

  // GHASH of a message of at most three blocks: h4 * H^4 ^ h3 * H^3 ^ h2 * H^2 ^ h1 * H.
  typedef struct packed {
    block_t h4;
    block_t h3;
    block_t h2;
    block_t h1;
  } gcm_beat_terms_t;

  // The inputs of mae_gcm_single_tag for a message.
  typedef struct packed {
    ctx_t       ctx;
    dir_e       dir;
    logic [4:0] tag_bytes;
    block_t     tag;
    block_t     mask;       // E(K, J0)
    block_t     text;       // output text
  } gcm_beat_end_t;

  // Ones in the first n bytes.
  function automatic block_t first_bytes(input logic [5:0] n);
    for (int unsigned k = 0; k < 16; k++) first_bytes[127-8*k-:8] = {8{k < 32'(n)}};
  endfunction

  // Terms of a message; text is the ciphertext. Blocks are right-aligned: without data the AAD
  // moves up.
  function automatic gcm_beat_terms_t gcm_beat_terms(
      input logic [255:0] aad, input logic [5:0] aad_bytes, input block_t text,
      input logic [4:0] text_bytes);
    block_t first, second;
    gcm_beat_terms_t terms;
    first    = aad[255:128] & first_bytes(aad_bytes);
    second   = aad[127:0] & first_bytes((aad_bytes > 6'd16) ? aad_bytes - 6'd16 : '0);
    terms    = '0;
    terms.h1 = {64'(aad_bytes) << 3, 64'(text_bytes) << 3};
    if (text_bytes != '0) begin
      terms.h2 = text & first_bytes({1'b0, text_bytes});
      if (aad_bytes > 6'd16) {terms.h4, terms.h3} = {first, second};
      else terms.h3 = first;
    end else begin
      if (aad_bytes > 6'd16) {terms.h3, terms.h2} = {first, second};
      else terms.h2 = first;
    end
    return terms;
  endfunction

  // Squaring in GF(2^128) is linear: the coefficient of x^i becomes that of x^(2 i).
  function automatic block_t ghash_square(input block_t a);
    logic [254:0] product;
    product = '0;
    for (int unsigned i = 0; i < 128; i++) product[2*i] = a[i];
    return ghash_reduce(product);
  endfunction

endpackage
