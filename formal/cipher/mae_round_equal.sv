// SPDX-License-Identifier: Apache-2.0
//
// mae_round_equal: compares a combinational mae_round of each Dirs (encryption, decryption, both),
// behind its S-boxes, with ShiftRows, MixColumns and AddRoundKey as FIPS 197 defines them. The
// S-boxes' outputs are any: mae_sbox_defined has what they are. Legal: Sbox any of sbox_impl_e.
// Source: FIPS 197 §4.2, §5.1, §5.3; byte i of §3.4 is row i % 4 of column i / 4.

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
  typedef logic [7:0] byte_t;

  // §4.2: the product in GF(2^8), modulo x^8 + x^4 + x^3 + x + 1.
  function automatic byte_t times(input byte_t a, input byte_t b);
    byte_t sum, power;
    sum   = '0;
    power = a;
    for (int unsigned i = 0; i < 8; i++) begin
      if (b[i]) sum ^= power;
      power = {power[6:0], 1'b0} ^ (power[7] ? 8'h1b : 8'h00);
    end
    return sum;
  endfunction

  function automatic byte_t at(input block_t s, input int unsigned i);
    return s[127-8*i-:8];
  endfunction

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

    // What follows the S-boxes.
    block_t shifted, keyed, mixed, found;
    byte_t [3:0] row;
    logic inverse;
    assign inverse = (Dirs == DirsBoth) ? dir_i : (Dirs == DirsDecrypt);
    always_comb begin
      mixed = '0;
      for (int unsigned i = 0; i < 16; i++) begin
        // §5.1.2, §5.3.1: row r moves by r columns.
        shifted[127-8*i-:8] = at(u_dut.middle, (i + (inverse ? 12 : 4) * (i % 4)) % 16);
      end
      keyed = shifted ^ key_i;
      // §5.1.3, §5.3.3: row r of the matrix is its first row, moved right by r places.
      row   = inverse ? {8'h09, 8'h0d, 8'h0b, 8'h0e} : {8'h01, 8'h01, 8'h03, 8'h02};
      for (int unsigned i = 0; i < 16; i++) begin
        for (int unsigned j = 0; j < 4; j++) begin
          mixed[127-8*i-:8] ^=
              times(at(inverse ? keyed : shifted, 4 * (i / 4) + j), row[(j+4-i%4)%4]);
        end
      end
      if (last_i) found = keyed;
      else if (!inverse) found = mixed ^ key_i;
      else found = mixed;
    end

    always_comb begin
      if (rst_ni) begin
        for (int unsigned i = 0; i < 128; i++) assert (state[i] == found[i]);
      end
    end
  end

endmodule
