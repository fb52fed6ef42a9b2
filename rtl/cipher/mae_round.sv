// SPDX-License-Identifier: Apache-2.0
//
// mae_round: one round of AES in either direction.
//
// Latency: Regs clocks (0: combinational). Throughput: one round a clock.
// Legal: Dirs any of dirs_e; Sbox any of sbox_impl_e; Regs 0..2 registers,
// where mae_sub_bytes says.
// valid_i[s], dir_i[s]: whether step s of the round holds a block, and its direction; the round's
// steps are numbered 0..Regs from its input on, and the user moves these along with the block.
// key_i, last_i: round key and whether this is the last round, for the block in step Regs.
// state_o is without meaning while valid_i[Regs] is low. Registers of a step without block are 0.
// Source: FIPS 197 §5.1, §5.3. Constant-time: yes. Masked: no.

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

  // SubBytes or InvSubBytes, and the registers.
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

  // The rest. The direction is a constant where the build has only one.
  dir_e dir;
  assign dir = (Dirs == DirsBoth) ? dir_e'(dir_i[Regs]) : (Dirs == DirsDecrypt) ? Decrypt : Encrypt;

  // One MixColumns serves both: InvMixColumns is that after a smaller map.
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
