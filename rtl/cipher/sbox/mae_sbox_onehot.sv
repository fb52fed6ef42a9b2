// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_onehot: computes the AES S-box, its inverse or, by selection, either for Bytes bytes
// with one-hot logic. It is a one-hot decoder, a permutation and an encoder.
//
// The decoder drives one of 256 wires low; its number is the byte. The permutation is wiring only.
// en_i tells that in_i is used; while it is low, out_o is not meaningful and the register is
// cleared. inverse_i is used with DirsBoth only. The circuit has four times as many gates as
// mae_sbox_boolean, but a change of the input switches few of them: two of the 256 wires, and two
// of the 16 wires of each half of the byte. So it needs less energy in standard cells, if they are
// mapped as written (mae_preserved_gates); on an FPGA it is the largest S-box.
// Latency: Regs clocks.
// Throughput: Bytes bytes a clock.
// Parameters: with Regs = 1 a register of 32 bits a byte is placed before the 256 wires. Legal:
// Kind any of dirs_e; Regs 0 or 1; Bytes >= 1.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1.1, §5.3.2; structure: G. Bertoni, M. Macchetti, L. Negri, P. Fragneto,
// "Power-efficient ASIC synthesis of cryptographic Sboxes", GLSVLSI 2004.

module mae_sbox_onehot
  import mae_aes_pkg::*;
#(
    parameter dirs_e       Kind  = DirsBoth,
    parameter int unsigned Regs  = 0,
    parameter int unsigned Bytes = 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  en_i,
    input  logic                  inverse_i,
    input  logic [Bytes-1:0][7:0] in_i,
    output logic [Bytes-1:0][7:0] out_o
);
  import mae_sbox_table_pkg::*;
  // Simulators compile this module once, not once for each S-box:
  // verilator no_inline_module

  localparam int unsigned Ways = (Kind == DirsBoth) ? 2 : 1;

  // The selected encoder.
  logic way;
  if (Regs == 1) begin : gen_inverse_reg
    logic way_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) way_q <= '0;
      else if (!en_i) way_q <= '0;
      else way_q <= inverse_i;
    end
    assign way = way_q;
  end else begin : gen_inverse_comb
    assign way = inverse_i;
    logic unused;
    assign unused = ^{clk_i, rst_ni, en_i};
  end

  for (genvar i = 0; i < Bytes; i++) begin : gen_byte
    // Decoder: pairs of bits, for both halves of the byte, then the halves; active low.
    logic [15:0][1:0] literals;
    logic [15:0]      pair;
    logic [31:0][1:0] pairs;
    logic [31:0] half, decoded;
    always_comb begin
      for (int unsigned p = 0; p < 4; p++) begin
        for (int unsigned v = 0; v < 4; v++) begin
          literals[4*p+v] = {in_i[i][2*p+1] ~^ v[1], in_i[i][2*p] ~^ v[0]};
        end
      end
      for (int unsigned v = 0; v < 16; v++) begin
        pairs[v]    = {pair[4+v/4], pair[v%4]};
        pairs[16+v] = {pair[12+v/4], pair[8+v%4]};
      end
    end
    mae_preserved_gates #(
        .All  (1'b1),
        .Low  (1'b1),
        .Width(16)
    ) u_pair (
        .in_i (literals),
        .out_o(pair)
    );
    mae_preserved_gates #(
        .All  (1'b0),
        .Width(32)
    ) u_half (
        .in_i (pairs),
        .out_o(half)
    );
    if (Regs == 1) begin : gen_reg
      logic [31:0] half_q;
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) half_q <= '0;
        else if (!en_i) half_q <= '0;
        else half_q <= half;
      end
      assign decoded = half_q;
    end else begin : gen_comb
      assign decoded = half;
    end

    logic [255:0][1:0] halves;
    logic [255:0]      line;
    always_comb begin
      for (int unsigned x = 0; x < 256; x++) halves[x] = {decoded[16+x/16], decoded[x%16]};
    end
    mae_preserved_gates #(
        .All  (1'b0),
        .Width(256)
    ) u_line (
        .in_i (halves),
        .out_o(line)
    );

    // Encoder, one for each direction: the halves of the result, one-hot; then whether the upper,
    // and whether the lower bits of a half are 1, 2 or 3.
    logic [Ways-1:0][7:0] results;
    for (genvar w = 0; w < Ways; w++) begin : gen_way
      logic [127:0][3:0] quads;
      logic [ 31:0][3:0] quad;
      logic [ 31:0]      digit;
      logic [ 11:0][3:0] fours;
      logic [ 11:0]      four;
      logic [  7:0][1:0] twos;
      always_comb begin
        for (int unsigned x = 0; x < 256; x++) begin
          logic [7:0] y;
          y = (Kind == DirsDecrypt || w == 1) ? Inv[x] : Fwd[x];
          quads[{1'b0, y[3:0], y[7:6]}][y[5:4]] = line[x];
          quads[{1'b1, y[7:4], y[3:2]}][y[1:0]] = line[x];
        end
        for (int unsigned h = 0; h < 2; h++) begin
          for (int unsigned n = 1; n < 4; n++) begin
            for (int unsigned m = 0; m < 4; m++) begin
              fours[6*h+n-1][m] = digit[16*h+4*m+n];
              fours[6*h+n+2][m] = digit[16*h+4*n+m];
            end
          end
          twos[4*h+0] = {four[6*h+2], four[6*h+0]};
          twos[4*h+1] = {four[6*h+2], four[6*h+1]};
          twos[4*h+2] = {four[6*h+5], four[6*h+3]};
          twos[4*h+3] = {four[6*h+5], four[6*h+4]};
        end
      end
      mae_preserved_gates #(
          .All   (1'b1),
          .Low   (1'b1),
          .Inputs(4),
          .Width (128)
      ) u_quad (
          .in_i (quads),
          .out_o(quad)
      );
      mae_preserved_gates #(
          .All   (1'b0),
          .Inputs(4),
          .Width (32)
      ) u_digit (
          .in_i (quad),
          .out_o(digit)
      );
      mae_preserved_gates #(
          .All   (1'b0),
          .Low   (1'b1),
          .Inputs(4),
          .Width (12)
      ) u_four (
          .in_i (fours),
          .out_o(four)
      );
      mae_preserved_gates #(
          .All  (1'b1),
          .Low  (1'b1),
          .Width(8)
      ) u_bit (
          .in_i (twos),
          .out_o(results[w])
      );
    end
    if (Ways == 2) begin : gen_choose
      assign out_o[i] = results[way];
    end else begin : gen_only
      assign out_o[i] = results[0];
      logic unused;
      assign unused = way;
    end
  end

endmodule
