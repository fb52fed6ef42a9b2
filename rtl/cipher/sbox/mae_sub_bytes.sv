// SPDX-License-Identifier: Apache-2.0
//
// mae_sub_bytes: S-boxes with Regs registers in and behind them: where the registers of a round
// stand is decided here (docs/adr/0015), for the rounds and for the key expansion.
//
// Latency: Regs clocks. Throughput: Bytes bytes a clock.
// Legal: Kind any of dirs_e; Impl any of sbox_impl_e; Bytes >= 1; Regs 0, 1 or 2. One register
// stands behind the S-boxes, or with SboxLowDepth inside them, behind the inversion in GF(2^4). Two
// stand inside them and behind them.
// en_i[s]: step s, numbered from the input on, holds something of interest; else what it gives is
// without meaning, and the register behind it is cleared. inverse_i: as in mae_sbox, for step 0.
// Source: FIPS 197 §5.1.1, §5.3.2. Constant-time: yes. Masked: no.

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
