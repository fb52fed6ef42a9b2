// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_defined: compares a combinational mae_sbox of each Kind (encryption, decryption, both)
// with its definition: the inverse in GF(2^8), then an affine map. Legal: Sbox any of sbox_impl_e.
// Source: FIPS 197 §4.2, §5.1.1, §5.3.2.

module mae_sbox_defined
  import mae_aes_pkg::*;
#(
    parameter sbox_impl_e Sbox = SboxTable
) (
    input logic       clk_i,
    input logic       rst_ni,
    input logic       inverse_i,
    input logic [7:0] in_i
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

  for (genvar k = int'(DirsEncrypt); k <= int'(DirsBoth); k++) begin : gen_kind
    localparam dirs_e Kind = dirs_e'(k);
    logic [7:0] out, x, y;
    logic inverse;

    mae_sbox #(
        .Kind (Kind),
        .Impl (Sbox),
        .Regs (0),
        .Bytes(1)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .en_i (1'b1),
        .inverse_i,
        .in_i,
        .out_o(out)
    );

    // Forwards out = affine(1 / in). Backwards it is the other way round: in = affine(1 / out).
    assign inverse = (Kind == DirsBoth) ? inverse_i : (Kind == DirsDecrypt);
    assign x = inverse ? out : in_i;
    assign y = inverse_affine(inverse ? in_i : out);

    // y is the inverse of x by what it does; that of 0 is 0.
    always_comb begin
      if (rst_ni) begin
        Inverse : assert (times(x, y) == ((x == '0) ? 8'd0 : 8'd1));
        ZeroOfZero : assert ((x == '0) == (y == '0));
      end
    end
  end

endmodule
