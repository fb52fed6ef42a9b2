// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_table: looks up the S-box, its inverse or a selectable one of both in tables, for Bytes
// bytes.
//
// en_i tells that in_i is used; while it is low, out_o is not meaningful. inverse_i is used with
// DirsBoth only. The `if (en_i)` lets a simulator skip an idle round.
// Latency: Regs clocks.
// Throughput: Bytes bytes a clock.
// Parameters: with Regs = 1 the table is split into four tables of 64 entries, with a register
// behind them and the multiplexer after it. Legal: Kind any of dirs_e; Regs 0 or 1; Bytes >= 1.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1.1 table 4, §5.3.2 table 6.

module mae_sbox_table
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
      out_o = '0;
      if (en_i) begin
        if (inverse) for (int unsigned i = 0; i < Bytes; i++) out_o[i] = Inv[in_i[i]];
        else for (int unsigned i = 0; i < Bytes; i++) out_o[i] = Fwd[in_i[i]];
      end
    end
    logic unused;
    assign unused = ^{clk_i, rst_ni};

  end else begin : gen_reg
    logic [Bytes-1:0][3:0][7:0] quarter_q;
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
          for (int unsigned j = 0; j < 4; j++) begin
            quarter_q[i][j] <= inverse ? Inv[{2'(j), in_i[i][5:0]}] : Fwd[{2'(j), in_i[i][5:0]}];
          end
          choice_q[i] <= in_i[i][7:6];
        end
      end
    end

    always_comb for (int unsigned i = 0; i < Bytes; i++) out_o[i] = quarter_q[i][choice_q[i]];
  end

endmodule
