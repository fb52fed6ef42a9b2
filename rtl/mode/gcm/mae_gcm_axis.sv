// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_axis: encrypts and decrypts AES-GCM messages on AXI4-Streams (mae_gcm_stream with
// AXI4-Stream ports).
//
// Byte 0 of every beat is in tdata[7:0].
//  s_axis_key  A key: bytes 0..31 the key, byte 32 its length (0: 16, 1: 24, 2: 32 bytes), byte 33
//              its bank.
//  s_axis_cmd  A message: bytes 0..7 length of the AAD, 8..15 length of the data, 16..19 length of
//              the IV (0: 12), 20 key bank, 21 bit 0 decryption, 22 length of the expected tag (0
//              and above 16: 16), 24..35 an IV of 12 bytes, 48..63 the expected tag. Other bytes
//              are ignored.
//  s_axis      The message as one frame: an IV whose length is not 12, the AAD, the data. Each part
//              begins in a new beat, and only its last beat may have tkeep bits at 0. A message
//              without any beat has no frame. A frame waits for its command.
//  m_axis      The data of a message, as one frame; none without data. tuser in the last beat:
//              message refused.
//  m_axis_tag  For every message, in order: the tag (encryption, else 0); tuser: message refused.
// A message is refused if its tag is wrong, or if tkeep and tlast disagree with the command. In the
// second case frames and commands are resynchronized: missing beats count as zeros, surplus beats
// are dropped up to tlast. The output frame has the length of the command, with zeros where input
// was missing, and the tag is 0. When decrypting, do not use the data before the last beat. All
// lengths must be known before the frame: if they are not, store the frame first. m_axis_tag must
// be read: unread tags stall later messages. s_axis_tready depends on registers, abort_i and
// clear_i only; s_axis_key_tready and s_axis_cmd_tready are combinational as in mae_gcm_stream.
// Latency: as mae_gcm_stream, plus 1 clock at the output. A last beat leaves 7 clocks after it
// entered, together with the verdict; the following beats wait in a FIFO.
// Throughput: as mae_gcm_stream; with OutDepth = 8 no clock is lost to that FIFO.
// Reset and clear: abort_i and clear_i as in mae_gcm_stream. The rest of an input frame in progress
// is dropped; an output frame in progress ends with a beat of one zero byte, refused.
// Parameters: OutDepth is the depth of the output FIFO in beats. Legal: Lanes 1..16; KeyBanks 1..4;
// MaxKeyLen any of key_len_e (use no longer key); Sbox any of sbox_impl_e; MsgDepth as in
// mae_gcm_stream; OutDepth >= 2. Lengths are below 2^36, that of the data at most 2^36 - 32.
// Security: constant-time, the verdict too; no masking.
// Source: SP 800-38D §7; AMBA AXI4-Stream.

