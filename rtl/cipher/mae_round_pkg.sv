// SPDX-License-Identifier: Apache-2.0
//
// mae_round_pkg: defines the linear steps of an AES round as functions; the S-box (mae_sbox) is the
// only other step.
//
//  encrypt  state = AddRoundKey(MixColumns(ShiftRows(SubBytes(state))))           FIPS 197 §5.1
//  decrypt  state = InvMixColumns(AddRoundKey(InvShiftRows(InvSubBytes(state))))  FIPS 197 §5.3
//
// The last round has no (Inv)MixColumns. SubBytes works on single bytes, so it commutes with
// ShiftRows: both directions are an S-box, a permutation of bytes and a linear map.
//
// The state is 16 bytes in columns of four; byte 0 (row 0, column 0) is in bits 127:120. A column
// is a 32-bit word with row 0 in its most significant byte.

package mae_round_pkg;
  import mae_aes_pkg::*;

  typedef logic [31:0] column_t;

  // ShiftRows, §5.1.2: rotates row r left by r columns. One line for each column.
  function automatic block_t shift_rows(input block_t s);
    // verilog_format: off
    return {
      s[127:120], s[87:80], s[47:40], s[7:0],
      s[95:88], s[55:48], s[15:8], s[103:96],
      s[63:56], s[23:16], s[111:104], s[71:64],
      s[31:24], s[119:112], s[79:72], s[39:32]
    };
    // verilog_format: on
  endfunction

  // InvShiftRows, §5.3.1: rotates right. Rows 0 and 2 move alike in both.
  function automatic block_t inv_shift_rows(input block_t s);
    // verilog_format: off
    return {
      s[127:120], s[23:16], s[47:40], s[71:64],
      s[95:88], s[119:112], s[15:8], s[39:32],
      s[63:56], s[87:80], s[111:104], s[7:0],
      s[31:24], s[55:48], s[79:72], s[103:96]
    };
    // verilog_format: on
  endfunction

  // Multiplication by x in GF(2^8), §4.2.1, of all four bytes of a column: shifts left, and adds
  // x^4 + x^3 + x + 1 to those bytes whose most significant bit was 1.
  function automatic column_t xtime(input column_t w);
    column_t top;
    top = (w >> 7) & 32'h01010101;
    return ((w << 1) & 32'hfefefefe) ^ (top << 4) ^ (top << 3) ^ (top << 1) ^ top;
  endfunction

  // MixColumns of one column, §5.1.3: row i becomes 2 a[i] + 3 a[i+1] + a[i+2] + a[i+3], which is
  // 2 (a[i] + a[i+1]) + a[i+1] + (a[i+2] + a[i+3]).
  function automatic column_t mix_column(input column_t a);
    column_t next, sum;
    next = {a[23:0], a[31:24]};
    sum  = a ^ next;
    return xtime(sum) ^ next ^ {sum[15:0], sum[31:16]};
  endfunction

  // Prepares InvMixColumns, §5.3.3: InvMixColumns is MixColumns after this map, because its matrix
  // {0e,0b,0d,09} is the product of {02,03,01,01} and {05,00,04,00}.
  function automatic column_t inv_mix_prepare(input column_t a);
    return a ^ xtime(xtime(a ^ {a[15:0], a[31:16]}));
  endfunction

  function automatic block_t mix_columns(input block_t s);
    // verilator no_inline_task
    return {mix_column(s[127:96]), mix_column(s[95:64]), mix_column(s[63:32]), mix_column(s[31:0])};
  endfunction

  function automatic block_t inv_mix_columns_prepare(input block_t s);
    // verilator no_inline_task
    return {
      inv_mix_prepare(s[127:96]),
      inv_mix_prepare(s[95:64]),
      inv_mix_prepare(s[63:32]),
      inv_mix_prepare(s[31:0])
    };
  endfunction

endpackage
