// SPDX-License-Identifier: Apache-2.0
//
// mae_block_queues: reads requests from the submission rings, checks and dispatches them, and writes
// completions to the completion rings.
//
// Each queue is a pair of rings. Requests of a queue are dispatched in order, to the channel of their
// direction, and end in any order. A request that is refused, and a flush, completes without a
// channel. A flush waits until the write channel is idle, and then for the media (flush_valid_o,
// flush_ready_i); no queue dispatches a write meanwhile. flush_valid_o falls without an answer only
// when the queues stop. A queue waits for the head of its ring only: a full channel holds back the
// queues whose next request needs it.
// enable_i, rising, begins all rings at index 0 once nothing is in flight; falling, no request is
// read any more, and those in flight end. A completion that cannot be written stops all queues until
// enable_i is low (ring_error_o).
// Latency: 2 clocks from the last beat of a request to its channel, 2 from a result to the address of
// its completion.
// Throughput: one request a clock; a completion every 3 clocks.
// Reset: drops everything.
// Parameters: MediaLog2 is that of the media's bytes. Legal: Queues 1..3; MediaKeys 1..32; MediaLog2
// 13..63; DataWidth 128, 256, 512, 1024.

`include "mae_assert.svh"

module mae_block_queues
  import mae_dma_pkg::*;
  import mae_block_pkg::*;
#(
    parameter int unsigned Queues = 2,
    parameter int unsigned MediaKeys = 8,
    parameter int unsigned MediaLog2 = 26,
    parameter int unsigned DataWidth = 512,
    parameter int unsigned BeatWidth = 512  // of control reads: min(DataWidth, 512)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                                enable_i,
    input  block_queue_ctrl_t   [   Queues-1:0] ctrl_i,
    output block_queue_status_t [   Queues-1:0] status_o,
    output logic                                busy_o,
    output logic                                ring_error_o,
    input  logic                [MediaKeys-1:0] key_valid_i,

    // channels: reads from the media (0), writes to it (1)
    output logic          [1:0] job_valid_o,
    input  logic          [1:0] job_ready_i,
    output block_job_t    [1:0] job_o,
    input  logic          [1:0] result_valid_i,
    output logic          [1:0] result_ready_o,
    input  block_result_t [1:0] result_i,
    input  logic          [1:0] idle_i,

    // the media keeps all writes that it has answered
    output logic flush_valid_o,
    input  logic flush_ready_i,

    // control traffic, to mae_dma_axi_mux
    output logic         [          2:0] ar_valid_o,
    input  logic         [          2:0] ar_ready_i,
    output control_ar_t  [          2:0] ar_o,
    input  logic         [          2:0] r_valid_i,
    input  control_tag_t                 r_tag_i,
    input  logic         [          1:0] r_beat_i,
    input  logic         [BeatWidth-1:0] r_data_i,
    input  logic                         r_error_i,
    input  logic                         r_last_i,

    output logic                              aw_valid_o,
    input  logic                              aw_ready_i,
    output completion_tag_t                   aw_tag_o,
    output addr_t                             aw_addr_o,
    output logic                              w_valid_o,
    input  logic                              w_ready_i,
    output logic            [  DataWidth-1:0] w_data_o,
    output logic            [DataWidth/8-1:0] w_strb_o,
    output logic                              w_last_o,
    input  logic                              b_valid_i,
    input  completion_tag_t                   b_tag_i,
    input  logic                              b_error_i
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 3)
  `MAE_PARAM(MediaKeysLegal, MediaKeys >= 1 && MediaKeys <= 32)
  `MAE_PARAM(MediaLegal, MediaLog2 >= 13 && MediaLog2 <= 63)

  localparam int unsigned Prefetch = 16;  // requests of a queue that are read ahead
  localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1;
  localparam int unsigned TagBits = 5;  // of the completions of one queue in flight
  localparam logic [64:0] MediaSectors = 65'(1) << (MediaLog2 - SectorLog2);

  function automatic logic [7:0] check(input block_request_t request, input logic fetch_error,
                                       input logic [MediaKeys-1:0] valid);
    logic plain, loaded;
    logic [31:0] unused_cookie;
    logic [31:0] odd;  // sectors that do not fill a data unit
    unused_cookie = request.cookie;
    plain = request.flags[FlagPlain];
    loaded = 1'b0;
    for (int unsigned i = 0; i < MediaKeys; i++) loaded |= request.key_slot == 8'(i) && valid[i];
    odd = request.sectors & ~(32'hffff_ffff << (request.unit_log2 - 8'(SectorLog2)));
    if (fetch_error) return 8'(StatusDescFetch);
    if (request.reserved_low != '0 || request.reserved_high != '0) return 8'(StatusBadOp);
    if (request.op > 8'(BlockFlush)) return 8'(StatusBadOp);
    if ((request.flags & ~8'(1 << FlagPlain | 1 << FlagIrq)) != '0) return 8'(StatusBadOp);
    if (request.op == 8'(BlockFlush)) return 8'(StatusOk);
    if (plain && {request.unit, request.unit_log2, request.key_slot} != '0) return 8'(StatusBadOp);
    if (!plain && (request.unit_log2 < 8'(SectorLog2) || request.unit_log2 > 8'(UnitMaxLog2)))
      return 8'(StatusBadOp);
    if (request.sectors == '0 || request.sectors > 32'd65536) return 8'(StatusBadLength);
    if (!plain && odd != '0) return 8'(StatusBadLength);
    if (request.addr[5:0] != '0 || &request.addr[63:26]) return BlockBadAddress;
    if (65'(request.sector) + 65'(request.sectors) > MediaSectors) return BlockBadRange;
    if (!plain && !loaded) return 8'(StatusBadKey);
    return 8'(StatusOk);
  endfunction

  // Begin and end.
  logic run_q, start, ring_error_q, flush_waits;
  logic [Queues-1:0] quiet, written, write_error;
  // The media has answered the flush that is next in the queue, or those before it: between flushes
  // that follow one another at once no request writes.
  logic [Queues-1:0] flushed_q;

  assign start = enable_i && !run_q && !busy_o;
  assign busy_o = quiet != '1 || written != '1 || idle_i != '1;
  assign ring_error_o = ring_error_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q        <= 1'b0;
      ring_error_q <= 1'b0;
    end else begin
      run_q <= enable_i && (run_q || start);
      if (!enable_i) ring_error_q <= 1'b0;
      else if (write_error != '0) ring_error_q <= 1'b1;
    end
  end

  // The next request of each queue.
  logic [Queues-1:0] room;  // the completion ring has an entry for the next request
  logic [Queues-1:0] head_valid, head_take, head_error, head_flush, head_local, unused_empty;
  block_request_t [Queues-1:0] head;
  logic [Queues-1:0][15:0] head_index;
  logic [Queues-1:0][7:0] head_status;
  block_job_t [Queues-1:0] head_job;
  logic [1:0][Queues-1:0] wants, grant;
  logic [1:0][QueueWidth-1:0] granted;

  always_comb begin
    flush_waits = 1'b0;
    for (int unsigned q = 0; q < Queues; q++) begin
      head_status[q] = check(head[q], head_error[q], key_valid_i);
      room[q] = 16'(head_index[q] - ctrl_i[q].comp_head) < (16'd1 << ctrl_i[q].comp_log2);
      head_flush[q] = head_valid[q] && head_status[q] == 8'(StatusOk) &&
          head[q].op == 8'(BlockFlush) && room[q];
      flush_waits |= head_flush[q];
      head_job[q] = '{
          pair: 2'(q),
          cookie: head[q].cookie,
          index: head_index[q],
          irq: head[q].flags[FlagIrq],
          plain: head[q].flags[FlagPlain],
          slot: head[q].key_slot[4:0],
          unit_code: head[q].flags[FlagPlain] ? 2'd3 : 2'(head[q].unit_log2 - 8'(SectorLog2)),
          sectors: head[q].sectors[16:0],
          host: head[q].addr,
          media: head[q].sector << SectorLog2,
          unit: head[q].unit
      };
    end
    for (int unsigned q = 0; q < Queues; q++) begin
      head_local[q] = head_valid[q] && room[q] &&
          (head_flush[q] ? flushed_q[q] : head_status[q] != 8'(StatusOk));
      for (int unsigned c = 0; c < 2; c++) begin
        wants[c][q] = head_valid[q] && room[q] && head_status[q] == 8'(StatusOk) &&
            head[q].op == 8'(c) && !(c == 1 && flush_waits);
      end
    end
  end

  assign flush_valid_o = (head_flush & ~flushed_q) != '0 && idle_i[1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      flushed_q <= '0;
    end else begin
      if (flush_valid_o && flush_ready_i) flushed_q <= head_flush;
      for (int unsigned q = 0; q < Queues; q++) begin
        if (!head_flush[q]) flushed_q[q] <= 1'b0;
      end
    end
  end

  for (genvar c = 0; c < 2; c++) begin : gen_channel
    mae_rr_arb #(
        .N(Queues)
    ) u_turn (
        .clk_i,
        .rst_ni,
        .req_i    (wants[c]),
        .advance_i(job_ready_i[c]),
        .grant_o  (grant[c]),
        .index_o  (granted[c]),
        .valid_o  (job_valid_o[c])
    );
    assign job_o[c] = head_job[granted[c]];
  end

  // Results of the channels (0, 1) and of requests without a channel (2), by queue.
  logic [Queues-1:0][2:0] done_valid, done_grant;
  logic [Queues-1:0][1:0] done_source;
  logic [Queues-1:0] entry_valid, entry_ready, entry_irq;
  completion_t [Queues-1:0] entry;

  always_comb begin
    result_ready_o = '0;
    for (int unsigned q = 0; q < Queues; q++) begin
      for (int unsigned c = 0; c < 2; c++) begin
        done_valid[q][c] = result_valid_i[c] && result_i[c].pair == 2'(q);
        if (done_grant[q][c] && entry_ready[q]) result_ready_o[c] = 1'b1;
      end
      done_valid[q][2] = head_local[q];
      head_take[q] = (grant[0][q] && job_ready_i[0]) || (grant[1][q] && job_ready_i[1]) ||
          (done_grant[q][2] && entry_ready[q]);
      entry[q] = '0;
      if (done_source[q] == 2'd2) begin
        entry[q].cookie = head_error[q] ? '0 : head[q].cookie;
        entry[q].index  = head_index[q];
        entry[q].status = head_status[q];
        entry_irq[q]    = head_error[q] || head[q].flags[FlagIrq];
      end else begin
        entry[q].cookie = result_i[done_source[q][0]].cookie;
        entry[q].index  = result_i[done_source[q][0]].index;
        entry[q].status = result_i[done_source[q][0]].status;
        entry[q].bytes  = result_i[done_source[q][0]].bytes;
        entry_irq[q]    = result_i[done_source[q][0]].irq;
      end
    end
  end

  logic [Queues-1:0] q_aw_valid, q_w_valid, q_w_last, q_aw_ready, q_w_ready;
  completion_tag_t [Queues-1:0] q_tag;
  addr_t [Queues-1:0] q_addr;
  logic [Queues-1:0][DataWidth-1:0] q_data;
  logic [Queues-1:0][DataWidth/8-1:0] q_strb;

  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    desc_t desc;
    logic  irq;

    mae_dma_descriptor_fetch #(
        .BeatWidth(BeatWidth),
        .Prefetch (Prefetch)
    ) u_fetch (
        .clk_i,
        .rst_ni,
        .start_i     (start),
        .fetch_i     (run_q && !ring_error_q),
        .give_i      (run_q && !ring_error_q),
        .base_i      (ctrl_i[q].sub_base),
        .log2_i      (ctrl_i[q].sub_log2),
        .tail_i      (ctrl_i[q].sub_tail),
        .head_o      (status_o[q].sub_head),
        .empty_o     (unused_empty[q]),
        .quiet_o     (quiet[q]),
        .desc_valid_o(head_valid[q]),
        .desc_ready_i(head_take[q]),
        .desc_o      (desc),
        .desc_error_o(head_error[q]),
        .desc_index_o(head_index[q]),
        .ar_valid_o  (ar_valid_o[q]),
        .ar_ready_i  (ar_ready_i[q]),
        .ar_o        (ar_o[q]),
        .r_valid_i   (r_valid_i[q]),
        .r_tag_i,
        .r_beat_i,
        .r_data_i,
        .r_error_i,
        .r_last_i
    );
    assign head[q] = desc;  // another view of the same 64 bytes

    mae_rr_arb #(
        .N(3)
    ) u_done (
        .clk_i,
        .rst_ni,
        .req_i    (done_valid[q]),
        .advance_i(entry_ready[q]),
        .grant_o  (done_grant[q]),
        .index_o  (done_source[q]),
        .valid_o  (entry_valid[q])
    );

    mae_dma_completion_writer #(
        .DataWidth(DataWidth),
        .TagBits  (TagBits)
    ) u_completions (
        .clk_i,
        .rst_ni,
        .start_i   (start),
        .base_i    (ctrl_i[q].comp_base),
        .log2_i    (ctrl_i[q].comp_log2),
        .head_i    (ctrl_i[q].comp_head),
        .tail_o    (status_o[q].comp_tail),
        .idle_o    (written[q]),
        .irq_o     (irq),
        .error_o   (write_error[q]),
        .in_valid_i(entry_valid[q]),
        .in_ready_o(entry_ready[q]),
        .in_i      (entry[q]),
        .in_irq_i  (entry_irq[q]),
        .aw_valid_o(q_aw_valid[q]),
        .aw_ready_i(q_aw_ready[q]),
        .aw_tag_o  (q_tag[q]),
        .aw_addr_o (q_addr[q]),
        .w_valid_o (q_w_valid[q]),
        .w_ready_i (q_w_ready[q]),
        .w_data_o  (q_data[q]),
        .w_strb_o  (q_strb[q]),
        .w_last_o  (q_w_last[q]),
        .b_valid_i (b_valid_i && b_tag_i[TagBits+:2] == 2'(q)),
        .b_tag_i   (completion_tag_t'(b_tag_i[TagBits-1:0])),
        .b_error_i
    );
    assign status_o[q].irq = irq;
  end

  for (genvar q = Queues; q < 3; q++) begin : gen_no_queue
    logic unused;
    assign unused = ^{ar_ready_i[q], r_valid_i[q]};
    assign ar_valid_o[q] = 1'b0;
    assign ar_o[q] = '0;
  end

  // One completion after the other: address and data of one queue, then of the next.
  logic owned_q, aw_sent_q, w_sent_q, aw_end, w_end;
  logic [QueueWidth-1:0] owner_q, next_owner;
  logic [Queues-1:0] unused_owner;
  logic next_valid;

  mae_rr_arb #(
      .N(Queues)
  ) u_owner (
      .clk_i,
      .rst_ni,
      .req_i    (q_aw_valid),
      .advance_i(!owned_q),
      .grant_o  (unused_owner),
      .index_o  (next_owner),
      .valid_o  (next_valid)
  );

  assign aw_valid_o = owned_q && !aw_sent_q;
  assign aw_tag_o   = {2'(owner_q), q_tag[owner_q][TagBits-1:0]};
  assign aw_addr_o  = q_addr[owner_q];
  assign w_valid_o  = owned_q && !w_sent_q;
  assign w_data_o   = q_data[owner_q];
  assign w_strb_o   = q_strb[owner_q];
  assign w_last_o   = q_w_last[owner_q];
  assign aw_end     = aw_sent_q || (aw_valid_o && aw_ready_i);
  assign w_end      = w_sent_q || (w_valid_o && w_ready_i && w_last_o);

  always_comb begin
    q_aw_ready          = '0;
    q_w_ready           = '0;
    q_aw_ready[owner_q] = aw_valid_o && aw_ready_i;
    q_w_ready[owner_q]  = w_valid_o && w_ready_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owned_q   <= 1'b0;
      owner_q   <= '0;
      aw_sent_q <= 1'b0;
      w_sent_q  <= 1'b0;
    end else if (!owned_q) begin
      owned_q <= next_valid;
      owner_q <= next_owner;
    end else begin
      owned_q   <= !(aw_end && w_end);
      aw_sent_q <= aw_end && !w_end;
      w_sent_q  <= w_end && !aw_end;
    end
  end

  logic unused;
  assign unused = ^q_w_valid;

  `MAE_ASSERT(WholeCompletion, !owned_q || aw_sent_q || q_aw_valid[owner_q])
  `MAE_ASSERT(OneTaker, (grant[0] & grant[1]) == '0)

endmodule
