// SPDX-License-Identifier: Apache-2.0
//
// mae_auth_pkg: defines a job of an authenticated mode, and the state of a message between its
// jobs.

package mae_auth_pkg;
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;

  typedef enum logic [1:0] {
    AuthNone = 2'd0,  // a job of a mode without authentication
    AuthGcm  = 2'd1,  // SP 800-38D; without data: GMAC
    AuthCcm  = 2'd2,  // SP 800-38C
    AuthCmac = 2'd3   // SP 800-38B
  } auth_e;

  typedef logic [63:0] auth_bytes_t;

  // State of a message between jobs; nothing else is kept.
  typedef struct packed {
    block_t      iv;          // J0 of GCM, the counter block A0 of CCM
    block_t      hash;        // accumulator of GHASH or CBC-MAC
    auth_bytes_t aad_bytes;   // bytes so far
    auth_bytes_t data_bytes;
  } auth_state_t;

  typedef struct packed {
    logic iv;
    logic hash;
    logic aad_bytes;
    logic data_bytes;
  } auth_write_t;

  typedef struct packed {
    auth_e       auth;
    phase_e      phase;
    logic        final_job;
    logic [31:0] length;
    logic [4:0]  tag_bytes;  // bytes of tag to compare; in a final decryption
    block_t      tag;
    mode_cfg_t   cfg;        // AuthNone: all fields; otherwise dir, init and key_slot
  } auth_job_t;

  // A block in flight.
  typedef struct packed {
    logic       last;
    logic [4:0] bytes;
    block_t     data;
  } auth_row_t;

  // Ones in the first n bytes, n up to 16.
  function automatic block_t auth_mask(input logic [4:0] n);
    return n[4] ? '1 : first_bytes(n[3:0]);
  endfunction

  // Doubling in CMAC's field, SP 800-38B §6.1: here the leftmost bit is the highest power.
  function automatic block_t cmac_double(input block_t a);
    return {a[126:0], 1'b0} ^ (a[127] ? 128'h87 : 128'h0);
  endfunction

  // The last block of a CMAC: a full block uses the first subkey, a padded one the second (§6.2).
  function automatic block_t cmac_last(input block_t zero, input block_t data,
                                       input logic [4:0] bytes);
    block_t key_1;
    key_1 = cmac_double(zero);
    return bytes[4] ? data ^ key_1 : data ^ ({1'b1, 127'h0} >> {bytes[3:0], 3'b000}) ^ cmac_double(
        key_1
    );
  endfunction

endpackage
