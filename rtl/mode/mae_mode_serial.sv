// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_serial: runs all modes of operation for the messages of one cipher lane, one block of a
// message at a time.
//
// Each slot (a context of this lane) has at most one block in the cipher. Its next block is
// requested in the clock of the result: the path rsp_i, mask, next chain value, pre, req_o is
// combinational, so a message takes one cipher latency a block, and as many messages as that
// latency has clocks fill the lane. Slots with a block and a key are served round-robin. A row
// keeps its position from input to output: blocks are read from position p of the data memory and
// written to position p of the result memory, SlotRows positions a slot.
//
// XTS with ciphertext stealing (IEEE 1619 §5.3.2, SP 800-38E), in the last job of a message,
// configured with `serial`: the last full block (position m - 1) is processed first, under tweak m
// - 1 (decryption: m). The head of its result is the partial block m; the tail fills block m up,
// which is then processed under the other tweak and gives position m - 1. To detect the end in
// time, such a job processes a row only when the next row is present, or the row is the last one.
// The first block of an XTS message is its tweak, E(K2, iv), also for contexts that then use the
// parallel path (`parallel` in the job).
// Latency: 1 clock from row to request, 1 from the last result to the output row.
// Throughput: one block a clock in all slots together; one block a cipher latency in a slot.
// Reset and clear: the memories have no reset; wipe_i erases their entries one by one.
// Parameters: Lane is the number of this lane. Legal: Slots >= 1; Lanes 1..16; Lane < Lanes;
// SlotRows a power of 2, >= 2.
// Security: constant-time in data and keys.

