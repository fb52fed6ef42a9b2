// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_tower: computes the AES S-box, its inverse or, by selection, either for Bytes bytes in a
// tower field. It inverts in GF((2^4)^2).
//
// Both directions share the inversion. en_i tells that in_i is used; while it is low, out_o is not
// meaningful and the register is cleared. inverse_i is used with DirsBoth only.
//
// GF(2^4) = GF(2)[z] / (z^4 + z + 1), GF((2^4)^2) = GF(2^4)[y] / (y^2 + y + 13), 13 = z^3 + z^2 +
// 1. An element is {coefficient of y, constant}. The map from GF(2^8) takes x to 8'h4b, a root of
// the AES polynomial in the tower field: of the eight roots, the one with the fewest ones in the
// four matrices. Row i of a matrix holds the bits of the argument that are added to bit i of the
// result.
// Latency: Regs clocks.
// Throughput: Bytes bytes a clock.
// Parameters: with Regs = 1 a register of 12 bits a byte is placed before the inversion in GF(2^4).
// Legal: Kind any of dirs_e; Regs 0 or 1; Bytes >= 1.
// Security: constant-time; no masking.
// Source: Kale et al., section 2.2 (polynomials; inverse map and affine map combined); FIPS 197
// §5.1.1, §5.3.2.

module mae_sbox_tower
  import mae_aes_pkg::*;
#(
    parameter dirs_e       Kind  = DirsBoth,
    parameter int unsigned Regs  = 0,
    parameter int unsigned Bytes = 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  en_i,
    input  logic                  inverse_i,
    input  logic [Bytes-1:0][7:0] in_i,
    output logic [Bytes-1:0][7:0] out_o
);

  typedef logic [7:0][7:0] matrix_t;  // row 7 is the first one

  localparam matrix_t ToTower = 64'ha0_72_ac_dc_c6_cc_52_8f;
  localparam matrix_t FromTower = 64'hc2_66_42_14_7c_dc_70_13;
  // inverse map, then the affine map
  localparam matrix_t FromTowerAffine = 64'h8e_90_86_d7_01_1b_85_e1;
  // inverse affine map, then the map
  localparam matrix_t InvAffineToTower = 64'hc6_be_71_86_a0_cc_2a_08;

  function automatic logic [7:0] linear(input matrix_t matrix, input logic [7:0] x);
    logic [7:0] y;
    for (int unsigned i = 0; i < 8; i++) y[i] = ^(matrix[i] & x);
    return y;
  endfunction

  // Product in GF(2^4).
  function automatic logic [3:0] mul(input logic [3:0] a, input logic [3:0] b);
    logic [3:0] p;
    p = '0;
    for (int i = 3; i >= 0; i--) begin
      p = {p[2], p[1], p[0] ^ p[3], p[3]} ^ (b[i] ? a : 4'd0);
    end
    return p;
  endfunction

  localparam logic [3:0] Inverse[16] = '{0, 1, 9, 14, 13, 11, 7, 6, 15, 2, 12, 5, 10, 4, 3, 8};

  // Parts of h y + l that the inversion uses: h, h + l and the norm 13 h^2 + h l + l^2; the inverse
  // is (h y + h + l) / norm.
  typedef struct packed {
    logic [3:0] high;
    logic [3:0] sum;
    logic [3:0] norm;
  } cut_t;

  function automatic cut_t first_half(input logic inverse, input logic [7:0] x);
    logic [3:0] h, l;
    if (inverse) {h, l} = linear(InvAffineToTower, x) ^ 8'h3c;
    else {h, l} = linear(ToTower, x);
    // 13 h^2 is linear in h.
    return
    '{high: h, sum: h ^ l, norm: {h[0], h[0] ^ h[2], h[3], ^{h[0], h[1], h[3]}} ^ mul(l, h ^ l)}
    ;
  endfunction

  function automatic logic [7:0] second_half(input logic inverse, input cut_t c);
    logic [3:0] d;
    logic [7:0] y;
    d = Inverse[c.norm];
    y = {mul(c.high, d), mul(c.sum, d)};
    if (inverse) return linear(FromTower, y);
    else return linear(FromTowerAffine, y) ^ 8'h63;
  endfunction

  logic inverse_in;
  if (Kind == DirsBoth) begin : gen_select
    assign inverse_in = inverse_i;
  end else begin : gen_fixed
    assign inverse_in = Kind == DirsDecrypt;
    logic unused;
    assign unused = inverse_i;
  end

  cut_t [Bytes-1:0] cut, cut_now;
  logic en, inverse;
  always_comb begin
    cut = '0;
    if (en_i) for (int unsigned i = 0; i < Bytes; i++) cut[i] = first_half(inverse_in, in_i[i]);
  end

  if (Regs == 0) begin : gen_comb
    assign cut_now = cut;
    assign en      = en_i;
    assign inverse = inverse_in;
    logic unused_clk;
    assign unused_clk = ^{clk_i, rst_ni};
  end else begin : gen_reg
    cut_t [Bytes-1:0] cut_q;
    logic en_q, inverse_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        cut_q     <= '0;
        en_q      <= 1'b0;
        inverse_q <= 1'b0;
      end else begin
        cut_q     <= en_i ? cut : '0;
        en_q      <= en_i;
        inverse_q <= inverse_in;
      end
    end
    assign cut_now = cut_q;
    assign en      = en_q;
    assign inverse = inverse_q;
  end

  always_comb begin
    out_o = '0;
    if (en) for (int unsigned i = 0; i < Bytes; i++) out_o[i] = second_half(inverse, cut_now[i]);
  end

endmodule
