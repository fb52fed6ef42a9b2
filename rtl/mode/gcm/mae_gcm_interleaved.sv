// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_interleaved: adds AES-GCM for many interleaved messages to a mode engine.
//
// Placed between a client and mae_mode_engine (the core). Jobs of other modes pass unchanged. A GCM
// message is one or more jobs of a context: an IV whose length is not 12 bytes (one job, PhaseIv),
// AAD, data. The core runs counter mode (Ctr32); rows are hashed as they pass: AAD and IV at the
// input, ciphertext at the input (decryption) or output (encryption). Rows of AAD, IV and of jobs
// without bytes return as zeros. The core computes H = E(K, 0) and, at the end of a message,
// E(K, J0) in the contexts from number Contexts on. Every job ends with one report: the tag of a
// completely encrypted message; StatusBadTag without a tag; StatusBadKey (key lost). open_o:
// contexts with a message in progress; all others must begin with init. room_o: as mae_mode_engine.
// Combinational: job_ready_o in core_cfg_ready_i; row_ready_o in row_ctx_i and core_*_i.
// Latency: rows 1 clock more than the core's. Without other load, key in a bank, one register a
// round: the first job of a message is accepted Nr + 2 * Lanes + 4 clocks (one lane: Nr + 7) after
// it was offered, no other job begins meanwhile; later jobs after 1 clock. The end of a message, of
// one at a time, takes Nr + 11 clocks, 2 more after full rows in successive clocks, the last with
// the report; H, hash, J0 are then erased. Throughput: one row a clock, even of a single context.
// Reset and clear: both erase everything; done when wiping_o has fallen, Contexts clocks later.
// Parameters: Legal: Lanes 1..16; Contexts a multiple of Lanes, at most 256 - Lanes.
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
    localparam int unsigned CoreContexts = Contexts + Lanes,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic wiping_o,

    input  logic                     job_valid_i,
    output logic                     job_ready_o,
    input  ctx_t                     job_ctx_i,
    input  logic                     job_is_gcm_i,
    input  mode_cfg_t                job_cfg_i,     // all other jobs
    input  gcm_job_t                 job_gcm_i,
    output logic                     begins_o,      // a GCM job is being accepted: keep it offered
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
  // The core's contexts for E(K, 0) and E(K, J0).
  localparam ctx_t SideCtx = ctx_t'(Contexts);

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [Contexts-1:0] set_t;

  // After reset and clear_i the memories are erased, one context a clock.
  logic   wipe_q;
  index_t wipe_ctx_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {wipe_q, wipe_ctx_q} <= {1'b1, index_t'(0)};
    else if (clear_i) {wipe_q, wipe_ctx_q} <= {1'b1, index_t'(0)};
    else if (wipe_q) begin
      wipe_q     <= 32'(wipe_ctx_q) != Contexts - 1;
      wipe_ctx_q <= (32'(wipe_ctx_q) == Contexts - 1) ? '0 : wipe_ctx_q + 1'b1;
    end
  end

  assign wiping_o = wipe_q;

  // State of the contexts.
  set_t        open_q;  // a message is in progress
  set_t        sinks_q;  // the rows of the job skip the core
  set_t        flows_q;  // rows pass through the core
  set_t        hash_in_q;  // rows are hashed going in
  set_t        hash_out_q;  // rows are hashed coming out
  set_t        ended_q;  // the job's last row has passed
  set_t        lost_q;  // the job's key was lost
  gcm_job_t    job_q                                         [Contexts];
  block_t      j0_q                                          [Contexts];
  gcm_length_t aad_q                                         [Contexts];
  gcm_length_t data_q                                        [Contexts];

  assign open_o = open_q;

  // ---- E(K, block) for the two sequencers; the end of a message has priority.
  logic begin_ask, end_ask, side_ask_ready, side_cfg_valid, side_row_valid, side_busy;
  logic side_end_q;  // the block is for the end
  logic side_valid, side_ready, begin_answer, end_answer;
  mode_cfg_t side_cfg;
  block_t side_block;
  gcm_job_t end_job, unused_end_job;
  index_t end_ctx_q;

  mae_mode_single_block u_side (
      .clk_i,
      .rst_ni,
      .clear_i    (wipe_q),
      .ask_valid_i(end_ask || begin_ask),
      .ask_ready_o(side_ask_ready),
      .ask_slot_i (end_ask ? end_job.key_slot : job_gcm_i.key_slot),
      .ask_block_i(end_ask ? j0_q[end_ctx_q] : '0),
      .cfg_valid_o(side_cfg_valid),
      .cfg_ready_i(core_cfg_ready_i),
      .cfg_o      (side_cfg),
      .room_i     (core_room_i[Contexts]),
      .row_valid_o(side_row_valid),
      .row_ready_i(core_row_ready_i),
      .row_block_o(side_block),
      .busy_o     (side_busy),
      .taken_i    (side_valid && side_ready)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) side_end_q <= 1'b0;
    else if (side_ask_ready) side_end_q <= end_ask;
  end

  assign side_valid   = core_out_valid_i && core_out_ctx_i == SideCtx;
  assign begin_answer = side_valid && !side_end_q;
  assign end_answer   = side_valid && side_end_q;

  // ---- Sequencer that begins a job.
  typedef enum logic [1:0] {
    BeginIdle,
    BeginKey,    // waits for E(K, 0)
    BeginPower,  // H^2 .. H^Lanes
    BeginStart
  } begin_e;

  begin_e begin_q;
  logic [4:0] power_q;
  logic begin_gcm, starts, has_data, begin_op, end_op, op_ready;
  index_t job_index;
  block_t first_j0;
  gcm_length_t aad_before, data_before;

  assign job_index = index_t'(job_ctx_i);
  assign begin_gcm = job_valid_i && job_is_gcm_i && !wipe_q;
  assign has_data = job_gcm_i.phase == PhaseData && job_gcm_i.length != '0;
  assign begin_ask = begin_q == BeginIdle && begin_gcm && job_gcm_i.init;
  assign begin_op = begin_q == BeginPower || begin_answer;
  assign starts = begin_q == BeginStart && (!has_data || (!side_cfg_valid && core_cfg_ready_i));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {begin_q, power_q} <= {BeginIdle, 5'd0};
    else begin
      unique case (begin_q)
        BeginIdle: begin
          if (begin_gcm && !job_gcm_i.init) begin_q <= BeginStart;
          if (begin_ask && side_ask_ready && !end_ask) begin_q <= BeginKey;
        end
        BeginKey: begin
          power_q <= 5'd2;
          if (begin_answer && side_ready) begin_q <= (Lanes == 1) ? BeginStart : BeginPower;
        end
        BeginPower: begin
          if (op_ready && !end_op) begin
            power_q <= power_q + 1'b1;
            if (32'(power_q) == Lanes) begin_q <= BeginStart;
          end
        end
        BeginStart: if (starts) begin_q <= BeginIdle;
      endcase
      if (wipe_q) begin_q <= BeginIdle;
    end
  end

  assign begins_o = begin_q != BeginIdle;

  // The last 32 bits of J0 count on: one step to the first data block, one step a block (§7.1).
  assign first_j0 = {job_gcm_i.nonce, 32'd1};
  assign aad_before = job_gcm_i.init ? '0 : aad_q[job_index];
  assign data_before = job_gcm_i.init ? '0 : data_q[job_index];

  always_comb begin
    core_cfg_valid_o = job_valid_i && !job_is_gcm_i && !wipe_q;
    core_cfg_ctx_o   = job_ctx_i;
    core_cfg_o       = job_cfg_i;
    if (job_is_gcm_i) begin
      core_cfg_valid_o = begin_q == BeginStart && has_data;
      core_cfg_o = '0;
      core_cfg_o.mode = Ctr32;
      core_cfg_o.dir = job_gcm_i.dir;
      core_cfg_o.init = 1'b1;
      core_cfg_o.key_slot = job_gcm_i.key_slot;
      core_cfg_o.iv = inc32(job_gcm_i.init ? first_j0 : j0_q[job_index],
                            32'(data_before[LengthWidth-1:4]) + 32'd1);
    end
    job_ready_o = job_is_gcm_i ? starts : core_cfg_ready_i && !wipe_q && !side_cfg_valid;
    if (side_cfg_valid) begin
      core_cfg_valid_o = 1'b1;
      core_cfg_ctx_o   = SideCtx;
      core_cfg_o       = side_cfg;
    end
  end

  // ---- Sequencer that ends a job.
  typedef enum logic [2:0] {
    EndIdle,
    EndBlock,    // hashes the lengths
    EndProduct,
    EndJ0,       // the hash of an IV becomes J0
    EndAsk,      // requests E(K, J0)
    EndMask,
    EndReport
  } end_e;

  end_e end_q;
  logic end_pick, end_lost_q, end_done;
  index_t end_index;
  set_t   end_grant;
  block_t hash, tag_q, wrong;

  mae_rr_arb #(
      .N(Contexts)
  ) u_end_arb (
      .clk_i,
      .rst_ni,
      .req_i    (ended_q),
      .advance_i(end_q == EndIdle),
      .grant_o  (end_grant),
      .index_o  (end_index),
      .valid_o  (end_pick)
  );

  assign end_job = job_q[end_ctx_q];
  assign unused_end_job = end_job;  // its nonce and init were used before
  assign end_ask = end_q == EndAsk;
  assign end_op = end_q inside {EndBlock, EndJ0} || (end_q == EndReport && end_job.ends);
  assign end_done = end_q == EndReport && (op_ready || !end_job.ends);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {end_q, end_ctx_q, end_lost_q, tag_q} <= {EndIdle, index_t'(0), 1'b0, 128'd0};
    else if (wipe_q) {end_q, end_ctx_q, end_lost_q, tag_q} <= {EndIdle, index_t'(0), 1'b0, 128'd0};
    else begin
      unique case (end_q)
        EndIdle: begin
          end_ctx_q  <= end_index;
          end_lost_q <= 1'b0;
          tag_q      <= '0;
          if (end_pick) begin
            end_q <= (job_q[end_index].ends || job_q[end_index].phase == PhaseIv) ? EndBlock :
                EndReport;
          end
        end
        EndBlock:   if (op_ready) end_q <= EndProduct;
        EndProduct: end_q <= (end_job.phase == PhaseIv) ? EndJ0 : EndAsk;
        EndJ0:      if (op_ready) end_q <= EndReport;
        EndAsk:     if (side_ask_ready) end_q <= EndMask;
        EndMask: begin
          if (end_answer) begin
            end_q      <= EndReport;
            end_lost_q <= core_out_key_lost_i;
            tag_q      <= hash ^ core_out_data_i[0];
          end
        end
        default:    if (end_done) end_q <= EndIdle;
      endcase
    end
  end

  assign report_valid_o = end_done;
  assign report_ctx_o = ctx_t'(end_ctx_q);
  assign wrong = (tag_q ^ end_job.tag) & (end_job.tag_bytes[4] ? '1 : first_bytes(
      end_job.tag_bytes[3:0]
  ));

  always_comb begin
    report_o          = '0;
    report_o.key_lost = end_lost_q || lost_q[end_ctx_q];
    if (end_job.ends && end_job.dir == Decrypt) report_o.bad_tag = wrong != '0 || report_o.key_lost;
    if (end_job.ends && end_job.dir == Encrypt && !report_o.key_lost) report_o.tag = tag_q;
  end

  // ---- State of the contexts.
  logic in_take, out_take;
  set_t job_set;

  assign in_take  = row_valid_i && row_ready_o && row_last_i;
  assign out_take = core_out_valid_i && core_out_ready_o && !side_valid;
  assign job_set  = set_t'(1) << job_index;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {open_q, sinks_q, flows_q, hash_in_q, hash_out_q, ended_q, lost_q} <= '0;
    else if (wipe_q) {open_q, sinks_q, flows_q, hash_in_q, hash_out_q, ended_q, lost_q} <= '0;
    else begin
      if (end_q == EndIdle) ended_q <= ended_q & ~end_grant;
      if (end_done && end_job.ends) open_q[end_ctx_q] <= 1'b0;
      if (in_take && sinks_q[index_t'(row_ctx_i)]) ended_q[index_t'(row_ctx_i)] <= 1'b1;
      if (out_take && flows_q[index_t'(core_out_ctx_i)]) begin
        if (core_out_last_i) ended_q[index_t'(core_out_ctx_i)] <= 1'b1;
        if (core_out_key_lost_i) lost_q[index_t'(core_out_ctx_i)] <= 1'b1;
      end
      if (begin_answer && side_ready) lost_q[job_index] <= core_out_key_lost_i;
      if (job_valid_i && job_ready_o) begin
        sinks_q    <= sinks_q & ~job_set;
        flows_q    <= flows_q & ~job_set;
        hash_in_q  <= hash_in_q & ~job_set;
        hash_out_q <= hash_out_q & ~job_set;
        if (job_is_gcm_i) begin
          open_q[job_index] <= 1'b1;
          sinks_q[job_index] <= !has_data;
          flows_q[job_index] <= has_data;
          hash_in_q[job_index] <= job_gcm_i.length != '0 && (!has_data || job_gcm_i.dir == Decrypt);
          hash_out_q[job_index] <= has_data && job_gcm_i.dir == Encrypt;
        end
      end
    end
  end

  // Memories without reset; they are erased after reset (wipe_q).
  always_ff @(posedge clk_i) begin
    if (starts) begin
      job_q[job_index] <= job_gcm_i;
      aad_q[job_index]  <= aad_before + (job_gcm_i.phase == PhaseAad ?
                                         gcm_length_t'(job_gcm_i.length) : '0);
      data_q[job_index] <= data_before + (has_data ? gcm_length_t'(job_gcm_i.length) : '0);
      if (job_gcm_i.init) j0_q[job_index] <= first_j0;
    end
    if (end_q == EndJ0) j0_q[end_ctx_q] <= hash;
    if (end_done && end_job.ends) j0_q[end_ctx_q] <= '0;
    if (wipe_q) begin
      job_q[wipe_ctx_q]  <= '0;
      j0_q[wipe_ctx_q]   <= '0;
      aad_q[wipe_ctx_q]  <= '0;
      data_q[wipe_ctx_q] <= '0;
    end
  end

  // ---- The hash; the end sequencer has priority over the begin sequencer.
  ghash_op_e op;
  index_t op_ctx, hash_row_ctx;
  block_t op_block;
  logic hash_row_valid, hash_row_ready, hash_row_offered;
  block_t [Lanes-1:0] hash_row_data;
  logic [BytesWidth-1:0] hash_row_bytes;

  assign side_ready = side_end_q || (op_ready && !end_op);

  always_comb begin
    op       = begin_answer ? OpSetH : OpPower;
    op_ctx   = job_index;
    op_block = core_out_data_i[0];
    if (end_op) begin
      op_ctx   = end_ctx_q;
      op_block = {25'd0, aad_q[end_ctx_q], 3'd0, 25'd0, data_q[end_ctx_q], 3'd0};
      if (end_job.phase == PhaseIv) op_block = {93'd0, end_job.length, 3'd0};
      unique case (end_q)
        EndBlock: op = OpBlock;
        EndJ0:    op = OpZero;
        default:  op = OpClear;
      endcase
    end
  end

  mae_ghash_interleaved #(
      .Lanes   (Lanes),
      .Contexts(Contexts)
  ) u_hash (
      .clk_i,
      .rst_ni,
      .wipe_i       (wipe_q),
      .wipe_ctx_i   (wipe_ctx_q),
      .row_valid_i  (hash_row_valid),
      .row_ready_o  (hash_row_ready),
      .row_offered_i(hash_row_offered),
      .row_ctx_i    (hash_row_ctx),
      .row_data_i   (hash_row_data),
      .row_bytes_i  (hash_row_bytes),
      .op_valid_i   (end_op || begin_op),
      .op_ready_o   (op_ready),
      .op_i         (op),
      .op_ctx_i     (op_ctx),
      .op_power_i   (power_q),
      .op_block_i   (op_block),
      .look_ctx_i   (end_ctx_q),
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

  assign core_out_ready_o = side_valid ? side_ready : tap_out_ready;

  always_comb begin
    core_row_valid_o = tap_row_valid;
    core_row_ctx_o   = tap_row_ctx;
    core_row_data_o  = tap_row_data;
    core_row_bytes_o = tap_row_bytes;
    core_row_last_o  = tap_row_last;
    if (side_row_valid) begin
      core_row_valid_o   = 1'b1;
      core_row_ctx_o     = SideCtx;
      core_row_data_o    = '0;
      core_row_data_o[0] = side_block;
      core_row_bytes_o   = BytesWidth'(16);
      core_row_last_o    = 1'b1;
    end
  end

  `MAE_ASSERT(SideAwaited, !side_valid || wipe_q || side_busy)
  `MAE_ASSERT(BeginsOpen, !begin_gcm || job_gcm_i.init || open_q[job_index])
  `MAE_ASSERT(EndOfJob, !(end_done && !(sinks_q[end_ctx_q] || flows_q[end_ctx_q])))

endmodule
