// SPDX-License-Identifier: Apache-2.0
//
// mae_fifo_scrubbed: buffers secret words in first-in first-out order, in a memory that a clear
// erases word by word.
//
// Unlike the registers of mae_fifo, the memory has one write port and so fits into LUT RAM of an
// FPGA. After a clear a zero is written in each clock without a push; words are accepted meanwhile.
// Ready and valid depend on registers only: there is no combinational path from input to output or
// back.
// Latency: 1 clock from input to output.
// Throughput: one word a clock.
// Reset and clear: reset and clear_i (one clock) empty the FIFO. All old words are overwritten, by
// zeros or by new words, in at most 2 * Depth clocks after it.
// Parameters: Width is the word width in bits, Depth the number of words. Legal: Width >= 1, Depth
// >= 2.

`include "mae_assert.svh"

module mae_fifo_scrubbed #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [Width-1:0] in_data_i,

    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_data_o
);
  `MAE_PARAM(WidthLegal, Width >= 1)
  `MAE_PARAM(DepthLegal, Depth >= 2)

  localparam int unsigned PtrWidth = $clog2(Depth);
  localparam int unsigned CountWidth = $clog2(Depth + 1);

  logic [     Width-1:0] store_q                                                        [Depth];
  logic [  PtrWidth-1:0] write_q;
  logic [  PtrWidth-1:0] read_q;
  logic [CountWidth-1:0] count_q;
  logic [CountWidth-1:0] scrub_q;  // the words from this one on are old; Depth: none is
  logic push, pop, scrub;

  assign push        = in_valid_i && in_ready_o;
  assign pop         = out_valid_o && out_ready_i;
  assign scrub       = scrub_q != CountWidth'(Depth);
  assign in_ready_o  = count_q != CountWidth'(Depth);
  assign out_valid_o = count_q != '0;
  assign out_data_o  = store_q[read_q];

  // New words are written from word 0 on, too. They never overtake scrub_q, but may reach it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
      scrub_q <= '0;
    end else if (clear_i) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
      scrub_q <= '0;
    end else begin
      if (push) write_q <= (write_q == PtrWidth'(Depth - 1)) ? '0 : write_q + 1'b1;
      if (pop) read_q <= (read_q == PtrWidth'(Depth - 1)) ? '0 : read_q + 1'b1;
      if (push && !pop) count_q <= count_q + 1'b1;
      if (pop && !push) count_q <= count_q - 1'b1;
      if (scrub && (!push || CountWidth'(write_q) == scrub_q)) scrub_q <= scrub_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (push || scrub) begin
      store_q[push?write_q : PtrWidth'(scrub_q)] <= in_data_i & {Width{push}};
    end
  end

  if (Depth + 1 < 2 ** CountWidth) begin : gen_count  // otherwise every value of count_q is legal
    `MAE_ASSERT(CountInRange, 32'(count_q) <= Depth)
  end
  `MAE_ASSERT(OldBehindNew, !scrub || CountWidth'(write_q) <= scrub_q)
  `MAE_STREAM_HOLDS(OutHolds, out_valid_o, out_ready_i || clear_i, out_data_o)

endmodule
