// SPDX-License-Identifier: Apache-2.0
//
// mae_auth_mode_unit: computes GCM, GMAC, CCM and CMAC with a one-lane mode engine and a small
// field multiplier.
//
// Placed before a mae_aes_core with two contexts and one lane (mae_aes_core_mux). Context 0 holds
// the data, for GCM and CCM under CTR32. Context 1 holds single blocks under ECB: H = E(0), from
// which CMAC's subkeys are derived, too; the tag mask E(iv); each step of a CBC-MAC. A job of a
// mode without authentication (AuthNone) passes unchanged; context 1 is then available at single_i.
//
// Between jobs the whole state of a message is in external registers (state_i), which the unit
// writes through state_write_o and state_o. The byte counts are updated when a job is accepted, the
// rest while it runs; do not write these registers while a job runs. The last step of a message
// does not write `hash`, which is 0 afterwards. The legality of jobs is checked elsewhere
// (check_auth of mae_device_pkg). job_ready_o, in_ready_o and the output path are combinational.
// Latency: Nr + 5 clocks for H in a GCM job, and as many for the mask in a final one, while its
// first blocks arrive. From the last output block to the tag: GCM 2 * (128 / Digit + 1) + 1 clocks
// (1 in decryption), CCM 2 * Nr + 6.
// Throughput: data of GCM one block in the greater of Nr and 128 / Digit + 1 clocks, AAD of GCM in
// 128 / Digit + 1, CMAC and AAD of CCM in Nr + 5, data of CCM in 2 * Nr.
// Reset and clear: clear_i and the end of a job erase H and all intermediate values.
// Parameters: Digit: see mae_gf128_mul_digit_serial. Legal: Digit a power of 2, 1..64.
// Security: constant-time, tags are compared in one clock; no masking.
// Source: SP 800-38B §6.2; SP 800-38C §6; SP 800-38D §7.

