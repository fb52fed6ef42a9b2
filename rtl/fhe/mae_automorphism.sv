// SPDX-License-Identifier: Apache-2.0
//
// mae_automorphism: computes from where the automorphism X -> X^galois takes each word of a
// transformed polynomial. The result is one source word and a permutation of its lanes.
//
// Coefficient i of the result is coefficient brv(((galois (2 brv(i) + 1)) mod 2N) / 2) of the
// source, brv reversing LogN bits. The lanes of a word differ in the highest bits of brv(i) alone,
// so the lower bits of the product, which choose the source's word, are common to them.
//
// Latency: 1 clock. Throughput: a word a clock. galois_i is odd and below 2N. Time depends on no
// data.
// Source: SEAL, galois.cpp.

module mae_automorphism #(
    parameter int unsigned LogN = 12,
    parameter int unsigned Lanes = 16,
    localparam int unsigned LaneBits = $clog2(Lanes),
    localparam int unsigned WordBits = LogN - LaneBits
) (
    input  logic                              clk_i,
    input  logic [      LogN:0]               galois_i,
    input  logic [WordBits-1:0]               word_i,
    output logic [WordBits-1:0]               word_o,
    output logic [   Lanes-1:0][LaneBits-1:0] lane_o
);
  logic [LogN:0] point, image;
  logic unused;

  function automatic logic [LaneBits-1:0] reversed(logic [LaneBits-1:0] lane);
    for (int unsigned i = 0; i < LaneBits; i++) reversed[i] = lane[LaneBits-1-i];
  endfunction

  always_comb begin
    point = '0;
    point[0] = 1'b1;
    for (int unsigned i = 0; i < WordBits; i++) point[1+i] = word_i[WordBits-1-i];
  end

  assign image  = point * galois_i;
  assign unused = image[0];

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < WordBits; i++) word_o[i] <= image[WordBits-i];
    for (int unsigned l = 0; l < Lanes; l++) begin
      lane_o[l] <= reversed(
          LaneBits'(image[LogN-:LaneBits] + reversed(LaneBits'(l)) * galois_i[LaneBits-1:0]));
    end
  end

endmodule
