// SPDX-License-Identifier: Apache-2.0
//
// mae_round_defined: computes what FIPS 197 makes of a state behind the S-boxes of a round: ShiftRows,
// MixColumns and AddRoundKey, or with inverse_i InvShiftRows, AddRoundKey and InvMixColumns; with
// last_i the last round, without (Inv)MixColumns. Combinational.
// Source: FIPS 197 §4.2, §5.1, §5.3; byte i of §3.4 is row i % 4 of column i / 4.

module mae_round_defined
  import mae_aes_pkg::*;
(
    input  logic   inverse_i,
    input  logic   last_i,
    input  block_t key_i,
    input  block_t substituted_i,
    output block_t state_o
);
  typedef logic [7:0] byte_t;

  // §4.2: the product in GF(2^8), modulo x^8 + x^4 + x^3 + x + 1.
  function automatic byte_t times(input byte_t a, input byte_t b);
    byte_t sum, power;
    sum   = '0;
    power = a;
    for (int unsigned i = 0; i < 8; i++) begin
      if (b[i]) sum ^= power;
      power = {power[6:0], 1'b0} ^ (power[7] ? 8'h1b : 8'h00);
    end
    return sum;
  endfunction

  function automatic byte_t at(input block_t s, input int unsigned i);
    return s[127-8*i-:8];
  endfunction

  block_t shifted, keyed, mixed;
  byte_t [3:0] row;
  always_comb begin
    mixed = '0;
    for (int unsigned i = 0; i < 16; i++) begin
      // §5.1.2, §5.3.1: row r moves by r columns.
      shifted[127-8*i-:8] = at(substituted_i, (i + (inverse_i ? 12 : 4) * (i % 4)) % 16);
    end
    keyed = shifted ^ key_i;
    // §5.1.3, §5.3.3: row r of the matrix is its first row, moved right by r places.
    row   = inverse_i ? {8'h09, 8'h0d, 8'h0b, 8'h0e} : {8'h01, 8'h01, 8'h03, 8'h02};
    for (int unsigned i = 0; i < 16; i++) begin
      for (int unsigned j = 0; j < 4; j++) begin
        mixed[127-8*i-:8] ^=
            times(at(inverse_i ? keyed : shifted, 4 * (i / 4) + j), row[(j+4-i%4)%4]);
      end
    end
    if (last_i) state_o = keyed;
    else if (!inverse_i) state_o = mixed ^ key_i;
    else state_o = mixed;
  end

endmodule
