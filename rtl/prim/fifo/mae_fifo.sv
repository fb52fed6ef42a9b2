// SPDX-License-Identifier: Apache-2.0
//
// mae_fifo: buffers words in first-in first-out order.
//
// Ready and valid depend on registers only: there is no combinational path from input to output or
// back.
// Latency: 1 clock from input to output.
// Throughput: one word a clock; with Depth = 1 one word in two clocks.
// Reset and clear: reset and clear_i (one clock) empty the FIFO. With Zero = 1 they also set the
// stored words to zero: use it for secrets. With Zero = 0 the words stay in the storage,
// unreachable, and synthesis may infer a memory.
// Parameters: Width is the word width in bits, Depth the number of words. Legal: Width >= 1, Depth
// >= 1, Zero 0 or 1.

`include "mae_assert.svh"

module mae_fifo #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 2,
    parameter bit          Zero  = 1'b1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [Width-1:0] in_data_i,

    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_data_o,

    output logic [$clog2(Depth+1)-1:0] count_o
);
  `MAE_PARAM(WidthLegal, Width >= 1)
  `MAE_PARAM(DepthLegal, Depth >= 1)

  localparam int unsigned PtrWidth = (Depth > 1) ? $clog2(Depth) : 1;
  localparam int unsigned CountWidth = $clog2(Depth + 1);

  logic [     Width-1:0] store_q [Depth];
  logic [  PtrWidth-1:0] write_q;
  logic [  PtrWidth-1:0] read_q;
  logic [CountWidth-1:0] count_q;
  logic                  push;
  logic                  pop;

  assign push = in_valid_i && in_ready_o;
  assign pop = out_valid_o && out_ready_i;
  assign in_ready_o = count_q != CountWidth'(Depth);
  assign out_valid_o = count_q != '0;
  assign out_data_o = store_q[read_q];
  assign count_o = count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
    end else if (clear_i) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
    end else begin
      if (push) write_q <= (write_q == PtrWidth'(Depth - 1)) ? '0 : write_q + 1'b1;
      if (pop) read_q <= (read_q == PtrWidth'(Depth - 1)) ? '0 : read_q + 1'b1;
      if (push && !pop) count_q <= count_q + 1'b1;
      if (pop && !push) count_q <= count_q - 1'b1;
    end
  end

  if (Zero) begin : gen_zero
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) store_q <= '{default: '0};
      else if (clear_i) store_q <= '{default: '0};
      else if (push) store_q[write_q] <= in_data_i;
    end
  end else begin : gen_keep
    always_ff @(posedge clk_i) if (push) store_q[write_q] <= in_data_i;
  end

  if (Depth + 1 < 2 ** CountWidth) begin : gen_count  // otherwise every value of count_q is legal
    `MAE_ASSERT(CountInRange, 32'(count_q) <= Depth)
  end
  `MAE_STREAM_HOLDS(OutHolds, out_valid_o, out_ready_i || clear_i, out_data_o)

endmodule
