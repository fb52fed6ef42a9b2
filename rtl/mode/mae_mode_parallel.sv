// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_parallel: processes rows of Lanes blocks in the modes whose chain value does not depend
// on the cipher's result. They are ECB, CTR, XTS without ciphertext stealing, CBC and CFB
// decryption.
//
// Rows of any contexts may follow each other, also of one context: its chain value is read,
// advanced by the blocks of the row and written back in one clock. A row enters all its lanes in
// one clock, so its results come in one clock, too, in the order of the rows. The cipher cannot be
// stalled: a row is requested only when the ring of FlightRows entries has space for its result.
// The ring keeps the masks of the rows that are in the cipher, and the results of the rows behind
// it.
// Latency: 2 clocks from row to request, 1 from result to output row.
// Throughput: one row a clock if FlightRows covers the cipher's latency + 2.
// Reset and clear: the memories have no reset; wipe_i erases their entries one by one.
// Parameters: Legal: Lanes 1..16; Contexts 1..256; FlightRows a power of 2, >= 2.

`include "mae_assert.svh"

module mae_mode_parallel
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    parameter int unsigned FlightRows = 32,
    parameter int unsigned QueueRows = 8,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1),
    localparam int unsigned FlightWidth = $clog2(FlightRows)
) (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic                   wipe_i,     // erases the memories, entry by entry
    input logic [FlightWidth-1:0] wipe_row_i,

    input logic      cfg_valid_i,
    input ctx_t      cfg_ctx_i,
    input mode_cfg_t cfg_i,

    output logic                    room_o,       // two more rows may follow when it falls
    input  logic                    row_valid_i,
    output logic                    row_ready_o,
    input  ctx_t                    row_ctx_i,
    input  block_t [     Lanes-1:0] row_data_i,
    input  logic   [BytesWidth-1:0] row_bytes_i,
    input  logic                    row_last_i,

    output logic                    out_valid_o,
    input  logic                    out_ready_i,
    output ctx_t                    out_ctx_o,
    output block_t [     Lanes-1:0] out_data_o,
    output logic   [BytesWidth-1:0] out_bytes_o,
    output logic                    out_last_o,

    output ctx_t   chain_ctx_o,
    input  block_t chain_i,
    output logic   chain_valid_o,
    output block_t chain_o,

    input  key_bank_t [MaxKeyBanks-1:0] banks_i,
    output logic                        urgent_o,      // the next row's key is in no bank
    output key_slot_t                   urgent_slot_o,

    // a row requests all lanes of ask_lanes_o in one clock
    output logic                    ask_o,
    input  logic                    ask_taken_i,
    output logic        [Lanes-1:0] ask_lanes_o,
    output cipher_req_t [Lanes-1:0] req_o,

    input  logic               answer_i,
    output logic   [Lanes-1:0] answer_lanes_o,  // the lanes of the row whose result comes next
    input  block_t [Lanes-1:0] answer_block_i
);
  `MAE_PARAM(LanesLegal, Lanes >= 1 && Lanes <= 16)
  `MAE_PARAM(FlightRowsLegal, FlightRows >= 2 && 2 ** FlightWidth == FlightRows)

  localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1;

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [FlightWidth:0] count_t;

  typedef struct packed {
    mode_e     mode;
    dir_e      dir;
    key_slot_t key_slot;
  } job_t;

  typedef struct packed {
    logic                  last;
    logic [BytesWidth-1:0] bytes;
    ctx_t                  ctx;
  } meta_t;

  typedef struct packed {
    meta_t              meta;
    block_t [Lanes-1:0] data;
  } row_t;

  function automatic logic [Lanes-1:0] lanes_of(input logic [BytesWidth-1:0] bytes);
    logic [Lanes-1:0] lanes;
    for (int unsigned i = 0; i < Lanes; i++) lanes[i] = 32'(bytes) > 16 * i;
    return lanes;
  endfunction

  // Queue of rows.
  localparam int unsigned QueueWidth = $clog2(QueueRows + 1);

  row_t                  row;
  logic                  row_valid;
  logic                  row_taken;
  logic [QueueWidth-1:0] queued;

  mae_fifo #(
      .Width($bits(row_t)),
      .Depth(QueueRows)
  ) u_queue (
      .clk_i,
      .rst_ni,
      .clear_i(wipe_i),
      .in_valid_i(row_valid_i),
      .in_ready_o(row_ready_o),
      .in_data_i({row_last_i, row_bytes_i, row_ctx_i, row_data_i}),
      .out_valid_o(row_valid),
      .out_ready_i(row_taken),
      .out_data_o(row),
      .count_o(queued)
  );

  // room_o is seen one clock late, and three rows may be in flight.
  logic room_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) room_q <= 1'b0;
    else room_q <= 32'(queued) + 4 <= QueueRows;
  end

  assign room_o = room_q;

  // First step: the chain values for each block, the inputs of the cipher, the masks.
  job_t               job_q                                 [Contexts];
  job_t               job;
  index_t             ctx;
  block_t [Lanes-1:0] pre;
  block_t [Lanes-1:0] mask;
  block_t             chain_next;
  count_t             write_q;  // requested, or about to be
  count_t             answer_q;  // rows with results
  count_t             read_q;  // rows output
  logic               flight_room;

  assign ctx = index_t'(row.meta.ctx);
  assign chain_ctx_o = row.meta.ctx;
  assign chain_valid_o = row_taken;
  assign chain_o = chain_next;
  assign flight_room = write_q - read_q != count_t'(FlightRows);

  always_comb begin
    block_t link;
    block_t previous;
    job        = job_q[ctx];
    pre        = '0;
    mask       = '0;
    chain_next = chain_i;
    previous   = chain_i;
    link       = chain_i;
    if (row_valid) begin
      for (int unsigned i = 0; i <= Lanes; i++) begin
        if (i > 0) previous = row.data[i-1];
        link = mode_ahead(job.mode, chain_i, previous, i);
        if (i < Lanes) begin
          pre[i]  = mode_pre(job.mode, job.dir, link, row.data[i]);
          mask[i] = mode_mask(job.mode, job.dir, link, row.data[i]);
        end
        // The value after the last block of the row is the next chain value.
        if (i > 0 && 32'(row.meta.bytes) > 16 * (i - 1)) chain_next = link;
      end
    end
  end

  // Second step: the row before the cipher.
  logic                  ask_valid_q;
  logic      [Lanes-1:0] ask_lanes_q;
  block_t    [Lanes-1:0] ask_block_q;
  ctx_t                  ask_ctx_q;
  dir_e                  ask_dir_q;
  key_slot_t             ask_slot_q;
  bank_hit_t             ask_bank;

  assign ask_bank = bank_lookup(banks_i, ask_slot_q, ask_dir_q);
  assign row_taken = row_valid && flight_room && (!ask_valid_q || ask_taken_i);
  assign ask_o = ask_valid_q && ask_bank.hit;
  assign ask_lanes_o = ask_lanes_q;
  assign urgent_o = ask_valid_q && !ask_bank.hit;
  assign urgent_slot_o = ask_slot_q;

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      req_o[i] = '{ctx: ask_ctx_q, bank: ask_bank.bank, dir: ask_dir_q, block: ask_block_q[i]};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ask_valid_q <= 1'b0;
      ask_lanes_q <= '0;
      ask_block_q <= '0;
      ask_ctx_q   <= '0;
      ask_dir_q   <= Encrypt;
      ask_slot_q  <= '0;
      write_q     <= '0;
      answer_q    <= '0;
      read_q      <= '0;
    end else if (wipe_i) begin
      ask_valid_q <= 1'b0;
      ask_lanes_q <= '0;
      ask_block_q <= '0;
      ask_ctx_q   <= '0;
      ask_dir_q   <= Encrypt;
      ask_slot_q  <= '0;
      write_q     <= '0;
      answer_q    <= '0;
      read_q      <= '0;
    end else begin
      if (ask_taken_i) ask_valid_q <= 1'b0;
      if (row_taken) begin
        ask_valid_q <= 1'b1;
        ask_lanes_q <= lanes_of(row.meta.bytes);
        ask_block_q <= pre;
        ask_ctx_q   <= row.meta.ctx;
        ask_dir_q   <= mode_cipher_dir(job.mode, job.dir);
        ask_slot_q  <= job.key_slot;
        write_q     <= write_q + count_t'(1);
      end
      if (answer_i) answer_q <= answer_q + count_t'(1);
      if (out_valid_o && out_ready_i) read_q <= read_q + count_t'(1);
    end
  end

  // The ring.
  meta_t              meta_q  [FlightRows];
  block_t [Lanes-1:0] mask_q  [FlightRows];
  block_t [Lanes-1:0] result_q[FlightRows];

  always_ff @(posedge clk_i) begin
    if (wipe_i) begin
      meta_q[wipe_row_i] <= '0;
      mask_q[wipe_row_i] <= '0;
    end else if (row_taken) begin
      meta_q[write_q[FlightWidth-1:0]] <= row.meta;
      mask_q[write_q[FlightWidth-1:0]] <= mask;
    end
  end

  always_ff @(posedge clk_i) begin
    if (wipe_i) result_q[wipe_row_i] <= '0;
    else if (answer_i) begin
      result_q[answer_q[FlightWidth-1:0]] <= answer_block_i ^ mask_q[answer_q[FlightWidth-1:0]];
    end
  end

  always_ff @(posedge clk_i) begin
    if (cfg_valid_i) begin
      job_q[index_t'(cfg_ctx_i)] <= '{
          mode: cfg_i.mode,
          dir: cfg_i.dir,
          key_slot: cfg_i.key_slot
      };
    end
  end

  logic unused;
  assign unused         = ^{cfg_ctx_i, cfg_i};

  assign answer_lanes_o = lanes_of(meta_q[answer_q[FlightWidth-1:0]].bytes);
  assign out_valid_o    = answer_q != read_q;
  assign out_ctx_o      = meta_q[read_q[FlightWidth-1:0]].ctx;
  assign out_bytes_o    = meta_q[read_q[FlightWidth-1:0]].bytes;
  assign out_last_o     = meta_q[read_q[FlightWidth-1:0]].last;
  assign out_data_o     = result_q[read_q[FlightWidth-1:0]];

  `MAE_ASSERT(AnswerAwaited, !answer_i || write_q - answer_q > count_t'(ask_valid_q))
  `MAE_ASSERT(RingInOrder, write_q - answer_q <= write_q - read_q)
  `MAE_ASSERT(RowLegal,
              !row_valid_i || (row_bytes_i != '0 && (row_last_i || 32'(row_bytes_i) == 16 * Lanes)))

endmodule
