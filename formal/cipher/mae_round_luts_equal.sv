// SPDX-License-Identifier: Apache-2.0
//
// mae_round_luts_equal: compares a round of mae_round_luts, each Last and direction, with FIPS 197.
//
// Its S-boxes may give any bytes: mae_sbox_defined has what SboxLut is. In decryption a state has 05
// added to its bytes, and InvSubBytes is A^-1 S A^-1, with S the SubBytes of mae_sbox_lut and A^-1
// the inverse of its affine map: what S is given and what follows it are compared.
// Source: FIPS 197 §5.1, §5.3; A^-1 by solving §5.1.1 (5.2).

module mae_round_luts_equal
  import mae_aes_pkg::*;
(
    input logic   clk_i,
    input logic   rst_ni,
    input logic   decrypt_i,
    input block_t enc_key_i,
    input block_t dec_key_i,
    input block_t state_i
);
  function automatic block_t inverse_affine(input block_t s);
    for (int unsigned i = 0; i < 16; i++) begin
      for (int unsigned j = 0; j < 8; j++) begin
        inverse_affine[8*i+j] = s[8*i+(j+2)%8] ^ s[8*i+(j+5)%8] ^ s[8*i+(j+7)%8];
      end
    end
    return inverse_affine ^ {16{8'h05}};
  endfunction

  for (genvar last = 0; last < 2; last++) begin : gen_last
    block_t from, substituted, found, state;
    mae_round_luts #(
        .Last(last == 1)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .decrypt_i,
        .enc_key_i,
        .dec_key_i,
        .state_i,
        .state_o(state)
    );

    assign from = decrypt_i ? inverse_affine(state_i ^ {16{8'h05}}) : state_i;
    assign substituted = decrypt_i ? inverse_affine(u_dut.substituted) : u_dut.substituted;
    mae_round_defined u_defined (
        .inverse_i    (decrypt_i),
        .last_i       (last == 1),
        .key_i        (decrypt_i ? dec_key_i : enc_key_i),
        .substituted_i(substituted),
        .state_o      (found)
    );

    always_comb begin
      if (rst_ni) begin
        for (int unsigned i = 0; i < 128; i++) begin
          assert (u_dut.from[i] == from[i]);
          assert (state[i] == (found[i] ^ (last == 0 && decrypt_i && i % 8 inside {0, 2})));
        end
      end
    end
  end

endmodule
