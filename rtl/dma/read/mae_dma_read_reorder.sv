// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_read_reorder: computes the buffer position of every beat of read data, and commits the
// bursts of each context in order.
//
// The ID of a beat identifies its burst; burst and beat number give its position in the buffer. So
// beats may arrive in any order and interleaved. Finished bursts of a context are committed in the
// order of its bytes: the rows before row_o are complete. R is always ready.
// Latency: a beat is in the buffer 2 clocks after its arrival; its rows are committed in the same
// clock.
// Throughput: one beat a clock.
// Reset: drops all bursts; the tables are read only after they were written.
// Parameters: Legal: as in mae_dma_read_engine; burst_t is its type.

`include "mae_assert.svh"

module mae_dma_read_reorder #(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Contexts = 64,
    parameter int unsigned IdWidth = 8,
    parameter int unsigned RowsPerContext = 32,
    parameter int unsigned BurstBeats = 8,
    parameter int unsigned BurstsPerContext = 8,
    parameter int unsigned NumIds = 128,
    parameter type burst_t = logic,
    localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1,
    localparam int unsigned RowWidth = $clog2(RowsPerContext),
    localparam int unsigned SlotWidth = $clog2(BurstsPerContext),
    localparam int unsigned LaneWidth = $clog2(DataWidth / 8)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                        burst_valid_i,
    input  logic   [$clog2(NumIds)-1:0] burst_id_i,
    input  burst_t                      burst_i,
    input  logic   [        RowWidth:0] burst_stop_row_i,
    output logic                        id_busy_o,         // burst_id_i is in use

    input logic                 r_valid_i,
    input logic [  IdWidth-1:0] r_id_i,
    input logic [DataWidth-1:0] r_data_i,
    input logic [          1:0] r_resp_i,
    input logic                 r_last_i,

    // into the buffer
    output logic                   wr_valid_o,
    output logic [   CtxWidth-1:0] wr_ctx_o,
    output logic [   RowWidth-1:0] wr_row_o,
    output logic [  LaneWidth-1:0] wr_offset_o,
    output logic [DataWidth/8-1:0] wr_strobe_o,
    output logic [  DataWidth-1:0] wr_data_o,
    output logic [            1:0] wr_resp_o,

    // bursts of wr_ctx_o are committed
    output logic                commit_o,
    input  logic [CtxWidth-1:0] slot_ctx_i,
    output logic [ SlotWidth:0] slot_o,      // oldest burst of slot_ctx_i that is not committed
    input  logic [CtxWidth-1:0] row_ctx_i,
    output logic [  RowWidth:0] row_o        // first row of row_ctx_i that is not committed
);
  localparam int unsigned Bytes = DataWidth / 8;
  localparam int unsigned NumWidth = $clog2(NumIds);
  localparam int unsigned BeatWidth = (BurstBeats > 1) ? $clog2(BurstBeats) : 1;

  burst_t burst_q[NumIds];
  logic [BeatWidth-1:0] beat_q[NumIds];  // beats that have arrived
  logic [NumIds-1:0] busy_q;
  logic [RowWidth:0] stop_q[2 ** (CtxWidth + SlotWidth)];  // rows complete after a burst
  logic [BurstsPerContext-1:0] there_q[Contexts];  // slots whose burst has arrived
  logic [SlotWidth:0] oldest_q[Contexts];
  logic [RowWidth:0] row_q[Contexts];

  // stage 0: look up the burst
  logic [NumWidth-1:0] id;
  burst_t found;

  assign id        = r_id_i[NumWidth-1:0];
  assign found     = burst_q[id];
  assign id_busy_o = busy_q[burst_id_i];

  always_ff @(posedge clk_i) begin
    if (burst_valid_i) begin
      burst_q[burst_id_i]                 <= burst_i;
      stop_q[{burst_i.ctx, burst_i.slot}] <= burst_stop_row_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q <= '{default: '0};
      busy_q <= '0;
    end else begin
      if (r_valid_i) beat_q[id] <= r_last_i ? '0 : beat_q[id] + 1'b1;
      if (r_valid_i && r_last_i) busy_q[id] <= 1'b0;
      if (burst_valid_i) busy_q[burst_id_i] <= 1'b1;
    end
  end

  // stage 1: into the buffer
  burst_t                 land_q;
  logic                   valid_q;
  logic                   last_q;
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
    end else begin
      valid_q <= r_valid_i;
      data_q  <= r_valid_i ? r_data_i : '0;  // erased when unused
      if (r_valid_i) begin
        last_q   <= r_last_i;
        number_q <= beat_q[id];
        resp_q   <= r_resp_i;
        land_q   <= found;
      end
    end
  end

  assign wr_valid_o = valid_q;
  assign wr_ctx_o = land_q.ctx;
  assign wr_row_o = land_q.row + RowWidth'(number_q);
  assign wr_offset_o = land_q.offset;
  assign wr_strobe_o = ((number_q == '0) ? {Bytes{1'b1}} << land_q.first : {Bytes{1'b1}})
                       & (last_q ? {Bytes{1'b1}} >> ~land_q.last : {Bytes{1'b1}});
  assign wr_data_o = data_q;
  assign wr_resp_o = resp_q;

  // Commits the oldest bursts, as far as they have arrived.
  logic [BurstsPerContext-1:0] there;
  logic [BurstsPerContext-1:0] commit_hot;
  logic [         SlotWidth:0] oldest;
  logic [       SlotWidth-1:0] newest;  // last burst committed
  logic [         SlotWidth:0] count;

  assign oldest = oldest_q[land_q.ctx];
  assign there  = there_q[land_q.ctx] | (BurstsPerContext'(1) << land_q.slot);

  always_comb begin
    commit_hot = '0;
    count      = '0;
    newest     = oldest[SlotWidth-1:0];
    for (int unsigned i = 0; i < BurstsPerContext; i++) begin
      logic [SlotWidth-1:0] slot;
      slot = oldest[SlotWidth-1:0] + SlotWidth'(i);
      if (32'(count) == i && there[slot]) begin
        count            = count + 1'b1;
        newest           = slot;
        commit_hot[slot] = 1'b1;
      end
    end
  end

  assign commit_o = valid_q && last_q && count != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      there_q  <= '{default: '0};
      oldest_q <= '{default: '0};
      row_q    <= '{default: '0};
    end else if (valid_q && last_q) begin
      there_q[land_q.ctx]  <= there & ~commit_hot;
      oldest_q[land_q.ctx] <= oldest + count;
      if (count != '0) row_q[land_q.ctx] <= stop_q[{land_q.ctx, newest}];
    end
  end

  assign slot_o = oldest_q[slot_ctx_i];
  assign row_o  = row_q[row_ctx_i];

  `MAE_ASSERT(AnswerExpected, !r_valid_i || busy_q[id] && !r_id_i[IdWidth-1])
  `MAE_ASSERT(IdFree, !burst_valid_i || !busy_q[burst_id_i])

endmodule
