// SPDX-License-Identifier: Apache-2.0
//
// mae_ghash_pkg: defines multiplication in GF(2^128), the field of GCM (SP 800-38D §6.3). Its steps
// are functions between which a pipeline can have registers.
//
// A block is a polynomial with the coefficient of x^i in bit 127 - i. The carry-less product of two
// blocks as plain numbers, 255 bits wide, is then the product of the polynomials with the
// coefficient of x^k in bit 254 - k: no bit reversal is needed.
//
// product = ghash_join(ghash_partial(a, b)). Two levels of Karatsuba give nine products of 32 bits
// (ghash_partial), each computed by a third level from three of 16 bits. ghash_wide combines the
// upper two levels, ghash_reduce reduces modulo x^128 + x^7 + x^2 + x + 1, and ghash_join does
// both. All steps after ghash_partial are linear in its results, so a sum of products needs only
// one reduction.
//
// For Verilator the large steps stay functions (no_inline_task), not expanded at each call: so the
// C++ of mae_gcm_stream is half as long, and its simulation 14 % faster.

package mae_ghash_pkg;
  import mae_aes_pkg::*;

  typedef logic [8:0][62:0] ghash_partial_t;

  function automatic logic [30:0] clmul16(input logic [15:0] a, input logic [15:0] b);
    logic [15:0][30:0] term;
    for (int unsigned i = 0; i < 16; i++) term[i] = (31'(a) << i) & {31{b[i]}};
    // Written as a tree, because synthesis does not make one from a chain.
    for (int unsigned step = 1; step < 16; step *= 2) begin
      for (int unsigned i = 0; i < 16; i += 2 * step) term[i] ^= term[i+step];
    end
    return term[0];
  endfunction

  function automatic logic [62:0] clmul32(input logic [31:0] a, input logic [31:0] b);
    // verilator no_inline_task
    logic [30:0] low, high, middle;
    low = clmul16(a[15:0], b[15:0]);
    high = clmul16(a[31:16], b[31:16]);
    middle = clmul16(a[31:16] ^ a[15:0], b[31:16] ^ b[15:0]) ^ low ^ high;
    return {high, 32'h0} ^ 63'({middle, 16'h0}) ^ 63'(low);
  endfunction

  // The nine words that are multiplied: for the low half, the high half and the sum of both, each
  // the low word, the high word and the sum of both.
  function automatic logic [8:0][31:0] ghash_words(input block_t a);
    logic [2:0][63:0] halves;
    halves = {a[127:64] ^ a[63:0], a[127:64], a[63:0]};
    for (int unsigned h = 0; h < 3; h++) begin
      ghash_words[3*h]   = halves[h][31:0];
      ghash_words[3*h+1] = halves[h][63:32];
      ghash_words[3*h+2] = halves[h][63:32] ^ halves[h][31:0];
    end
  endfunction

  function automatic ghash_partial_t ghash_partial(input block_t a, input block_t b);
    // verilator no_inline_task
    logic [8:0][31:0] words_a, words_b;
    words_a = ghash_words(a);
    words_b = ghash_words(b);
    for (int unsigned i = 0; i < 9; i++) ghash_partial[i] = clmul32(words_a[i], words_b[i]);
  endfunction

  // Bit 254 - k of the product is the coefficient of x^k; x^128 = x^7 + x^2 + x + 1.
  function automatic block_t ghash_reduce(input logic [254:0] product);
    // verilator no_inline_task
    block_t high, over, all;
    high = {product[126:0], 1'b0};
    over = (high << 127) ^ (high << 126) ^ (high << 121);  // bits shifted out below
    all  = high ^ over;
    return product[254:127] ^ all ^ (all >> 1) ^ (all >> 2) ^ (all >> 7);
  endfunction

  // The unreduced product, 255 bits.
  function automatic logic [254:0] ghash_wide(input ghash_partial_t p);
    // verilator no_inline_task
    logic [2:0][126:0] half;
    logic [126:0] middle;
    for (int unsigned h = 0; h < 3; h++) begin
      half[h] = {p[3*h+1], 64'h0} ^ 127'(p[3*h]) ^ 127'({p[3*h+2] ^ p[3*h+1] ^ p[3*h], 32'h0});
    end
    middle = half[2] ^ half[1] ^ half[0];
    return {half[1], 128'h0} ^ 255'({middle, 64'h0}) ^ 255'(half[0]);
  endfunction

  function automatic block_t ghash_join(input ghash_partial_t p);
    return ghash_reduce(ghash_wide(p));
  endfunction

endpackage
