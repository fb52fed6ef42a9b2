// SPDX-License-Identifier: Apache-2.0
//
// mae_round_pkg: the linear steps of an AES round as functions; with mae_sbox that is all of AES.
//
//   encrypt  state = AddRoundKey(MixColumns(ShiftRows(SubBytes(state))))            FIPS 197 §5.1
//   decrypt  state = InvMixColumns(AddRoundKey(InvShiftRows(InvSubBytes(state))))   FIPS 197 §5.3
//   The last round has no (Inv)MixColumns. SubBytes works byte by byte, so it may change places
//   with ShiftRows: both directions are an S-box, a permutation of bytes and a linear map.
//
// The state is 16 bytes in columns of four: byte 0 (row 0, column 0) in bits 127:120. A column is a
// 32-bit word with row 0 in its top byte.

package mae_round_pkg;
  import mae_aes_pkg::*;

  typedef logic [31:0] column_t;

  // Column 0..3 of a state.
  function automatic column_t column(input block_t state, input int unsigned c);
    return state[32*(3-c)+:32];
  endfunction

  // Bytes of a column up by one or two rows.
  function automatic column_t rot8(input column_t w);
    return {w[23:0], w[31:24]};
  endfunction

  function automatic column_t rot16(input column_t w);
    return {w[15:0], w[31:16]};
  endfunction

  // Times x in GF(2^8), FIPS 197 §4.2.1, all four bytes of a column at once: shift left, and add
  // x^4 + x^3 + x + 1 to those bytes whose top bit falls out.
  function automatic column_t xtime(input column_t w);
    column_t top;
    top = (w >> 7) & 32'h01010101;
    return ((w << 1) & 32'hfefefefe) ^ (top << 4) ^ (top << 3) ^ (top << 1) ^ top;
  endfunction

  // MixColumns of one column, §5.1.3: row i becomes 2 a[i] + 3 a[i+1] + a[i+2] + a[i+3], which is
  // 2 (a[i] + a[i+1]) + a[i+1] + (a[i+2] + a[i+3]).
  function automatic column_t mix_column(input column_t a);
    column_t sum;
    sum = a ^ rot8(a);
    return xtime(sum) ^ rot8(a) ^ rot16(sum);
  endfunction

  // InvMixColumns is MixColumns after this: {0b,0d,09,0e} = {03,01,01,02} * {00,04,00,05}, §5.3.3.
  function automatic column_t inv_mix_prepare(input column_t a);
    return a ^ xtime(xtime(a ^ rot16(a)));
  endfunction

  // The byte in row r of column c, counted modulo 4.
  function automatic logic [7:0] state_byte(input block_t state, input int unsigned r,
                                            input int unsigned c);
    return state[8*(15-4*(c%4)-r)+:8];
  endfunction

  // Column c after ShiftRows, §5.1.2 (row r moves left by r columns) or InvShiftRows, §5.3.1
  // (right). Rows 0 and 2 move alike in both.
  function automatic column_t shifted_column(input block_t state, input dir_e dir,
                                             input int unsigned c);
    return {
      state_byte(state, 0, c),
      (dir == Encrypt) ? state_byte(state, 1, c + 1) : state_byte(state, 1, c + 3),
      state_byte(state, 2, c + 2),
      (dir == Encrypt) ? state_byte(state, 3, c + 3) : state_byte(state, 3, c + 1)
    };
  endfunction

  // What follows SubBytes or InvSubBytes in one column of a round.
  function automatic column_t round_column(input block_t state, input block_t key, input dir_e dir,
                                           input logic last, input int unsigned c);
    column_t s, k, mixed;
    s = shifted_column(state, dir, c);
    k = column(key, c);
    if (last) return s ^ k;
    mixed = mix_column((dir == Encrypt) ? s : inv_mix_prepare(s ^ k));
    return (dir == Encrypt) ? mixed ^ k : mixed;
  endfunction

  function automatic block_t round_linear(input block_t state, input block_t key, input dir_e dir,
                                          input logic last);
    return {
      round_column(state, key, dir, last, 0),
      round_column(state, key, dir, last, 1),
      round_column(state, key, dir, last, 2),
      round_column(state, key, dir, last, 3)
    };
  endfunction

endpackage
