// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_pkg: defines the types of GCM messages and results (SP 800-38D §7).

package mae_gcm_pkg;
  import mae_aes_pkg::*;

  localparam int unsigned LengthWidth = 36;
  typedef logic [LengthWidth-1:0] gcm_length_t;  // in bytes; data at most 2^36 - 32 (§5.2.1.1)

  // A message, announced before its beats. An IV of 12 bytes is in this struct; any other IV, of
  // iv_bytes >= 1, comes as the first beats of the message.
  typedef struct packed {
    bank_t       bank;
    dir_e        dir;
    logic [95:0] iv;
    gcm_length_t iv_bytes;
    gcm_length_t aad_bytes;
    gcm_length_t data_bytes;
    logic [4:0]  tag_bytes;   // number of bytes of tag; decryption only
    block_t      tag;         // expected tag, from byte 0 on; decryption only
  } gcm_msg_t;

  // The fields for the keystream.
  typedef struct packed {
    bank_t       bank;
    logic        iv_hashed;
    logic [95:0] iv;
    gcm_length_t data_bytes;
    logic        no_rows;
    logic        one_row;     // the message has at most one row
  } gcm_counter_t;

  // The fields for the beats: iv_bytes is 0 for an IV that is not hashed.
  typedef struct packed {
    bank_t       bank;
    dir_e        dir;
    gcm_length_t iv_bytes;
    gcm_length_t aad_bytes;
    gcm_length_t data_bytes;
  } gcm_parts_t;

  // The fields for the end of the message.
  typedef struct packed {
    bank_t      bank;
    dir_e       dir;
    logic       has_beats;
    logic       empty;      // the tag is the mask alone
    logic [4:0] tag_bytes;
    block_t     tag;
  } gcm_end_t;

  // Result of a message. ok: the beats had the announced lengths and, in decryption, the tag is
  // right. Decryption never outputs the tag that would have been right.
  typedef struct packed {
    logic   ok;
    block_t tag;
  } gcm_verdict_t;

endpackage