`include "mae_assert.svh"

module mae_gcm_axis
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
  import mae_bytes_pkg::*;
#(
    parameter  int unsigned Lanes     = 4,
    parameter  int unsigned KeyBanks  = 2,
    parameter  key_len_e    MaxKeyLen = Aes256,
    parameter  sbox_impl_e  Sbox      = SboxTable,
    parameter  int unsigned MsgDepth  = 32,
    parameter  int unsigned OutDepth  = 8,
    localparam int unsigned Bytes     = 16 * Lanes
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               clear_i,
    input  logic               abort_i,
    input  logic               s_axis_key_tvalid,
    output logic               s_axis_key_tready,
    input  logic [      319:0] s_axis_key_tdata,
    input  logic               s_axis_cmd_tvalid,
    output logic               s_axis_cmd_tready,
    input  logic [      511:0] s_axis_cmd_tdata,
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
    output logic               m_axis_tuser,
    output logic               m_axis_tag_tvalid,
    input  logic               m_axis_tag_tready,
    output logic [      127:0] m_axis_tag_tdata,
    output logic               m_axis_tag_tuser
);

  localparam int unsigned ByteWidth = $clog2(Bytes + 1);
  localparam int unsigned BankBits = (KeyBanks > 1) ? $clog2(KeyBanks) : 1;
  localparam gcm_length_t RowBytes = gcm_length_t'(Bytes);

  logic flush;
  assign flush = clear_i || abort_i;

  // ---- Keys and commands.
  cipher_key_t key;
  gcm_msg_t msg;
  logic [4:0] tag_bytes;
  logic unused_key, unused_cmd;
  assign key.len = key_len_e'(s_axis_key_tdata[257:256]);
  assign key.bank = (KeyBanks > 1) ? bank_t'(s_axis_key_tdata[264+:BankBits]) : '0;
  assign key.key = {swap_block(s_axis_key_tdata[127:0]), swap_block(s_axis_key_tdata[255:128])};
  assign unused_key = &{1'b0, s_axis_key_tdata[319:256]};
  assign unused_cmd = &{1'b0, s_axis_cmd_tdata[383:0]};

  assign tag_bytes = s_axis_cmd_tdata[180:176];
  always_comb begin
    msg.bank       = (KeyBanks > 1) ? bank_t'(s_axis_cmd_tdata[160+:BankBits]) : '0;
    msg.dir        = dir_e'(s_axis_cmd_tdata[168]);
    msg.iv         = 96'(swap_block(s_axis_cmd_tdata[319:192]) >> 32);
    msg.iv_bytes   = gcm_length_t'(s_axis_cmd_tdata[159:128]);
    msg.aad_bytes  = s_axis_cmd_tdata[LengthWidth-1:0];
    msg.data_bytes = s_axis_cmd_tdata[64+:LengthWidth];
    msg.tag_bytes  = (s_axis_cmd_tdata[183:176] inside {[8'd1 : 8'd16]}) ? tag_bytes : 5'd16;
    msg.tag        = swap_block(s_axis_cmd_tdata[511:384]);
    if (msg.iv_bytes == '0) msg.iv_bytes = gcm_length_t'(12);
  end

  // ---- Expected parts: lengths of those that have beats, and whether data is output.
  typedef struct packed {
    gcm_length_t iv;
    gcm_length_t aad;
    gcm_length_t data;
  } parts_t;
  parts_t parts_new, parts, parts_q;
  logic parts_room, parts_valid, parts_ready, has_beats, ends_room, end_has_data, end_ready;
  logic msg_valid, msg_ready, msg_take;
  logic [$clog2(MsgDepth+1)-1:0] unused_count[2];
  logic unused_end_valid;
  assign parts_new = '{
          iv: (msg.iv_bytes == gcm_length_t'(12)) ? '0 : msg.iv_bytes,
          aad: msg.aad_bytes,
          data: msg.data_bytes
      };
  assign has_beats = parts_new != '0;
  assign msg_valid = s_axis_cmd_tvalid && parts_room && ends_room;
  assign s_axis_cmd_tready = msg_ready && parts_room && ends_room;
  assign msg_take = s_axis_cmd_tvalid && s_axis_cmd_tready;

  mae_fifo #(
      .Width($bits(parts_t)),
      .Depth(MsgDepth)
  ) u_parts (
      .clk_i,
      .rst_ni,
      .clear_i    (flush),
      .in_valid_i (msg_take && has_beats),
      .in_ready_o (parts_room),
      .in_data_i  (parts_new),
      .out_valid_o(parts_valid),
      .out_ready_i(parts_ready),
      .out_data_o (parts),
      .count_o    (unused_count[0])
  );
  mae_fifo #(
      .Width(1),
      .Depth(MsgDepth)
  ) u_ends (
      .clk_i,
      .rst_ni,
      .clear_i    (flush),
      .in_valid_i (msg_take),
      .in_ready_o (ends_room),
      .in_data_i  (msg.data_bytes != '0),
      .out_valid_o(unused_end_valid),
      .out_ready_i(end_ready),
      .out_data_o (end_has_data),
      .count_o    (unused_count[1])
  );

  // ---- The expected beat and the input beat. fill: the frame ended too soon; drop: the frame is
  // too long; under_way: its last beat has not arrived.
  logic open_q, fill_q, drop_q, under_way_q;
  logic in_valid, in_ready, take, bad, part_last, msg_last;
  gcm_length_t left_q;
  logic [ByteWidth-1:0] bytes;
  logic [Bytes-1:0] wanted, kept_q;

  // parts_q holds the parts that follow the one that left_q counts.
  logic is_data_q;
  assign part_last = left_q <= RowBytes;
  assign bytes     = part_last ? ByteWidth'(left_q) : ByteWidth'(RowBytes);
  assign msg_last  = part_last && parts_q == '0;
  always_comb for (int unsigned i = 0; i < Bytes; i++) wanted[i] = i < 32'(bytes);
  assign bad           = fill_q || s_axis_tkeep != wanted || s_axis_tlast != msg_last;
  assign in_valid      = open_q && !drop_q && (fill_q || s_axis_tvalid);
  assign take          = in_valid && in_ready;
  assign s_axis_tready = drop_q || (open_q && !fill_q && in_ready);
  assign parts_ready   = !open_q || (take && msg_last);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {open_q, fill_q, drop_q, under_way_q} <= '0;
      is_data_q                             <= 1'b0;
      parts_q                               <= '0;
      left_q                                <= '0;
      kept_q                                <= '0;
    end else begin
      if (s_axis_tvalid && s_axis_tready) under_way_q <= !s_axis_tlast;
      if (drop_q) drop_q <= !(s_axis_tvalid && s_axis_tlast);
      if (take) begin
        if (!fill_q) begin
          fill_q <= s_axis_tlast && !msg_last;
          drop_q <= msg_last && !s_axis_tlast;
        end else if (msg_last) begin
          fill_q <= 1'b0;
        end
        if (is_data_q) kept_q <= fill_q ? '0 : s_axis_tkeep;
        left_q <= left_q - RowBytes;
        if (part_last) {left_q, is_data_q, parts_q} <= next_part(parts_q);
      end
      if (parts_ready) begin
        open_q <= parts_valid;
        if (parts_valid) {left_q, is_data_q, parts_q} <= next_part(parts);
      end
      if (flush) begin
        {open_q, fill_q} <= '0;
        drop_q           <= (s_axis_tvalid && s_axis_tready) ? !s_axis_tlast : under_way_q;
        parts_q          <= '0;
        left_q           <= '0;
        kept_q           <= '0;
      end
    end
  end

  // The first part that is not empty, whether it is the data, and the remaining parts.
  function automatic logic [LengthWidth+$bits(parts_t):0] next_part(input parts_t p);
    parts_t rest;
    rest = p;
    if (p.iv != '0) begin
      rest.iv = '0;
      return {p.iv, 1'b0, rest};
    end
    if (p.aad != '0) begin
      rest.aad = '0;
      return {p.aad, 1'b0, rest};
    end
    rest.data = '0;
    return {p.data, 1'b1, rest};
  endfunction

  // ---- The engine. A wrong in_last_i makes it refuse the message.
  block_t [Lanes-1:0] in_data, out_data;
  logic out_valid, out_ready, out_last, tag_valid, tag_ready;
  logic [ByteWidth-1:0] out_bytes;
  gcm_verdict_t tag;
  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      in_data[i] = fill_q ? '0 : swap_block(s_axis_tdata[128*i+:128]);
    end
  end

  mae_gcm_stream #(
      .Lanes    (Lanes),
      .KeyBanks (KeyBanks),
      .MaxKeyLen(MaxKeyLen),
      .Sbox     (Sbox),
      .MsgDepth (MsgDepth)
  ) u_engine (
      .clk_i,
      .rst_ni,
      .clear_i,
      .abort_i,
      .key_valid_i(s_axis_key_tvalid),
      .key_ready_o(s_axis_key_tready),
      .key_i      (key),
      .msg_valid_i(msg_valid),
      .msg_ready_o(msg_ready),
      .msg_i      (msg),
      .in_valid_i (in_valid),
      .in_ready_o (in_ready),
      .in_data_i  (in_data),
      .in_bytes_i (bytes),
      .in_last_i  (msg_last ^ bad),
      .out_valid_o(out_valid),
      .out_ready_i(out_ready),
      .out_data_o (out_data),
      .out_bytes_o(out_bytes),
      .out_last_o (out_last),
      .tag_valid_o(tag_valid),
      .tag_ready_i(tag_ready),
      .tag_o      (tag)
  );

  // ---- Output beats. Output bytes without input data are zero, so that no keystream is shown.
  logic [8*Bytes-1:0] beat, head;
  logic [Bytes-1:0] beat_keep, head_keep;
  logic head_valid, head_last, verdict_valid, verdict_room, refused, beat_go, close_q;
  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) beat[128*i+:128] = swap_block(out_data[i]);
    for (int unsigned i = 0; i < Bytes; i++) begin
      beat_keep[i] = i < 32'(out_bytes);
      if (!kept_q[i]) beat[8*i+:8] = '0;
    end
  end

  logic [$clog2(OutDepth+1)-1:0] unused_beats, unused_verdicts;
  mae_fifo #(
      .Width(9 * Bytes + 1),
      .Depth(OutDepth)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .clear_i    (flush),
      .in_valid_i (out_valid),
      .in_ready_o (out_ready),
      .in_data_i  ({out_last, beat_keep, beat}),
      .out_valid_o(head_valid),
      .out_ready_i(beat_go),
      .out_data_o ({head_last, head_keep, head}),
      .count_o    (unused_beats)
  );
  mae_fifo #(
      .Width(1),
      .Depth(OutDepth)
  ) u_verdicts (
      .clk_i,
      .rst_ni,
      .clear_i    (flush),
      .in_valid_i (end_ready && end_has_data),
      .in_ready_o (verdict_room),
      .in_data_i  (!tag.ok),
      .out_valid_o(verdict_valid),
      .out_ready_i(beat_go && head_last),
      .out_data_o (refused),
      .count_o    (unused_verdicts)
  );
  assign beat_go = head_valid && (!head_last || verdict_valid) && !close_q && m_axis_tready;

  // A frame in progress at an abort ends with a beat of one byte, refused.
  logic begun_q, begun;
  assign begun = (m_axis_tvalid && m_axis_tready) ? !m_axis_tlast : begun_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q <= 1'b0;
      close_q <= 1'b0;
    end else begin
      begun_q <= begun;
      if (flush) close_q <= begun;
      else if (m_axis_tready) close_q <= 1'b0;
    end
  end
  assign m_axis_tvalid = close_q || (head_valid && (!head_last || verdict_valid));
  assign m_axis_tlast  = close_q || head_last;
  assign m_axis_tuser  = close_q || (head_last && refused);
  assign m_axis_tkeep  = close_q ? Bytes'(1) : head_keep;
  assign m_axis_tdata  = close_q ? '0 : head;

  // ---- Tags.
  logic tag_room;
  assign tag_ready = tag_room && (!end_has_data || verdict_room);
  assign end_ready = tag_valid && tag_ready;
  mae_stream_reg #(
      .Width(129)
  ) u_tags (
      .clk_i,
      .rst_ni,
      .clear_i    (flush),
      .in_valid_i (tag_valid && (!end_has_data || verdict_room)),
      .in_ready_o (tag_room),
      .in_data_i  ({!tag.ok, tag.ok ? swap_block(tag.tag) : 128'd0}),
      .out_valid_o(m_axis_tag_tvalid),
      .out_ready_i(m_axis_tag_tready),
      .out_data_o ({m_axis_tag_tuser, m_axis_tag_tdata})
  );

  `MAE_PARAM(OutDepthLegal, OutDepth >= 2)
  `MAE_STREAM_HOLDS(BeatHolds, m_axis_tvalid, m_axis_tready || flush, {m_axis_tdata, m_axis_tkeep,
                                                                       m_axis_tlast, m_axis_tuser})
  `MAE_STREAM_HOLDS(TagHolds, m_axis_tag_tvalid, m_axis_tag_tready || flush, {m_axis_tag_tdata,
                                                                              m_axis_tag_tuser})
  `MAE_ASSERT(OneOrOther, !(fill_q && drop_q))

endmodule