`include "mae_assert.svh"

module mae_mode_serial
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Lane = 0,
    parameter int unsigned Slots = 16,
    parameter int unsigned SlotRows = 4,
    localparam int unsigned SlotWidth = (Slots > 1) ? $clog2(Slots) : 1,
    localparam int unsigned RowWidth = $clog2(SlotRows),
    localparam int unsigned RowsWidth = $clog2(Slots * SlotRows),
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input logic                 clk_i,
    input logic                 rst_ni,
    input logic                 wipe_i,     // erases the memories, entry by entry
    input logic [RowsWidth-1:0] wipe_row_i,

    input logic                      cfg_valid_i,
    input logic      [SlotWidth-1:0] cfg_slot_i,
    input mode_cfg_t                 cfg_i,

    output logic   [     Slots-1:0] room_o,       // a row and two more have space
    input  logic                    row_valid_i,
    output logic                    row_ready_o,
    input  logic   [ SlotWidth-1:0] row_slot_i,
    input  block_t [     Lanes-1:0] row_data_i,
    input  logic   [BytesWidth-1:0] row_bytes_i,
    input  logic                    row_last_i,

    output logic                    out_valid_o,
    input  logic                    out_ready_i,
    output logic   [ SlotWidth-1:0] out_slot_o,
    output block_t [     Lanes-1:0] out_data_o,
    output logic   [BytesWidth-1:0] out_bytes_o,
    output logic                    out_last_o,

    // chain values of the slot with a result and of the requesting slot
    output logic   [SlotWidth-1:0] answer_slot_o,
    output logic                   answer_valid_o,
    output block_t                 answer_chain_o,
    input  block_t                 answer_chain_i,
    output logic   [SlotWidth-1:0] ask_slot_o,
    input  block_t                 ask_chain_i,

    input  key_bank_t [MaxKeyBanks-1:0] banks_i,
    input  logic      [      Slots-1:0] key_ok_i,     // the slot's key is in a bank, one clock late
    output logic      [      Slots-1:0] tweak_o,      // the slot's tweak must still be computed
    output logic                        tweak_done_o, // the tweak of answer_slot_o is computed

    output logic        req_valid_o,
    input  logic        req_ready_i,
    output cipher_req_t req_o,
    input  logic        rsp_valid_i,
    input  cipher_rsp_t rsp_i
);
  `MAE_PARAM(SlotRowsLegal, SlotRows >= 2 && 2 ** RowWidth == SlotRows)
  `MAE_PARAM(LanesLegal, Lanes >= 1 && Lanes <= 16)
  `MAE_PARAM(SlotsLegal, Slots >= 1)

  localparam int unsigned BlockWidth = (Lanes > 1) ? $clog2(Lanes) : 1;
  localparam int unsigned Rows = Slots * SlotRows;
  localparam int unsigned RoomRows = (SlotRows > 4) ? SlotRows - 2 : 2;

  typedef logic [SlotWidth-1:0] slot_t;
  typedef logic [BlockWidth-1:0] index_t;
  typedef logic [RowWidth:0] count_t;  // a row's number modulo 2 * SlotRows

  typedef struct packed {
    mode_e     mode;
    dir_e      dir;
    logic      steal;
    key_slot_t key_slot;
    key_slot_t tweak_slot;
  } job_t;

  typedef struct packed {
    logic                  last;
    logic [BytesWidth-1:0] bytes;
  } meta_t;

  // Position of a block in its slot.
  typedef struct packed {
    count_t row;
    index_t block;
  } place_t;

  typedef logic [RowsWidth-1:0] row_t;

  function automatic row_t row_of(input slot_t slot, input count_t row);
    return row_t'(32'(slot) * SlotRows + 32'(row) % SlotRows);
  endfunction

  function automatic index_t last_block(input logic [BytesWidth-1:0] bytes);
    return index_t'((32'(bytes) - 1) / 16);
  endfunction

  function automatic place_t after(input place_t place, input logic [BytesWidth-1:0] bytes);
    place_t next;
    next = place;
    if (place.block == last_block(bytes)) begin
      next.row   = place.row + count_t'(1);
      next.block = '0;
    end else next.block = place.block + index_t'(1);
    return next;
  endfunction

  // The block after this one is the partial last block. `next` belongs to the next row.
  function automatic logic ends_partial(input index_t block, input meta_t meta, input meta_t next);
    index_t last;
    last = last_block(meta.bytes);
    if (block == last) return !meta.last && next.last && 32'(next.bytes) < 16;
    return meta.last && meta.bytes[3:0] != '0 && block + index_t'(1) == last;
  endfunction

  function automatic logic [Slots-1:0] one_hot(input slot_t slot);
    return Slots'(1) << slot;
  endfunction

  job_t job_q[Slots];
  count_t write_q[Slots];  // rows accepted
  place_t place_q[Slots];  // the current block; place.row = rows done
  count_t read_q[Slots];  // rows output
  meta_t meta_q[Rows];
  block_t [Lanes-1:0] data_q[Rows];
  block_t [Lanes-1:0] result_q[Rows];
  block_t stolen_q[Slots];  // the first result of the two blocks of ciphertext stealing

  logic [Slots-1:0] tweak_q;
  logic [Slots-1:0] second_q;  // ciphertext stealing: block m is next
  logic [Slots-1:0] busy_q;  // a block is in the cipher
  logic [Slots-1:0] work_q;  // a row is present
  logic [Slots-1:0] ended_q;  // the job's last row was accepted
  logic [Slots-1:0] done_q;  // a row can be output
  logic [Slots-1:0] full_q;
  logic [Slots-1:0] room_q;

  logic push;
  logic pop;
  logic out_valid_q;
  slot_t out_slot_q;

  // The result: output, next chain value and next position of its slot.
  slot_t answer;
  job_t answer_job;
  place_t answer_place;
  place_t answer_next;
  place_t answer_write;
  row_t answer_row;
  row_t answer_row_2;  // the row after it
  block_t answer_data;
  block_t answer_tweak;
  block_t answer_result;
  block_t answer_chain;
  count_t answer_rows;
  meta_t answer_meta;
  logic answer_more;
  logic answer_first;  // the first of the two blocks of ciphertext stealing
  logic answer_second;
  logic answer_store;

  assign answer = slot_t'(32'(rsp_i.ctx) / Lanes);

  always_comb begin
    answer_job    = job_q[answer];
    answer_place  = place_q[answer];
    answer_row    = row_of(answer, answer_place.row);
    answer_row_2  = row_of(answer, answer_place.row + count_t'(1));
    answer_meta   = meta_q[answer_row];
    answer_data   = '0;
    answer_next   = answer_place;
    answer_write  = answer_place;
    answer_tweak  = answer_chain_i;
    answer_result = '0;
    answer_chain  = rsp_i.block;
    answer_first  = 1'b0;
    answer_second = 1'b0;
    answer_store  = 1'b0;
    if (rsp_valid_i && !tweak_q[answer]) begin
      answer_store = 1'b1;
      answer_next  = after(answer_place, answer_meta.bytes);
      answer_data  = data_q[answer_row][answer_place.block];
      if (answer_job.steal && ends_partial(
              answer_place.block, answer_meta, meta_q[answer_row_2]
          )) begin
        answer_first  = !second_q[answer];
        answer_second = second_q[answer];
        if (answer_second == (answer_job.dir == Encrypt)) begin
          answer_tweak = xts_times_alpha(answer_chain_i, 1);
        end
      end
      answer_result = rsp_i.block ^
          mode_mask(answer_job.mode, answer_job.dir, answer_tweak, answer_data);
      answer_chain =
          mode_next(answer_job.mode, answer_job.dir, answer_chain_i, answer_data, answer_result);
      if (answer_first) begin
        answer_write = answer_next;
        answer_next  = answer_place;
        answer_chain = answer_chain_i;
      end
      if (answer_second) begin
        // The row of the partial block is complete with it.
        answer_next.row   = answer_next.row + count_t'(1);
        answer_next.block = '0;
      end
    end
    answer_rows = write_q[answer] - answer_next.row;
    answer_more = (answer_job.steal && !ended_q[answer]) ?
        answer_rows > count_t'(1) : answer_rows != '0;
  end

  assign answer_slot_o  = answer;
  assign answer_valid_o = rsp_valid_i;
  assign answer_chain_o = answer_chain;
  assign tweak_o        = tweak_q;
  assign tweak_done_o   = rsp_valid_i && tweak_q[answer];

  // The request: the next slot, in round-robin order, of those that have a block.
  logic      [Slots-1:0] answer_ready;  // the slot with a result has another block
  logic      [Slots-1:0] ready;
  logic      [Slots-1:0] ask_grant;
  slot_t                 ask;
  logic                  ask_valid;
  logic                  ask_taken;
  logic                  ask_now;  // the slot with a result makes the request
  logic                  ask_tweak;
  logic                  ask_second;
  job_t                  ask_job;
  place_t                ask_place;
  place_t                ask_read;
  meta_t                 ask_meta;
  block_t                ask_chain;
  block_t                ask_data;
  logic                  ask_steals;
  bank_hit_t             ask_bank;
  dir_e                  ask_dir;

  assign answer_ready = (rsp_valid_i && answer_more) ? one_hot(answer) : '0;
  assign ready = ((~busy_q & (tweak_q | work_q)) | answer_ready) & key_ok_i;

  mae_rr_arb #(
      .N(Slots)
  ) u_ask (
      .clk_i,
      .rst_ni,
      .req_i(ready),
      .advance_i(ask_taken),
      .grant_o(ask_grant),
      .index_o(ask),
      .valid_o(ask_valid)
  );

  assign ask_slot_o = ask;

  always_comb begin
    ask_now    = rsp_valid_i && ask == answer;
    ask_job    = job_q[ask];
    ask_tweak  = tweak_q[ask] && !ask_now;
    ask_second = ask_now ? answer_first : second_q[ask];
    ask_place  = ask_now ? answer_next : place_q[ask];
    ask_read   = ask_place;
    ask_meta   = '0;
    ask_steals = 1'b0;
    ask_chain  = ask_now ? answer_chain : ask_chain_i;
    ask_data   = '0;
    ask_bank   = '0;
    ask_dir    = Encrypt;
    req_o      = '0;
    if (ask_valid) begin
      ask_dir  = ask_tweak ? Encrypt : mode_cipher_dir(ask_job.mode, ask_job.dir);
      ask_bank = bank_lookup(banks_i, ask_tweak ? ask_job.tweak_slot : ask_job.key_slot, ask_dir);
      if (!ask_tweak) begin
        ask_meta = meta_q[row_of(ask, ask_place.row)];
        ask_steals = ask_job.steal &&
            ends_partial(ask_place.block, ask_meta, meta_q[row_of(ask, ask_place.row+count_t'(1))]);
        if (ask_second) ask_read = after(ask_place, ask_meta.bytes);
        ask_data = data_q[row_of(ask, ask_read.row)][ask_read.block];
        if (ask_steals) begin
          if (ask_second == (ask_job.dir == Encrypt)) ask_chain = xts_times_alpha(ask_chain, 1);
          if (ask_second) begin
            ask_meta = meta_q[row_of(ask, ask_read.row)];
            ask_data = (first_bytes(ask_meta.bytes[3:0]) & ask_data) |
                (~first_bytes(ask_meta.bytes[3:0]) & (ask_now ? answer_result : stolen_q[ask]));
          end
        end
      end
      req_o.ctx = ctx_t'(32'(ask) * Lanes + Lane);
      req_o.bank = ask_bank.bank;
      req_o.dir = ask_dir;
      req_o.block = ask_tweak ? ask_chain :
          mode_pre(ask_job.mode, ask_job.dir, ask_chain, ask_data);
    end
  end

  assign req_valid_o = ask_valid && ask_bank.hit;
  assign ask_taken   = req_valid_o && req_ready_i;

  // Input rows.
  count_t push_count;
  count_t push_rows;
  count_t pop_count;

  assign row_ready_o = !full_q[row_slot_i];
  assign room_o      = room_q;
  assign push        = row_valid_i && row_ready_o;

  always_comb begin
    push_rows  = write_q[row_slot_i] + count_t'(1);
    push_count = push_rows - read_q[row_slot_i];
    pop_count  = write_q[out_slot_q] - read_q[out_slot_q] - count_t'(1);
    if (push && pop && row_slot_i == out_slot_q) begin
      push_count = push_count - count_t'(1);
      pop_count  = push_count;
    end
    push_rows = push_rows - ((rsp_valid_i && answer == row_slot_i) ? answer_next.row :
                             place_q[row_slot_i].row);
  end

  // Output rows.
  logic [Slots-1:0] out_grant;
  slot_t out_pick;
  logic out_pick_valid;
  logic out_load;
  row_t out_row;

  assign out_load = !out_valid_q || out_ready_i;
  assign pop = out_valid_q && out_ready_i;
  assign out_row = row_of(out_slot_q, read_q[out_slot_q]);
  assign out_valid_o = out_valid_q;
  assign out_slot_o = out_slot_q;
  assign out_data_o = result_q[out_row];
  assign out_bytes_o = meta_q[out_row].bytes;
  assign out_last_o = meta_q[out_row].last;

  mae_rr_arb #(
      .N(Slots)
  ) u_out (
      .clk_i,
      .rst_ni,
      .req_i(done_q & ~(out_valid_q ? one_hot(out_slot_q) : '0)),
      .advance_i(out_load),
      .grant_o(out_grant),
      .index_o(out_pick),
      .valid_o(out_pick_valid)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_q <= 1'b0;
      out_slot_q  <= '0;
    end else if (wipe_i) begin
      out_valid_q <= 1'b0;
      out_slot_q  <= '0;
    end else if (out_load) begin
      out_valid_q <= out_pick_valid;
      if (out_pick_valid) out_slot_q <= out_pick;
    end
  end

  // The memories.
  always_ff @(posedge clk_i) begin
    if (wipe_i) begin
      data_q[wipe_row_i] <= '0;
      meta_q[wipe_row_i] <= '0;
    end else if (push) begin
      data_q[row_of(row_slot_i, write_q[row_slot_i])] <= row_data_i;
      meta_q[row_of(row_slot_i, write_q[row_slot_i])] <= '{last: row_last_i, bytes: row_bytes_i};
    end
  end

  always_ff @(posedge clk_i) begin
    if (wipe_i) result_q[wipe_row_i] <= '0;
    else if (answer_store) begin
      result_q[row_of(answer, answer_write.row)][answer_write.block] <= answer_result;
    end
  end

  always_ff @(posedge clk_i) begin
    if (wipe_i) stolen_q[slot_t'(wipe_row_i)] <= '0;
    else if (answer_first) stolen_q[answer] <= answer_result;
  end

  logic unused;
  assign unused = ^{cfg_i.iv, answer_job, ask_grant, out_grant};

  // The state of the slots.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      job_q    <= '{default: job_t'('0)};
      write_q  <= '{default: '0};
      place_q  <= '{default: '0};
      read_q   <= '{default: '0};
      tweak_q  <= '0;
      second_q <= '0;
      busy_q   <= '0;
      work_q   <= '0;
      ended_q  <= '0;
      done_q   <= '0;
      full_q   <= '0;
      room_q   <= '1;
    end else if (wipe_i) begin
      job_q    <= '{default: job_t'('0)};
      write_q  <= '{default: '0};
      place_q  <= '{default: '0};
      read_q   <= '{default: '0};
      tweak_q  <= '0;
      second_q <= '0;
      busy_q   <= '0;
      work_q   <= '0;
      ended_q  <= '0;
      done_q   <= '0;
      full_q   <= '0;
      room_q   <= '1;
    end else begin
      if (cfg_valid_i) begin
        job_q[cfg_slot_i] <= '{
            mode: cfg_i.mode,
            dir: cfg_i.dir,
            steal: cfg_i.mode == Xts && cfg_i.serial,
            key_slot: cfg_i.key_slot,
            tweak_slot: cfg_i.tweak_slot
        };
        tweak_q[cfg_slot_i] <= cfg_i.mode == Xts && cfg_i.init;
        ended_q[cfg_slot_i] <= 1'b0;
      end
      if (pop) begin
        read_q[out_slot_q] <= read_q[out_slot_q] + count_t'(1);
        done_q[out_slot_q] <= place_q[out_slot_q].row != read_q[out_slot_q] + count_t'(1);
        full_q[out_slot_q] <= 1'b0;
        room_q[out_slot_q] <= pop_count < count_t'(RoomRows);
      end
      if (rsp_valid_i) begin
        busy_q[answer]   <= 1'b0;
        tweak_q[answer]  <= 1'b0;
        second_q[answer] <= answer_first;
        place_q[answer]  <= answer_next;
        work_q[answer]   <= answer_more;
        if (answer_next.row != answer_place.row) done_q[answer] <= 1'b1;
      end
      if (push) begin
        write_q[row_slot_i] <= write_q[row_slot_i] + count_t'(1);
        full_q[row_slot_i]  <= push_count == count_t'(SlotRows);
        room_q[row_slot_i]  <= push_count < count_t'(RoomRows);
        work_q[row_slot_i]  <= !job_q[row_slot_i].steal || row_last_i || push_rows > count_t'(1);
        if (row_last_i) ended_q[row_slot_i] <= 1'b1;
      end
      if (ask_taken) busy_q[ask] <= 1'b1;
    end
  end

  `MAE_ASSERT(AnswerAwaited, !rsp_valid_i || busy_q[answer])
  `MAE_ASSERT(AnswerOfLane, !rsp_valid_i || 32'(rsp_i.ctx) % Lanes == Lane)
  `MAE_ASSERT(JobIdle,
              !cfg_valid_i || (!busy_q[cfg_slot_i] && write_q[cfg_slot_i] == read_q[cfg_slot_i]))
  `MAE_ASSERT(RowLegal,
              !push || (row_bytes_i != '0 && (row_last_i || 32'(row_bytes_i) == 16 * Lanes)))

endmodule
