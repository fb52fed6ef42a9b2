// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_interleaved: adds AES-GCM for many interleaved messages to a mode engine.
//
// Placed between a client and mae_mode_engine (the core). Jobs of other modes pass unchanged. A GCM
// message is one or more jobs of a context: an IV whose length is not 12 bytes (one job, PhaseIv),
// AAD, data. The core runs counter mode (Ctr32); rows are hashed as they pass: AAD and IV at the
// input, ciphertext at the input (decryption) or output (encryption). Rows of AAD, IV and of jobs
// without bytes return as zeros. H = E(K, 0) and its powers are computed when a key is written
// (mae_gcm_slot_powers reads it at hash_key_i). In the contexts from number Contexts on, the core
// computes the tag's mask E(K, J0), beginning when the first row of the message's last job has
// passed. Every job ends with one report:
// the tag of a completely encrypted message; bad_tag without a tag; key_lost. A key that is written
// or erased (key_changed_*) is lost for all messages in progress. open_o: contexts with a message in
// progress; all others must begin with init. room_o: as mae_mode_engine.
// Combinational: job_ready_o in the job and core_cfg_ready_i; row_ready_o in row_ctx_i and core_*_i.
// Latency: rows 1 clock more than the core's. Without other load, one register a round: a job is
// accepted in the clock of its offer, the first one of a key not before Nr + 2 * Lanes + 2 clocks (one
// lane: Nr + 5) after the write of its slot, each slot written just before Nr + 4 more. The report of a message comes 5
// clocks after its last row has left, 2 more after full rows in successive clocks; without rows of
// data, Nr + 11 clocks after its last row was taken. Hash, mask and J0 are then erased, H with its
// key.
// Throughput: one row a clock, even of a single context; Lanes messages in Nr + 7 clocks, at most
// one in 3.
// Reset and clear: both erase everything; done when wiping_o has fallen, as many clocks later as
// there are contexts or key slots, whichever are more.
// Parameters: Small = 1, for few LUTs: memories with one write port (mae_gcm_masks,
// mae_ghash_interleaved); erasures, jobs and rows may wait a clock when a message or an IV ends.
// Legal: Lanes 1..16; Contexts a multiple of Lanes, at most 256 - Lanes; KeySlots 1..64; Small 0, 1.
// Security: constant-time for one message, and in the comparison; no masking.
// Source: SP 800-38D §7.

