// SPDX-License-Identifier: Apache-2.0
//
// mae_round: computes one AES round in either direction.
//
// The steps of the round are numbered 0..Regs from its input on. valid_i[s] and dir_i[s] tell
// whether step s holds a block, and its direction; the user shifts them along with the block. key_i
// and last_i are the round key, and the last-round flag, of the block in step Regs. state_o is not
// meaningful while valid_i[Regs] is low.
// Latency: Regs clocks (0: combinational).
// Throughput: one round a clock.
// Reset and clear: none; the registers of a step without a block are 0.
// Parameters: Regs is the number of registers (positions: mae_sub_bytes). Legal: Dirs any of
// dirs_e; Sbox any of sbox_impl_e; Regs 0..2.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1, §5.3.

`include "mae_assert.svh"

module mae_round
  import mae_aes_pkg::*;
#(
    parameter dirs_e       Dirs = DirsBoth,
    parameter sbox_impl_e  Sbox = SboxTable,
    parameter int unsigned Regs = 0
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic   [Regs:0] valid_i,
    input  logic   [Regs:0] dir_i,
    input  logic            last_i,
    input  block_t          key_i,
    input  block_t          state_i,
    output block_t          state_o
);
  import mae_round_pkg::*;

  `MAE_PARAM(RegsLegal, Regs <= 2)

  // SubBytes or InvSubBytes, with the registers.
  block_t middle;
  mae_sub_bytes #(
      .Kind (Dirs),
      .Impl (Sbox),
      .Regs (Regs),
      .Bytes(16)
  ) u_sub (
      .clk_i,
      .rst_ni,
      .en_i     (valid_i),
      .inverse_i(dir_i[0]),
      .in_i     (state_i),
      .out_o    (middle)
  );

  // The other steps. The direction is a constant if the configuration supports only one.
  dir_e dir;
  assign dir = (Dirs == DirsBoth) ? dir_e'(dir_i[Regs]) : (Dirs == DirsDecrypt) ? Decrypt : Encrypt;

  // One MixColumns serves both directions: InvMixColumns is MixColumns after a smaller map.
  block_t shifted, keyed, mixed;
  always_comb begin
    shifted = '0;
    keyed   = '0;
    mixed   = '0;
    state_o = '0;
    if (valid_i[Regs]) begin
      if (dir == Encrypt) begin
        shifted = shift_rows(middle);
        mixed   = shifted;
      end else begin
        shifted = inv_shift_rows(middle);
        mixed   = inv_mix_columns_prepare(shifted ^ key_i);
      end
      keyed = shifted ^ key_i;
      if (last_i) state_o = keyed;
      else if (dir == Encrypt) state_o = mix_columns(mixed) ^ key_i;
      else state_o = mix_columns(mixed);
    end
  end

endmodule
