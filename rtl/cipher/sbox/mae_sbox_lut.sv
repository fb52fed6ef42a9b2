// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_lut: looks up the S-box, its inverse or a selectable one of both in a table for each
// output bit, for Bytes bytes.
//
// The tables are those of mae_sbox_table, turned round: a bit of 8 inputs is four six-input LUTs and
// their multiplexers (F7, F8 of 7-series), 32 LUTs an S-box. Written as bytes, Yosys finds 42. A
// simulator is slower with it than with bytes.
// en_i tells that in_i is used; while it is low, out_o is not meaningful. inverse_i is used with
// DirsBoth only.
// Latency: Regs clocks.
// Throughput: Bytes bytes a clock.
// Parameters: with Regs = 1 a register is behind the LUTs, before their multiplexers. Legal: Kind
// any of dirs_e; Regs 0 or 1; Bytes >= 1.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1.1 table 4, §5.3.2 table 6.

(* keep_hierarchy *)
module mae_sbox_lut
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

  typedef logic [7:0][255:0] bits_t;  // by output bit and input byte

  function automatic bits_t bits(input bit inverse);
    bits_t b;
    for (int unsigned i = 0; i < 256; i++) begin
      for (int unsigned j = 0; j < 8; j++) b[j][i] = inverse ? Inv[i][j] : Fwd[i][j];
    end
    return b;
  endfunction
  localparam bits_t FwdBits = bits(1'b0);
  localparam bits_t InvBits = bits(1'b1);

  logic inverse;
  if (Kind == DirsBoth) begin : gen_select
    assign inverse = inverse_i;
  end else begin : gen_fixed
    assign inverse = Kind == DirsDecrypt;
    logic unused;
    assign unused = inverse_i;
  end

  if (Regs == 0) begin : gen_comb
    always_comb begin
      for (int unsigned i = 0; i < Bytes; i++) begin
        for (int unsigned j = 0; j < 8; j++) begin
          out_o[i][j] = inverse ? InvBits[j][in_i[i]] : FwdBits[j][in_i[i]];
        end
      end
    end
    logic unused;
    assign unused = ^{clk_i, rst_ni, en_i};

  end else begin : gen_reg
    logic [Bytes-1:0][7:0][3:0] quarter_q;
    logic [Bytes-1:0][1:0]      choice_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        quarter_q <= '0;
        choice_q  <= '0;
      end else if (!en_i) begin
        quarter_q <= '0;
        choice_q  <= '0;
      end else begin
        for (int unsigned i = 0; i < Bytes; i++) begin
          for (int unsigned j = 0; j < 8; j++) begin
            for (int unsigned q = 0; q < 4; q++) begin
              quarter_q[i][j][q] <= inverse ? InvBits[j][{2'(q), in_i[i][5:0]}] :
                  FwdBits[j][{2'(q), in_i[i][5:0]}];
            end
          end
          choice_q[i] <= in_i[i][7:6];
        end
      end
    end

    always_comb begin
      for (int unsigned i = 0; i < Bytes; i++) begin
        for (int unsigned j = 0; j < 8; j++) out_o[i][j] = quarter_q[i][j][choice_q[i]];
      end
    end
  end

endmodule
