// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_zero_fill: overwrites the destination of a DMA job with zeros if the job's data failed
// verification. It writes rows of zeros to the write engine, and passes all other rows through.
//
// One job at a time: scrub_ready_o is high when one can be accepted. Its rows have priority over
// the client's whenever the write engine has space for them, so a client waits at most every second
// clock. row_ready_o is combinational in row_ready_i.
// Latency: 1 clock from scrub_valid_i to the first row of zeros; 0 for the client's rows.
// Throughput: one row of zeros in two clocks, because room_i comes from a register.
// Parameters: Legal: DataWidth 128, 256, 512, 1024; Contexts 1..256.

`include "mae_assert.svh"

module mae_dma_zero_fill
  import mae_dma_pkg::*;
#(
    parameter  int unsigned DataWidth  = 512,
    parameter  int unsigned Contexts   = 64,
    localparam int unsigned BytesWidth = $clog2(DataWidth / 8 + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic            scrub_valid_i,
    output logic            scrub_ready_o,
    input  dma_ctx_t        scrub_ctx_i,
    input  logic     [31:0] scrub_bytes_i,

    input logic [Contexts-1:0] room_i,  // of the write engine

    input  logic                      row_valid_i,  // the client's
    output logic                      row_ready_o,
    input  dma_ctx_t                  row_ctx_i,
    input  logic     [ DataWidth-1:0] row_data_i,
    input  logic     [BytesWidth-1:0] row_bytes_i,
    input  logic                      row_last_i,

    output logic                      row_valid_o,
    input  logic                      row_ready_i,
    output dma_ctx_t                  row_ctx_o,
    output logic     [ DataWidth-1:0] row_data_o,
    output logic     [BytesWidth-1:0] row_bytes_o,
    output logic                      row_last_o
);
  localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  localparam logic [31:0] RowBytes = 32'(DataWidth / 8);

  dma_ctx_t ctx_q;
  logic [31:0] left_q;
  logic turn_q;  // the last row was the client's, or there was none
  logic holding_q;  // a client's row was offered and not accepted: it holds
  logic zero, last;

  assign scrub_ready_o = left_q == '0;
  assign last = left_q <= RowBytes;
  assign zero = left_q != '0 && turn_q && !holding_q && room_i[ctx_q[CtxWidth-1:0]];

  assign row_valid_o = zero || row_valid_i;
  assign row_ready_o = row_ready_i && !zero;
  assign row_ctx_o = zero ? ctx_q : row_ctx_i;
  assign row_data_o = zero ? '0 : row_data_i;
  assign row_bytes_o = zero ? BytesWidth'((left_q <= RowBytes) ? left_q : RowBytes) : row_bytes_i;
  assign row_last_o = zero ? last : row_last_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ctx_q     <= '0;
      left_q    <= '0;
      turn_q    <= 1'b0;
      holding_q <= 1'b0;
    end else begin
      turn_q    <= !(zero && row_ready_i);
      holding_q <= row_valid_i && !zero && !row_ready_i;
      if (zero && row_ready_i) left_q <= last ? '0 : left_q - RowBytes;
      if (scrub_valid_i && scrub_ready_o) begin
        ctx_q  <= scrub_ctx_i;
        left_q <= scrub_bytes_i;
      end
    end
  end

  `MAE_ASSERT(SomeBytes, !scrub_valid_i || scrub_bytes_i != '0)
  `MAE_STREAM_HOLDS(RowHolds, row_valid_o && !zero, row_ready_i, row_data_o)

endmodule
