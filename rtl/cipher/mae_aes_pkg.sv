// SPDX-License-Identifier: Apache-2.0
//
// mae_aes_pkg: the types of AES (FIPS 197) and the contract of every block cipher here.
//
// Byte order: byte 0 of a block (FIPS 197 in0) is in bits 127:120; byte 0 of a key is in bits
// 255:248, so AES-128 uses key[255:128] and AES-192 key[255:64].
//
// The contract. mae_cipher_iter, mae_cipher_pipe and mae_cipher_lanes have the same ports:
//   key_*   a key for one of the banks. It is taken when no block of that bank is in flight.
//           From the next clock on encryption under it is taken; decryption Nr + 1 clocks after.
//   req_*   per lane a tagged block, direction and key bank. ready depends on the request's
//           direction and bank combinationally.
//   rsp_*   per lane the answer with its context, valid for one clock and never stalled: who asks
//           keeps a place for the answer (docs/adr/0002). Answers come in the order of requests.

package mae_aes_pkg;

  typedef logic [127:0] block_t;
  typedef logic [255:0] key_t;

  typedef enum logic [1:0] {
    Aes128 = 2'd0,
    Aes192 = 2'd1,
    Aes256 = 2'd2
  } key_len_e;

  typedef enum logic {
    Encrypt = 1'b0,
    Decrypt = 1'b1
  } dir_e;

  // Which directions a cipher or S-box is built for.
  typedef enum logic [1:0] {
    DirsEncrypt = 2'd1,
    DirsDecrypt = 2'd2,
    DirsBoth = 2'd3
  } dirs_e;

  // Implementations of the S-box: the FIPS 197 table; GF((2^4)^2) with the polynomials of P3;
  // the smallest published Boolean circuit; one with few gates one behind the other; one whose
  // wires seldom change.
  typedef enum logic [2:0] {
    SboxTable = 3'd0,
    SboxTower = 3'd1,
    SboxBoolean = 3'd2,
    SboxLowDepth = 3'd3,
    SboxOnehot = 3'd4
  } sbox_impl_e;

  localparam int unsigned MaxRounds = 14;
  localparam int unsigned CtxWidth = 8;
  localparam int unsigned BankWidth = 2;

  typedef logic [CtxWidth-1:0] ctx_t;
  typedef logic [BankWidth-1:0] bank_t;

  typedef struct packed {
    bank_t    bank;
    key_len_e len;
    key_t     key;
  } cipher_key_t;

  typedef struct packed {
    ctx_t   ctx;
    bank_t  bank;
    dir_e   dir;
    block_t block;
  } cipher_req_t;

  typedef struct packed {
    ctx_t   ctx;
    block_t block;
  } cipher_rsp_t;

  // Nr of FIPS 197 §5: 10, 12 or 14.
  function automatic logic [3:0] num_rounds(input key_len_e len);
    case (len)
      Aes128:  return 4'd10;
      Aes192:  return 4'd12;
      default: return 4'(MaxRounds);
    endcase
  endfunction

endpackage
