// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_relation: tells whether a byte is SubBytes of another one, by the definition: the inverse
// in GF(2^8), then an affine map. Combinational.
// Source: FIPS 197 §4.2, §5.1.1.

module mae_sbox_relation (
    input  logic [7:0] in_i,
    input  logic [7:0] out_i,
    output logic       holds_o
);

  // §4.2: the product modulo x^8 + x^4 + x^3 + x + 1.
  function automatic logic [7:0] times(input logic [7:0] a, input logic [7:0] b);
    logic [7:0] sum, power;
    sum   = '0;
    power = a;
    for (int unsigned i = 0; i < 8; i++) begin
      if (b[i]) sum ^= power;
      power = {power[6:0], 1'b0} ^ (power[7] ? 8'h1b : 8'h00);
    end
    return sum;
  endfunction

  // The inverse of §5.1.1's affine map: b[i] = b'[i+2] + b'[i+5] + b'[i+7] + d[i], d = 05.
  function automatic logic [7:0] inverse_affine(input logic [7:0] b);
    logic [7:0] mapped;
    for (int unsigned i = 0; i < 8; i++) mapped[i] = b[(i+2)%8] ^ b[(i+5)%8] ^ b[(i+7)%8];
    return mapped ^ 8'h05;
  endfunction

  // y is the inverse of x by what it does; that of 0 is 0.
  logic [7:0] y;
  assign y       = inverse_affine(out_i);
  assign holds_o = times(in_i, y) == ((in_i == '0) ? 8'd0 : 8'd1) && (in_i == '0) == (y == '0);

endmodule
