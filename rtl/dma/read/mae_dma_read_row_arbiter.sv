// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_read_row_arbiter: outputs complete rows of read data to the DMA's client, round-robin
// among the contexts. A context takes part while it has a row and its room_i is high.
//
// When room_i falls, at most two more rows of the context follow. row_ready_i has a combinational
// path to the selection of the next row and to the read enable of the buffer.
// Latency: 1 clock from the selection to the row (a memory read).
// Throughput: one row a clock.
// Parameters: Legal: as in mae_dma_read_engine; final_t is its type.

`include "mae_assert.svh"

module mae_dma_read_row_arbiter
  import mae_dma_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Contexts = 64,
    parameter int unsigned PageRows = 8,
    parameter int unsigned RowWidth = 12,  // of counted rows
    parameter type final_t = logic,
    localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1,
    localparam int unsigned InWidth = $clog2(PageRows),
    localparam int unsigned BytesWidth = $clog2(DataWidth / 8 + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                  final_valid_i,
    input  final_t                final_i,
    input  logic   [CtxWidth-1:0] look_ctx_i,
    output logic                  look_ended_o,   // its job is final and was not completely output

    // the selected context, and its first row that is not committed
    input  logic [Contexts-1:0] wake_i,       // there may be rows
    input  logic [Contexts-1:0] room_i,
    output logic [Contexts-1:0] waits_o,      // there are rows, or may be
    output logic [CtxWidth-1:0] pick_ctx_o,
    input  logic [RowWidth-1:0] commit_row_i,

    // the buffer's read port
    output logic                 rd_enable_o,
    output logic [  InWidth-1:0] rd_row_o,      // of the context's oldest page
    output logic                 rd_empties_o,  // and then the page is free
    input  logic [DataWidth-1:0] rd_data_i,

    output logic                      row_valid_o,
    input  logic                      row_ready_i,
    output dma_ctx_t                  row_ctx_o,
    output logic     [ DataWidth-1:0] row_data_o,
    output logic     [BytesWidth-1:0] row_bytes_o,
    output logic                      row_last_o,

    output logic                finish_valid_o,  // the last row was accepted
    output logic [CtxWidth-1:0] finish_ctx_o
);
  localparam int unsigned Bytes = DataWidth / 8;

  logic   [Contexts-1:0] wake_q;
  logic   [Contexts-1:0] ended_q;
  logic   [Contexts-1:0] aborted_q;  // an aborted job's own last row is to come
  final_t                final_q                                                     [Contexts];
  logic   [RowWidth-1:0] row_q                                                       [Contexts];

  logic   [Contexts-1:0] pick_hot;
  logic   [CtxWidth-1:0] pick_ctx;
  logic                  pick_valid;
  logic                  step;
  logic   [RowWidth-1:0] row;
  logic   [RowWidth-1:0] next_row;
  logic                  ends_page;
  logic                  pageless;  // the row of zeros of an aborted job, in no page
  final_t                last_row;
  logic                  last;
  logic                  there;  // the context has a row
  logic                  more;  // and another one
  logic                  leave;
  logic                  zero_q;

  assign waits_o    = wake_q;
  assign step       = !row_valid_o || row_ready_i;
  assign pick_ctx_o = pick_ctx;

  mae_rr_arb #(
      .N(Contexts)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i    (wake_q & room_i),
      .advance_i(step),
      .grant_o  (pick_hot),
      .index_o  (pick_ctx),
      .valid_o  (pick_valid)
  );

  assign row       = row_q[pick_ctx];
  assign next_row  = row + 1'b1;
  assign last_row  = final_q[pick_ctx];
  assign last      = ended_q[pick_ctx] && row == last_row.row;
  assign there     = row != commit_row_i || aborted_q[pick_ctx];
  assign more      = !last && (next_row != commit_row_i || aborted_q[pick_ctx]);
  assign leave     = pick_valid && step && there;
  assign pageless  = last && last_row.zero && row[InWidth-1:0] == '0;
  assign ends_page = (last || row[InWidth-1:0] == '1) && !pageless;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wake_q    <= '0;
      ended_q   <= '0;
      aborted_q <= '0;
      row_q     <= '{default: '0};
    end else begin
      // An event in the clock in which the context is examined wakes it again.
      wake_q <= (wake_q & ~((step && !(there && more)) ? pick_hot : '0)) | wake_i
                | (Contexts'(final_valid_i && final_i.aborted) << final_i.ctx);
      if (leave) begin
        // The next job begins in the next page.
        row_q[pick_ctx] <= next_row;
        if (ends_page) row_q[pick_ctx] <= {row[RowWidth-1:InWidth] + 1'b1, InWidth'(0)};
        if (pageless) row_q[pick_ctx] <= row;
        if (last) begin
          ended_q[pick_ctx]   <= 1'b0;
          aborted_q[pick_ctx] <= 1'b0;
        end
      end
      if (final_valid_i) begin
        ended_q[final_i.ctx]   <= 1'b1;
        aborted_q[final_i.ctx] <= final_i.aborted;
      end
    end
  end

  always_ff @(posedge clk_i) if (final_valid_i) final_q[final_i.ctx] <= final_i;

  assign look_ended_o = ended_q[look_ctx_i];

  assign rd_enable_o  = leave;
  assign rd_row_o     = row[InWidth-1:0];
  assign rd_empties_o = leave && ends_page;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      row_valid_o <= 1'b0;
      row_ctx_o   <= '0;
      row_bytes_o <= '0;
      row_last_o  <= 1'b0;
      zero_q      <= 1'b0;
    end else if (step) begin
      row_valid_o <= leave;
      if (leave) begin
        row_ctx_o   <= dma_ctx_t'(pick_ctx);
        row_bytes_o <= last ? last_row.bytes : BytesWidth'(Bytes);
        row_last_o  <= last;
        zero_q      <= last && last_row.zero;
      end
    end
  end

  assign row_data_o     = zero_q ? '0 : rd_data_i;
  assign finish_valid_o = row_valid_o && row_ready_i && row_last_o;
  assign finish_ctx_o   = row_ctx_o[CtxWidth-1:0];

  `MAE_STREAM_HOLDS(RowHolds, row_valid_o, row_ready_i, {row_ctx_o, row_data_o, row_bytes_o,
                                                         row_last_o})
  `MAE_ASSERT(
      FinalIsItsOwn,
      !(leave && last) || last_row.ctx == pick_ctx && last_row.aborted == aborted_q[pick_ctx])
  `MAE_ASSERT(OnlyLastIsPartial, !row_valid_o || row_last_o || 32'(row_bytes_o) == Bytes)

endmodule
