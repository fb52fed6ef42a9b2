// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_key_records: gives each descriptor that names a key record in host memory a key slot with
// that key. It reads records, caches them in slots and replaces those that no job uses.
//
// A descriptor with FlagRecord names a record of the table table_i by {record_high, key_slot}. It
// leaves with the number of a slot in key_slot, without the flag, when the slot holds the key.
// Descriptors stay in order; up to Depth wait, and the records of all of them are read meanwhile. A
// record that cannot be read, is not valid or lies beyond the table leaves FlagRecord set and names
// no slot; the slot that was meant for it is erased. Descriptors that name a slot from FirstSlot on
// by themselves get NoSlot, as XTS's second key does, which is never in a record.
//
// A slot is replaced in turn, never while a job uses it (accept_i, refuse_i, report_i, finish_i) and
// never while an unfinished message of KeptOp does, whose later jobs must find the same slot. At
// most RecordSlots - 1 messages are kept unfinished; one more fails as an invalid record does.
//
// table_i.forget erases the slot of one record, or of all. Descriptors that name records wait
// meanwhile, and the erasure waits for the jobs in flight that use the slot; unfinished messages
// without a job in flight are lost. A change of the table lets no descriptor in until those that
// wait have left with keys of the old table; then it takes effect and erases all slots. aborting_i:
// descriptors leave at once, without a key.
// Latency: 1 clock for a record that is cached or a plain descriptor; otherwise the read and 2 more.
// Throughput: one descriptor a clock; with BeatWidth < 512 one record is read at a time.
// Reset: drops all descriptors and forgets all records; start_i, given when quiet, ends all
// messages.
// Parameters: Legal: FirstSlot + RecordSlots <= 64; RecordSlots 2..32; Depth >= 1; MaxKeyBytes 16,
// 24, 32; BeatWidth 128, 256, 512.
// Security: a key passes one register, which is zero without one.

