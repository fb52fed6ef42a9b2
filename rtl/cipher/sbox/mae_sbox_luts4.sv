// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_luts4: computes the forward S-box in few four-input LUTs of an FPGA, for Bytes bytes.
//
// The inverse of x is x^16 / N with the norm N = x^17, an element of GF(2^4), and 1/N = sum of y[i]
// b[i] for a basis b. Bit k of the S-box is linear in x^16, so it is the sum over i of y[i] times a
// linear form of x. That takes 67 LUTs, six in a row:
//  27 forms of x;
//  two quadratic functions of four bits and forms of x for each bit of N, and their sum;
//  each bit of y from the four bits of N;
//  two products y[i] f[j] in a LUT, and the sum of two such LUTs for each bit of the result.
// b is 50, b1, bc, ed, and bit i of N is the trace of c N for c = 51, b0, b1, bc. Of the 840 bases
// this one has fewest forms, and its N needs none but those that the products need, and only sums
// of at most four bits of x. A bit of N is a quadratic form of eight variables; it is the sum of two
// of four variables for 45,696 pairs of subspaces, which were all tried.
// Latency: 0 clocks.
// Throughput: Bytes bytes a clock.
// Parameters: Legal: Bytes >= 1.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1.1; mae_sbox_low_depth (the idea, for gates).

module mae_sbox_luts4 #(
    parameter int unsigned Bytes = 1
) (
    input  logic [Bytes-1:0][7:0] in_i,
    output logic [Bytes-1:0][7:0] out_o
);

  localparam logic [15:0] Sum = 16'h6996;
  localparam logic [15:0] Products = 16'h7888;  // (in_i[3] & in_i[2]) ^ (in_i[1] & in_i[0])
  // Functions whose sums in pairs are the traces of N, and the bits of y by those.
  localparam logic [15:0] Parts[8] = '{
      16'hd418,
      16'h177e,
      16'haf6c,
      16'h605c,
      16'he87e,
      16'h7118,
      16'h90ac,
      16'h7ee8
  };
  localparam logic [15:0] Inverse[4] = '{16'h1ed8, 16'hbd30, 16'hf292, 16'h74e4};

  for (genvar i = 0; i < Bytes; i++) begin : gen_byte
    logic [7:0] x, part, first, second;
    logic [3:0] norm, y;
    assign x = in_i[i];

    // The forms of at most four bits, of which N needs ten, and the others.
    logic [15:0][3:0] bits;
    logic [15:0] near;
    assign bits = {
      {x[0], x[2], x[4], x[7]},
      {x[0], x[1], x[3], x[7]},
      {x[1], x[3], x[5], x[6]},
      {x[3], x[4], x[7], 1'b0},
      {x[1], x[3], x[6], 1'b0},
      {x[1], x[2], x[3], 1'b0},
      {x[0], x[2], x[5], x[7]},
      {x[0], x[3], x[5], x[6]},
      {x[0], x[2], x[4], x[6]},
      {x[4], x[5], x[7], 1'b0},
      {x[4], x[5], x[6], 1'b0},
      {x[1], x[2], x[6], 1'b0},
      {x[1], x[4], x[5], 1'b0},
      {x[1], x[2], x[5], 1'b0},
      {x[2], x[3], x[4], 1'b0},
      {x[3], x[4], 1'b0, 1'b0}
    };
    for (genvar k = 0; k < 16; k++) begin : gen_near
      mae_lut4 #(
          .Values(Sum)
      ) u_form (
          .in_i (bits[k]),
          .out_o(near[k])
      );
    end
    logic [10:0][3:0] sums;
    logic [10:0] far;
    assign sums = {
      {near[4], near[6], 1'b0, 1'b0},
      {x[1], x[4], near[9], 1'b0},
      {x[2], x[4], near[8], 1'b0},
      {near[7], near[13], 1'b0, 1'b0},
      {x[2], x[6], near[12], 1'b0},
      {x[4], x[7], near[4], 1'b0},
      {near[4], near[14], 1'b0, 1'b0},
      {x[1], near[15], 1'b0, 1'b0},
      {x[2], near[13], 1'b0, 1'b0},
      {x[3], near[7], 1'b0, 1'b0},
      {near[0], near[2], 1'b0, 1'b0}
    };
    for (genvar k = 0; k < 11; k++) begin : gen_far
      mae_lut4 #(
          .Values(Sum)
      ) u_form (
          .in_i (sums[k]),
          .out_o(far[k])
      );
    end

    logic [7:0][3:0] terms;
    assign terms = {
      {near[9], near[4], x[4], x[3]},
      {x[6], x[5], x[2], x[0]},
      {near[6], near[5], near[1], x[3]},
      {x[7], x[5], x[1], x[0]},
      {near[4], near[3], x[7], x[6]},
      {near[8], x[4], x[1], x[0]},
      {near[7], x[6], x[5], x[4]},
      {near[2], near[0], x[7], x[1]}
    };
    for (genvar k = 0; k < 8; k++) begin : gen_part
      mae_lut4 #(
          .Values(Parts[k])
      ) u_part (
          .in_i (terms[k]),
          .out_o(part[k])
      );
    end
    for (genvar k = 0; k < 4; k++) begin : gen_inverse
      assign norm[k] = part[2*k] ^ part[2*k+1];
      mae_lut4 #(
          .Values(Inverse[k])
      ) u_inverse (
          .in_i (norm),
          .out_o(y[k])
      );
    end

    // What each bit of y is multiplied by, for each bit of the result.
    logic [3:0][7:0] by;
    assign by = {
      {far[5], x[1], far[1], far[9], near[12], near[13], near[6], near[11]},
      {far[0], near[5], near[0], far[7], near[14], near[6], x[7], near[7]},
      {near[8], far[6], near[1], near[4], near[2], x[7], far[3], far[10]},
      {far[2], near[10], near[9], near[15], x[6], far[4], far[8], near[3]}
    };
    for (genvar k = 0; k < 8; k++) begin : gen_bit
      mae_lut4 #(
          .Values(Products)
      ) u_first (
          .in_i ({y[1], by[1][k], y[0], by[0][k]}),
          .out_o(first[k])
      );
      mae_lut4 #(
          .Values(Products)
      ) u_second (
          .in_i ({y[3], by[3][k], y[2], by[2][k]}),
          .out_o(second[k])
      );
    end
    assign out_o[i] = first ^ second ^ 8'h63;
  end

endmodule
