// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_axis: encrypts and decrypts messages in seven AES modes on AXI4-Streams, without
// authentication. The modes are ECB, CBC, PCBC, CFB-128, OFB, CTR and XTS; mae_aes_core gets
// AXI4-Stream ports.
//
// Byte 0 of every beat is in tdata[7:0].
//  s_axis_key  A key: bytes 0..31 the key, byte 32 its length (0: 16, 1: 24, 2: 32 bytes), byte 33
//              its slot, byte 34 bit 0 erase the slot instead. It waits for the messages that use
//              the slot, and a command that uses the slot waits for it.
//  s_axis_cmd  A message: byte 0 the mode (mode_e), byte 1 bit 0 decryption, bit 1 for XTS: the
//              length is not a multiple of 16; byte 2 key slot, byte 3 for XTS: slot of the second
//              key; bytes 16..31 the IV, first counter block or, for XTS, data unit number. Other
//              bytes are ignored.
//  s_axis      The data as one frame, at least one byte. Only the last beat may have tkeep bits at
//              0, from the top down. A frame waits for its command.
//  m_axis      The result as one frame of the same length, in the order of the commands; tuser in
//              the last beat: message refused.
// A message is refused as a whole if its mode, direction or slot is not there: its result is one
// beat of one zero byte. It is refused at its end if a beat other than the last is not full (the
// rest of the frame is dropped), if tkeep has holes or is 0, or if the mode asks for whole blocks
// (ECB, CBC, PCBC; XTS without bit 1; for XTS one block at least) and the length is none: missing
// bytes count as zeros, up to a whole block. tready of keys and commands is combinational in tvalid
// and tdata of both; s_axis_tready depends on registers only.
// Latency: parallel modes (ECB, CTR, XTS, CBC and CFB decryption) 4 clocks and the cipher's; all
// others the cipher's and 3 clocks for the first block.
// Throughput: parallel modes Lanes blocks a clock, with 16 messages in progress also from one
// message of two beats or more to the next, if commands come ahead and keys are in banks; all
// others, and XTS with bit 1, a block a cipher latency (+ 1), one message at a time. With Iterative
// = 1 the cipher is a unit of one round a clock for each lane, on one key memory: Lanes blocks in
// 10, 12 or 14 clocks in parallel modes.
// Reset and clear: clear_i erases keys and data; it takes as long as in mae_aes_core, commands and
// keys wait. The rest of an input frame in progress is dropped; an output frame in progress ends
// with a beat of one zero byte, refused.
// Parameters: Messages is the least number of messages in progress; 1 is exactly one, and only one
// lane has memories for the serial modes then. Legal: as mae_aes_core; Messages 1..64.
// Security: constant-time in data and keys; no masking. No mode here detects changes to the data.
// Source: SP 800-38A; SP 800-38E; AMBA AXI4-Stream.

