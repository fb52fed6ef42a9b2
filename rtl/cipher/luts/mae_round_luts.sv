// SPDX-License-Identifier: Apache-2.0
//
// mae_round_luts: computes one AES round in either direction in few six-input LUTs of an FPGA, one
// for each bit of a step (mae_preserved_xor).
//
// The S-box is A I, the inversion I and an affine map A, so the inverse S-box is A^-1 S A^-1: one
// table serves both directions. The second A^-1, ShiftRows or its inverse and the round key of
// decryption are one step. In decryption A^-1 there leaves out its constant, 05, which InvMixColumns
// does not change: decrypt_i comes with a state to whose bytes 05 was added, and gives such a state,
// but for the last round, whose result is as it is. The first A^-1 makes up for that.
//
// InvMixColumns is MixColumns after a map that adds one byte to rows 0 and 2 and another one to
// rows 1 and 3 (mae_round_pkg). What MixColumns makes of these two bytes is computed beside
// MixColumns, with the round key of encryption in its place. So no round key is selected.
// Latency: combinational.
// Throughput: one round a clock.
// Parameters: Last = 1 is the last round of a block, without (Inv)MixColumns. Legal: Last 0 or 1.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1, §5.3.

module mae_round_luts
  import mae_aes_pkg::*;
#(
    parameter bit Last = 1'b0
) (
    input  logic   clk_i,
    input  logic   rst_ni,
    input  logic   decrypt_i,
    input  block_t enc_key_i,
    input  block_t dec_key_i,
    input  block_t state_i,
    output block_t state_o
);
  import mae_round_pkg::*;

  localparam logic [7:0] Added = 8'h05;  // to each byte of a state in decryption
  localparam logic [7:0] Made = 8'h66;  // A^-1 of that, and that again

  // Bit j of each byte becomes bit j + by: the sum of three such is A^-1 without its constant.
  function automatic block_t rotate(input block_t s, input int unsigned by);
    for (int unsigned i = 0; i < 128; i++) rotate[i] = s[8*(i/8)+(i+by)%8];
  endfunction

  function automatic logic [2:0][127:0] inv_affine(input block_t s);
    return {rotate(s, 7), rotate(s, 5), rotate(s, 2)};
  endfunction

  // ---- SubBytes or InvSubBytes, ShiftRows or InvShiftRows, the round key of decryption.
  logic encrypt;
  block_t from, substituted, keyed;

  assign encrypt = !decrypt_i;

  mae_preserved_xor #(
      .Terms (3),
      .Choice(2),
      .Added (1'b1),
      .Width (128)
  ) u_from (
      .choose_i(encrypt),
      .other_i (state_i),
      .terms_i (inv_affine(state_i)),
      .add_i   ({16{Made & {8{decrypt_i}}}}),
      .out_o   (from)
  );

  mae_sbox_lut #(
      .Kind (DirsEncrypt),
      .Regs (0),
      .Bytes(16)
  ) u_sub (
      .clk_i,
      .rst_ni,
      .en_i     (1'b1),
      .inverse_i(1'b0),
      .in_i     (from),
      .out_o    (substituted)
  );

  mae_preserved_xor #(
      .Terms (4),
      .Choice(2),
      .Width (128)
  ) u_keyed (
      .choose_i(encrypt),
      .other_i (shift_rows(substituted)),
      .terms_i ({dec_key_i, inv_affine(inv_shift_rows(substituted))}),
      .add_i   ('0),
      .out_o   (keyed)
  );

  if (Last) begin : gen_last
    assign state_o = keyed ^ (decrypt_i ? {16{Added}} : enc_key_i);
  end else begin : gen_mix
    // a: bytes by column and row; more: added to rows 0 and 2, and to rows 1 and 3; parity, tops:
    // sums of bits of a column, and of the highest bits of two bytes.
    logic [3:0][3:0][7:0] a, beside, beside_key, mixed;
    logic [3:0][1:0][7:0] more;
    logic [3:0][7:0] parity;
    logic [3:0][3:0] tops;
    logic [5:0][3:0][1:0][7:0] more_terms;
    logic [3:0][3:0][7:0] parity_terms;
    logic [1:0][3:0][3:0] tops_terms;
    logic [3:0][3:0][3:0][7:0] beside_terms;
    logic [5:0][3:0][3:0][7:0] mixed_terms;

    // The carry of a multiplication by x goes to bits 0, 1, 3 and 4.
    localparam logic [7:0] Carry = 8'h1b;

    always_comb begin
      for (int unsigned c = 0; c < 4; c++) begin
        for (int unsigned r = 0; r < 4; r++) begin
          a[c][r]                  = keyed[32*c+8*(3-r)+:8];
          beside_key[c][r]         = enc_key_i[32*c+8*(3-r)+:8];
          state_o[32*c+8*(3-r)+:8] = mixed[c][r];
        end
      end
    end

    always_comb begin
      logic [7:0] low, high, top;
      more_terms   = '0;
      parity_terms = '0;
      tops_terms   = '0;
      beside_terms = '0;
      mixed_terms  = '0;
      for (int unsigned c = 0; c < 4; c++) begin
        for (int unsigned p = 0; p < 2; p++) begin
          // x^2 times (a[p] + a[p + 2]): bits j - 2, and what the carries of 6 and 7 make.
          for (int unsigned half = 0; half < 2; half++) begin
            low  = a[c][p+2*half] << 2;
            high = '0;
            top  = '0;
            for (int unsigned j = 0; j < 8; j++) begin
              if (j inside {0, 1, 3, 4}) high[j] = a[c][p+2*half][6];
              if (j inside {1, 2, 4, 5}) top[j] = a[c][p+2*half][7];
            end
            more_terms[3*half][c][p]   = low;
            more_terms[3*half+1][c][p] = high;
            more_terms[3*half+2][c][p] = top;
          end
        end
        for (int unsigned r = 0; r < 4; r++) begin
          parity_terms[r][c] = a[c][r];
          tops_terms[0][c][r] = a[c][r][7];
          tops_terms[1][c][r] = a[c][(r+1)%4][7];
          // x times the sum of both, and one of them. parity[5] is the sum of their highest bits.
          beside_terms[0][c][r] = more[c][0] << 1;
          beside_terms[1][c][r] = more[c][1] << 1;
          beside_terms[2][c][r] = more[c][r%2];
          beside_terms[3][c][r] = Carry & {8{parity[c][5]}};
          // MixColumns: bits 1, 3 and 4 by the sum of all rows, for there is the carry, too.
          mixed_terms[0][c][r] = a[c][r] << 1;
          mixed_terms[1][c][r] = a[c][(r+1)%4] << 1;
          mixed_terms[2][c][r] = beside[c][r];
          for (int unsigned j = 0; j < 8; j++) begin
            if (j inside {1, 3, 4}) begin
              mixed_terms[3][c][r][j] = a[c][r][j];
              mixed_terms[4][c][r][j] = parity[c][j];
              mixed_terms[5][c][r][j] = tops[c][r];
            end else begin
              mixed_terms[3][c][r][j] = a[c][(r+1)%4][j];
              mixed_terms[4][c][r][j] = a[c][(r+2)%4][j];
              mixed_terms[5][c][r][j] = a[c][(r+3)%4][j];
            end
          end
          mixed_terms[0][c][r][0] = tops[c][r];
        end
      end
    end

    mae_preserved_xor #(
        .Terms(6),
        .Width(64)
    ) u_more (
        .choose_i(1'b0),
        .other_i ('0),
        .terms_i (more_terms),
        .add_i   ('0),
        .out_o   (more)
    );

    assign parity = parity_terms[0] ^ parity_terms[1] ^ parity_terms[2] ^ parity_terms[3];
    assign tops   = tops_terms[0] ^ tops_terms[1];

    mae_preserved_xor #(
        .Terms (4),
        .Choice(2),
        .Width (128)
    ) u_beside (
        .choose_i(encrypt),
        .other_i (beside_key),
        .terms_i (beside_terms),
        .add_i   ('0),
        .out_o   (beside)
    );

    mae_preserved_xor #(
        .Terms(6),
        .Width(128)
    ) u_mixed (
        .choose_i(1'b0),
        .other_i ('0),
        .terms_i (mixed_terms),
        .add_i   ('0),
        .out_o   (mixed)
    );
  end

endmodule
