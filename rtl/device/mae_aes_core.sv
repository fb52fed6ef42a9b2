// SPDX-License-Identifier: Apache-2.0
//
// mae_aes_core: encrypts and decrypts rows of many messages in all modes of operation, with key
// slots and a cipher inside.
//
// It joins mae_mode_engine, mae_key_cache and a cipher: with Iterative = 1 mae_cipher_iter (a unit
// for each lane, one round a clock), otherwise mae_cipher_lanes. The ports are those of
// mae_mode_engine and the write port of mae_key_cache. One iterative unit has no parallel path.
// Latency: as mae_mode_engine.
// Throughput: as mae_mode_engine.
// Reset and clear: clear_i erases keys, chain values and data; wiping_o is high from the next clock
// until everything is erased.
// Parameters: Small = 1 takes mae_cipher_lanes_luts for few LUTs of an FPGA. Legal: as the parts;
// Small 0, or 1 with Iterative = 0, KeyBanks = 1, Dirs = DirsBoth and RegsPerRound = 1.
// Security: constant-time for one message (concurrent messages wait for each other); no masking.

`include "mae_assert.svh"

module mae_aes_core
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    parameter bit Iterative = 1'b0,
    parameter int unsigned KeySlots = 16,
    parameter int unsigned KeyBanks = 2,
    parameter int unsigned MinResidence = 256,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    parameter bit Small = 1'b0,  // mae_cipher_lanes_luts
    parameter bit Scrub = 1'b0,  // see mae_key_cache
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic wiping_o,

    input  logic       write_valid_i,  // to a key slot
    output logic       write_ready_o,
    input  key_write_t write_i,

    output logic [KeySlots-1:0] slot_valid_o,

    input logic      want_valid_i,  // loads the key of a slot that the next job will need
    input key_slot_t want_slot_i,

    input  key_slot_t   look_slot_i,  // see mae_key_cache
    output cipher_key_t look_key_o,

    input  logic      cfg_valid_i,
    output logic      cfg_ready_o,
    input  ctx_t      cfg_ctx_i,
    input  mode_cfg_t cfg_i,

    output logic [Contexts-1:0] room_o,
    input  logic [Contexts-1:0] waits_i,

    input  logic                    row_valid_i,
    output logic                    row_ready_o,
    input  ctx_t                    row_ctx_i,
    input  block_t [     Lanes-1:0] row_data_i,
    input  logic   [BytesWidth-1:0] row_bytes_i,
    input  logic                    row_last_i,

    output logic                    out_valid_o,
    input  logic                    out_ready_i,
    output ctx_t                    out_ctx_o,
    output block_t [     Lanes-1:0] out_data_o,
    output logic   [BytesWidth-1:0] out_bytes_o,
    output logic                    out_last_o,
    output logic                    out_key_lost_o
);
  `MAE_PARAM(SmallLegal,
             !Small || (!Iterative && KeyBanks == 1 && Dirs == DirsBoth && RegsPerRound == 1))

  // Rows of a serial slot.
  localparam int unsigned SlotRows = 4;
  // Rows in the parallel path: more than the longest latency of a pipelined cipher. An iterative
  // one begins a row in ten clocks or more: one is in it, others wait at the output.
  localparam int unsigned FlightRows = Iterative ? 4 : (RegsPerRound <= 2) ? 32 : 64;

  // Lasts until the longest erasure of a memory and the last block in the pipeline have ended.
  localparam int unsigned WipeClocks = 128 + SlotRows * Contexts / Lanes;
  logic [$clog2(WipeClocks+1)-1:0] wipe_q;

  assign wiping_o = wipe_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wipe_q <= '0;
    else if (clear_i) wipe_q <= ($bits(wipe_q))'(WipeClocks);
    else if (wipe_q != '0) wipe_q <= wipe_q - 1'b1;
  end

  key_state_t keys;
  key_demand_t demand, demand_all;
  logic key_valid, key_ready;
  cipher_key_t key;
  logic [Lanes-1:0] req_valid, req_ready, rsp_valid;
  cipher_req_t [Lanes-1:0] req;
  cipher_rsp_t [Lanes-1:0] rsp;

  always_comb begin
    demand_all = demand;
    if (want_valid_i) demand_all.want[want_slot_i] = 1'b1;
  end

  mae_mode_engine #(
      .Lanes     (Lanes),
      .Contexts  (Contexts),
      .Parallel  (!Iterative || Lanes > 1),
      .SlotRows  (SlotRows),
      .FlightRows(FlightRows)
  ) u_engine (
      .clk_i,
      .rst_ni,
      .clear_i,
      .cfg_valid_i,
      .cfg_ready_o,
      .cfg_ctx_i,
      .cfg_i,
      .room_o,
      .waits_i,
      .row_valid_i,
      .row_ready_o,
      .row_ctx_i,
      .row_data_i,
      .row_bytes_i,
      .row_last_i,
      .out_valid_o,
      .out_ready_i,
      .out_ctx_o,
      .out_data_o,
      .out_bytes_o,
      .out_last_o,
      .out_key_lost_o,
      .keys_i     (keys),
      .demand_o   (demand),
      .req_valid_o(req_valid),
      .req_ready_i(req_ready),
      .req_o      (req),
      .rsp_valid_i(rsp_valid),
      .rsp_i      (rsp)
  );

  mae_key_cache #(
      .KeySlots       (KeySlots),
      .KeyBanks       (KeyBanks),
      .MinResidence   (MinResidence),
      .UrgentResidence((MinResidence < 32) ? MinResidence : 32),
      .Scrub          (Scrub)
  ) u_keys (
      .clk_i,
      .rst_ni,
      .clear_i,
      .write_valid_i,
      .write_ready_o,
      .write_i,
      .slot_valid_o,
      .look_slot_i,
      .look_key_o,
      .keys_o     (keys),
      .demand_i   (demand_all),
      .key_valid_o(key_valid),
      .key_ready_i(key_ready),
      .key_o      (key)
  );

  if (Iterative) begin : gen_iter
    mae_cipher_iter #(
        .Units    (Lanes),
        .KeyBanks (KeyBanks),
        .Dirs     (Dirs),
        .MaxKeyLen(MaxKeyLen),
        .Sbox     (Sbox)
    ) u_cipher (
        .clk_i,
        .rst_ni,
        .clear_i,
        .key_valid_i(key_valid),
        .key_ready_o(key_ready),
        .key_i      (key),
        .req_valid_i(req_valid),
        .req_ready_o(req_ready),
        .req_i      (req),
        .rsp_valid_o(rsp_valid),
        .rsp_o      (rsp)
    );
  end else if (Small) begin : gen_luts
    mae_cipher_lanes_luts #(
        .Lanes    (Lanes),
        .MaxKeyLen(MaxKeyLen),
        .Sbox     (Sbox)
    ) u_cipher (
        .clk_i,
        .rst_ni,
        .clear_i,
        .key_valid_i(key_valid),
        .key_ready_o(key_ready),
        .key_i      (key),
        .req_valid_i(req_valid),
        .req_ready_o(req_ready),
        .req_i      (req),
        .rsp_valid_o(rsp_valid),
        .rsp_o      (rsp)
    );
  end else begin : gen_lanes
    mae_cipher_lanes #(
        .Lanes       (Lanes),
        .KeyBanks    (KeyBanks),
        .Dirs        (Dirs),
        .MaxKeyLen   (MaxKeyLen),
        .Sbox        (Sbox),
        .RegsPerRound(RegsPerRound)
    ) u_cipher (
        .clk_i,
        .rst_ni,
        .clear_i,
        .key_valid_i(key_valid),
        .key_ready_o(key_ready),
        .key_i      (key),
        .req_valid_i(req_valid),
        .req_ready_o(req_ready),
        .req_i      (req),
        .rsp_valid_o(rsp_valid),
        .rsp_o      (rsp)
    );
  end

endmodule