`include "mae_assert.svh"

module mae_auth_mode_unit
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_auth_pkg::*;
#(
    parameter int unsigned Digit = 16
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic      job_valid_i,  // only while no job runs
    output logic      job_ready_o,
    input  auth_job_t job_i,

    input  auth_state_t state_i,
    output auth_write_t state_write_o,
    output auth_state_t state_o,

    input logic      key_changed_i,  // a key slot is written or erased
    input key_slot_t key_slot_i,

    output logic   done_o,       // pulse: the job has ended
    output logic   bad_tag_o,    // valid with done_o
    output logic   bad_key_o,    // valid with done_o; for AuthNone with any block
    output logic   tag_valid_o,  // valid with done_o: tag of a final encryption
    output block_t tag_o,

    input  logic      in_valid_i,
    output logic      in_ready_o,
    input  auth_row_t in_row_i,
    output logic      out_valid_o,  // always accepted
    output auth_row_t out_row_o,

    // a single cipher block, while no job of an authenticated mode runs; its result is rsp_row_i in
    // the clock of single_done_o
    input  logic      single_valid_i,
    input  key_slot_t single_slot_i,
    input  dir_e      single_dir_i,
    input  block_t    single_i,
    output logic      single_taken_o,
    output logic      single_done_o,

    // to and from the core; results are always accepted
    output logic      cfg_valid_o,
    input  logic      cfg_ready_i,
    output ctx_t      cfg_ctx_o,
    output mode_cfg_t cfg_o,
    output logic      row_valid_o,
    input  logic      row_ready_i,
    output ctx_t      row_ctx_o,
    output auth_row_t row_o,
    input  logic      rsp_valid_i,
    input  ctx_t      rsp_ctx_i,
    input  auth_row_t rsp_row_i,
    input  logic      rsp_lost_i
);
  typedef enum logic [2:0] {
    Idle,     // or a job of a mode without authentication
    Zero,     // E(0)
    Mask,     // E(iv)
    Blocks,
    Lengths,  // last block of GCM
    Finish
  } state_e;

  // Fields of the job that the unit keeps.
  typedef struct packed {
    auth_e      auth;
    phase_e     phase;
    dir_e       dir;
    logic       final_job;
    logic       empty;      // the job has no blocks
    key_slot_t  key_slot;
    logic [4:0] tag_bytes;
  } own_job_t;

  state_e state_q;
  own_job_t job_q;
  logic [1:0] held_q;  // blocks that wait for the hash
  logic open_q;  // context 0 has a job
  logic lost_q;  // the key changed during the job
  block_t zero_q;  // E(0)
  block_t sum_q;  // the expected tag or 0, plus the terms of the tag
  logic take, moves_data, lost;
  logic gcm, nothing, quiet, closes;

  assign gcm = job_q.auth == AuthGcm;
  assign quiet = job_q.auth == AuthCmac || job_q.phase != PhaseData;
  assign closes = job_q.final_job && !gcm;
  // Nothing to hash; the CMAC of an empty message is that of one empty block.
  assign nothing = job_q.empty && !(job_q.auth == AuthCmac && job_q.final_job);
  assign take = job_valid_i && job_ready_o && job_i.auth != AuthNone;
  assign moves_data = job_i.auth != AuthCmac && job_i.phase == PhaseData && job_i.length != '0;
  assign lost = lost_q || (rsp_valid_i && rsp_lost_i) ||
      (key_changed_i && key_slot_i == job_q.key_slot);

  // Blocks to hash; at most two of them wait between in_row_i and here.
  auth_row_t text_in, text_out, text;
  logic text_push, text_valid, text_take;
  logic hash_input;
  logic unused_text_ready;
  logic [1:0] unused_text_count;

  assign hash_input = quiet || (gcm == (job_q.dir == Decrypt));
  assign text_push  = state_q != Idle && (hash_input ? in_valid_i && in_ready_o : out_valid_o);

  always_comb begin
    text_in = hash_input ? in_row_i : rsp_row_i;
    text_in.data &= auth_mask(text_in.bytes);
    text = text_out;
    if (job_q.empty) text = '{last: 1'b1, bytes: '0, data: '0};  // the block of an empty CMAC
    if (job_q.auth == AuthCmac && job_q.final_job && text.last) begin
      text.data = cmac_last(zero_q, text.data, text.bytes);
    end
  end

  mae_fifo #(
      .Width($bits(auth_row_t)),
      .Depth(2)
  ) u_text (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (text_push),
      .in_ready_o (unused_text_ready),
      .in_data_i  (text_in),
      .out_valid_o(text_valid),
      .out_ready_i(text_take),
      .out_data_o (text_out),
      .count_o    (unused_text_count)
  );

  // The two kinds of hash.
  logic step, step_last_q, step_done, hash_busy_q, product_valid, blocks_end;
  logic single_taken, single_done;
  block_t product, operand, result;
  auth_bytes_t aad_bits, data_bits;

  assign aad_bits = {state_i.aad_bytes[60:0], 3'b000};
  assign data_bits = {state_i.data_bytes[60:0], 3'b000};
  assign operand = state_i.hash ^ ((state_q == Lengths) ? {aad_bits, data_bits} : text.data);
  assign step = gcm && !hash_busy_q && (state_q == Lengths || (state_q == Blocks && text_valid));
  assign step_done = state_q == Blocks && (gcm ? product_valid : single_done);
  assign result = gcm ? product : rsp_row_i.data;
  assign text_take = state_q == Blocks && (gcm ? step : single_taken);
  assign blocks_end = state_q == Blocks && ((step_done && step_last_q) || nothing);

  mae_gf128_mul_digit_serial #(
      .Digit(Digit)
  ) u_ghash (
      .clk_i,
      .rst_ni,
      .clear_i,
      .valid_i  (step),
      .a_i      (operand),
      .b_i      (zero_q),
      .valid_o  (product_valid),
      .product_o(product)
  );

  // Single blocks, the job and its blocks to the core. Rows of AuthNone pass unchanged.
  logic plain, room, single_valid, job_ready, row_ready;
  block_t single;
  mode_cfg_t cfg;
  auth_bytes_t aad_before, data_before;

  assign plain = state_q == Idle;
  assign single_valid = (plain && single_valid_i) || state_q inside {Zero, Mask} ||
      (state_q == Blocks && !gcm && (text_valid || (job_q.empty && !nothing)));

  always_comb begin
    unique case (state_q)
      Zero:    single = '0;
      Mask:    single = state_i.iv;
      Idle:    single = single_i;
      default: single = operand;
    endcase
  end

  assign aad_before = job_i.cfg.init ? '0 : state_i.aad_bytes;
  assign data_before = job_i.cfg.init ? '0 : state_i.data_bytes;
  assign job_ready_o = plain && job_ready;
  assign room = plain || (!held_q[1] && state_q != Finish);
  assign in_ready_o = room && (row_ready || (!plain && quiet));
  assign out_row_o = rsp_row_i;

  always_comb begin
    cfg = job_i.cfg;
    if (job_i.auth != AuthNone) begin
      cfg.mode   = Ctr32;
      cfg.init   = 1'b1;
      cfg.serial = 1'b0;
      cfg.iv     = inc32(state_i.iv, data_before[35:4] + 32'd1);
    end
  end

  mae_aes_core_mux u_route (
      .clk_i,
      .rst_ni,
      .clear_i,
      .single_valid_i(single_valid),
      .single_i      (single),
      .single_slot_i (plain ? single_slot_i : job_q.key_slot),
      .single_dir_i  (plain ? single_dir_i : Encrypt),
      .single_taken_o(single_taken),
      .single_done_o (single_done),
      .job_valid_i   (plain && job_valid_i && (job_i.auth == AuthNone || moves_data)),
      .job_ready_o   (job_ready),
      .job_i         (cfg),
      .in_valid_i    (in_valid_i && room && (plain || !quiet)),
      .in_ready_o    (row_ready),
      .in_row_i,
      .out_valid_o,
      .cfg_valid_o,
      .cfg_ready_i,
      .cfg_ctx_o,
      .cfg_o,
      .row_valid_o,
      .row_ready_i,
      .row_ctx_o,
      .row_o,
      .rsp_valid_i,
      .rsp_ctx_i
  );

  // The job.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      job_q       <= '0;
      open_q      <= 1'b0;
      lost_q      <= 1'b0;
      held_q      <= '0;
      step_last_q <= 1'b0;
      hash_busy_q <= 1'b0;
    end else if (clear_i) begin
      state_q     <= Idle;
      job_q       <= '0;
      open_q      <= 1'b0;
      lost_q      <= 1'b0;
      held_q      <= '0;
      step_last_q <= 1'b0;
      hash_busy_q <= 1'b0;
    end else begin
      if (step) hash_busy_q <= 1'b1;
      else if (product_valid) hash_busy_q <= 1'b0;
      if (text_take) step_last_q <= text.last;
      if (state_q != Idle) begin
        lost_q <= lost;
        held_q <= held_q + 2'(in_valid_i && in_ready_o) - 2'(text_take && text_valid);
      end
      if (out_valid_o && rsp_row_i.last) open_q <= 1'b0;
      unique case (state_q)
        Zero: if (single_done) state_q <= (gcm && job_q.final_job) ? Mask : Blocks;
        Mask: if (single_done) state_q <= Blocks;
        Blocks:
        if (blocks_end) begin
          state_q <= (gcm && (job_q.final_job || job_q.phase == PhaseIv)) ? Lengths : Finish;
        end
        Lengths: if (product_valid) state_q <= Finish;
        Finish:
        if (!open_q) begin
          state_q <= Idle;
          lost_q  <= 1'b0;
        end
        default:
        if (take) begin
          job_q <= '{
              auth: job_i.auth,
              phase: job_i.phase,
              dir: job_i.cfg.dir,
              final_job: job_i.final_job,
              empty: job_i.length == '0,
              key_slot: job_i.cfg.key_slot,
              tag_bytes: job_i.tag_bytes
          };
          open_q <= moves_data;
          lost_q <= key_changed_i && key_slot_i == job_i.cfg.key_slot;
          if (job_i.auth == AuthGcm) state_q <= Zero;
          else if (job_i.final_job) state_q <= (job_i.auth == AuthCmac) ? Zero : Mask;
          else state_q <= Blocks;
        end
      endcase
    end
  end

  // E(0), and the sum of all terms of the tag: with the expected tag it must be 0.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      zero_q <= '0;
      sum_q  <= '0;
    end else if (clear_i || done_o) begin
      zero_q <= '0;
      sum_q  <= '0;
    end else begin
      if (state_q == Zero && single_done) zero_q <= rsp_row_i.data;
      if (take) sum_q <= (job_i.final_job && job_i.cfg.dir == Decrypt) ? job_i.tag : '0;
      if (state_q == Mask && single_done) sum_q <= sum_q ^ rsp_row_i.data;
      if (blocks_end && closes) sum_q <= sum_q ^ (nothing ? state_i.hash : result);
      if (state_q == Lengths && product_valid && job_q.final_job) sum_q <= sum_q ^ product;
    end
  end

  always_comb begin
    state_write_o = '0;
    state_o.iv = product;
    state_o.hash = '0;
    state_o.aad_bytes = aad_before;
    state_o.data_bytes = data_before;
    if (take) begin
      state_write_o.hash       = job_i.cfg.init;
      state_write_o.aad_bytes  = 1'b1;
      state_write_o.data_bytes = 1'b1;
      if (job_i.phase == PhaseAad || job_i.auth == AuthCmac) begin
        state_o.aad_bytes = aad_before + auth_bytes_t'(job_i.length);
      end else state_o.data_bytes = data_before + auth_bytes_t'(job_i.length);
    end
    if (step_done) begin
      state_write_o.hash = 1'b1;
      if (!(closes && step_last_q)) state_o.hash = result;
    end
    if (blocks_end && closes) state_write_o.hash = 1'b1;
    if (state_q == Lengths && product_valid) begin
      state_write_o.hash = 1'b1;
      if (!job_q.final_job) begin  // an IV's length is not a length of data
        state_write_o.iv = 1'b1;
        state_write_o.data_bytes = 1'b1;
        state_o.data_bytes = '0;
      end
    end
    if (state_q == Finish && lost) state_write_o.hash = 1'b1;
  end

  // End of the job.
  logic auth_done, wrong;

  assign auth_done = state_q == Finish && !open_q;
  assign done_o = auth_done || (plain && out_valid_o && rsp_row_i.last);
  assign bad_key_o = (auth_done && lost) || (plain && rsp_valid_i && rsp_lost_i);
  assign single_taken_o = plain && single_taken;
  assign single_done_o = plain && single_done;
  assign wrong = (sum_q & auth_mask(job_q.tag_bytes)) != '0;
  assign bad_tag_o = auth_done && !lost && job_q.final_job && job_q.dir == Decrypt && wrong;
  assign tag_valid_o = auth_done && !lost && job_q.final_job && job_q.dir == Encrypt;
  assign tag_o = tag_valid_o ? sum_q : '0;

  `MAE_ASSERT(OneJob, !job_valid_i || state_q == Idle)
  `MAE_ASSERT(TextFits, !text_push || unused_text_ready)
  `MAE_ASSERT(NothingLeft, state_q != Idle || (zero_q == '0 && sum_q == '0 && !text_valid))

endmodule
