// SPDX-License-Identifier: Apache-2.0
//
// mae_round_rom_equal: compares each round of mae_pipe_rounds_rom with FIPS 197.
//
// Its ROMs may give any bytes, with their products with x beside them: mae_sbox_rom_defined has what
// they give. Legal: RegsPerRound 1 or 2.
// Source: FIPS 197 §5.1; xTimes of §4.2.

module mae_round_rom_equal
  import mae_aes_pkg::*;
#(
    parameter  int unsigned RegsPerRound = 1,
    localparam int unsigned Rounds       = 14
) (
    input logic                     clk_i,
    input logic                     rst_ni,
    input logic                     clear_i,
    input key_len_e                 len_i,
    input block_t                   first_key_i,
    input block_t      [Rounds-1:0] keys_i,
    input logic                     req_valid_i,
    input cipher_req_t              req_i
);
  key_len_e len[1];
  block_t first_key[1];
  block_t keys[1][Rounds];
  assign len[0]       = len_i;
  assign first_key[0] = first_key_i;
  for (genvar r = 0; r < Rounds; r++) begin : gen_key
    assign keys[0][r] = keys_i[r];
  end

  mae_pipe_rounds_rom #(
      .RegsPerRound(RegsPerRound)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .clear_i,
      .enc_ready_i(1'b1),
      .len_i      (len),
      .first_key_i(first_key),
      .enc_keys_i (keys),
      .used_o     (),
      .req_valid_i,
      .req_ready_o(),
      .req_i,
      .rsp_valid_o(),
      .rsp_o      ()
  );

  for (genvar r = 1; r <= Rounds; r++) begin : gen_round
    block_t substituted, twice, found, result;
    assign substituted = u_dut.gen_round[r].substituted;
    assign twice       = u_dut.gen_round[r].twice;
    assign result      = u_dut.gen_round[r].result;
    mae_round_defined u_defined (
        .inverse_i    (1'b0),
        .last_i       (r == 1),
        .key_i        (keys_i[r-1]),
        .substituted_i(substituted),
        .state_o      (found)
    );

    always_comb begin
      for (int unsigned i = 0; i < 16; i++) begin
        assume (twice[8*i+:8] == ({substituted[8*i+:7], 1'b0} ^
                                  (substituted[8*i+7] ? 8'h1b : 8'h00)));
      end
      if (rst_ni) begin
        for (int unsigned i = 0; i < 128; i++) assert (result[i] == found[i]);
      end
    end
  end

endmodule
