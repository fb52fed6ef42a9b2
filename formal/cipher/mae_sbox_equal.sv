// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_equal: compares all implementations of mae_sbox; equal_o is 1 for every input of every
// Kind. Flip (masks on the outputs of the one-hot, the shallow and the Boolean one) makes one wrong
// on purpose, to see the proof fail.

module mae_sbox_equal
  import mae_aes_pkg::*;
#(
    parameter dirs_e        Kind = DirsBoth,
    parameter logic  [23:0] Flip = 24'h000000
) (
    input  logic       inverse_i,
    input  logic [7:0] in_i,
    output logic       equal_o
);

  logic [4:0][7:0] out;
  for (genvar i = 0; i < 5; i++) begin : gen_sbox
    mae_sbox #(
        .Kind (Kind),
        .Impl (sbox_impl_e'(i)),
        .Regs (0),
        .Bytes(1)
    ) u_sbox (
        .clk_i (1'b0),
        .rst_ni(1'b1),
        .en_i  (1'b1),
        .inverse_i,
        .in_i,
        .out_o (out[i])
    );
  end

  assign equal_o = out[0] == out[1] && out[0] == (out[2] ^ Flip[7:0]) &&
      out[0] == (out[3] ^ Flip[15:8]) && out[0] == (out[4] ^ Flip[23:16]);

endmodule
