// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_boolean: computes the S-box, its inverse or a selectable one of both with Boolean
// circuits, for Bytes bytes.
//
// The circuit for both directions, and every low-depth circuit (Shallow = 1), uses the forward
// circuit: with S(x) = A(1/x), A affine, the inverse is A^-1(S(A^-1(x))). Gates a byte with Shallow
// = 0: forward 113; inverse 121; both 113 + 24 XOR + 16 multiplexers. en_i tells that in_i is used;
// while it is low, out_o is not meaningful. inverse_i is used with DirsBoth only.
// Latency: Regs clocks.
// Throughput: Bytes bytes a clock.
// Parameters: Shallow selects the smallest circuit (0: mae_sbox_boolean_fwd and _inv) or the
// low-depth circuit (1: mae_sbox_low_depth); these describe the positions of the register (Regs,
// Late). Legal: Kind any of dirs_e; Regs 0 or 1; Late 0, or 1 with Shallow = 1; Shallow 0 or 1;
// Bytes >= 1.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1.1, §5.3.2; circuits of Boyar, Peralta and others.

module mae_sbox_boolean
  import mae_aes_pkg::*;
#(
    parameter dirs_e       Kind    = DirsBoth,
    parameter int unsigned Regs    = 0,
    parameter bit          Late    = 1'b0,
    parameter bit          Shallow = 1'b0,
    parameter int unsigned Bytes   = 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  en_i,
    input  logic                  inverse_i,
    input  logic [Bytes-1:0][7:0] in_i,
    output logic [Bytes-1:0][7:0] out_o
);

  if (Kind == DirsDecrypt && !Shallow) begin : gen_inverse
    mae_sbox_boolean_inv #(
        .Regs (Regs),
        .Bytes(Bytes)
    ) u_inverse (
        .clk_i,
        .rst_ni,
        .en_i,
        .in_i,
        .out_o
    );
    logic unused;
    assign unused = inverse_i;

  end else if (Kind == DirsEncrypt && !Shallow) begin : gen_forward
    mae_sbox_boolean_fwd #(
        .Regs (Regs),
        .Bytes(Bytes)
    ) u_forward (
        .clk_i,
        .rst_ni,
        .en_i,
        .in_i,
        .out_o
    );
    logic unused;
    assign unused = inverse_i;

  end else begin : gen_both
    // Inverse affine map, FIPS 197 §5.3.2: bit i is x[i+2] + x[i+5] + x[i+7] + c[i] with c = 05.
    // Bits i and i + 3 share x[i+2] + x[i+5], so that 12 gates suffice.
    function automatic logic [Bytes-1:0][7:0] inv_affine(input logic [Bytes-1:0][7:0] x);
      logic [Bytes-1:0][7:0] y;
      logic [3:0] pair;
      for (int unsigned b = 0; b < Bytes; b++) begin
        pair = {x[b][4] ^ x[b][7], x[b][0] ^ x[b][3], x[b][6] ^ x[b][1], x[b][2] ^ x[b][5]};
        y[b] = {
          pair[1] ^ x[b][4],
          pair[2] ^ x[b][5],
          pair[3] ^ x[b][2],
          pair[1] ^ x[b][3],
          pair[0] ^ x[b][0],
          ~(pair[3] ^ x[b][1]),
          pair[2] ^ x[b][6],
          ~(pair[0] ^ x[b][7])
        };
      end
      return y;
    endfunction

    logic [Bytes-1:0][7:0] forward_in, forward_out;
    logic en, inverse_in, inverse;
    assign inverse_in = (Kind == DirsBoth) ? inverse_i : Kind == DirsDecrypt;
    always_comb begin
      forward_in = in_i;
      if (en_i && inverse_in) forward_in = inv_affine(in_i);
    end
    if (Shallow) begin : gen_shallow
      mae_sbox_low_depth #(
          .Regs (Regs),
          .Late (Late),
          .Bytes(Bytes)
      ) u_forward (
          .clk_i,
          .rst_ni,
          .en_i,
          .in_i (forward_in),
          .out_o(forward_out)
      );
    end else begin : gen_small
      mae_sbox_boolean_fwd #(
          .Regs (Regs),
          .Bytes(Bytes)
      ) u_forward (
          .clk_i,
          .rst_ni,
          .en_i,
          .in_i (forward_in),
          .out_o(forward_out)
      );
    end
    if (Regs == 0) begin : gen_comb
      assign en      = en_i;
      assign inverse = inverse_in;
    end else begin : gen_reg
      logic en_q, inverse_q;
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) {en_q, inverse_q} <= '0;
        else {en_q, inverse_q} <= {en_i, inverse_in};
      end
      assign en      = en_q;
      assign inverse = inverse_q;
    end
    always_comb begin
      out_o = forward_out;
      if (en && inverse) out_o = inv_affine(forward_out);
    end
  end

endmodule
