// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_boolean_inv: computes the inverse S-box with the Boolean circuit of 121 gates by Boyar
// and Peralta.
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
// Source: J. Boyar, P. Matthews, R. Peralta, "Logic minimization techniques with applications to
// cryptology", J. Cryptology 26 (2013): straight-line program with 34 AND, 83 XOR and 4 XNOR gates,
// depth 21.

module mae_sbox_boolean_inv #(
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
    bits_t y0,
        y2, y4, y1, y7, y6, y3, y5, sa1, sa0, sb1, sb0, ah, al, aa, bh, bl, bb, cp1, cp2, cp3, cp4
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
        u7,
        rtl0,
        rtl1,
        rtl2,
        ab20,
        ab22,
        ab23,
        ab21,
        abcd1,
        rr1,
        ph11,
        t01,
        ph01,
        abcd2,
        r1,
        pl11,
        r2,
        pl01,
        r3,
        vr1,
        pr1,
        wr1,
        qr1,
        ab0,
        ab1,
        ab2,
        ab3;
    for (int unsigned i = 0; i < Bytes; i++) begin
      u0[i] = x[i][7];
      u1[i] = x[i][6];
      u2[i] = x[i][5];
      u3[i] = x[i][4];
      u4[i] = x[i][3];
      u5[i] = x[i][2];
      u6[i] = x[i][1];
      u7[i] = x[i][0];
    end
    // Linear layer, with the inverse affine map.
    c.y0 = u0 ^ u3;
    c.y2 = ~(u1 ^ u3);
    c.y4 = u0 ^ c.y2;
    rtl0 = u6 ^ u7;
    c.y1 = c.y2 ^ rtl0;
    c.y7 = ~(u2 ^ c.y1);
    rtl1 = u3 ^ u4;
    c.y6 = ~(u7 ^ rtl1);
    c.y3 = c.y1 ^ rtl1;
    rtl2 = ~(u0 ^ u2);
    c.y5 = u5 ^ rtl2;
    // Sums of the multiplicands.
    c.sa1 = c.y0 ^ c.y2;
    c.sa0 = c.y1 ^ c.y3;
    c.sb1 = c.y4 ^ c.y6;
    c.sb0 = c.y5 ^ c.y7;
    c.ah = c.y0 ^ c.y1;
    c.al = c.y2 ^ c.y3;
    c.aa = c.sa0 ^ c.sa1;
    c.bh = c.y4 ^ c.y5;
    c.bl = c.y6 ^ c.y7;
    c.bb = c.sb0 ^ c.sb1;
    // Norm in GF(2^4).
    ab20 = c.sa0 ^ c.sb0;
    ab22 = c.al ^ c.bl;
    ab23 = c.y3 ^ c.y7;
    ab21 = c.sa1 ^ c.sb1;
    abcd1 = c.ah & c.bh;
    rr1 = c.y0 & c.y4;
    ph11 = ab20 ^ abcd1;
    t01 = c.y1 & c.y5;
    ph01 = t01 ^ abcd1;
    abcd2 = c.al & c.bl;
    r1 = c.y2 & c.y6;
    pl11 = ab22 ^ abcd2;
    r2 = c.y3 & c.y7;
    pl01 = r2 ^ abcd2;
    r3 = c.sa0 & c.sb0;
    vr1 = c.aa & c.bb;
    pr1 = vr1 ^ r3;
    wr1 = c.sa1 & c.sb1;
    qr1 = wr1 ^ r3;
    ab0 = ph11 ^ rr1;
    ab1 = ph01 ^ ab21;
    ab2 = pl11 ^ r1;
    ab3 = pl01 ^ qr1;
    c.cp1 = ab0 ^ pr1;
    c.cp2 = ab1 ^ qr1;
    c.cp3 = ab2 ^ pr1;
    c.cp4 = ab3 ^ ab23;
    return c;
  endfunction

  function automatic logic [Bytes-1:0][7:0] second_half(input cut_t c);
    logic [Bytes-1:0][7:0] x;
    bits_t
        tinv1,
        tinv2,
        tinv3,
        tinv4,
        tinv5,
        tinv6,
        tinv7,
        d2,
        d0,
        tinv8,
        tinv9,
        tinv10,
        d1,
        tinv11,
        tinv12,
        tinv13,
        d3,
        sd1,
        sd0,
        dl,
        dh,
        dd,
        abcd3,
        rr2,
        t02,
        abcd4,
        r4,
        r5,
        r6,
        vr2,
        wr2,
        abcd5,
        r7,
        r8,
        abcd6,
        r9,
        r10,
        r11,
        vr3,
        wr3,
        ph12,
        ph02,
        pl12,
        pl02,
        pr2,
        qr2,
        p0,
        p1,
        p2,
        p3,
        ph13,
        ph03,
        pl13,
        pl03,
        pr3,
        qr3,
        p4,
        s7,
        p6,
        p7,
        s3,
        s6,
        s0,
        x11,
        s5,
        x13,
        x14,
        s1,
        x16,
        s2,
        x18,
        x19,
        s4;
    // Inversion in GF(2^4).
    tinv1 = c.cp3 ^ c.cp4;
    tinv2 = c.cp3 & c.cp1;
    tinv3 = c.cp2 ^ tinv2;
    tinv4 = c.cp1 ^ c.cp2;
    tinv5 = c.cp4 ^ tinv2;
    tinv6 = tinv5 & tinv4;
    tinv7 = tinv3 & tinv1;
    d2 = c.cp4 ^ tinv7;
    d0 = c.cp2 ^ tinv6;
    tinv8 = c.cp1 & c.cp4;
    tinv9 = tinv4 & tinv8;
    tinv10 = tinv4 ^ tinv2;
    d1 = tinv9 ^ tinv10;
    tinv11 = c.cp2 & c.cp3;
    tinv12 = tinv1 & tinv11;
    tinv13 = tinv1 ^ tinv2;
    d3 = tinv12 ^ tinv13;
    sd1 = d1 ^ d3;
    sd0 = d0 ^ d2;
    dl = d0 ^ d1;
    dh = d2 ^ d3;
    dd = sd0 ^ sd1;
    // Products with the inverse.
    abcd3 = dh & c.bh;
    rr2 = d3 & c.y4;
    t02 = d2 & c.y5;
    abcd4 = dl & c.bl;
    r4 = d1 & c.y6;
    r5 = d0 & c.y7;
    r6 = sd0 & c.sb0;
    vr2 = dd & c.bb;
    wr2 = sd1 & c.sb1;
    abcd5 = dh & c.ah;
    r7 = d3 & c.y0;
    r8 = d2 & c.y1;
    abcd6 = dl & c.al;
    r9 = d1 & c.y2;
    r10 = d0 & c.y3;
    r11 = sd0 & c.sa0;
    vr3 = dd & c.aa;
    wr3 = sd1 & c.sa1;
    ph12 = rr2 ^ abcd3;
    ph02 = t02 ^ abcd3;
    pl12 = r4 ^ abcd4;
    pl02 = r5 ^ abcd4;
    pr2 = vr2 ^ r6;
    qr2 = wr2 ^ r6;
    p0 = ph12 ^ pr2;
    p1 = ph02 ^ qr2;
    p2 = pl12 ^ pr2;
    p3 = pl02 ^ qr2;
    ph13 = r7 ^ abcd5;
    ph03 = r8 ^ abcd5;
    pl13 = r9 ^ abcd6;
    pl03 = r10 ^ abcd6;
    pr3 = vr3 ^ r11;
    qr3 = wr3 ^ r11;
    p4 = ph13 ^ pr3;
    s7 = ph03 ^ qr3;
    p6 = pl13 ^ pr3;
    p7 = pl03 ^ qr3;
    // Linear layer.
    s3 = p1 ^ p6;
    s6 = p2 ^ p6;
    s0 = p3 ^ p6;
    x11 = p0 ^ p2;
    s5 = s0 ^ x11;
    x13 = p4 ^ p7;
    x14 = x11 ^ x13;
    s1 = s3 ^ x14;
    x16 = p1 ^ s7;
    s2 = x14 ^ x16;
    x18 = p0 ^ p4;
    x19 = s5 ^ x16;
    s4 = x18 ^ x19;
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
