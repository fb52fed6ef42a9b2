// SPDX-License-Identifier: Apache-2.0
//
// mae_memory_block_mover: moves the blocks of a memory job from the memory to the peripheral and
// back, in order.
//
// At most Depth blocks are between their read and their write, so the peripheral is never stalled.
// The result of a block with a mark is dropped and the mark cleared, because that block was
// computed out of order before. If the tag of an authenticated decryption is wrong, zeros are
// written over its destination before the job ends. With key_each, the key of block k + 1 is loaded
// into the other slot while block k is in the cipher, and the next key is read; each block is then
// a part, a job of its own that continues the chain value.
// Latency: 1 clock from start to the first read; 3 from the last result to done; one clock a block
// more for a wrong tag.
// Throughput: that of the peripheral, if two of three clocks of the memory are free: a block takes
// one read and one write and, with key_each, one or two more reads.
// Reset and clear: clear_i drops the job. No data remain in the clock after it, or after done.
// Parameters: Legal: Depth 2..15.
// Security: constant-time; no masking.
// Source: Kale et al., section 3.1 (its aes_wrapper); Fernando et al. (pull model).

`include "mae_assert.svh"

module mae_memory_block_mover
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_auth_pkg::*;
  import mae_memory_job_pkg::*;
  import mae_soc_pkg::*;
#(
    parameter int unsigned Depth = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  memory_job_t      job_i,
    input  memory_place_t    place_i,    // of job_i
    input  memory_out_t      core_i,
    output memory_in_t       core_o,     // except the fields `single*`, which are 0
    output memory_progress_t progress_o,

    input logic freeze_i,      // read no further block
    input logic marks_ready_i,

    output memory_ask_t ask_o,
    input  logic        ask_taken_i,
    input  block_t      data_i,
    input  logic        mark_i,
    input  block_t      kept_i        // the job's last block, if it has a mark
);
  `MAE_PARAM(DepthLegal, Depth >= 2 && Depth <= 15)

  localparam int unsigned CountWidth = $clog2(Depth + 1);

  typedef enum logic [1:0] {
    Idle,
    Run,
    Scrub
  } state_e;

  typedef enum logic [1:0] {
    NoData,
    Block,
    KeyFirst,
    KeySecond
  } arrival_e;

  // A block that was read, and the use of its result.
  typedef struct packed {
    logic      mark;
    auth_row_t row;
  } read_row_t;

  state_e state_q;
  arrival_e arrival_q;  // the memory's answer in this clock
  memory_progress_t progress_q;
  logic ended_q, bad_tag_q;

  memory_job_t job;
  row_t front, done, blocks;
  logic start, finish, read_taken, write_taken;
  logic over;  // all results of the peripheral have arrived

  assign job = progress_q.job;
  assign front = progress_q.front;
  assign done = progress_q.done;
  assign blocks = progress_q.blocks;
  assign progress_o = progress_q;
  assign start = core_i.start && state_q == Idle;

  // Keys, with key_each: read, then loaded into the slot that the block in the cipher does not use.
  row_t parts_q, parts_ended_q, keys_q;  // started, ended; loaded keys
  logic key_full_q, key_valid, key_wide, key_odd, key_due, part_taken;
  key_t key_q;

  assign key_wide = job.key_len != Aes128;
  assign key_odd = key_wide && progress_q.key_rows[0];  // the next row is the second one of a key
  // A key is read ahead; its slot is free when the part before the last one has ended.
  assign key_due = state_q == Run && job.key_each && keys_q != blocks && !key_full_q &&
      !(arrival_q inside {KeyFirst, KeySecond});
  assign key_valid = key_full_q && keys_q <= parts_ended_q + 1'b1;
  assign part_taken = core_o.part_valid && core_i.part_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      parts_q       <= '0;
      parts_ended_q <= '0;
      keys_q        <= '0;
      key_full_q    <= 1'b0;
      key_q         <= '0;
    end else if (clear_i || state_q == Idle) begin
      parts_q       <= '0;
      parts_ended_q <= '0;
      keys_q        <= '0;
      key_full_q    <= 1'b0;
      key_q         <= '0;
    end else if (job.key_each) begin
      if (part_taken) parts_q <= parts_q + 1'b1;
      if (core_i.ended) parts_ended_q <= parts_ended_q + 1'b1;
      if (arrival_q == KeyFirst) key_q <= {data_i, 128'h0};
      if (arrival_q == KeySecond) key_q[127:0] <= data_i;
      if (arrival_q == KeySecond || (arrival_q == KeyFirst && !key_wide)) key_full_q <= 1'b1;
      if (key_valid && core_i.key_ready) begin
        key_full_q <= 1'b0;
        key_q      <= '0;
        keys_q     <= keys_q + 1'b1;
      end
    end
  end

  // Blocks in flight, in and out; at most Depth, so both FIFOs always have space.
  read_row_t read_row, in_row;
  auth_row_t out_row;
  logic last_q, in_valid, in_taken, out_valid, drop;
  row_t fed_q;
  logic [2:0] unused_ready;
  logic unused_drop_valid;
  logic [CountWidth-1:0] unused_count[3];

  assign read_row = '{
          mark: mark_i,
          row: '{
              last: last_q || job.key_each,
              bytes: last_q ? last_bytes(job.length) : 5'd16,
              data: data_i
          }
      };

  mae_fifo #(
      .Width($bits(read_row_t)),
      .Depth(Depth)
  ) u_in (
      .clk_i,
      .rst_ni,
      .clear_i    (clear_i || finish),
      .in_valid_i (arrival_q == Block),
      .in_ready_o (unused_ready[0]),
      .in_data_i  (read_row),
      .out_valid_o(in_valid),
      .out_ready_i(in_taken),
      .out_data_o (in_row),
      .count_o    (unused_count[0])
  );

  mae_fifo #(
      .Width(1),
      .Depth(Depth)
  ) u_drop (
      .clk_i,
      .rst_ni,
      .clear_i    (clear_i || finish),
      .in_valid_i (in_taken && job.moves),
      .in_ready_o (unused_ready[1]),
      .in_data_i  (in_row.mark),
      .out_valid_o(unused_drop_valid),
      .out_ready_i(write_taken && state_q == Run),
      .out_data_o (drop),
      .count_o    (unused_count[1])
  );

  mae_fifo #(
      .Width($bits(auth_row_t)),
      .Depth(Depth)
  ) u_out (
      .clk_i,
      .rst_ni,
      .clear_i    (clear_i || finish),
      .in_valid_i (core_i.out_valid && state_q == Run && job.moves),
      .in_ready_o (unused_ready[2]),
      .in_data_i  (core_i.out_row),
      .out_valid_o(out_valid),
      .out_ready_i(write_taken && state_q == Run),
      .out_data_o (out_row),
      .count_o    (unused_count[2])
  );

  // To the peripheral.
  always_comb begin
    core_o = '0;
    core_o.done = finish;
    core_o.in_valid = in_valid && (!job.key_each || fed_q != parts_q);
    core_o.in_row = in_row.row;
    // The engine computes its chain value after the job from this block.
    if (in_row.mark && in_row.row.last && mode_looks_back(job.cfg.mode)) begin
      core_o.in_row.data = kept_i;
    end
    core_o.part_valid = state_q == Run && job.key_each && parts_q != keys_q &&
        parts_q == parts_ended_q;
    core_o.part = job.cfg;
    core_o.part.init = job.cfg.init && parts_q == '0;
    core_o.part.key_slot = parts_q[0] ? job.cfg.tweak_slot : job.cfg.key_slot;
    core_o.want_valid = job.key_each && keys_q != '0;
    core_o.want_slot = keys_q[0] ? job.cfg.key_slot : job.cfg.tweak_slot;
    core_o.key_valid = key_valid;
    core_o.key = '{
        slot: keys_q[0] ? job.cfg.tweak_slot : job.cfg.key_slot,
        erase: 1'b0,
        len: job.key_len,
        key: key_q
    };
  end

  assign in_taken = core_o.in_valid && core_i.in_ready;

  // To the memory: results first, then keys, then blocks.
  logic write_due, read_due;

  assign write_due = (state_q == Run && out_valid) || (state_q == Scrub && done != blocks);
  assign read_due = state_q == Run && front != blocks && front - done < row_t'(Depth) &&
      !freeze_i && marks_ready_i;
  assign read_taken = ask_taken_i && !write_due && !key_due;
  assign write_taken = ask_taken_i && write_due;

  always_comb begin
    ask_o = '0;
    ask_o.valid = write_due || key_due || read_due;
    ask_o.row = job.source[31:4] + front;
    ask_o.mark_row = ask_o.row;
    if (write_due) begin
      ask_o.write = 1'b1;
      ask_o.row = job.destination[31:4] + done;
      ask_o.mark_row = job.source[31:4] + done;
      if (state_q == Scrub) begin
        ask_o.strb = (done + 1'b1 == blocks) ? strb_of(last_bytes(job.length)) : '1;
      end else if (drop) ask_o.mark_write = 1'b1;
      else begin
        ask_o.strb = strb_of(out_row.bytes);
        ask_o.data = out_row.data;
      end
    end else if (key_due) ask_o.row = job.keys[31:4] + progress_q.key_rows;
  end

  // The job.
  assign over = ended_q && (!job.key_each || parts_ended_q == blocks);
  assign finish = over && done == blocks &&
      (state_q == Scrub || (state_q == Run && !(bad_tag_q && job.moves)));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      arrival_q  <= NoData;
      progress_q <= '0;
      ended_q    <= 1'b0;
      bad_tag_q  <= 1'b0;
      last_q     <= 1'b0;
      fed_q      <= '0;
    end else if (clear_i || finish) begin
      state_q    <= Idle;
      arrival_q  <= NoData;
      progress_q <= '0;
      ended_q    <= 1'b0;
      bad_tag_q  <= 1'b0;
      fed_q      <= '0;
    end else if (start) begin
      state_q <= Run;
      progress_q <= '{
          open: 1'b1,
          job: job_i,
          same: place_i.same,
          apart: place_i.apart,
          blocks: row_t'(blocks_of(job_i.length)),
          front: '0,
          done: '0,
          key_rows: '0
      };
    end else begin
      arrival_q <= NoData;
      if (ask_taken_i && !write_due) begin
        if (key_due) arrival_q <= key_odd ? KeySecond : KeyFirst;
        else arrival_q <= Block;
      end
      if (ask_taken_i && !write_due && key_due) begin
        progress_q.key_rows <= progress_q.key_rows + 1'b1;
      end
      if (read_taken) begin
        progress_q.front <= front + 1'b1;
        last_q           <= front + 1'b1 == blocks;
      end
      if (in_taken) fed_q <= fed_q + 1'b1;
      // A block without a result is complete when the peripheral has accepted it.
      if (job.moves ? write_taken : in_taken) progress_q.done <= done + 1'b1;
      if (core_i.ended) begin
        ended_q   <= 1'b1;
        bad_tag_q <= core_i.bad_tag;
      end
      if (state_q == Run && over && done == blocks) begin
        state_q         <= Scrub;
        progress_q.done <= '0;
      end
    end
  end

  logic unused;
  assign unused = ^{core_i.single_taken, core_i.single_done, core_i.single, core_i.clear,
                    place_i.error, job.plain, job.verdict, out_row.last};

  `MAE_ASSERT(InFits, arrival_q != Block || unused_ready[0])
  `MAE_ASSERT(OutFits, !(core_i.out_valid && state_q == Run && job.moves) || unused_ready[2])
  `MAE_ASSERT(DropKnown, !(out_valid && state_q == Run) || unused_drop_valid)
  `MAE_ASSERT(Within, front <= blocks && done <= front)

endmodule
