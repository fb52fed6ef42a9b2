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
// Reset and clear: both empty the FIFO. All old words are overwritten, by zeros or by new words, in
// at most 2 * Depth clocks after a clear, also if it is held or others follow: in Depth clocks
// without a push. A reset that is held erases nothing; after it the same holds.
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

  logic [  PtrWidth-1:0] write_q;
  logic [  PtrWidth-1:0] read_q;
  logic [CountWidth-1:0] count_q;
  // Old words: the next one to overwrite, and how many there are from there on, round the end.
  logic [PtrWidth-1:0] scrub_q, scrub_d;
  logic [CountWidth-1:0] old_q;
  logic push, pop, scrub;

  function automatic logic [PtrWidth-1:0] next(input logic [PtrWidth-1:0] word);
    return (word == PtrWidth'(Depth - 1)) ? '0 : word + 1'b1;
  endfunction

  assign push        = in_valid_i && in_ready_o;
  assign pop         = out_valid_o && out_ready_i;
  assign scrub       = old_q != '0 && (!push || write_q == scrub_q);
  assign scrub_d     = scrub ? next(scrub_q) : scrub_q;
  assign in_ready_o  = count_q != CountWidth'(Depth);
  assign out_valid_o = count_q != '0;

  // New words begin where the old ones do. They never overtake scrub_q, but may reach it. A clear
  // goes on from there: however often it comes, every word has its turn.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
      scrub_q <= '0;
      old_q   <= CountWidth'(Depth);
    end else begin
      scrub_q <= scrub_d;
      if (clear_i) begin
        write_q <= scrub_d;
        read_q  <= scrub_d;
        count_q <= '0;
        old_q   <= CountWidth'(Depth);
      end else begin
        if (push) write_q <= next(write_q);
        if (pop) read_q <= next(read_q);
        if (push && !pop) count_q <= count_q + 1'b1;
        if (pop && !push) count_q <= count_q - 1'b1;
        if (scrub) old_q <= old_q - 1'b1;
      end
    end
  end

  mae_ram #(
      .Width(Width),
      .Depth(Depth)
  ) u_store (
      .clk_i,
      .write_i     (push || scrub),
      .write_addr_i(push ? write_q : scrub_q),
      .write_data_i(in_data_i & {Width{push}}),
      .read_i      (1'b1),
      .clear_i     (1'b0),
      .read_addr_i (read_q),
      .read_data_o (out_data_o)
  );

  if (Depth + 1 < 2 ** CountWidth) begin : gen_count  // otherwise every value of count_q is legal
    `MAE_ASSERT(CountInRange, 32'(count_q) <= Depth)
  end
  `MAE_ASSERT(OldBehindNew, 32'(old_q) + 32'(count_q) <= Depth)
  `MAE_STREAM_HOLDS(OutHolds, out_valid_o, out_ready_i || clear_i, out_data_o)

endmodule
