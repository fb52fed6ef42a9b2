// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_write_row_input: writes the client's rows into the rings of their contexts, and tells
// which rings have space.
//
// room_o counts the stored rows and the rows at the client: from reserve_valid_i (the row was given
// to the client) until it returns. It allows for two clocks and the rows that a read engine has
// selected meanwhile, so a client that returns one row for each row it gets never finds row_ready_o
// low. For another kind of client tie reserve_valid_i low; then row_ready_o stalls its rows.
// row_ready_o is combinational in row_ctx_i.
// Latency: a row is in the buffer in the next clock.
// Throughput: one row a clock.
// Parameters: Legal: as in mae_dma_write_engine.

`include "mae_assert.svh"

module mae_dma_write_row_input
  import mae_dma_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Contexts = 64,
    parameter int unsigned RowsPerContext = 32,
    localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1,
    localparam int unsigned RowWidth = $clog2(RowsPerContext),
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

    // to the buffer
    output logic                wr_valid_o,
    output logic [CtxWidth-1:0] wr_ctx_o,
    output logic [RowWidth-1:0] wr_row_o,

    // the context that is examined
    input  logic [  CtxWidth-1:0] look_ctx_i,
    output logic [    RowWidth:0] look_row_o,    // first row that has not arrived
    output logic                  look_ended_o,  // the job's last row has arrived
    output logic [BytesWidth-1:0] look_bytes_o,  // bytes of the last row

    input logic                finish_valid_i,  // the job of look_ctx_i is finished
    input logic                free_valid_i,    // the rows of free_ctx_i before free_row_i are sent
    input logic [CtxWidth-1:0] free_ctx_i,
    input logic [  RowWidth:0] free_row_i
);
  localparam int unsigned Margin = 4;  // rows: room's register, the selection, the row's register
  localparam int unsigned AwayWidth = RowWidth + 1;

  logic [    RowWidth:0] row_q                                [Contexts];  // next row of each ring
  // oldest row that was not sent
  logic [    RowWidth:0] free_q                               [Contexts];
  logic [ AwayWidth-1:0] away_q                               [Contexts];  // rows at the client
  logic [BytesWidth-1:0] bytes_q                              [Contexts];
  logic [  Contexts-1:0] ended_q;

  logic [  CtxWidth-1:0] ctx;
  logic [  CtxWidth-1:0] reserve_ctx;
  logic [    RowWidth:0] used;
  logic                  take;
  logic                  come;  // one row fewer at the client
  logic                  go;  // one row more at the client

  assign ctx         = row_ctx_i[CtxWidth-1:0];
  assign reserve_ctx = reserve_ctx_i[CtxWidth-1:0];
  assign used        = row_q[ctx] - free_q[ctx];
  assign row_ready_o = !used[RowWidth] && !ended_q[ctx];
  assign take        = row_valid_i && row_ready_o;
  assign come        = take && (away_q[ctx] != '0 || go && ctx == reserve_ctx);
  assign go          = reserve_valid_i && away_q[reserve_ctx] != '1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      row_q   <= '{default: '0};
      free_q  <= '{default: '0};
      away_q  <= '{default: '0};
      ended_q <= '0;
      room_o  <= '0;
    end else begin
      if (take) row_q[ctx] <= row_q[ctx] + 1'b1;
      if (free_valid_i) free_q[free_ctx_i] <= free_row_i;
      if (go && !(come && ctx == reserve_ctx)) away_q[reserve_ctx] <= away_q[reserve_ctx] + 1'b1;
      if (come && !(go && ctx == reserve_ctx)) away_q[ctx] <= away_q[ctx] - 1'b1;
      if (take && row_last_i) away_q[ctx] <= '0;
      if (finish_valid_i) ended_q[look_ctx_i] <= 1'b0;
      if (take && row_last_i) ended_q[ctx] <= 1'b1;
      for (int unsigned i = 0; i < Contexts; i++) begin
        room_o[i] <= (RowWidth + 2)'((RowWidth + 1)'(row_q[i] - free_q[i]))
                     + (RowWidth + 2)'(away_q[i]) <= (RowWidth + 2)'(RowsPerContext - Margin);
      end
    end
  end

  always_ff @(posedge clk_i) if (take && row_last_i) bytes_q[ctx] <= row_bytes_i;

  assign wr_valid_o   = take;
  assign wr_ctx_o     = ctx;
  assign wr_row_o     = row_q[ctx][RowWidth-1:0];

  assign look_row_o   = row_q[look_ctx_i];
  assign look_ended_o = ended_q[look_ctx_i];
  assign look_bytes_o = bytes_q[look_ctx_i];

  `MAE_ASSERT(RowInRange, !row_valid_i || 32'(row_ctx_i) < Contexts)
  `MAE_ASSERT(ReserveInRange, !reserve_valid_i || 32'(reserve_ctx_i) < Contexts)
  `MAE_ASSERT(OnlyLastIsPartial,
              !row_valid_i || 32'(row_bytes_i) == DataWidth / 8 || row_last_i && row_bytes_i != '0)

endmodule
