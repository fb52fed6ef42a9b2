// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_write_burst_send: sends the data beats of the AXI4 write bursts that
// mae_dma_write_burst_plan has planned.
//
// Each beat is a window of the context's rows at any byte position; only the bytes of the
// segment have strobes. All data of a burst are present, so W has no gap within a burst or from
// burst to burst. The pages are given back when the last beat is read. w_ready_i has a
// combinational path to the read enable of the buffer.
// Latency: 3 clocks from plan to W.
// Throughput: one beat and one page a clock; dropping rows takes one clock for each page, at
// least one.
// Reset: drops all bursts.
// Parameters: Legal: as in mae_dma_write_engine; burst_t is its type.

`include "mae_assert.svh"

module mae_dma_write_burst_send #(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned PageRows = 8,
    parameter int unsigned CountWidth = 9,  // of a burst's pages
    parameter int unsigned CtxWidth = 6,
    parameter type burst_t = logic,
    localparam int unsigned RowWidth = $clog2(2 * PageRows),
    localparam int unsigned LaneWidth = $clog2(DataWidth / 8)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic   burst_valid_i,
    output logic   burst_ready_o,
    input  burst_t burst_i,

    output logic                 rd_enable_o,
    output logic [ CtxWidth-1:0] rd_ctx_o,
    output logic [ RowWidth-1:0] rd_row_o,
    output logic [LaneWidth-1:0] rd_offset_o,
    input  logic [DataWidth-1:0] rd_data_i,

    output logic                   w_valid_o,
    input  logic                   w_ready_i,
    output logic [  DataWidth-1:0] w_data_o,
    output logic [DataWidth/8-1:0] w_strb_o,
    output logic                   w_last_o,

    output logic free_valid_o  // the oldest page of rd_ctx_o is free
);
  localparam int unsigned Bytes = DataWidth / 8;

  logic [           7:0] beat_q;
  logic [CountWidth-1:0] freed_q;  // pages of the burst
  logic                  last;
  logic                  done;  // all is read
  logic                  read;
  logic                  read_step;
  logic                  send_step;

  // the beat in the buffer's read register
  logic                  read_valid_q;
  logic                  read_last_q;
  logic [     Bytes-1:0] read_strb_q;

  assign send_step     = !w_valid_o || w_ready_i;
  assign read_step     = !read_valid_q || send_step;
  assign last          = beat_q == burst_i.len;
  assign read          = burst_valid_i && !burst_i.drop && freed_q == '0;
  assign done          = burst_valid_i && (!read || read_step && last);
  assign burst_ready_o = done && burst_i.pages <= freed_q + 1'b1;

  assign rd_enable_o   = read && read_step;
  assign rd_ctx_o      = burst_i.ctx;
  assign rd_row_o      = burst_i.row + RowWidth'(beat_q);
  assign rd_offset_o   = burst_i.offset;

  assign free_valid_o  = done && burst_i.pages != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) freed_q <= '0;
    else if (done) freed_q <= burst_ready_o ? '0 : freed_q + 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q       <= '0;
      read_valid_q <= 1'b0;
      read_last_q  <= 1'b0;
      read_strb_q  <= '0;
    end else if (read_step) begin
      read_valid_q <= read;
      if (read) begin
        beat_q <= last ? '0 : beat_q + 1'b1;
        read_last_q <= last;
        read_strb_q <= ((beat_q == '0) ? {Bytes{1'b1}} << burst_i.first : {Bytes{1'b1}})
                       & (last ? {Bytes{1'b1}} >> ~burst_i.last : {Bytes{1'b1}});
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      w_valid_o <= 1'b0;
      w_data_o  <= '0;
      w_strb_o  <= '0;
      w_last_o  <= 1'b0;
    end else if (send_step) begin
      w_valid_o <= read_valid_q;
      w_data_o  <= read_valid_q ? rd_data_i : '0;  // erased when unused
      if (read_valid_q) begin
        w_strb_o <= read_strb_q;
        w_last_o <= read_last_q;
      end
    end
  end

  `MAE_STREAM_HOLDS(WHolds, w_valid_o, w_ready_i, {w_data_o, w_strb_o, w_last_o})
  `MAE_ASSERT(NoGapInBurst, beat_q == '0 || read)

endmodule