`include "mae_assert.svh"

module mae_mode_axis
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_bytes_pkg::*;
  import mae_device_pkg::*;
#(
    parameter  int unsigned Lanes        = 4,
    parameter  int unsigned Messages     = 16,
    parameter  bit          Iterative    = 1'b0,
    parameter  int unsigned KeySlots     = 16,
    parameter  int unsigned KeyBanks     = 2,
    parameter  dirs_e       Dirs         = DirsBoth,
    parameter  key_len_e    MaxKeyLen    = Aes256,
    parameter  sbox_impl_e  Sbox         = SboxTable,
    parameter  int unsigned RegsPerRound = 1,
    localparam int unsigned Bytes        = 16 * Lanes
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               clear_i,
    input  logic               s_axis_key_tvalid,
    output logic               s_axis_key_tready,
    input  logic [      319:0] s_axis_key_tdata,
    input  logic               s_axis_cmd_tvalid,
    output logic               s_axis_cmd_tready,
    input  logic [      255:0] s_axis_cmd_tdata,
    input  logic               s_axis_tvalid,
    output logic               s_axis_tready,
    input  logic [8*Bytes-1:0] s_axis_tdata,
    input  logic [  Bytes-1:0] s_axis_tkeep,
    input  logic               s_axis_tlast,
    output logic               m_axis_tvalid,
    input  logic               m_axis_tready,
    output logic [8*Bytes-1:0] m_axis_tdata,
    output logic [  Bytes-1:0] m_axis_tkeep,
    output logic               m_axis_tlast,
    output logic               m_axis_tuser
);
  // mae_mode_engine takes one, whose memories stand in one lane alone, or multiples of Lanes.
  localparam int unsigned Contexts = (Messages == 1) ? 1 : Lanes * ((Messages + Lanes - 1) / Lanes);
  localparam int unsigned ByteWidth = $clog2(Bytes + 1);
  localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  localparam int unsigned CountWidth = $clog2(Contexts + 1);

  typedef logic [IndexWidth-1:0] index_t;

  // ---- Keys and commands.
  key_write_t key;
  mode_cfg_t cfg;
  logic [7:0] op;
  logic [KeySlots-1:0] slot_valid;
  logic refused, alone, key_known, wiping, write_ready, cfg_ready, unused_key, unused_cmd;

  assign key.slot   = key_slot_t'(s_axis_key_tdata[271:264]);
  assign key.erase  = s_axis_key_tdata[272];
  assign key.len    = key_len_e'(s_axis_key_tdata[257:256]);
  assign key.key    = {swap_block(s_axis_key_tdata[127:0]), swap_block(s_axis_key_tdata[255:128])};
  assign key_known  = 32'(s_axis_key_tdata[271:264]) < KeySlots;
  assign unused_key = &{1'b0, s_axis_key_tdata[319:256]};
  assign unused_cmd = &{1'b0, s_axis_cmd_tdata[127:0]};

  function automatic logic holds_key(input logic [7:0] slot, input logic [KeySlots-1:0] valid);
    logic holds;
    holds = 1'b0;
    for (int unsigned i = 0; i < KeySlots; i++) holds |= slot == 8'(i) && valid[i];
    return holds;
  endfunction

  assign op = s_axis_cmd_tdata[7:0];
  always_comb begin
    cfg.mode = mode_e'(op[ModeWidth-1:0]);
    cfg.dir = dir_e'(s_axis_cmd_tdata[8]);
    cfg.init = 1'b1;
    cfg.serial = cfg.mode == Xts && s_axis_cmd_tdata[9];
    cfg.key_slot = key_slot_t'(s_axis_cmd_tdata[23:16]);
    cfg.tweak_slot = key_slot_t'(s_axis_cmd_tdata[31:24]);
    cfg.iv = swap_block(s_axis_cmd_tdata[255:128]);
    refused = check_job(
      '{
          op: op,
          decrypt: s_axis_cmd_tdata[8],
          init: 1'b1,
          length: 32'd16,
          key_valid: holds_key(s_axis_cmd_tdata[23:16], slot_valid),
          tweak_valid: holds_key(s_axis_cmd_tdata[31:24], slot_valid),
          same_slot: s_axis_cmd_tdata[23:16] == s_axis_cmd_tdata[31:24]
      },
      Dirs
    ) != mae_dma_pkg::StatusOk;
  end
  // Results of the parallel path come in order; a message of another kind is alone in the engine.
  assign alone = refused || cfg.serial || (Iterative && Lanes == 1) || mode_chains(
      cfg.mode, cfg.dir
  );

  // ---- Messages in progress.
  typedef struct packed {
    logic   refused;
    logic   blocks;   // whole blocks only
    logic   one;      // one block at least
    index_t index;
  } frame_t;

  logic [Contexts-1:0] busy_q;
  key_slot_t slot_q[Contexts];
  key_slot_t tweak_q[Contexts];
  index_t next_q;
  logic [CountWidth-1:0] count_q;
  logic alone_q, key_used, key_meets, start, done;
  index_t done_index;
  frame_t frame_new, frame;
  logic frame_room, frame_valid, frame_pop;
  logic [CountWidth-1:0] unused_count;

  always_comb begin
    key_used = 1'b0;
    for (int unsigned i = 0; i < Contexts; i++) begin
      key_used |= busy_q[i] && (slot_q[i] == key.slot || tweak_q[i] == key.slot);
    end
  end
  assign key_meets = s_axis_key_tvalid && (key.slot == cfg.key_slot || key.slot == cfg.tweak_slot);
  assign s_axis_key_tready = !wiping && !clear_i && !key_used && (write_ready || !key_known);

  assign s_axis_cmd_tready = !wiping && !clear_i && cfg_ready && frame_room && !key_meets &&
      (count_q == '0 || (32'(count_q) != Contexts && !alone_q && !alone));
  assign start = s_axis_cmd_tvalid && s_axis_cmd_tready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= '0;
      slot_q  <= '{default: '0};
      tweak_q <= '{default: '0};
      next_q  <= '0;
      count_q <= '0;
      alone_q <= 1'b0;
    end else if (clear_i) begin
      busy_q  <= '0;
      next_q  <= '0;
      count_q <= '0;
      alone_q <= 1'b0;
    end else begin
      count_q <= count_q + CountWidth'(start) - CountWidth'(done);
      if (done) busy_q[done_index] <= 1'b0;
      if (start) begin
        busy_q[next_q]  <= 1'b1;
        slot_q[next_q]  <= cfg.key_slot;
        tweak_q[next_q] <= (cfg.mode == Xts) ? cfg.tweak_slot : cfg.key_slot;
        next_q          <= (32'(next_q) == Contexts - 1) ? '0 : next_q + 1'b1;
        alone_q         <= alone;
      end
    end
  end

  assign frame_new = '{
          refused: refused,
          blocks: !mode_any_length(cfg.mode) || (cfg.mode == Xts && !cfg.serial),
          one: cfg.mode == Xts,
          index: next_q
      };
  mae_fifo #(
      .Width($bits(frame_t)),
      .Depth(Contexts)
  ) u_frames (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (start),
      .in_ready_o (frame_room),
      .in_data_i  (frame_new),
      .out_valid_o(frame_valid),
      .out_ready_i(frame_pop),
      .out_data_o (frame),
      .count_o    (unused_count)
  );

  // ---- Input beats. drop: what follows in the frame is not used; under_way: its last beat has not
  // come.
  logic drop_q, under_way_q, begun_q, row_valid, row_ready, take, ends, bad;
  logic [ByteWidth-1:0] bytes, row_bytes;
  logic [Bytes-1:0] low;
  logic [8*Bytes-1:0] kept;
  logic [Contexts-1:0] bad_q;
  block_t [Lanes-1:0] row_data;

  always_comb begin
    logic gap;
    gap   = 1'b0;
    bytes = '0;
    for (int unsigned i = 0; i < Bytes; i++) begin
      gap |= !s_axis_tkeep[i];
      low[i] = !gap;
      if (!gap) bytes = ByteWidth'(i + 1);
      kept[8*i+:8] = gap ? '0 : s_axis_tdata[8*i+:8];
    end
    for (int unsigned i = 0; i < Lanes; i++) row_data[i] = swap_block(kept[128*i+:128]);
    ends = s_axis_tlast || s_axis_tkeep != '1;
    bad  = s_axis_tkeep != low || bytes == '0 || (!s_axis_tlast && s_axis_tkeep != '1) ||
        (frame.blocks && bytes[3:0] != '0) || (frame.one && !begun_q && 32'(bytes) < 16);
    row_bytes = bytes;
    if (bad)
      row_bytes = (bytes == '0) ? ByteWidth'(16) : {bytes[ByteWidth-1:4] +
                                          (ByteWidth - 4)'(bytes[3:0] != '0), 4'd0};
  end
  assign row_valid     = frame_valid && !frame.refused && s_axis_tvalid && !drop_q;
  assign take          = s_axis_tvalid && s_axis_tready && !drop_q;
  assign s_axis_tready = drop_q || (frame_valid && (frame.refused || row_ready));
  assign frame_pop     = take && (frame.refused ? s_axis_tlast : ends);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {drop_q, under_way_q, begun_q} <= '0;
      bad_q                          <= '0;
    end else begin
      if (s_axis_tvalid && s_axis_tready) under_way_q <= !s_axis_tlast;
      if (drop_q) drop_q <= !(s_axis_tvalid && s_axis_tlast);
      if (take) begin
        begun_q            <= !frame_pop;
        drop_q             <= frame_pop && !s_axis_tlast;
        bad_q[frame.index] <= bad;
      end
      if (clear_i) begin
        begun_q <= 1'b0;
        bad_q   <= '0;
        drop_q  <= (s_axis_tvalid && s_axis_tready) ? !s_axis_tlast : under_way_q;
      end
    end
  end

  // ---- The core.
  logic out_valid, out_ready, out_last, key_lost;
  ctx_t out_ctx;
  index_t out_index;
  block_t [Lanes-1:0] out_data;
  logic [ByteWidth-1:0] out_bytes;
  logic [Contexts-1:0] waits, unused_room;
  logic unused_ctx;
  mae_aes_pkg::cipher_key_t unused_look;

  assign out_index  = index_t'(out_ctx);
  assign unused_ctx = &{1'b0, out_ctx};
  always_comb begin
    waits = '0;
    waits[frame.index] = frame_valid;
  end
  mae_aes_core #(
      .Lanes       (Lanes),
      .Contexts    (Contexts),
      .Iterative   (Iterative),
      .KeySlots    (KeySlots),
      .KeyBanks    (KeyBanks),
      .MinResidence(32),
      .Dirs        (Dirs),
      .MaxKeyLen   (MaxKeyLen),
      .Sbox        (Sbox),
      .RegsPerRound(RegsPerRound)
  ) u_core (
      .clk_i,
      .rst_ni,
      .clear_i,
      .wiping_o      (wiping),
      .write_valid_i (s_axis_key_tvalid && s_axis_key_tready && key_known),
      .write_ready_o (write_ready),
      .write_i       (key),
      .slot_valid_o  (slot_valid),
      .want_valid_i  (s_axis_cmd_tvalid && !refused),
      .want_slot_i   (cfg.key_slot),
      .look_slot_i   ('0),
      .look_key_o    (unused_look),
      .cfg_valid_i   (start && !refused),
      .cfg_ready_o   (cfg_ready),
      .cfg_ctx_i     (ctx_t'(next_q)),
      .cfg_i         (cfg),
      .room_o        (unused_room),
      .waits_i       (waits),
      .row_valid_i   (row_valid),
      .row_ready_o   (row_ready),
      .row_ctx_i     (ctx_t'(frame.index)),
      .row_data_i    (row_data),
      .row_bytes_i   (row_bytes),
      .row_last_i    (ends),
      .out_valid_o   (out_valid),
      .out_ready_i   (out_ready),
      .out_ctx_o     (out_ctx),
      .out_data_o    (out_data),
      .out_bytes_o   (out_bytes),
      .out_last_o    (out_last),
      .out_key_lost_o(key_lost)
  );

  // ---- Output beats. reject: a message was refused as a whole, and its frame has passed.
  logic reject_q, beat_valid, beat_ready, beat_last, beat_user;
  logic [8*Bytes-1:0] beat, head;
  logic [Bytes-1:0] beat_keep, head_keep;
  index_t last_index_q;  // of the frame before
  logic head_valid, head_last, head_user, close_q, open_q, open;

  always_comb begin
    for (int unsigned i = 0; i < Bytes; i++) beat_keep[i] = i < 32'(out_bytes);
    for (int unsigned i = 0; i < Lanes; i++) beat[128*i+:128] = swap_block(out_data[i]);
    for (int unsigned i = 0; i < Bytes; i++) if (!beat_keep[i]) beat[8*i+:8] = '0;
    beat_last = out_last;
    beat_user = out_last && (bad_q[out_index] || key_lost);
    if (reject_q) begin
      beat      = '0;
      beat_keep = Bytes'(1);
      beat_last = 1'b1;
      beat_user = 1'b1;
    end
  end
  // In the first clock of an erasure the core still has a result.
  assign beat_valid = (out_valid && !wiping) || reject_q;
  assign out_ready  = beat_ready;
  assign done       = beat_valid && beat_ready && beat_last;
  assign done_index = reject_q ? last_index_q : out_index;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reject_q     <= 1'b0;
      last_index_q <= '0;
    end else begin
      if (frame_pop) last_index_q <= frame.index;
      if (clear_i) reject_q <= 1'b0;
      else if (frame_pop && frame.refused) reject_q <= 1'b1;
      else if (beat_ready) reject_q <= 1'b0;
    end
  end

  mae_stream_reg #(
      .Width(9 * Bytes + 2),
      .Zero (1'b1)
  ) u_out (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (beat_valid),
      .in_ready_o (beat_ready),
      .in_data_i  ({beat_user, beat_last, beat_keep, beat}),
      .out_valid_o(head_valid),
      .out_ready_i(m_axis_tready && !close_q),
      .out_data_o ({head_user, head_last, head_keep, head})
  );

  // A frame in progress at a clear ends with a beat of one byte, refused.
  assign open = (m_axis_tvalid && m_axis_tready) ? !m_axis_tlast : open_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q  <= 1'b0;
      close_q <= 1'b0;
    end else begin
      open_q <= open;
      if (clear_i) close_q <= open;
      else if (m_axis_tready) close_q <= 1'b0;
    end
  end
  assign m_axis_tvalid = close_q || head_valid;
  assign m_axis_tlast  = close_q || head_last;
  assign m_axis_tuser  = close_q || head_user;
  assign m_axis_tkeep  = close_q ? Bytes'(1) : head_keep;
  assign m_axis_tdata  = close_q ? '0 : head;

  `MAE_PARAM(MessagesLegal, Messages >= 1 && Messages <= 64)
  `MAE_STREAM_HOLDS(BeatHolds, m_axis_tvalid, m_axis_tready || clear_i, {
                    m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tuser})
  `MAE_ASSERT(RejectAlone, !(reject_q && out_valid))
  `MAE_ASSERT(ContextFree, !start || !busy_q[next_q])

endmodule
