// SPDX-License-Identifier: Apache-2.0
//
// mae_fifo_async: buffers words in first-in first-out order between two clocks of any phase and
// frequency ratio.
//
// Each pointer crosses to the other clock in Gray code through two registers (mae_sync), so that the
// other side sees either the old or the new value. Ready and valid depend on registers of their
// own side only.
// Latency: a word accepted at a rising edge of in_clk_i is offered after the second following
// rising edge of out_clk_i. Its place is free again after the third rising edge of in_clk_i that
// follows its removal.
// Throughput: one word a clock of the slower side if LogDepth >= 3.
// Reset: in_ready_o and out_valid_o are low during reset. Assert both resets together for some
// time: resetting one side alone is not allowed (mae_cdc_reset_ctrl joins the resets of both
// sides). With Zero = 1, reset sets all stored words to zero, and each word is set to zero as soon
// as it has been removed.
// Parameters: the depth is 2^LogDepth words of Width bits. Legal: Width >= 1, LogDepth >= 1, Zero 0
// or 1.
// Constraint: limit the delay from *_gray_q to the other side's mae_sync and from the stored words
// to registers of out_clk_i to one clock of the faster side (`maeslant constraints`).

`include "mae_assert.svh"

module mae_fifo_async #(
    parameter int unsigned Width = 8,
    parameter int unsigned LogDepth = 3,
    parameter bit Zero = 1'b1
) (
    input  logic             in_clk_i,
    input  logic             in_rst_ni,
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [Width-1:0] in_data_i,

    input  logic             out_clk_i,
    input  logic             out_rst_ni,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_data_o
);
  `MAE_PARAM(WidthLegal, Width >= 1)
  `MAE_PARAM(LogDepthLegal, LogDepth >= 1)

  localparam int unsigned Depth = 2 ** LogDepth;

  // One bit more than an address, to tell full from empty.
  typedef logic [LogDepth:0] pointer_t;

  function automatic pointer_t to_gray(input pointer_t binary);
    return binary ^ (binary >> 1);
  endfunction

  function automatic pointer_t from_gray(input pointer_t gray);
    pointer_t binary;
    for (int unsigned i = 0; i <= LogDepth; i++) binary[i] = ^(gray >> i);
    return binary;
  endfunction

  // Registers of the writing side. free_q follows the read pointer; a word is zeroed as it passes.
  pointer_t write_q, write_d, write_gray_q, free_q;
  pointer_t read_gray;  // the other side's, as seen here
  logic open_q;  // high outside reset
  logic push, free;
  // Registers of the reading side.
  pointer_t read_q, read_d, read_gray_q;
  pointer_t write_gray;

  assign in_ready_o = open_q && write_q - free_q != pointer_t'(Depth);
  assign push       = in_valid_i && in_ready_o;
  assign write_d    = write_q + pointer_t'(push);
  assign free       = free_q != from_gray(read_gray);

  always_ff @(posedge in_clk_i or negedge in_rst_ni) begin
    if (!in_rst_ni) begin
      open_q       <= 1'b0;
      write_q      <= '0;
      write_gray_q <= '0;
      free_q       <= '0;
    end else begin
      open_q       <= 1'b1;
      write_q      <= write_d;
      write_gray_q <= to_gray(write_d);
      free_q       <= Zero ? free_q + pointer_t'(free) : from_gray(read_gray);
    end
  end

  mae_sync #(
      .Width(LogDepth + 1)
  ) u_read_sync (
      .clk_i (in_clk_i),
      .rst_ni(in_rst_ni),
      .data_i(read_gray_q),
      .data_o(read_gray)
  );

  if (Zero) begin : gen_zero
    logic [Width-1:0] store_q[Depth];

    // free_q and write_q never point to the same word here: one is in use, the other is not.
    always_ff @(posedge in_clk_i or negedge in_rst_ni) begin
      if (!in_rst_ni) begin
        store_q <= '{default: '0};
      end else begin
        if (free) store_q[free_q[LogDepth-1:0]] <= '0;
        if (push) store_q[write_q[LogDepth-1:0]] <= in_data_i;
      end
    end
    assign out_data_o = store_q[read_q[LogDepth-1:0]];
  end else begin : gen_keep
    mae_ram #(
        .Width(Width),
        .Depth(Depth)
    ) u_store (
        .clk_i       (in_clk_i),
        .write_i     (push),
        .write_addr_i(write_q[LogDepth-1:0]),
        .write_data_i(in_data_i),
        .read_i      (1'b1),
        .clear_i     (1'b0),
        .read_addr_i (read_q[LogDepth-1:0]),
        .read_data_o (out_data_o)
    );
  end

  // Reading side.
  assign out_valid_o = read_gray_q != write_gray;
  assign read_d      = read_q + pointer_t'(out_valid_o && out_ready_i);

  always_ff @(posedge out_clk_i or negedge out_rst_ni) begin
    if (!out_rst_ni) begin
      read_q      <= '0;
      read_gray_q <= '0;
    end else begin
      read_q      <= read_d;
      read_gray_q <= to_gray(read_d);
    end
  end

  mae_sync #(
      .Width(LogDepth + 1)
  ) u_write_sync (
      .clk_i (out_clk_i),
      .rst_ni(out_rst_ni),
      .data_i(write_gray_q),
      .data_o(write_gray)
  );

  `MAE_ASSERT_AT(in_clk_i, in_rst_ni, UsedInRange, write_q - free_q <= pointer_t'(Depth))
  `MAE_ASSERT_AT(in_clk_i, in_rst_ni, WriteGrayStep, $onehot0(to_gray(write_d) ^ write_gray_q))
  `MAE_ASSERT_AT(out_clk_i, out_rst_ni, ReadGrayStep, $onehot0(to_gray(read_d) ^ read_gray_q))
  `MAE_STREAM_HOLDS_AT(out_clk_i, out_rst_ni, OutHolds, out_valid_o, out_ready_i, out_data_o)

endmodule
