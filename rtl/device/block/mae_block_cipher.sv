// SPDX-License-Identifier: Apache-2.0
//
// mae_block_cipher: encrypts or decrypts the rows of a block card's parts by AES-256-XTS, and passes
// those of plain parts.
//
// A part begins with cfg_valid_i, in an idle context, and ends with its last row. Rows of a context
// come out in order; rows of different contexts, plain or not, in any order. room_o is that of
// mae_mode_engine, and always high for a plain part. lost_o: the key of the row's context was
// erased during the part; its rows are zeros. row_ready_o is combinational in row_ctx_i.
// Latency: an enciphered row as in mae_aes_core, a plain row 1 clock.
// Throughput: one row a clock.
// Reset and clear: both erase keys, tweaks and rows; wiping_o is high from the next clock until
// clear_i has erased everything.
// Parameters: Dirs is DirsEncrypt, or DirsBoth for decryption, whose tweaks are encrypted too. Legal:
// Lanes 1, 2, 4, 8; Contexts a multiple of Lanes up to 256; MediaKeys 1..32; KeyBanks 2..4.
// Security: constant-time for one part (concurrent parts wait for each other); no masking.
// Source: IEEE 1619; SP 800-38E.

`include "mae_assert.svh"

module mae_block_cipher
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_dma_pkg::*;
  import mae_block_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 32,
    parameter int unsigned MediaKeys = 8,
    parameter int unsigned KeyBanks = 4,
    parameter dirs_e Dirs = DirsBoth,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    localparam int unsigned DataWidth = 128 * Lanes,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic wiping_o,

    input  logic       write_valid_i,  // to a key slot of the cipher
    output logic       write_ready_o,
    input  key_write_t write_i,

    input  logic        cfg_valid_i,
    output logic        cfg_ready_o,
    input  block_part_t cfg_i,

    input  logic                      row_valid_i,
    output logic                      row_ready_o,
    input  dma_ctx_t                  row_ctx_i,
    input  logic     [ DataWidth-1:0] row_data_i,
    input  logic     [BytesWidth-1:0] row_bytes_i,
    input  logic                      row_last_i,
    output logic     [  Contexts-1:0] room_o,
    input  logic     [  Contexts-1:0] waits_i,      // rows of the context are there, or may be

    output logic                      row_valid_o,
    input  logic                      row_ready_i,
    output dma_ctx_t                  row_ctx_o,
    output logic     [ DataWidth-1:0] row_data_o,
    output logic     [BytesWidth-1:0] row_bytes_o,
    output logic                      row_last_o,
    output logic                      lost_o        // with a row
);
  `MAE_PARAM(ContextsLegal, Contexts % Lanes == 0)
  `MAE_PARAM(KeyBanksLegal, KeyBanks >= 2 && KeyBanks <= 4)

  localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  localparam int unsigned RowWidth = 8 + DataWidth + BytesWidth + 1;

  logic [Contexts-1:0] plain_q, core_room;
  logic [2*MediaKeys-1:0] unused_valid;
  cipher_key_t unused_key;
  mode_cfg_t cfg;
  logic plain, core_cfg_ready, core_row_ready, core_valid, core_ready, core_last, core_lost;
  logic pass_row_ready, pass_valid, pass_ready, pass_last;
  ctx_t core_ctx;
  dma_ctx_t pass_ctx;
  block_t [Lanes-1:0] in_blocks, out_blocks;
  logic [DataWidth-1:0] core_data, pass_data;
  logic [BytesWidth-1:0] core_bytes, pass_bytes;

  block_part_t unused_cfg;  // addresses and length are the engines'

  assign unused_cfg = cfg_i;
  assign cfg_ready_o = core_cfg_ready;
  assign plain = plain_q[IndexWidth'(row_ctx_i)];
  assign room_o = core_room | plain_q;
  assign row_ready_o = plain ? pass_row_ready : core_row_ready;

  always_comb begin
    cfg.mode = Xts;
    cfg.dir = (Dirs == DirsEncrypt) ? Encrypt : Decrypt;
    cfg.init = 1'b1;
    cfg.serial = 1'b0;
    cfg.key_slot = cipher_slot(cfg_i.slot, 1'b0);
    cfg.tweak_slot = cipher_slot(cfg_i.slot, 1'b1);
    cfg.iv = mae_bytes_pkg::swap_block(cfg_i.unit);
    for (int unsigned i = 0; i < Lanes; i++) begin
      in_blocks[i] = mae_bytes_pkg::swap_block(row_data_i[128*i+:128]);
      core_data[128*i+:128] = mae_bytes_pkg::swap_block(out_blocks[i]);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) plain_q <= '0;
    else if (cfg_valid_i && cfg_ready_o) plain_q[IndexWidth'(cfg_i.ctx)] <= cfg_i.plain;
  end

  mae_aes_core #(
      .Lanes       (Lanes),
      .Contexts    (Contexts),
      .Iterative   (1'b0),
      .KeySlots    (2 * MediaKeys),
      .KeyBanks    (KeyBanks),
      .Dirs        (Dirs),
      .MaxKeyLen   (Aes256),
      .Sbox        (Sbox),
      .RegsPerRound(RegsPerRound),
      .Scrub       (1'b1)
  ) u_core (
      .clk_i,
      .rst_ni,
      .clear_i,
      .wiping_o,
      .write_valid_i,
      .write_ready_o,
      .write_i,
      .slot_valid_o  (unused_valid),
      .want_valid_i  (1'b0),
      .want_slot_i   ('0),
      .look_slot_i   ('0),
      .look_key_o    (unused_key),
      .cfg_valid_i   (cfg_valid_i && !cfg_i.plain),
      .cfg_ready_o   (core_cfg_ready),
      .cfg_ctx_i     (cfg_i.ctx),
      .cfg_i         (cfg),
      .room_o        (core_room),
      .waits_i,
      .row_valid_i   (row_valid_i && !plain),
      .row_ready_o   (core_row_ready),
      .row_ctx_i,
      .row_data_i    (in_blocks),
      .row_bytes_i,
      .row_last_i,
      .out_valid_o   (core_valid),
      .out_ready_i   (core_ready),
      .out_ctx_o     (core_ctx),
      .out_data_o    (out_blocks),
      .out_bytes_o   (core_bytes),
      .out_last_o    (core_last),
      .out_key_lost_o(core_lost)
  );

  mae_stream_reg #(
      .Width(RowWidth),
      .Zero (1'b1)
  ) u_pass (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (row_valid_i && plain),
      .in_ready_o (pass_row_ready),
      .in_data_i  ({row_ctx_i, row_data_i, row_bytes_i, row_last_i}),
      .out_valid_o(pass_valid),
      .out_ready_i(pass_ready),
      .out_data_o ({pass_ctx, pass_data, pass_bytes, pass_last})
  );

  // Rows of both paths in turn.
  logic [1:0] grant;
  logic from_pass;

  mae_rr_arb #(
      .N(2)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    ({pass_valid, core_valid}),
      .advance_i(row_ready_i),
      .grant_o  (grant),
      .index_o  (from_pass),
      .valid_o  (row_valid_o)
  );

  assign {pass_ready, core_ready} = grant & {2{row_ready_i}};
  assign row_ctx_o                = from_pass ? pass_ctx : dma_ctx_t'(core_ctx);
  assign row_data_o               = from_pass ? pass_data : core_data;
  assign row_bytes_o              = from_pass ? pass_bytes : core_bytes;
  assign row_last_o               = from_pass ? pass_last : core_last;
  assign lost_o                   = !from_pass && core_lost;

endmodule
