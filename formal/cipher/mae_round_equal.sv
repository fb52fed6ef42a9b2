// SPDX-License-Identifier: Apache-2.0
//
// mae_round_equal: compares a combinational mae_round of each Dirs (encryption, decryption, both),
// behind its S-boxes, with mae_round_defined. The S-boxes' outputs are any: mae_sbox_defined has
// what they are. Legal: Sbox any of sbox_impl_e.
// Source: FIPS 197 §5.1, §5.3.

module mae_round_equal
  import mae_aes_pkg::*;
#(
    parameter sbox_impl_e Sbox = SboxTable
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         last_i,
    input logic         dir_i,
    input logic [127:0] key_i,
    input logic [127:0] state_i
);
  for (genvar k = int'(DirsEncrypt); k <= int'(DirsBoth); k++) begin : gen_dirs
    localparam dirs_e Dirs = dirs_e'(k);
    block_t state;
    mae_round #(
        .Dirs(Dirs),
        .Sbox(Sbox),
        .Regs(0)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .valid_i(1'b1),
        .dir_i,
        .last_i,
        .key_i,
        .state_i,
        .state_o(state)
    );

    block_t found;
    logic   inverse;
    assign inverse = (Dirs == DirsBoth) ? dir_i : (Dirs == DirsDecrypt);
    mae_round_defined u_defined (
        .inverse_i    (inverse),
        .last_i,
        .key_i,
        .substituted_i(u_dut.middle),
        .state_o      (found)
    );

    always_comb begin
      if (rst_ni) begin
        for (int unsigned i = 0; i < 128; i++) assert (state[i] == found[i]);
      end
    end
  end

endmodule
