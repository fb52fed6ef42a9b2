// SPDX-License-Identifier: Apache-2.0
//
// mae_aes_pkg: defines the types of AES (FIPS 197) and the interface of every block cipher core.
//
// Byte order: byte 0 of a block (in0 of FIPS 197) is in bits 127:120; byte 0 of a key is in bits
// 255:248, so AES-128 uses key[255:128] and AES-192 uses key[255:64].
//
// Interface. mae_cipher_iter, mae_cipher_pipe and mae_cipher_lanes have the same ports:
//  key_*  a key for one of the banks. It is accepted when no block of that bank is in flight.
//         Encryption under it is accepted from the next clock on, decryption Nr + 1 clocks later.
//  req_*  for each lane a block with context, direction and key bank. Ready depends
//         combinationally on the request's direction and bank.
//  rsp_*  for each lane the result with the request's context, valid for one clock. It cannot be
//         stalled: send a request only when its result can be accepted (docs/adr/0002). Results
//         come in the order of the requests.

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

  // Directions that a cipher or an S-box supports.
  typedef enum logic [1:0] {
    DirsEncrypt = 2'd1,
    DirsDecrypt = 2'd2,
    DirsBoth = 2'd3
  } dirs_e;

  // Implementations of the S-box: the table of FIPS 197; inversion in GF((2^4)^2) with the
  // polynomials of Kale et al.; the smallest published Boolean circuit; a low-depth Boolean circuit;
  // a one-hot circuit with few signal transitions; the table of FIPS 197 by output bits, for LUTs.
  typedef enum logic [2:0] {
    SboxTable = 3'd0,
    SboxTower = 3'd1,
    SboxBoolean = 3'd2,
    SboxLowDepth = 3'd3,
    SboxOnehot = 3'd4,
    SboxLut = 3'd5
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

  // Number of rounds, Nr of FIPS 197 §5: 10, 12 or 14.
  function automatic logic [3:0] num_rounds(input key_len_e len);
    case (len)
      Aes128:  return 4'd10;
      Aes192:  return 4'd12;
      default: return 4'(MaxRounds);
    endcase
  endfunction

endpackage
