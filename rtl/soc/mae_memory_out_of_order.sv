// SPDX-License-Identifier: Apache-2.0
//
// mae_memory_out_of_order: computes the block of a memory job that a held CPU access needs, out of
// order.
//
// It reads the block (and the data for its chain value) and sends it to the cipher beside the job's
// own blocks. For a read, it gives the result to the CPU (peek_o) and leaves the memory unchanged;
// the job computes the block again in order. For a write, it stores the result in the destination
// and sets the block's mark. A block that has a mark is in memory already and is not computed.
// Meanwhile no further block is read in order (freeze_o). In chained decryption it keeps the job's
// last block, from which the next job of the message continues, because the CPU may have
// overwritten it before it is read in order.
//
//  mode          chain value of block k
//  ECB           none
//  CBC, CFB dec. block k - 1 of the source: not read in order yet, so still there
//  CTR           iv + k
//  XTS           E(iv) under the tweak's key, times alpha^k: 128, 8, then 1 block a clock
//
// Latency: from go_i to peek_valid_o or pass_o, with C the clocks of a single block in
// mae_aes_core_mux (at most 2 * Nr + 6, because a block of the job may be in the cipher): C + 4, in
// chained decryption C + 6, for a write 1 more, and as much again for the pair; XTS: C more and k /
// 128 + 22; with a mark: 3. The memory must be free: a held CPU does not use it.
// Throughput: one block at a time.
// Reset and clear: both erase all data by the next clock.
// Security: constant-time in data and keys; no masking.

