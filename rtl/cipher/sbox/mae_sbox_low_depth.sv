// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_low_depth: computes the forward S-box with a low-depth Boolean circuit, for Bytes bytes.
//
// en_i tells that in_i is used; while it is low, out_o is not meaningful and the register is
// cleared. Gates a byte: 81 XOR and 48 AND beside the inversion in GF(2^4). Depth: at most 4 XOR
// and 1 AND before the inversion, 1 AND and 2 XOR after it (mae_sbox_boolean_fwd: 7, and at least
// 8).
//
// The inverse of x is x^16 / N with the norm N = x^17, an element of GF(2^4). For a given 1/N = sum
// of y[i] b[i], bit k of the S-box is linear in x^16: it is the sum over i of y[i] times a linear
// form of x. These 32 forms are computed from x while the inversion runs; only four products remain
// to be added. The basis b, as elements of GF(2^8), is 0d, 50, 51, bd: of the 840 bases, the one
// with the fewest gates for the forms at a depth of three XOR. N is c a b + p a^2 + q b^2, with a
// and b GF(2^4)-linear in x. In the coordinates of four fifth roots of unity, which are a basis of
// GF(2^4), all bits of a b need only four forms of a and five of b. The squares are linear and
// free: they turn AND gates into NOR gates and the like.
// Latency: Regs clocks.
// Throughput: Bytes bytes a clock.
// Parameters: with Regs = 1 a register of 12 bits a byte is placed before the inversion in GF(2^4),
// or with Late = 1 behind it. Legal: Regs 0 or 1; Late 0 or 1; Bytes >= 1.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1.1; A. Maximov, P. Ekdahl, "New circuit minimization techniques for smaller
// and faster AES SBoxes", CHES 2019 (the idea of the second half).

