// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_boolean_fwd: computes the S-box with the Boolean circuit of 113 gates by Boyar, Peralta
// and Calik.
//
// Each signal is Bytes bits wide, and bit i belongs to byte i, so that a simulator computes all
// bytes at once. The signals have the names of the source; u0 and s0 are the most significant bits.
// en_i tells that in_i is used; while it is low, out_o is not meaningful and the register is
// cleared.
// Latency: Regs clocks.
// Throughput: Bytes bytes a clock.
// Parameters: with Regs = 1 a register of 22 bits a byte is placed before the inversion in GF(2^4).
// Legal: Regs 0 or 1; Bytes >= 1.
// Security: constant-time; no masking.
// Source: J. Boyar, R. Peralta, "A new combinational logic minimization technique with applications
// to cryptology", SEA 2010, improved by C. Calik: straight-line program with 32 AND, 77 XOR and 4
// XNOR gates, depth 27.

module mae_sbox_boolean_fwd #(
    parameter int unsigned Regs  = 0,
    parameter int unsigned Bytes = 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  en_i,
    input  logic [Bytes-1:0][7:0] in_i,
    output logic [Bytes-1:0][7:0] out_o
);

  typedef logic [Bytes-1:0] bits_t;

  // Signals of the first half that the second half uses.
  typedef struct packed {
    bits_t y14,
        y13,
        y9,
        y8,
        y1,
        y4,
        y12,
        y2,
        y5,
        y3,
        y15,
        y6,
        y10,
        y11,
        y7,
        y17,
        y16,
        t21,
        t22,
        t23,
        t24,
        u7
    ;
  } cut_t;

  function automatic cut_t first_half(input logic [Bytes-1:0][7:0] x);
    cut_t c;
    bits_t
        u0,
        u1,
        u2,
        u3,
        u4,
        u5,
        u6,
        t0,
        t1,
        y20,
        y19,
        y21,
        y18,
        t2,
        t3,
        t4,
        t5,
        t6,
        t7,
        t8,
        t9,
        t10,
        t11,
        t12,
        t13,
        t14,
        t15,
        t16,
        t17,
        t18,
        t19,
        t20;
    for (int unsigned i = 0; i < Bytes; i++) begin
      u0[i]   = x[i][7];
      u1[i]   = x[i][6];
      u2[i]   = x[i][5];
      u3[i]   = x[i][4];
      u4[i]   = x[i][3];
      u5[i]   = x[i][2];
      u6[i]   = x[i][1];
      c.u7[i] = x[i][0];
    end
    // Linear layer.
    c.y14 = u3 ^ u5;
    c.y13 = u0 ^ u6;
    c.y9 = u0 ^ u3;
    c.y8 = u0 ^ u5;
    t0 = u1 ^ u2;
    c.y1 = t0 ^ c.u7;
    c.y4 = c.y1 ^ u3;
    c.y12 = c.y13 ^ c.y14;
    c.y2 = c.y1 ^ u0;
    c.y5 = c.y1 ^ u6;
    c.y3 = c.y5 ^ c.y8;
    t1 = u4 ^ c.y12;
    c.y15 = t1 ^ u5;
    y20 = t1 ^ u1;
    c.y6 = c.y15 ^ c.u7;
    c.y10 = c.y15 ^ t0;
    c.y11 = y20 ^ c.y9;
    c.y7 = c.u7 ^ c.y11;
    c.y17 = c.y10 ^ c.y11;
    y19 = c.y10 ^ c.y8;
    c.y16 = t0 ^ c.y11;
    y21 = c.y13 ^ c.y16;
    y18 = u0 ^ c.y16;
    // Products of the norm in GF(2^4), and its linear part.
    t2 = c.y12 & c.y15;
    t3 = c.y3 & c.y6;
    t4 = t3 ^ t2;
    t5 = c.y4 & c.u7;
    t6 = t5 ^ t2;
    t7 = c.y13 & c.y16;
    t8 = c.y5 & c.y1;
    t9 = t8 ^ t7;
    t10 = c.y2 & c.y7;
    t11 = t10 ^ t7;
    t12 = c.y9 & c.y11;
    t13 = c.y14 & c.y17;
    t14 = t13 ^ t12;
    t15 = c.y8 & c.y10;
    t16 = t15 ^ t12;
    t17 = t4 ^ y20;
    t18 = t6 ^ t16;
    t19 = t9 ^ t14;
    t20 = t11 ^ t16;
    c.t21 = t17 ^ t14;
    c.t22 = t18 ^ y19;
    c.t23 = t19 ^ y21;
    c.t24 = t20 ^ y18;
    return c;
  endfunction

  function automatic logic [Bytes-1:0][7:0] second_half(input cut_t c);
    logic [Bytes-1:0][7:0] x;
    bits_t
        t25,
        t26,
        t27,
        t28,
        t29,
        t30,
        t31,
        t32,
        t33,
        t34,
        t35,
        t36,
        t37,
        t38,
        t39,
        t40,
        t41,
        t42,
        t43,
        t44,
        t45,
        z0,
        z1,
        z2,
        z3,
        z4,
        z5,
        z6,
        z7,
        z8,
        z9,
        z10,
        z11,
        z12,
        z13,
        z14,
        z15,
        z16,
        z17,
        tc1,
        tc2,
        tc3,
        tc4,
        tc5,
        tc6,
        tc7,
        tc8,
        tc9,
        tc10,
        tc11,
        tc12,
        tc13,
        tc14,
        s3,
        tc16,
        tc17,
        tc18,
        s7,
        tc20,
        tc21,
        s0,
        s6,
        s4,
        s1,
        tc26,
        s2,
        s5;
    // Inversion in GF(2^4).
    t25  = c.t21 ^ c.t22;
    t26  = c.t21 & c.t23;
    t27  = c.t24 ^ t26;
    t28  = t25 & t27;
    t29  = t28 ^ c.t22;
    t30  = c.t23 ^ c.t24;
    t31  = c.t22 ^ t26;
    t32  = t31 & t30;
    t33  = t32 ^ c.t24;
    t34  = c.t23 ^ t33;
    t35  = t27 ^ t33;
    t36  = c.t24 & t35;
    t37  = t36 ^ t34;
    t38  = t27 ^ t36;
    t39  = t29 & t38;
    t40  = t25 ^ t39;
    t41  = t40 ^ t37;
    t42  = t29 ^ t33;
    t43  = t29 ^ t40;
    t44  = t33 ^ t37;
    t45  = t42 ^ t41;
    // Products with the inverse.
    z0   = t44 & c.y15;
    z1   = t37 & c.y6;
    z2   = t33 & c.u7;
    z3   = t43 & c.y16;
    z4   = t40 & c.y1;
    z5   = t29 & c.y7;
    z6   = t42 & c.y11;
    z7   = t45 & c.y17;
    z8   = t41 & c.y10;
    z9   = t44 & c.y12;
    z10  = t37 & c.y3;
    z11  = t33 & c.y4;
    z12  = t43 & c.y13;
    z13  = t40 & c.y5;
    z14  = t29 & c.y2;
    z15  = t42 & c.y9;
    z16  = t45 & c.y14;
    z17  = t41 & c.y8;
    // Linear layer, with the affine map of FIPS 197 §5.1.1.
    tc1  = z15 ^ z16;
    tc2  = z10 ^ tc1;
    tc3  = z9 ^ tc2;
    tc4  = z0 ^ z2;
    tc5  = z1 ^ z0;
    tc6  = z3 ^ z4;
    tc7  = z12 ^ tc4;
    tc8  = z7 ^ tc6;
    tc9  = z8 ^ tc7;
    tc10 = tc8 ^ tc9;
    tc11 = tc6 ^ tc5;
    tc12 = z3 ^ z5;
    tc13 = z13 ^ tc1;
    tc14 = tc4 ^ tc12;
    s3   = tc3 ^ tc11;
    tc16 = z6 ^ tc8;
    tc17 = z14 ^ tc10;
    tc18 = tc13 ^ tc14;
    s7   = ~(z12 ^ tc18);
    tc20 = z15 ^ tc16;
    tc21 = tc2 ^ z11;
    s0   = tc3 ^ tc16;
    s6   = ~(tc10 ^ tc18);
    s4   = tc14 ^ s3;
    s1   = ~(s3 ^ tc16);
    tc26 = tc17 ^ tc20;
    s2   = ~(tc26 ^ z17);
    s5   = tc21 ^ tc17;
    for (int unsigned i = 0; i < Bytes; i++) begin
      x[i] = {s0[i], s1[i], s2[i], s3[i], s4[i], s5[i], s6[i], s7[i]};
    end
    return x;
  endfunction

  cut_t cut, cut_now;
  logic en;
  always_comb begin
    cut = '0;
    if (en_i) cut = first_half(in_i);
  end

  if (Regs == 0) begin : gen_comb
    assign cut_now = cut;
    assign en      = en_i;
    logic unused;
    assign unused = ^{clk_i, rst_ni};
  end else begin : gen_reg
    cut_t cut_q;
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
    if (en) out_o = second_half(cut_now);
  end

endmodule