`include "mae_assert.svh"

module mae_memory_out_of_order
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_auth_pkg::*;
  import mae_memory_job_pkg::*;
  import mae_soc_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input memory_progress_t progress_i,
    input logic             go_i,        // for a held CPU access
    input logic             write_i,
    input row_t             target_i,
    input logic             pair_i,

    output logic   freeze_o,
    output logic   pass_o,        // the access may continue, until passed_i
    input  logic   passed_i,
    // peek_o is valid in the next clock, for block peek_index_o of the destination
    output logic   peek_valid_o,
    output row_t   peek_index_o,
    output block_t peek_o,
    output block_t kept_o,        // the last block, if it was computed out of order

    output memory_ask_t ask_o,
    input  logic        ask_taken_i,
    input  block_t      data_i,
    input  logic        mark_i,

    output logic           single_valid_o,
    output memory_single_t single_o,
    input  logic           single_taken_i,
    input  logic           single_done_i,
    input  block_t         single_i
);
  typedef enum logic [3:0] {
    Idle,
    Read,       // reads the block
    Got,
    ReadBack,   // reads the block before it
    GotBack,
    Tweak,
    TweakWait,
    Steps,      // multiplies the tweak by powers of alpha
    Give,
    Wait,
    Over,       // reads the rest of the row of a partial last block in the destination
    GotOver,
    Store,
    Pass        // the CPU continues, unless a job that started meanwhile holds it
  } state_e;

  state_e state_q;
  row_t target_q, steps_q;
  logic write_q, pair_q, peek_valid_q;
  block_t data_q, chain_q;  // data_q: the block, then the result
  block_t kept_q;  // the job's last block before it was overwritten

  mode_cfg_t cfg;
  block_t mask;
  logic looks_back, last, partial;

  assign cfg = progress_i.job.cfg;
  assign looks_back = mode_looks_back(cfg.mode);
  assign last = target_q + 1'b1 == progress_i.blocks;
  assign partial = last && progress_i.job.length[3:0] != '0;
  assign mask = mode_mask(cfg.mode, cfg.dir, chain_q, data_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Idle;
      target_q     <= '0;
      steps_q      <= '0;
      write_q      <= 1'b0;
      pair_q       <= 1'b0;
      peek_valid_q <= 1'b0;
      data_q       <= '0;
      chain_q      <= '0;
      kept_q       <= '0;
    end else if (clear_i) begin
      state_q      <= Idle;
      peek_valid_q <= 1'b0;
      data_q       <= '0;
      chain_q      <= '0;
      kept_q       <= '0;
    end else begin
      if (!progress_i.open) begin
        peek_valid_q <= 1'b0;
        data_q       <= '0;
        chain_q      <= '0;
        kept_q       <= '0;
      end
      unique case (state_q)
        Idle:
        if (go_i) begin
          state_q      <= Read;
          target_q     <= target_i;
          write_q      <= write_i;
          pair_q       <= pair_i;
          peek_valid_q <= 1'b0;
        end
        Read:     if (ask_taken_i) state_q <= Got;
        Got: begin
          data_q  <= data_i;
          chain_q <= cfg.iv + 128'(target_q);  // for CTR
          steps_q <= target_q;
          if (last && looks_back && !mark_i) kept_q <= data_i;
          if (mark_i) begin
            state_q  <= pair_q ? Read : Pass;
            target_q <= target_q + row_t'(pair_q);
            pair_q   <= 1'b0;
          end else if (looks_back) state_q <= ReadBack;
          else if (cfg.mode == Xts) state_q <= Tweak;
          else state_q <= Give;
        end
        ReadBack: if (ask_taken_i) state_q <= GotBack;
        GotBack: begin
          chain_q <= data_i;
          state_q <= Give;
        end
        Tweak:    if (single_taken_i) state_q <= TweakWait;
        TweakWait:
        if (single_done_i) begin
          chain_q <= single_i;
          state_q <= Steps;
        end
        Steps: begin
          if (steps_q >= row_t'(128)) begin
            chain_q <= xts_128_on(chain_q);
            steps_q <= steps_q - row_t'(128);
          end else if (steps_q >= row_t'(8)) begin
            chain_q <= xts_times_alpha(chain_q, 8);
            steps_q <= steps_q - row_t'(8);
          end else if (steps_q != '0) begin
            chain_q <= xts_times_alpha(chain_q, 1);
            steps_q <= steps_q - row_t'(1);
          end else state_q <= Give;
        end
        Give:     if (single_taken_i) state_q <= Wait;
        Wait:
        if (single_done_i) begin
          data_q       <= single_i ^ mask;
          peek_valid_q <= !write_q && !partial;
          state_q      <= write_q ? Store : partial ? Over : Idle;
        end
        Over:     if (ask_taken_i) state_q <= GotOver;
        GotOver: begin
          data_q <= (data_q & auth_mask(
              last_bytes(progress_i.job.length)
          )) | (data_i & ~auth_mask(
              last_bytes(progress_i.job.length)
          ));
          peek_valid_q <= 1'b1;
          state_q <= Idle;
        end
        Store:
        if (ask_taken_i) begin
          state_q  <= pair_q ? Read : Pass;
          target_q <= target_q + row_t'(pair_q);
          pair_q   <= 1'b0;
        end
        default:  if (passed_i || !go_i) state_q <= Idle;
      endcase
    end
  end

  assign freeze_o = state_q != Idle || go_i;
  assign pass_o = state_q == Pass;
  assign peek_valid_o = peek_valid_q;
  assign peek_index_o = target_q;
  assign peek_o = data_q;
  assign kept_o = kept_q;

  always_comb begin
    ask_o = '0;
    ask_o.valid = state_q inside {Read, ReadBack, Over, Store};
    ask_o.mark_row = progress_i.job.source[31:4] + target_q;
    ask_o.row = ask_o.mark_row - row_t'(state_q == ReadBack);
    if (state_q inside {Over, Store}) ask_o.row = progress_i.job.destination[31:4] + target_q;
    if (state_q == Store) begin
      ask_o.write      = 1'b1;
      ask_o.strb       = last ? strb_of(last_bytes(progress_i.job.length)) : '1;
      ask_o.data       = data_q;
      ask_o.mark_write = 1'b1;
      ask_o.mark       = 1'b1;
    end
  end

  assign single_valid_o = state_q inside {Tweak, Give};

  always_comb begin
    single_o.slot = cfg.key_slot;
    single_o.dir  = mode_cipher_dir(cfg.mode, cfg.dir);
    single_o.data = mode_pre(cfg.mode, cfg.dir, chain_q, data_q);
    if (state_q == Tweak) single_o = '{slot: cfg.tweak_slot, dir: Encrypt, data: cfg.iv};
  end

  logic unused;
  assign unused = ^{progress_i, cfg.init, cfg.serial};

  `MAE_ASSERT(OpenJob, state_q == Idle || progress_i.open)
  `MAE_ASSERT(NotFirst, state_q != Read || target_q != '0)

endmodule