`include "mae_assert.svh"

module mae_dma_key_records
  import mae_dma_pkg::*;
#(
    parameter int unsigned BeatWidth = 512,
    parameter int unsigned Contexts = 64,
    parameter int unsigned FirstSlot = 16,
    parameter int unsigned RecordSlots = 32,
    parameter int unsigned MaxKeyBytes = 32,
    parameter int unsigned Depth = 16,
    parameter logic [7:0] KeptOp = 8'hff  // op of messages whose jobs share a slot
) (
    input logic clk_i,
    input logic rst_ni,
    input logic start_i,
    input logic aborting_i,

    input  key_table_t table_i,
    output logic       forgetting_o,
    output logic       empty_o,       // no descriptor waits
    output logic       quiet_o,       // nor is a record being read

    input  logic         in_valid_i,
    output logic         in_ready_o,
    input  desc_t        in_desc_i,
    input  logic         in_error_i,
    input  logic  [15:0] in_index_i,
    output logic         out_valid_o,
    input  logic         out_ready_i,
    output desc_t        out_desc_o,
    output logic         out_error_o,
    output logic  [15:0] out_index_o,

    // jobs: a descriptor that has left is accepted or refused; the client has reported; it ends
    input logic           accept_i,
    input logic           refuse_i,
    input logic     [7:0] job_slot_i,
    input dma_ctx_t       job_ctx_i,
    input logic           report_i,
    input dma_ctx_t       report_ctx_i,
    input logic           finish_i,
    input dma_ctx_t       finish_ctx_i,

    output logic                         ar_valid_o,
    input  logic                         ar_ready_i,
    output control_ar_t                  ar_o,
    input  logic                         r_valid_i,   // always accepted
    input  control_tag_t                 r_tag_i,
    input  logic         [          1:0] r_beat_i,
    input  logic         [BeatWidth-1:0] r_data_i,
    input  logic                         r_error_i,
    input  logic                         r_last_i,

    output logic          write_valid_o,  // to a key slot
    input  logic          write_ready_i,
    output record_write_t write_o
);
  localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  localparam int unsigned SlotWidth = $clog2(RecordSlots);
  localparam int unsigned CountWidth = 10;
  localparam int unsigned Beats = 8 * BlockBytes / BeatWidth;
  localparam logic [7:0] NoSlot = 8'hff;
  `MAE_PARAM(SlotsLegal, RecordSlots inside {[2 : 32]} && FirstSlot + RecordSlots <= 64)
  `MAE_PARAM(MaxKeyBytesLegal, MaxKeyBytes inside {16, 24, 32})

  typedef logic [SlotWidth-1:0] index_t;
  typedef logic [CtxWidth-1:0] ctx_t;
  typedef logic [CountWidth-1:0] count_t;
  typedef logic [RecordSlots-1:0] set_t;

  typedef enum logic [2:0] {
    Empty,
    Want,     // to be read
    Flying,   // being read
    Arrived,  // on its way to the slot
    Ready,
    Failed,
    Leaving   // its slot is being erased
  } state_e;

  typedef enum logic [1:0] {
    Plain,
    Record,
    Invalid
  } kind_e;

  typedef struct packed {
    kind_e       kind;
    index_t      slot;
    logic        error;
    logic [15:0] index;
    desc_t       desc;
  } entry_t;

  state_e state_q[RecordSlots];
  logic [15:0] record_q[RecordSlots];  // which record the slot holds
  count_t jobs_q[RecordSlots];  // descriptors and jobs that use the slot
  count_t kept_q[RecordSlots];  // unfinished messages that use it
  logic [Contexts-1:0] kept_valid_q, uses_valid_q;
  index_t kept_slot_q[Contexts];
  index_t uses_slot_q[Contexts];
  count_t messages_q;  // unfinished ones

  logic [$clog2(Depth+1)-1:0] waiting;
  set_t wants, flying;  // records to be read; those and the ones that are not in a slot yet
  set_t stale;  // slots that may hold the key of a record that was there before

  // Forgetting.
  logic all_q, one_q, change, change_now;
  logic [15:0] one_index_q;
  logic [57:0] base_q;
  logic [16:0] count_q;
  set_t doomed, idle;
  logic erase, erase_done;
  index_t erase_slot;

  assign change = table_i.base != base_q || table_i.count != count_q;
  assign change_now = change && waiting == '0 && flying == '0;
  assign forgetting_o = all_q || one_q || change || table_i.forget;

  always_comb begin
    for (int unsigned i = 0; i < RecordSlots; i++) begin
      doomed[i] = state_q[i] != Empty && (all_q || (one_q && record_q[i] == one_index_q));
      stale[i]  = state_q[i] inside {Want, Flying, Arrived, Failed};
      idle[i]   = jobs_q[i] == '0 && ((state_q[i] == Ready && doomed[i]) || state_q[i] == Failed);
    end
  end
  assign erase_done = (all_q || one_q) && doomed == '0 && stale == '0;
  always_comb begin
    erase_slot = '0;
    for (int unsigned i = 0; i < RecordSlots; i++) if (idle[i]) erase_slot = index_t'(i);
  end

  // Lookup.
  logic named, looks, beyond, hit, free_any, keeps, too_many, push, fifo_ready, take_new;
  logic legal_ctx, was_kept;
  logic [15:0] name;
  set_t hits, frees, free_grant;
  index_t hit_slot, free_slot, slot;
  ctx_t in_ctx;
  entry_t in_entry, head;

  assign name = {in_desc_i.record_high, in_desc_i.key_slot};
  assign named = !in_error_i && in_desc_i.flags[FlagRecord];
  assign beyond = 17'(name) >= count_q;
  assign in_ctx = ctx_t'(in_desc_i.context_id);
  assign keeps = named && in_desc_i.op == KeptOp && !in_desc_i.flags[FlagFinal];
  assign legal_ctx = !in_error_i && 32'(in_desc_i.context_id) < Contexts;
  assign was_kept = legal_ctx && kept_valid_q[in_ctx];
  assign too_many = keeps && !was_kept && 32'(messages_q) >= RecordSlots - 1;
  assign looks = named && legal_ctx && !aborting_i && !beyond && !too_many;

  always_comb begin
    hit_slot = '0;
    for (int unsigned i = 0; i < RecordSlots; i++) begin
      hits[i]  = state_q[i] inside {Want, Flying, Arrived, Ready} && record_q[i] == name;
      frees[i] = jobs_q[i] == '0 && kept_q[i] == '0 && state_q[i] inside {Empty, Ready};
      if (hits[i]) hit_slot = index_t'(i);
    end
  end
  assign hit = hits != '0;
  assign slot = hit ? hit_slot : free_slot;
  assign in_ready_o = fifo_ready && !change && !(named && !aborting_i && forgetting_o) &&
      (!looks || hit || free_any);
  assign push = in_valid_i && in_ready_o;
  assign take_new = push && looks && !hit;

  mae_rr_arb #(
      .N(RecordSlots)
  ) u_free (
      .clk_i,
      .rst_ni,
      .req_i    (frees),
      .advance_i(take_new),
      .grant_o  (free_grant),
      .index_o  (free_slot),
      .valid_o  (free_any)
  );

  always_comb begin
    in_entry = '{
        kind: looks ? Record : (named ? Invalid : Plain),
        slot: slot,
        error: in_error_i,
        index: in_index_i,
        desc: in_desc_i
    };
    if (named) in_entry.desc.record_high = '0;
    if (named || in_error_i || 32'(in_desc_i.key_slot) >= FirstSlot)
      in_entry.desc.key_slot = NoSlot;
    if (32'(in_desc_i.tweak_slot) >= FirstSlot) in_entry.desc.tweak_slot = NoSlot;
  end

  logic head_valid, head_failed;

  mae_fifo #(
      .Width($bits(entry_t)),
      .Depth(Depth),
      .Zero (1'b0)
  ) u_wait (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (push),
      .in_ready_o (fifo_ready),
      .in_data_i  (in_entry),
      .out_valid_o(head_valid),
      .out_ready_i(out_valid_o && out_ready_i),
      .out_data_o (head),
      .count_o    (waiting)
  );

  assign head_failed = head.kind == Record && state_q[head.slot] == Failed;
  assign out_valid_o = head_valid && (head.kind != Record || aborting_i ||
      state_q[head.slot] inside {Ready, Failed});
  assign out_error_o = head.error;
  assign out_index_o = head.index;
  always_comb begin
    out_desc_o = head.desc;
    if (head.kind == Record && !head_failed) begin
      out_desc_o.flags[FlagRecord] = 1'b0;
      out_desc_o.key_slot = 8'(FirstSlot) + 8'(head.slot);
    end
  end

  // Users of slots.
  logic job_uses, failed_leaves;
  index_t job_slot;
  assign job_uses = 32'(job_slot_i) inside {[FirstSlot : FirstSlot + RecordSlots - 1]};
  assign job_slot = index_t'(32'(job_slot_i) - FirstSlot);
  assign failed_leaves = out_valid_o && out_ready_i && head_failed;

  // Reads.
  logic ar_valid_q, issue, busy_narrow, want_any;
  index_t want_slot, r_slot;
  set_t unused_grant;
  control_ar_t ar_q;
  always_comb begin
    for (int unsigned i = 0; i < RecordSlots; i++) begin
      wants[i]  = state_q[i] == Want;
      flying[i] = state_q[i] inside {Want, Flying, Arrived};
    end
  end
  always_comb begin
    busy_narrow = 1'b0;
    for (int unsigned i = 0; i < RecordSlots; i++)
    if (Beats > 1 && state_q[i] == Flying) busy_narrow = 1'b1;
  end
  assign issue = want_any && (!ar_valid_q || ar_ready_i) && !busy_narrow;
  assign r_slot = index_t'(r_tag_i);
  assign ar_valid_o = ar_valid_q;
  assign ar_o = ar_q;

  mae_rr_arb #(
      .N(RecordSlots)
  ) u_want (
      .clk_i,
      .rst_ni,
      .req_i    (wants),
      .advance_i(issue),
      .grant_o  (unused_grant),
      .index_o  (want_slot),
      .valid_o  (want_any)
  );

  // A record that has arrived: its earlier beats are kept until the last one.
  key_record_t record;
  logic landed, legal, bad_q, bad;
  if (Beats > 1) begin : gen_beats
    logic [Beats-1:0][BeatWidth-1:0] beats_q, beats;
    always_comb begin
      beats = beats_q;
      beats[r_beat_i[$clog2(Beats)-1:0]] = r_data_i;
    end
    assign record = beats;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) beats_q <= '0;
      else if (r_valid_i) beats_q <= r_last_i ? '0 : beats;
    end
  end else begin : gen_beat
    logic [1:0] unused_beat;
    assign unused_beat = r_beat_i;
    assign record = r_data_i;
  end
  assign landed = r_valid_i && r_last_i;
  assign bad = r_error_i || bad_q;
  always_comb begin
    legal = !bad && record.valid == KeyRecordValid && record.reserved == '0;
    unique case (record.key_bytes)
      32'd16:  if (record.key[255:128] != '0) legal = 1'b0;
      32'd24:  if (record.key[255:192] != '0) legal = 1'b0;
      32'd32:  ;
      default: legal = 1'b0;
    endcase
    if (record.key_bytes > MaxKeyBytes) legal = 1'b0;
  end

  // Writes to slots: a record that arrives while the last one is still here is read again.
  logic write_valid_q, write_erase_q, write_free, catch_it;
  index_t write_slot_q;
  logic [1:0] write_len_q;
  logic [255:0] write_key_q;

  assign write_free = !write_valid_q || write_ready_i;
  assign catch_it = landed && legal && write_free;
  assign erase = !write_valid_q && !landed && idle != '0;
  assign write_valid_o = write_valid_q;
  assign write_o = '{
          slot: 6'(FirstSlot) + 6'(write_slot_q),
          erase: write_erase_q,
          len: write_len_q,
          key: write_key_q
      };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= '{default: Empty};
      record_q      <= '{default: '0};
      jobs_q        <= '{default: '0};
      kept_q        <= '{default: '0};
      kept_valid_q  <= '0;
      uses_valid_q  <= '0;
      messages_q    <= '0;
      all_q         <= 1'b0;
      one_q         <= 1'b0;
      one_index_q   <= '0;
      base_q        <= '0;
      count_q       <= '0;
      ar_valid_q    <= 1'b0;
      bad_q         <= 1'b0;
      write_valid_q <= 1'b0;
      write_erase_q <= 1'b0;
      write_slot_q  <= '0;
      write_len_q   <= '0;
      write_key_q   <= '0;
    end else begin
      // Slots.
      for (int unsigned i = 0; i < RecordSlots; i++) begin
        if (issue && want_slot == index_t'(i)) state_q[i] <= Flying;
        if (landed && r_slot == index_t'(i))
          state_q[i] <= catch_it ? Arrived : (legal ? Want : Failed);
        if (write_valid_q && write_ready_i && write_slot_q == index_t'(i))
          state_q[i] <= write_erase_q ? Empty : Ready;
        if (erase && erase_slot == index_t'(i)) state_q[i] <= Leaving;
        if (take_new && free_slot == index_t'(i)) begin
          state_q[i]  <= Want;
          record_q[i] <= name;
        end
        jobs_q[i] <= jobs_q[i] + count_t'(push && looks && slot == index_t'(i)) -
            count_t'(failed_leaves && head.slot == index_t'(i)) -
            count_t'(refuse_i && job_uses && job_slot == index_t'(i)) -
            count_t'(report_i && uses_valid_q[ctx_t'(report_ctx_i)] &&
                     uses_slot_q[ctx_t'(report_ctx_i)] == index_t'(i)) -
            count_t'(finish_i && uses_valid_q[ctx_t'(finish_ctx_i)] &&
                     uses_slot_q[ctx_t'(finish_ctx_i)] == index_t'(i));
        kept_q[i] <= kept_q[i] + count_t'(push && looks && keeps && slot == index_t'(i)) -
            count_t'(push && was_kept && kept_slot_q[in_ctx] == index_t'(i));
        if (start_i) kept_q[i] <= '0;
      end
      if (report_i) uses_valid_q[ctx_t'(report_ctx_i)] <= 1'b0;
      if (finish_i) uses_valid_q[ctx_t'(finish_ctx_i)] <= 1'b0;
      if (accept_i) uses_valid_q[ctx_t'(job_ctx_i)] <= job_uses;
      if (push && legal_ctx) kept_valid_q[in_ctx] <= looks && keeps;
      messages_q <= messages_q + count_t'(push && looks && keeps) - count_t'(push && was_kept);
      if (start_i) begin
        kept_valid_q <= '0;
        messages_q   <= '0;
      end

      // Forgetting.
      if (erase_done) begin
        all_q <= 1'b0;
        one_q <= 1'b0;
      end
      if (table_i.forget) begin
        one_q       <= 1'b1;
        one_index_q <= table_i.forget_index;
        if (table_i.forget_all || one_q) all_q <= 1'b1;
      end
      if (change_now) begin
        all_q   <= 1'b1;
        base_q  <= table_i.base;
        count_q <= table_i.count;
      end

      // Reads and writes.
      if (ar_ready_i) ar_valid_q <= 1'b0;
      if (issue) ar_valid_q <= 1'b1;
      if (r_valid_i) bad_q <= bad && !r_last_i;
      if (write_valid_q && write_ready_i) begin
        write_valid_q <= 1'b0;
        write_key_q   <= '0;
      end
      if (erase) begin
        write_valid_q <= 1'b1;
        write_erase_q <= 1'b1;
        write_slot_q  <= erase_slot;
      end
      if (catch_it) begin
        write_valid_q <= 1'b1;
        write_erase_q <= 1'b0;
        write_slot_q  <= r_slot;
        write_len_q   <= 2'((record.key_bytes >> 3) - 32'd2);
        write_key_q   <= record.key;
      end
    end
  end

  // No reset: read only after they were written.
  always_ff @(posedge clk_i) begin
    if (issue) begin
      ar_q.tag   <= control_tag_t'(32 + 32'(want_slot));
      ar_q.block <= base_q + 58'(record_q[want_slot]);
    end
    if (accept_i) uses_slot_q[ctx_t'(job_ctx_i)] <= job_slot;
    if (push && looks && keeps) kept_slot_q[in_ctx] <= slot;
  end

  assign empty_o = waiting == '0;
  assign quiet_o = waiting == '0 && flying == '0;

  logic unused;
  assign unused = ^{free_grant, unused_grant, job_ctx_i, report_ctx_i, finish_ctx_i, r_tag_i};

  `MAE_ASSERT(OneSlotARecord, $onehot0(hits))
  `MAE_ASSERT(AnswerAwaited, !r_valid_i || state_q[r_slot] == Flying)
  `MAE_STREAM_HOLDS(ArHolds, ar_valid_o, ar_ready_i, ar_o)
  `MAE_STREAM_HOLDS(WriteHolds, write_valid_o, write_ready_i, write_o)

endmodule
