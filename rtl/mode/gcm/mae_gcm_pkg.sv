// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_pkg: what a message is to the GCM engine, and what it gives back (SP 800-38D §7).

package mae_gcm_pkg;
  import mae_aes_pkg::*;

  localparam int unsigned LengthWidth = 36;
  typedef logic [LengthWidth-1:0] gcm_length_t;  // bytes; data at most 2^36 - 32 (§5.2.1.1)

  // A message, announced before its beats. An IV of 12 bytes stands here; any other one, of
  // iv_bytes >= 1, comes as the first beats of the message.
  typedef struct packed {
    bank_t       bank;
    dir_e        dir;
    logic [95:0] iv;
    gcm_length_t iv_bytes;
    gcm_length_t aad_bytes;
    gcm_length_t data_bytes;
    logic [4:0]  tag_bytes;   // of tag; decryption only
    block_t      tag;         // to compare with, from byte 0 on; decryption only
  } gcm_msg_t;

  // What the keystream needs of it.
  typedef struct packed {
    bank_t       bank;
    logic        iv_hashed;
    logic [95:0] iv;
    gcm_length_t data_bytes;
    logic        no_rows;
    logic        one_row;     // at most
  } gcm_counter_t;

  // What its beats need of it: iv_bytes is 0 for an IV that is not hashed.
  typedef struct packed {
    bank_t       bank;
    dir_e        dir;
    gcm_length_t iv_bytes;
    gcm_length_t aad_bytes;
    gcm_length_t data_bytes;
  } gcm_parts_t;

  // What its end needs of it.
  typedef struct packed {
    bank_t      bank;
    dir_e       dir;
    logic       has_beats;
    logic       empty;      // the tag is the mask alone
    logic [4:0] tag_bytes;
    block_t     tag;
  } gcm_end_t;

  // The end of a message. ok: its beats had the announced lengths, and in decryption the tag is
  // right. Decryption does not give the tag that would have been right.
  typedef struct packed {
    logic   ok;
    block_t tag;
  } gcm_verdict_t;

endpackage
