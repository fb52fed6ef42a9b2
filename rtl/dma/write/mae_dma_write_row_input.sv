// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_write_row_input: stores the rows of the DMA's client in pages of their contexts and
// signals which have space.
//
// A page is claimed for a row when the row is given to the client (reserve_valid_i), so a client
// that returns one row for each row it gets never finds row_ready_o low. room_o allows for two
// clocks and the rows that a read engine has selected meanwhile. For another kind of client tie
// reserve_valid_i low; then row_ready_o stalls its rows. row_ready_o is combinational in
// row_ctx_i.
// Latency: a row is in the buffer in the next clock.
// Throughput: one row a clock.
// Parameters: Legal: as in mae_dma_write_engine.

`include "mae_assert.svh"

module mae_dma_write_row_input
  import mae_dma_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Contexts = 64,
    parameter int unsigned PageRows = 8,
    parameter int unsigned RowWidth = 12,  // of counted rows
    localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1,
    localparam int unsigned InWidth = $clog2(PageRows),
    localparam int unsigned BytesWidth = $clog2(DataWidth / 8 + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                      row_valid_i,
    output logic                      row_ready_o,
    input  dma_ctx_t                  row_ctx_i,
    input  logic     [BytesWidth-1:0] row_bytes_i,
    input  logic                      row_last_i,
    output logic     [  Contexts-1:0] room_o,
    input  logic                      reserve_valid_i,
    input  dma_ctx_t                  reserve_ctx_i,

    // pages: claimed for rows at the client (0) and for others (1), put when the first row arrives
    output logic [         1:0]               claim_valid_o,
    output logic [         1:0][CtxWidth-1:0] claim_ctx_o,
    input  logic                              claim_room_i,   // for claim 1
    input  logic [Contexts-1:0]               rooms_i,        // may claim, with a margin
    output logic                              put_valid_o,

    // to the buffer
    output logic                wr_valid_o,
    output logic [CtxWidth-1:0] wr_ctx_o,
    output logic [ InWidth-1:0] wr_row_o,    // of the context's last page

    // the context that is examined
    input  logic [  CtxWidth-1:0] look_ctx_i,
    output logic [  RowWidth-1:0] look_row_o,    // first row that has not arrived
    output logic                  look_ended_o,  // the job's last row has arrived
    output logic [BytesWidth-1:0] look_bytes_o,  // bytes of the last row

    input logic finish_valid_i  // the job of look_ctx_i is finished
);
  localparam int unsigned Margin = 4;  // rows: room's register, the selection, the row's register
  `MAE_PARAM(PageRowsLegal, PageRows >= Margin && 2 ** InWidth == PageRows)

  logic [RowWidth-1:0] row_q[Contexts];  // next row of each context
  logic [RowWidth-1:0] away_q[Contexts];  // rows at the client
  logic [InWidth-1:0] end_q[Contexts];  // of row_q + away_q
  logic [BytesWidth-1:0] bytes_q[Contexts];
  logic [Contexts-1:0] ended_q;

  logic [CtxWidth-1:0] ctx;
  logic [CtxWidth-1:0] reserve_ctx;
  logic guest;  // a row for which nothing was reserved
  logic take;
  logic [1:0] grow;  // one row more for claim_ctx_o
  logic [RowWidth-1:InWidth] next_page;  // the one after the last row

  assign ctx         = row_ctx_i[CtxWidth-1:0];
  assign reserve_ctx = reserve_ctx_i[CtxWidth-1:0];
  assign guest       = away_q[ctx] == '0 && !(reserve_valid_i && reserve_ctx == ctx);
  assign row_ready_o = !ended_q[ctx] && (away_q[ctx] != '0 || end_q[ctx] != '0 || claim_room_i);
  assign take        = row_valid_i && row_ready_o;

  // The first row of a page claims it.
  assign grow        = {take && guest, reserve_valid_i};
  assign claim_ctx_o = {ctx, reserve_ctx};
  always_comb begin
    for (int unsigned k = 0; k < 2; k++) begin
      claim_valid_o[k] = grow[k] && end_q[claim_ctx_o[k]] == '0;
    end
  end
  assign put_valid_o = take && row_q[ctx][InWidth-1:0] == '0;
  assign next_page     = row_q[look_ctx_i][RowWidth-1:InWidth]
                         + (RowWidth - InWidth)'(row_q[look_ctx_i][InWidth-1:0] != '0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      row_q   <= '{default: '0};
      away_q  <= '{default: '0};
      end_q   <= '{default: '0};
      ended_q <= '0;
      room_o  <= '0;
    end else begin
      if (take) row_q[ctx] <= row_q[ctx] + 1'b1;
      if (reserve_valid_i && !(take && !guest && ctx == reserve_ctx))
        away_q[reserve_ctx] <= away_q[reserve_ctx] + 1'b1;
      if (take && !guest && !(reserve_valid_i && ctx == reserve_ctx))
        away_q[ctx] <= away_q[ctx] - 1'b1;
      for (int unsigned k = 0; k < 2; k++) begin
        if (grow[k]) end_q[claim_ctx_o[k]] <= end_q[claim_ctx_o[k]] + 1'b1;
      end
      if (finish_valid_i) begin
        // The next job begins in the next page.
        row_q[look_ctx_i]   <= {next_page, InWidth'(0)};
        end_q[look_ctx_i]   <= '0;
        ended_q[look_ctx_i] <= 1'b0;
      end
      if (take && row_last_i) ended_q[ctx] <= 1'b1;
      for (int unsigned i = 0; i < Contexts; i++) begin
        room_o[i] <= rooms_i[i] || end_q[i] != '0 && 32'(end_q[i]) <= PageRows - Margin;
      end
    end
  end

  always_ff @(posedge clk_i) if (take && row_last_i) bytes_q[ctx] <= row_bytes_i;

  assign wr_valid_o   = take;
  assign wr_ctx_o     = ctx;
  assign wr_row_o     = row_q[ctx][InWidth-1:0];

  assign look_row_o   = row_q[look_ctx_i];
  assign look_ended_o = ended_q[look_ctx_i];
  assign look_bytes_o = bytes_q[look_ctx_i];

  `MAE_ASSERT(RowInRange, !row_valid_i || 32'(row_ctx_i) < Contexts)
  `MAE_ASSERT(ReserveInRange, !reserve_valid_i || 32'(reserve_ctx_i) < Contexts)
  `MAE_ASSERT(OnlyLastIsPartial,
              !row_valid_i || 32'(row_bytes_i) == DataWidth / 8 || row_last_i && row_bytes_i != '0)

  `MAE_ASSERT(AllCameBack, !(take && row_last_i) || guest || 32'(away_q[ctx]) <= 1)

endmodule
