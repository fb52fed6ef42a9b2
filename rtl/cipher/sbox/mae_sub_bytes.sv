// SPDX-License-Identifier: Apache-2.0
//
// mae_sub_bytes: applies the S-box to Bytes bytes, with Regs registers inside and behind the
// S-boxes.
//
// This module alone decides the positions of the registers of a round (docs/adr/0015), for the
// rounds and for the key expansion: one register is behind the S-boxes, or with SboxLowDepth inside
// them, behind the inversion in GF(2^4); of two registers, one is inside the S-boxes and one behind
// them. The steps are numbered from the input on. en_i[s] tells that step s holds data that are
// used; while it is low, the output of the step is not meaningful and the register behind it is
// cleared. inverse_i is that of mae_sbox, for step 0.
// Latency: Regs clocks.
// Throughput: Bytes bytes a clock.
// Parameters: Legal: Kind any of dirs_e; Impl any of sbox_impl_e; Bytes >= 1; Regs 0, 1 or 2.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1.1, §5.3.2.

`include "mae_assert.svh"

module mae_sub_bytes
  import mae_aes_pkg::*;
#(
    parameter dirs_e       Kind  = DirsBoth,
    parameter sbox_impl_e  Impl  = SboxTable,
    parameter int unsigned Regs  = 0,
    parameter int unsigned Bytes = 16
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic [   Regs:0]      en_i,
    input  logic                  inverse_i,
    input  logic [Bytes-1:0][7:0] in_i,
    output logic [Bytes-1:0][7:0] out_o
);

  `MAE_PARAM(RegsLegal, Regs <= 2)

  localparam bit Middle = Regs == 1 && Impl == SboxLowDepth;
  localparam bit Inside = Regs == 2 || Middle;
  localparam bit Behind = Regs > 0 && !Middle;

  logic [Bytes-1:0][7:0] substituted;
  mae_sbox #(
      .Kind (Kind),
      .Impl (Impl),
      .Regs (int'(Inside)),
      .Late (Middle),
      .Bytes(Bytes)
  ) u_sbox (
      .clk_i,
      .rst_ni,
      .en_i (en_i[0]),
      .inverse_i,
      .in_i,
      .out_o(substituted)
  );

  if (Behind) begin : gen_behind
    logic [Bytes-1:0][7:0] out_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) out_q <= '0;
      else if (!en_i[Regs-1]) out_q <= '0;
      else out_q <= substituted;
    end
    assign out_o = out_q;
  end else begin : gen_through
    assign out_o = substituted;
  end

  logic unused;
  assign unused = ^en_i;

endmodule
