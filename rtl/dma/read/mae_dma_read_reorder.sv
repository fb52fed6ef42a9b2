// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_read_reorder: computes the position of each beat of AXI4 read data in the DMA buffer. It
// commits the bursts of each context in order.
//
// The ID of a beat identifies its burst; burst and beat number give its position in the buffer.
// So beats may arrive in any order and interleaved. Finished bursts of a context are committed
// in the order of its bytes: the rows before row_o are complete. An ID is free again when its
// burst is committed, which depends on the memory alone, not on the client. R is always ready.
// Latency: a beat is in the buffer 2 clocks after its arrival; the oldest burst of a context is
// committed 2 clocks later, those behind it that have arrived one a clock.
// Throughput: one beat and one commit a clock.
// Reset: drops all bursts; the tables are read only after they were written.
// Parameters: Legal: as in mae_dma_read_engine; burst_t is its type.

`include "mae_assert.svh"

module mae_dma_read_reorder #(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Contexts = 64,
    parameter int unsigned IdWidth = 8,
    parameter int unsigned PageRows = 8,
    parameter int unsigned PageWidth = 8,
    parameter int unsigned RowWidth = 12,  // of counted rows
    parameter int unsigned BurstBeats = 8,
    parameter int unsigned NumIds = 128,
    parameter type burst_t = logic,
    localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1,
    localparam int unsigned PlaceWidth = $clog2(2 * PageRows),
    localparam int unsigned LaneWidth = $clog2(DataWidth / 8)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                        burst_valid_i,
    input  logic   [$clog2(NumIds)-1:0] burst_id_i,
    input  burst_t                      burst_i,
    input  logic   [      RowWidth-1:0] burst_stop_row_i,
    output logic                        id_busy_o,         // burst_id_i is in use

    input logic                 r_valid_i,
    input logic [  IdWidth-1:0] r_id_i,
    input logic [DataWidth-1:0] r_data_i,
    input logic [          1:0] r_resp_i,
    input logic                 r_last_i,

    // into the buffer
    output logic                                  wr_valid_o,
    output logic [   CtxWidth-1:0]                wr_ctx_o,
    output logic [            1:0][PageWidth-1:0] wr_pages_o,
    output logic [ PlaceWidth-1:0]                wr_row_o,
    output logic [  LaneWidth-1:0]                wr_offset_o,
    output logic [DataWidth/8-1:0]                wr_strobe_o,
    output logic [  DataWidth-1:0]                wr_data_o,
    output logic [            1:0]                wr_resp_o,

    output logic [Contexts-1:0] open_o,     // the context has bursts that are not committed
    output logic [Contexts-1:0] commit_o,   // a burst is committed; row_o follows a clock later
    input  logic [CtxWidth-1:0] row_ctx_i,
    output logic [RowWidth-1:0] row_o       // first row of row_ctx_i that is not committed
);
  localparam int unsigned Bytes = DataWidth / 8;
  localparam int unsigned NumWidth = $clog2(NumIds);
  localparam int unsigned BeatWidth = (BurstBeats > 1) ? $clog2(BurstBeats) : 1;

  burst_t burst_q[NumIds];
  logic [BeatWidth-1:0] beat_q[NumIds];  // beats that have arrived
  logic [NumIds-1:0] busy_q;
  logic [NumIds-1:0] there_q;  // the burst is in the buffer
  logic [RowWidth-1:0] stop_q[NumIds];  // rows complete after a burst
  logic [RowWidth-1:0] row_q[Contexts];

  // stage 0: look up the burst
  logic [NumWidth-1:0] id, id_q, oldest;
  logic valid_q, last_q, commit;
  burst_t found;

  assign id        = r_id_i[NumWidth-1:0];
  assign found     = burst_q[id];
  assign id_busy_o = busy_q[burst_id_i];

  always_ff @(posedge clk_i) begin
    if (burst_valid_i) begin
      burst_q[burst_id_i] <= burst_i;
      stop_q[burst_id_i]  <= burst_stop_row_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q  <= '{default: '0};
      busy_q  <= '0;
      there_q <= '0;
    end else begin
      if (r_valid_i) beat_q[id] <= r_last_i ? '0 : beat_q[id] + 1'b1;
      if (valid_q && last_q) there_q[id_q] <= 1'b1;
      if (commit) begin
        busy_q[oldest]  <= 1'b0;
        there_q[oldest] <= 1'b0;
      end
      if (burst_valid_i) busy_q[burst_id_i] <= 1'b1;
    end
  end

  // stage 1: into the buffer
  burst_t                 land_q;
  logic   [BeatWidth-1:0] number_q;
  logic   [DataWidth-1:0] data_q;
  logic   [          1:0] resp_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      last_q   <= 1'b0;
      number_q <= '0;
      data_q   <= '0;
      resp_q   <= '0;
      land_q   <= '0;
      id_q     <= '0;
    end else begin
      valid_q <= r_valid_i;
      data_q  <= r_valid_i ? r_data_i : '0;  // erased when unused
      if (r_valid_i) begin
        last_q   <= r_last_i;
        number_q <= beat_q[id];
        resp_q   <= r_resp_i;
        land_q   <= found;
        id_q     <= id;
      end
    end
  end

  assign wr_valid_o = valid_q;
  assign wr_ctx_o = land_q.ctx;
  assign wr_pages_o = land_q.pages;
  assign wr_row_o = land_q.row + PlaceWidth'(number_q);
  assign wr_offset_o = land_q.offset;
  assign wr_strobe_o = ((number_q == '0) ? {Bytes{1'b1}} << land_q.first : {Bytes{1'b1}})
                       & (last_q ? {Bytes{1'b1}} >> ~land_q.last : {Bytes{1'b1}});
  assign wr_data_o = data_q;
  assign wr_resp_o = resp_q;

  // Commits the oldest bursts, as far as they have arrived. A context is examined after a burst of
  // it has arrived, and again while its oldest burst is there.
  logic [Contexts-1:0] wake_q, unused_grant, look_hot;
  logic [CtxWidth-1:0] pick_ctx, look_ctx_q;
  logic [NumWidth-1:0] unused_tail, unused_next;
  logic pick_valid, look_valid_q;

  mae_rr_arb #(
      .N(Contexts)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i    (wake_q),
      .advance_i(1'b1),
      .grant_o  (unused_grant),
      .index_o  (pick_ctx),
      .valid_o  (pick_valid)
  );

  mae_dma_context_queues #(
      .Contexts(Contexts),
      .Items   (NumIds)
  ) u_order (
      .clk_i,
      .rst_ni,
      .put_valid_i(burst_valid_i),
      .put_ctx_i  (burst_i.ctx),
      .put_item_i (burst_id_i),
      .tail_o     (unused_tail),
      .get_valid_i(commit),
      .get_ctx_i  (look_ctx_q),
      .head_o     (oldest),
      .next_o     (unused_next),
      .any_o      (open_o)
  );

  assign look_hot = Contexts'(look_valid_q) << look_ctx_q;
  assign commit   = look_valid_q && open_o[look_ctx_q] && there_q[oldest];
  assign commit_o = commit ? look_hot : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wake_q       <= '0;
      look_valid_q <= 1'b0;
      look_ctx_q   <= '0;
      row_q        <= '{default: '0};
    end else begin
      // A burst that comes in the clock in which its context is looked at wakes it again.
      wake_q <= (wake_q & ~(commit ? '0 : look_hot)) | (Contexts'(valid_q && last_q) << land_q.ctx);
      look_valid_q <= pick_valid;
      if (pick_valid) look_ctx_q <= pick_ctx;
      if (commit) row_q[look_ctx_q] <= stop_q[oldest];
    end
  end

  assign row_o = row_q[row_ctx_i];

  `MAE_ASSERT(AnswerExpected, !r_valid_i || busy_q[id] && !there_q[id] && !r_id_i[IdWidth-1])
  `MAE_ASSERT(IdFree, !burst_valid_i || !busy_q[burst_id_i])

endmodule
