// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_msg_dispatch: accepts keys and GCM messages, and dispatches each message to the units
// that process it. They are the keystream (ctr_*), the part sequencer (parts_*) and the tag unit
// (end_*).
//
// A key is accepted when no message of its bank is in progress; while it is offered or, with Cut =
// 1, waits here, no further message of the bank is accepted. Messages of a bank without a key are
// not accepted. With Cut = 0 a key passes in the same clock, and a message may be accepted with it.
// With Cut = 1 a key is accepted at once and leaves one clock later, or when its bank is free.
// done_i: a message of done_bank_i has ended. Messages without a beat do not appear at parts_*.
// key_ready_o is combinational in key_i.bank if Cut = 0; msg_ready_o is combinational in msg_i.bank
// and the key port.
// Latency: 1 + Cut clocks to ctr_* and parts_*; 0 clocks to end_*.
// Throughput: one message a clock.
// Reset and clear: stop_i: nothing is accepted in this clock. flush_i drops all messages by the
// next clock; clear_i also drops the key and the record of loaded banks. The lengths of parts_*
// remain in a memory, unreachable. See mae_gcm_fifo for the data.
// Parameters: MsgDepth is the number of messages in progress. Legal: Lanes 1..16; KeyBanks 1..4;
// MsgDepth >= 1, with Small >= 2; Cut and Small 0 or 1.
// Security: constant-time; no masking.
// Source: SP 800-38D §7.

module mae_gcm_msg_dispatch
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned KeyBanks = 2,
    parameter int unsigned MsgDepth = 32,
    parameter bit Cut = 1'b0,
    parameter bit Small = 1'b0
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         clear_i,
    input  logic         flush_i,        // must be high with clear_i
    input  logic         stop_i,         // must be high with flush_i
    input  logic         key_valid_i,
    output logic         key_ready_o,
    input  cipher_key_t  key_i,
    output logic         key_valid_o,
    input  logic         key_ready_i,    // may depend on key_valid_o
    output cipher_key_t  key_o,
    input  logic         msg_valid_i,
    output logic         msg_ready_o,
    input  gcm_msg_t     msg_i,
    output logic         ctr_valid_o,
    input  logic         ctr_ready_i,
    output gcm_counter_t ctr_o,
    output logic         parts_valid_o,
    input  logic         parts_ready_i,
    output gcm_parts_t   parts_o,
    output logic         end_valid_o,    // high only while end_ready_i is high
    input  logic         end_ready_i,
    output gcm_end_t     end_o,
    input  logic         done_i,
    input  bank_t        done_bank_i
);

  localparam gcm_length_t RowBytes = gcm_length_t'(16 * Lanes);

  // ---- Keys. A key that waits for its bank blocks new messages of the bank.
  logic key_valid, key_ready, key_idle, key_take, key_room;
  cipher_key_t key;
  logic [KeyBanks-1:0] loaded_q;
  // With Cut the FIFO of end_* may hold two messages more.
  logic [KeyBanks-1:0][$clog2(MsgDepth+2*32'(Cut)+1)-1:0] under_way_q;

  mae_stream_reg_opt #(
      .Width($bits(cipher_key_t)),
      .Cut  (Cut)
  ) u_key_cut (
      .clk_i,
      .rst_ni,
      .clear_i    (clear_i),
      .in_valid_i (key_valid_i && !stop_i && (!Cut || !key_valid)),
      .in_ready_o (key_room),
      .in_data_i  (key_i),
      .out_valid_o(key_valid),
      .out_ready_i(key_ready),
      .out_data_o (key)
  );
  assign key_ready_o = key_room && !stop_i && (!Cut || !key_valid);

  always_comb begin
    key_idle = 1'b0;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      if (key.bank == bank_t'(b)) key_idle = under_way_q[b] == '0;
    end
  end
  assign key_ready = key_ready_i && key_idle && !flush_i;
  assign key_take = key_valid && key_ready;
  assign key_valid_o = key_valid && key_idle && !flush_i;
  assign key_o = key;

  // ---- Messages in progress: for the keystream, for the beats, for the tags.
  logic ctr_room, parts_room, msg_fits, msg_take, bank_open;
  gcm_counter_t ctr_new;
  gcm_parts_t   parts_new;
  logic has_beats, iv_hashed, is_empty;

  always_comb begin
    bank_open = 1'b0;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      if (msg_i.bank == bank_t'(b)) bank_open = loaded_q[b];
    end
    if (key_valid && key.bank == msg_i.bank) bank_open = !Cut && key_take;
    if (Cut && key_valid_i && key_i.bank == msg_i.bank) bank_open = 1'b0;
  end

  assign iv_hashed = msg_i.iv_bytes != gcm_length_t'(12);
  assign is_empty = msg_i.aad_bytes == '0 && msg_i.data_bytes == '0;
  assign has_beats = iv_hashed || !is_empty;
  assign msg_fits = bank_open && ctr_room && parts_room && end_ready_i;
  assign msg_ready_o = msg_fits && !stop_i;
  // may be high with stop_i: flush_i then empties the destination
  assign msg_take = msg_valid_i && msg_fits;
  assign end_valid_o = msg_take;
  assign ctr_new = '{
          bank: msg_i.bank,
          iv_hashed: iv_hashed,
          iv: msg_i.iv,
          data_bytes: msg_i.data_bytes,
          no_rows: msg_i.data_bytes == '0,
          one_row: msg_i.data_bytes <= RowBytes
      };
  assign parts_new = '{
          bank: msg_i.bank,
          dir: msg_i.dir,
          iv_bytes: iv_hashed ? msg_i.iv_bytes : '0,
          aad_bytes: msg_i.aad_bytes,
          data_bytes: msg_i.data_bytes
      };
  assign end_o = '{
          bank: msg_i.bank,
          dir: msg_i.dir,
          has_beats: has_beats,
          empty: is_empty,
          tag_bytes: msg_i.tag_bytes,
          tag: msg_i.tag
      };

  mae_gcm_fifo #(
      .Width($bits(gcm_counter_t)),
      .Depth(MsgDepth),
      .Cut  (Cut),
      .Small(Small)
  ) u_counters (
      .clk_i,
      .rst_ni,
      .clear_i    (flush_i),
      .in_valid_i (msg_take),
      .in_ready_o (ctr_room),
      .in_data_i  (ctr_new),
      .out_valid_o(ctr_valid_o),
      .out_ready_i(ctr_ready_i),
      .out_data_o (ctr_o)
  );
  mae_fifo_out_reg #(
      .Width($bits(gcm_parts_t)),
      .Depth(MsgDepth),
      .Cut  (Cut),
      .Zero (1'b0)
  ) u_parts (
      .clk_i,
      .rst_ni,
      .clear_i    (flush_i),
      .in_valid_i (msg_take && has_beats),
      .in_ready_o (parts_room),
      .in_data_i  (parts_new),
      .out_valid_o(parts_valid_o),
      .out_ready_i(parts_ready_i),
      .out_data_o (parts_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loaded_q    <= '0;
      under_way_q <= '0;
    end else if (clear_i) begin
      loaded_q    <= '0;
      under_way_q <= '0;
    end else begin
      for (int unsigned b = 0; b < KeyBanks; b++) begin
        if (key_take && key.bank == bank_t'(b)) loaded_q[b] <= 1'b1;
        under_way_q[b] <= under_way_q[b] + $bits(
            under_way_q[b]
        )'(msg_take && msg_i.bank == bank_t'(b)) - $bits(
            under_way_q[b]
        )'(done_i && done_bank_i == bank_t'(b));
      end
      if (flush_i) under_way_q <= '0;
    end
  end

endmodule