module mae_sbox_low_depth #(
    parameter int unsigned Regs  = 0,
    parameter bit          Late  = 1'b0,
    parameter int unsigned Bytes = 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  en_i,
    input  logic [Bytes-1:0][7:0] in_i,
    output logic [Bytes-1:0][7:0] out_o
);

  // The traces of N times each of four fifth roots of unity.
  function automatic logic [3:0] norm(input logic [7:0] x);
    logic [10:0] n;
    n[0]  = x[2] ^ x[5];
    n[1]  = x[0] ^ x[5];
    n[2]  = x[1] ^ x[2];
    n[3]  = x[2] ^ x[7];
    n[4]  = x[1] ^ x[4];
    n[5]  = x[3] ^ n[0];
    n[6]  = x[6] ^ x[7];
    n[7]  = n[1] ^ n[6];
    n[8]  = x[1] ^ n[6];
    n[9]  = x[4] ^ x[6];
    n[10] = n[1] ^ n[9];
    return {
      (n[0] & n[3]) ^ (~n[8] & ~n[10]) ^ (n[5] & ~n[4]) ^ (n[1] & ~n[7]) ^ 1'b1,
      (n[0] & ~n[2]) ^ (n[8] & n[7]) ^ (~n[5] & ~n[3]) ^ (n[1] & ~n[4]) ^ 1'b1,
      (~n[0] & ~n[4]) ^ (n[8] & ~n[2]) ^ (n[5] & ~n[7]) ^ (n[1] & n[10]) ^ 1'b1,
      (~n[0] & ~n[10]) ^ (~n[8] & ~n[4]) ^ (~n[5] & n[2]) ^ (~n[1] & ~n[3]) ^ 1'b1
    };
  endfunction

  // Maps these traces to y.
  localparam logic [3:0] Inverse[16] = '{0, 5, 15, 11, 14, 3, 12, 9, 4, 13, 8, 2, 1, 7, 6, 10};

  function automatic logic [7:0] back(input logic [7:0] x, input logic [3:0] y);
    logic [33:0] l;
    l[0]  = x[2] ^ x[3];
    l[1]  = x[4] ^ x[5];
    l[2]  = x[3] ^ x[7];
    l[3]  = x[1] ^ x[5];
    l[4]  = l[1] ^ l[2];
    l[5]  = x[1] ^ l[1];
    l[6]  = x[1] ^ l[0];
    l[7]  = x[6] ^ l[4];
    l[8]  = l[5] ^ x[6];
    l[9]  = x[5] ^ x[6];
    l[10] = l[9] ^ l[2];
    l[11] = l[6] ^ l[9];
    l[12] = l[5] ^ l[10];
    l[13] = l[1] ^ l[10];
    l[14] = x[0] ^ x[4];
    l[15] = x[1] ^ l[14];
    l[16] = l[0] ^ l[15];
    l[17] = x[2] ^ l[15];
    l[18] = x[2] ^ x[6];
    l[19] = x[0] ^ l[18];
    l[20] = l[19] ^ l[2];
    l[21] = l[15] ^ l[18];
    l[22] = l[18] ^ l[10];
    l[23] = l[19] ^ l[10];
    l[24] = l[0] ^ l[14];
    l[25] = l[24] ^ l[9];
    l[26] = l[24] ^ l[4];
    l[27] = l[24] ^ l[2];
    l[28] = l[0] ^ l[1];
    l[29] = l[28] ^ l[19];
    l[30] = l[28] ^ l[18];
    l[31] = x[0] ^ x[7];
    l[32] = l[3] ^ l[31];
    l[33] = x[2] ^ l[32];
    return {
      ((l[21] & y[0]) ^ (l[11] & y[1]) ^ (l[10] & y[2]) ^ (l[4] & y[3])),
      ~((l[22] & y[0]) ^ (l[6] & y[1]) ^ (l[8] & y[2]) ^ (l[0] & y[3])),
      ~((x[2] & y[0]) ^ (l[26] & y[1]) ^ (l[19] & y[2]) ^ (l[7] & y[3])),
      ((l[29] & y[0]) ^ (l[27] & y[1]) ^ (l[2] & y[2]) ^ (l[3] & y[3])),
      ((l[23] & y[0]) ^ (x[6] & y[1]) ^ (l[15] & y[2]) ^ (l[13] & y[3])),
      ((l[1] & y[0]) ^ (l[20] & y[1]) ^ (l[12] & y[2]) ^ (l[33] & y[3])),
      ~((l[17] & y[0]) ^ (l[25] & y[1]) ^ (l[1] & y[2]) ^ (l[20] & y[3])),
      ~((l[32] & y[0]) ^ (l[5] & y[1]) ^ (l[16] & y[2]) ^ (l[30] & y[3]))
    };
  endfunction

  // Signals of the first half that the second half uses: x, and the traces of N or y.
  typedef struct packed {
    logic [7:0] x;
    logic [3:0] norm;
  } cut_t;

  cut_t [Bytes-1:0] cut, cut_now;
  logic en;
  always_comb begin
    cut = '0;
    if (en_i) begin
      for (int unsigned i = 0; i < Bytes; i++) begin
        cut[i].x    = in_i[i];
        cut[i].norm = Late ? Inverse[norm(in_i[i])] : norm(in_i[i]);
      end
    end
  end

  if (Regs == 0) begin : gen_comb
    assign cut_now = cut;
    assign en      = en_i;
    logic unused;
    assign unused = ^{clk_i, rst_ni};
  end else begin : gen_reg
    cut_t [Bytes-1:0] cut_q;
    logic en_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        cut_q <= '0;
        en_q  <= 1'b0;
      end else begin
        cut_q <= en_i ? cut : '0;
        en_q  <= en_i;
      end
    end
    assign cut_now = cut_q;
    assign en      = en_q;
  end

  always_comb begin
    out_o = '0;
    if (en) begin
      for (int unsigned i = 0; i < Bytes; i++) begin
        out_o[i] = back(cut_now[i].x, Late ? cut_now[i].norm : Inverse[cut_now[i].norm]);
      end
    end
  end

endmodule
