// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox: SubBytes, InvSubBytes or both by choice, for Bytes bytes side by side.
//
// Latency: Regs clocks. Throughput: Bytes bytes a clock.
// Legal: Kind any of dirs_e (what it can do); Impl any of sbox_impl_e; Regs 0 or 1 (a register
// inside the S-box); Late 0, or 1 with SboxLowDepth (that register near the output); Bytes >= 1.
// en_i: in_i is of interest; else out_o is without meaning, and an inner register is cleared.
// inverse_i: with Kind = DirsBoth, whether in_i goes through the inverse; else ignored.
// Source: FIPS 197 §5.1.1, §5.3.2; P3 §2.2 (tower); Boyar and Peralta (Boolean); Maximov
// and Ekdahl (shallow); Bertoni and others (one-hot).
// Constant-time: yes. Masked: no. All implementations are equal byte for byte
// (tests/cipher/sbox/test_sbox.py, formal/cipher).

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
  `MAE_PARAM(ImplLegal, Impl inside {SboxTable, SboxTower, SboxBoolean, SboxLowDepth, SboxOnehot})
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
