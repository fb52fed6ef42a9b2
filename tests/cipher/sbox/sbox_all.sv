// SPDX-License-Identifier: Apache-2.0
//
// sbox_all: instantiates every S-box for the tests, by implementation, register and kind.
// Implementations is the number of values of sbox_impl_e.

module sbox_all
  import mae_aes_pkg::*;
#(
    parameter  int unsigned Implementations = 5,
    localparam int unsigned Number          = 6 * Implementations
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   en_i,
    input  logic                   inverse_i,
    input  logic [       7:0]      in_i,
    output logic [Number-1:0][7:0] out_o
);

  for (genvar i = 0; i < int'(Number); i++) begin : gen_sbox
    mae_sbox #(
        .Kind (dirs_e'(i % 3 + 1)),
        .Impl (sbox_impl_e'(i / 6)),
        .Regs ((i / 3) % 2),
        .Bytes(1)
    ) u_sbox (
        .clk_i,
        .rst_ni,
        .en_i,
        .inverse_i,
        .in_i,
        .out_o(out_o[i])
    );
  end

endmodule
