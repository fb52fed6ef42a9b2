// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_defined: compares a combinational mae_sbox of each Kind (encryption, decryption, both)
// with its definition (mae_sbox_relation). Legal: Sbox any of sbox_impl_e.
// Source: FIPS 197 §5.1.1, §5.3.2.

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

  for (genvar k = int'(DirsEncrypt); k <= int'(DirsBoth); k++) begin : gen_kind
    localparam dirs_e Kind = dirs_e'(k);
    logic [7:0] out;
    logic inverse, holds;

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

    // InvSubBytes is the inverse of SubBytes: the other way round.
    assign inverse = (Kind == DirsBoth) ? inverse_i : (Kind == DirsDecrypt);
    mae_sbox_relation u_defined (
        .in_i   (inverse ? out : in_i),
        .out_i  (inverse ? in_i : out),
        .holds_o(holds)
    );

    always_comb if (rst_ni) assert (holds);
  end

endmodule
