// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox: applies SubBytes, InvSubBytes or a selectable one of both to Bytes bytes.
//
// en_i tells that in_i is used. While it is low, out_o is not meaningful and an inner register is
// cleared. inverse_i selects the inverse if Kind = DirsBoth; otherwise it is ignored. All
// implementations give equal results (tests/cipher/sbox/test_sbox.py, formal/cipher).
// Latency: Regs clocks.
// Throughput: Bytes bytes a clock.
// Parameters: Kind selects the directions, Impl the implementation; Regs = 1 places a register
// inside the S-box, Late = 1 places this register near the output. Legal: Kind any of dirs_e; Impl
// any of sbox_impl_e; Regs 0 or 1; Late 0, or 1 with SboxLowDepth; Bytes >= 1.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1.1, §5.3.2; Kale et al., section 2.2 (tower field); Boyar and Peralta
// (Boolean); Maximov and Ekdahl (low depth); Bertoni and others (one-hot).

`include "mae_assert.svh"

module mae_sbox
  import mae_aes_pkg::*;
#(
    parameter dirs_e       Kind  = DirsBoth,
    parameter sbox_impl_e  Impl  = SboxTable,
    parameter int unsigned Regs  = 0,
    parameter bit          Late  = 1'b0,
    parameter int unsigned Bytes = 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  en_i,
    input  logic                  inverse_i,
    input  logic [Bytes-1:0][7:0] in_i,
    output logic [Bytes-1:0][7:0] out_o
);

  `MAE_PARAM(KindLegal, Kind inside {DirsEncrypt, DirsDecrypt, DirsBoth})
  `MAE_PARAM(ImplLegal,
             Impl inside {SboxTable, SboxTower, SboxBoolean, SboxLowDepth, SboxOnehot, SboxLut})
  `MAE_PARAM(RegsLegal, Regs <= 1)
  `MAE_PARAM(LateLegal, !Late || Impl == SboxLowDepth)

  if (Impl == SboxTable) begin : gen_table
    mae_sbox_table #(
        .Kind (Kind),
        .Regs (Regs),
        .Bytes(Bytes)
    ) u_sbox (
        .clk_i,
        .rst_ni,
        .en_i,
        .inverse_i,
        .in_i,
        .out_o
    );
  end else if (Impl == SboxTower) begin : gen_tower
    mae_sbox_tower #(
        .Kind (Kind),
        .Regs (Regs),
        .Bytes(Bytes)
    ) u_sbox (
        .clk_i,
        .rst_ni,
        .en_i,
        .inverse_i,
        .in_i,
        .out_o
    );
  end else if (Impl == SboxLut) begin : gen_lut
    mae_sbox_lut #(
        .Kind (Kind),
        .Regs (Regs),
        .Bytes(Bytes)
    ) u_sbox (
        .clk_i,
        .rst_ni,
        .en_i,
        .inverse_i,
        .in_i,
        .out_o
    );
  end else if (Impl == SboxOnehot) begin : gen_onehot
    mae_sbox_onehot #(
        .Kind (Kind),
        .Regs (Regs),
        .Bytes(Bytes)
    ) u_sbox (
        .clk_i,
        .rst_ni,
        .en_i,
        .inverse_i,
        .in_i,
        .out_o
    );
  end else begin : gen_boolean
    mae_sbox_boolean #(
        .Kind   (Kind),
        .Regs   (Regs),
        .Late   (Late),
        .Shallow(Impl == SboxLowDepth),
        .Bytes  (Bytes)
    ) u_sbox (
        .clk_i,
        .rst_ni,
        .en_i,
        .inverse_i,
        .in_i,
        .out_o
    );
  end

endmodule
