// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_rom_defined: compares what mae_sbox_rom has read for a byte, and the product with x beside
// it, with their definitions.
// Source: FIPS 197 §4.2 (xTimes), §5.1.1.

module mae_sbox_rom_defined (
    input logic            clk_i,
    input logic            rst_ni,
    input logic [2:0][7:0] in_i
);
  logic [2:0][7:0] in_q, out, twice;
  logic [2:0] holds;
  logic read_q;

  mae_sbox_rom #(
      .Bytes(3)
  ) u_dut (
      .clk_i,
      .in_i,
      .out_o  (out),
      .twice_o(twice)
  );

  always_ff @(posedge clk_i) in_q <= in_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) read_q <= 1'b0;
    else read_q <= 1'b1;
  end

  for (genvar i = 0; i < 3; i++) begin : gen_byte
    mae_sbox_relation u_defined (
        .in_i   (in_q[i]),
        .out_i  (out[i]),
        .holds_o(holds[i])
    );
    always_comb begin
      if (rst_ni && read_q) begin
        Substituted : assert (holds[i]);
        Doubled : assert (twice[i] == ({out[i][6:0], 1'b0} ^ (out[i][7] ? 8'h1b : 8'h00)));
      end
    end
  end

endmodule