`include "mae_assert.svh"

module mae_gcm_interleaved
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_gcm_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    parameter int unsigned KeySlots = 16,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter bit Small = 1'b0,
    localparam int unsigned CoreContexts = Contexts + Lanes,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic wiping_o,

    input  logic        key_changed_i,        // a key slot is written or erased
    input  logic        key_changed_erase_i,
    input  key_slot_t   key_changed_slot_i,
    output key_slot_t   hash_key_slot_o,
    input  cipher_key_t hash_key_i,           // the key of that slot

    input  logic                     job_valid_i,
    output logic                     job_ready_o,
    input  ctx_t                     job_ctx_i,
    input  logic                     job_is_gcm_i,
    input  mode_cfg_t                job_cfg_i,     // all other jobs
    input  gcm_job_t                 job_gcm_i,
    output logic      [Contexts-1:0] open_o,

    output logic        report_valid_o,  // for one clock
    output ctx_t        report_ctx_o,
    output gcm_report_t report_o,

    input  logic                    row_valid_i,
    output logic                    row_ready_o,
    input  ctx_t                    row_ctx_i,
    input  block_t [     Lanes-1:0] row_data_i,
    input  logic   [BytesWidth-1:0] row_bytes_i,
    input  logic                    row_last_i,
    output logic   [  Contexts-1:0] room_o,

    output logic                    out_valid_o,
    input  logic                    out_ready_i,
    output ctx_t                    out_ctx_o,
    output block_t [     Lanes-1:0] out_data_o,
    output logic   [BytesWidth-1:0] out_bytes_o,
    output logic                    out_last_o,

    output logic                         core_cfg_valid_o,
    input  logic                         core_cfg_ready_i,
    output ctx_t                         core_cfg_ctx_o,
    output mode_cfg_t                    core_cfg_o,
    input  logic      [CoreContexts-1:0] core_room_i,
    output logic                         core_row_valid_o,
    input  logic                         core_row_ready_i,
    output ctx_t                         core_row_ctx_o,
    output block_t    [       Lanes-1:0] core_row_data_o,
    output logic      [  BytesWidth-1:0] core_row_bytes_o,
    output logic                         core_row_last_o,
    input  logic                         core_out_valid_i,
    output logic                         core_out_ready_o,
    input  ctx_t                         core_out_ctx_i,
    input  block_t    [       Lanes-1:0] core_out_data_i,
    input  logic      [  BytesWidth-1:0] core_out_bytes_i,
    input  logic                         core_out_last_i,
    input  logic                         core_out_key_lost_i
);
  `MAE_PARAM(ContextsLegal, Contexts % Lanes == 0 && CoreContexts <= 256)

  localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  localparam int unsigned SlotWidth = (KeySlots > 1) ? $clog2(KeySlots) : 1;
  localparam int unsigned Wiped = (KeySlots > Contexts) ? KeySlots : Contexts;

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [SlotWidth-1:0] slot_t;
  typedef logic [Contexts-1:0] set_t;

  // After reset and clear_i the memories are erased, one context and one slot a clock.
  logic       wipe_q;
  logic [7:0] wipe_index_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {wipe_q, wipe_index_q} <= {1'b1, 8'd0};
    else if (clear_i) {wipe_q, wipe_index_q} <= {1'b1, 8'd0};
    else if (wipe_q) begin
      wipe_q       <= 32'(wipe_index_q) != Wiped - 1;
      wipe_index_q <= (32'(wipe_index_q) == Wiped - 1) ? '0 : wipe_index_q + 1'b1;
    end
  end

  assign wiping_o = wipe_q;

  // State of the contexts.
  set_t        open_q;  // a message is in progress
  set_t        sinks_q;  // the rows of the job skip the core
  set_t        flows_q;  // rows pass through the core
  set_t        hash_in_q;  // rows are hashed going in
  set_t        hash_out_q;  // rows are hashed coming out
  set_t        lost_q;  // the message's key was lost
  key_slot_t   slot_q                                        [Contexts];
  gcm_job_t    job_q                                         [Contexts];
  gcm_length_t aad_q                                         [Contexts];
  gcm_length_t data_q                                        [Contexts];

  assign open_o = open_q;
  // ---- The masks E(K, J0), up to Lanes at a time.
  logic tag_due, report_ends, report_iv, side_cfg_valid, side_row_valid, side_valid, starts;
  logic mask_job_ready;
  index_t job_index, mask_index, report_ctx;
  set_t mask_set, mask_ready, near_end;
  ctx_t side_cfg_ctx, side_row_ctx;
  mode_cfg_t side_cfg;
  block_t side_row_block, first_j0, job_j0, hash, mask;

  mae_gcm_masks #(
      .Lanes   (Lanes),
      .Contexts(Contexts),
      .Small   (Small)
  ) u_masks (
      .clk_i,
      .rst_ni,
      .clear_i     (wipe_q),
      .wipe_index_i(wipe_index_q),
      .job_ready_o (mask_job_ready),
      .job_valid_i (starts),
      .job_ctx_i   (job_index),
      .job_init_i  (job_gcm_i.init),
      .job_ends_i  (job_gcm_i.ends),
      .job_j0_i    (first_j0),
      .job_j0_o    (job_j0),
      .near_i      (near_end),
      .ask_ctx_o   (mask_index),
      .ask_slot_i  (slot_q[mask_index]),
      .cfg_valid_o (side_cfg_valid),
      .cfg_ready_i (core_cfg_ready_i),
      .cfg_ctx_o   (side_cfg_ctx),
      .cfg_o       (side_cfg),
      .room_i      (core_room_i[CoreContexts-1:Contexts]),
      .row_valid_o (side_row_valid),
      .row_ready_i (core_row_ready_i),
      .row_ctx_o   (side_row_ctx),
      .row_block_o (side_row_block),
      .out_valid_i (core_out_valid_i),
      .out_ctx_i   (core_out_ctx_i),
      .out_block_i (core_out_data_i[0]),
      .side_valid_o(side_valid),
      .mask_set_o  (mask_set),
      .ready_o     (mask_ready),
      .look_ctx_i  (report_ctx),
      .look_o      (mask),
      .look_iv_i   (tag_due && report_iv),
      .look_hash_i (hash),
      .look_erase_i(report_valid_o && report_ends)
  );

  // ---- The beginning of a job.
  logic begin_gcm, begin_clear, has_data, op_ready, sum_op, h_op;
  logic [KeySlots-1:0] have_h;
  ghash_op_e h_op_kind;
  logic [4:0] h_power;
  key_slot_t h_slot, unused_h_slot;
  block_t h;
  gcm_length_t aad_before, data_before;

  mae_gcm_slot_powers #(
      .Lanes    (Lanes),
      .KeySlots (KeySlots),
      .MaxKeyLen(MaxKeyLen),
      .Sbox     (Sbox)
  ) u_powers (
      .clk_i,
      .rst_ni,
      .clear_i        (wipe_q),
      .changed_i      (key_changed_i),
      .changed_erase_i(key_changed_erase_i),
      .changed_slot_i (key_changed_slot_i),
      .want_valid_i   (begin_gcm && job_gcm_i.init),
      .want_slot_i    (job_gcm_i.key_slot),
      .have_o         (have_h),
      .key_slot_o     (hash_key_slot_o),
      .key_i          (hash_key_i),
      .op_valid_o     (h_op),
      .op_ready_i     (op_ready && !sum_op && !begin_clear),
      .op_o           (h_op_kind),
      .op_slot_o      (h_slot),
      .op_power_o     (h_power),
      .op_block_o     (h)
  );

  assign unused_h_slot = h_slot;  // its upper bits
  assign job_index = index_t'(job_ctx_i);
  assign begin_gcm = job_valid_i && job_is_gcm_i && !wipe_q;
  assign has_data = job_gcm_i.phase == PhaseData && job_gcm_i.length != '0;
  // A message that was not ended leaves its hash to the next one of its context.
  assign begin_clear = begin_gcm && job_gcm_i.init && open_q[job_index];
  assign starts = begin_gcm && !begin_clear && mask_job_ready &&
      (!job_gcm_i.init || have_h[slot_t'(job_gcm_i.key_slot)]) &&
      (!has_data || (!side_cfg_valid && core_cfg_ready_i));

  // The last 32 bits of J0 count on: one step to the first data block, one step a block (§7.1).
  assign first_j0 = {job_gcm_i.nonce, 32'd1};
  assign aad_before = job_gcm_i.init ? '0 : aad_q[job_index];
  assign data_before = job_gcm_i.init ? '0 : data_q[job_index];

  always_comb begin
    core_cfg_valid_o = job_valid_i && !job_is_gcm_i && !wipe_q;
    core_cfg_ctx_o   = job_ctx_i;
    core_cfg_o       = job_cfg_i;
    if (job_is_gcm_i) begin
      core_cfg_valid_o = starts && has_data;
      core_cfg_o = '0;
      core_cfg_o.mode = Ctr32;
      core_cfg_o.dir = job_gcm_i.dir;
      core_cfg_o.init = 1'b1;
      core_cfg_o.key_slot = job_gcm_i.key_slot;
      core_cfg_o.iv =
          inc32(job_gcm_i.init ? first_j0 : job_j0, 32'(data_before[LengthWidth-1:4]) + 32'd1);
    end
    job_ready_o = job_is_gcm_i ? starts : core_cfg_ready_i && !wipe_q && !side_cfg_valid;
    if (side_cfg_valid) begin
      core_cfg_valid_o = 1'b1;
      core_cfg_ctx_o   = side_cfg_ctx;
      core_cfg_o       = side_cfg;
    end
  end

  // ---- The end of a job: the hash of the lengths, if it ends a message or an IV.
  logic   sum_valid;
  index_t sum_ctx;
  set_t ends_now, picked, hashed, report_grant;
  gcm_job_t end_job, unused_end_job;

  mae_gcm_job_ends #(
      .Contexts(Contexts)
  ) u_ends (
      .clk_i,
      .rst_ni,
      .clear_i    (wipe_q),
      .ended_i    (ends_now),
      .picked_o   (picked),
      .sum_valid_o(sum_valid),
      .sum_ready_i(op_ready || !sum_op),
      .sum_ctx_o  (sum_ctx),
      .hashed_o   (hashed),
      .taken_i    (report_grant)
  );

  assign end_job = job_q[sum_ctx];
  assign unused_end_job = end_job;  // most of it is for its report
  assign sum_op = sum_valid && (end_job.ends || end_job.phase == PhaseIv);

  // ---- The reports.
  mae_gcm_reports #(
      .Contexts(Contexts)
  ) u_reports (
      .clk_i,
      .rst_ni,
      .clear_i  (wipe_q),
      .due_i    (hashed & mask_ready),
      .grant_o  (report_grant),
      .ctx_o    (report_ctx),
      .job_i    (job_q[report_ctx]),
      .hash_i   (hash),
      .mask_i   (mask),
      .lost_i   (lost_q[report_ctx]),
      .tag_due_o(tag_due),
      .report_valid_o,
      .report_ctx_o,
      .report_o
  );

  assign report_ends = job_q[report_ctx].ends;
  assign report_iv   = job_q[report_ctx].phase == PhaseIv;

  // ---- State of the contexts.
  logic in_take, out_take;
  index_t row_index, out_index;
  set_t job_set, row_set, out_set, key_set, loses_now;
  assign row_index = index_t'(row_ctx_i);
  assign out_index = index_t'(core_out_ctx_i);
  assign in_take   = row_valid_i && row_ready_o;
  assign out_take  = core_out_valid_i && core_out_ready_o && !side_valid;
  assign job_set   = starts ? set_t'(1) << job_index : '0;
  assign row_set   = in_take ? set_t'(1) << row_index : '0;
  assign out_set   = out_take ? set_t'(1) << out_index : '0;

  always_comb begin
    for (int unsigned c = 0; c < Contexts; c++) begin
      key_set[c] = key_changed_i && key_changed_slot_i == slot_q[c];
    end
  end
  assign ends_now = (row_last_i ? row_set & sinks_q : '0) |
      (core_out_last_i ? out_set & flows_q : '0);
  assign near_end = (row_set & flows_q) | picked;
  assign loses_now = (key_set & open_q) |
      (core_out_key_lost_i ? (out_set & flows_q) | mask_set : '0) |
      ((key_changed_i && key_changed_slot_i == job_gcm_i.key_slot) ||
       (!job_gcm_i.init && job_gcm_i.key_slot != slot_q[job_index]) ? job_set : '0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {open_q, sinks_q, flows_q, hash_in_q, hash_out_q, lost_q} <= '0;
      slot_q <= '{default: '0};
    end else if (wipe_q) begin
      {open_q, sinks_q, flows_q, hash_in_q, hash_out_q, lost_q} <= '0;
      slot_q <= '{default: '0};
    end else begin
      lost_q <= (lost_q & ~(job_gcm_i.init ? job_set : '0)) | loses_now;
      if (begin_clear && op_ready && !sum_op) open_q[job_index] <= 1'b0;
      if (report_valid_o && report_ends) open_q[report_ctx] <= 1'b0;
      if (job_valid_i && job_ready_o) begin
        sinks_q[job_index] <= job_is_gcm_i && !has_data;
        flows_q[job_index] <= job_is_gcm_i && has_data;
        hash_in_q[job_index]  <= job_is_gcm_i && job_gcm_i.length != '0 &&
            (!has_data || job_gcm_i.dir == Decrypt);
        hash_out_q[job_index] <= job_is_gcm_i && has_data && job_gcm_i.dir == Encrypt;
      end
      if (starts) {open_q[job_index], slot_q[job_index]} <= {1'b1, job_gcm_i.key_slot};
    end
  end

  // Memories without reset, with one write port; they are erased after reset (wipe_q).
  index_t state_ctx;
  gcm_length_t aad_more, data_more;
  assign state_ctx = wipe_q ? index_t'(wipe_index_q) : job_index;
  assign aad_more  = job_gcm_i.phase == PhaseAad ? gcm_length_t'(job_gcm_i.length) : '0;
  assign data_more = has_data ? gcm_length_t'(job_gcm_i.length) : '0;
  always_ff @(posedge clk_i) begin
    if (wipe_q ? 32'(wipe_index_q) < Contexts : starts) begin
      job_q[state_ctx]  <= wipe_q ? '0 : job_gcm_i;
      aad_q[state_ctx]  <= wipe_q ? '0 : aad_before + aad_more;
      data_q[state_ctx] <= wipe_q ? '0 : data_before + data_more;
    end
  end

  // ---- The hash; the ends of messages have priority over their beginnings.
  ghash_op_e op;
  index_t op_ctx, hash_row_ctx;
  slot_t  op_slot;
  block_t op_block;
  logic hash_row_valid, hash_row_ready, hash_row_offered;
  block_t [Lanes-1:0] hash_row_data;
  logic [BytesWidth-1:0] hash_row_bytes;

  always_comb begin
    op       = h_op_kind;
    op_ctx   = job_index;
    op_slot  = slot_t'(h_slot);
    op_block = h;
    if (begin_clear) op = OpClear;
    if (sum_op) begin
      op       = OpBlock;
      op_ctx   = sum_ctx;
      op_slot  = slot_t'(slot_q[sum_ctx]);
      op_block = {25'd0, aad_q[sum_ctx], 3'd0, 25'd0, data_q[sum_ctx], 3'd0};
      if (end_job.phase == PhaseIv) op_block = {93'd0, end_job.length, 3'd0};
    end
  end

  mae_ghash_interleaved #(
      .Lanes   (Lanes),
      .Contexts(Contexts),
      .KeySlots(KeySlots),
      .Small   (Small)
  ) u_hash (
      .clk_i,
      .rst_ni,
      .wipe_i       (wipe_q),
      .wipe_index_i (wipe_index_q),
      .erase_valid_i(key_changed_i && 32'(key_changed_slot_i) < KeySlots),
      .erase_slot_i (slot_t'(key_changed_slot_i)),
      .row_valid_i  (hash_row_valid),
      .row_ready_o  (hash_row_ready),
      .row_offered_i(hash_row_offered),
      .row_ctx_i    (hash_row_ctx),
      .row_slot_i   (slot_t'(slot_q[hash_row_ctx])),
      .row_data_i   (hash_row_data),
      .row_bytes_i  (hash_row_bytes),
      .op_valid_i   (sum_op || begin_clear || h_op),
      .op_ready_o   (op_ready),
      .op_i         (op),
      .op_ctx_i     (op_ctx),
      .op_slot_i    (op_slot),
      .op_power_i   (h_power),
      .op_block_i   (op_block),
      .look_ctx_i   (report_ctx),
      .look_clear_i (tag_due && (report_ends || report_iv)),
      .look_o       (hash)
  );

  // ---- The rows.
  logic tap_row_valid, tap_row_last, tap_out_ready;
  ctx_t tap_row_ctx;
  block_t [Lanes-1:0] tap_row_data;
  logic [BytesWidth-1:0] tap_row_bytes;

  mae_gcm_row_router #(
      .Lanes   (Lanes),
      .Contexts(Contexts)
  ) u_taps (
      .clk_i,
      .rst_ni,
      .clear_i         (wipe_q),
      .sinks_i         (sinks_q),
      .hash_in_i       (hash_in_q),
      .hash_out_i      (hash_out_q),
      .row_valid_i,
      .row_ready_o,
      .row_ctx_i,
      .row_data_i,
      .row_bytes_i,
      .row_last_i,
      .room_o,
      .out_valid_o,
      .out_ready_i,
      .out_ctx_o,
      .out_data_o,
      .out_bytes_o,
      .out_last_o,
      .core_room_i     (core_room_i[Contexts-1:0]),
      .core_row_valid_o(tap_row_valid),
      .core_row_ready_i(core_row_ready_i && !side_row_valid),
      .core_row_ctx_o  (tap_row_ctx),
      .core_row_data_o (tap_row_data),
      .core_row_bytes_o(tap_row_bytes),
      .core_row_last_o (tap_row_last),
      .core_out_valid_i(core_out_valid_i && !side_valid),
      .core_out_ready_o(tap_out_ready),
      .core_out_ctx_i,
      .core_out_data_i,
      .core_out_bytes_i,
      .core_out_last_i,
      .hash_valid_o    (hash_row_valid),
      .hash_ready_i    (hash_row_ready),
      .hash_offered_o  (hash_row_offered),
      .hash_ctx_o      (hash_row_ctx),
      .hash_data_o     (hash_row_data),
      .hash_bytes_o    (hash_row_bytes)
  );

  assign core_out_ready_o = side_valid || tap_out_ready;

  always_comb begin
    core_row_valid_o = tap_row_valid;
    core_row_ctx_o   = tap_row_ctx;
    core_row_data_o  = tap_row_data;
    core_row_bytes_o = tap_row_bytes;
    core_row_last_o  = tap_row_last;
    if (side_row_valid) begin
      core_row_valid_o = 1'b1;
      core_row_ctx_o = side_row_ctx;
      core_row_data_o = '0;
      core_row_data_o[0] = side_row_block;
      core_row_bytes_o = BytesWidth'(16);
      core_row_last_o = 1'b1;
    end
  end

  `MAE_ASSERT(BeginsOpen, !begin_gcm || job_gcm_i.init || open_q[job_index])
  `MAE_ASSERT(EndOfJob, !report_valid_o || sinks_q[report_ctx] || flows_q[report_ctx])

endmodule
