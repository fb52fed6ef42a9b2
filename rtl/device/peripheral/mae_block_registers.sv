// SPDX-License-Identifier: Apache-2.0
//
// mae_block_registers: converts 32-bit words at the AES peripheral's data registers to the blocks
// of a job and back.
//
// A write of word 3 sends a block, a read of word 3 removes one. A write is acknowledged in its own
// clock. A read waits while a result is in progress, at most 255 clocks; then, or if none is in
// progress, it returns 0 and reports an underflow. At most Depth blocks are between write and read,
// so the engine is never stalled. The module knows the length of the job: it refuses blocks beyond
// it (overflow) and marks the last one. A quiet job has no results: its blocks are complete when
// the engine accepts them. Blocks at the engine's ports are in register order, byte 0 in bits 7:0.
// Bytes of a partial block beyond its end are 0, at input and output.
// Latency: 0 clocks for writes; a read of a finished block is answered in its own clock or later.
// Throughput: one register access a clock.
// Reset and clear: clear_i erases all data in one clock.
// Parameters: Legal: Depth 1..15.
// Source: Fernando et al. (the push model of its AES core).

`include "mae_assert.svh"

module mae_block_registers #(
    parameter int unsigned Depth = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input logic        start_i,   // a job of length_i bytes; only if no job is being written
    input logic [31:0] length_i,
    input logic        quiet_i,

    // data registers: a request lasts one clock; its acknowledgement comes in that clock or later
    input  logic [ 3:0] write_req_i,
    input  logic [31:0] write_data_i,
    output logic [ 3:0] write_ack_o,
    input  logic [ 3:0] read_req_i,
    output logic [ 3:0] read_ack_o,
    output logic [31:0] read_data_o,

    output logic [3:0] room_o,      // number of blocks that may be written
    output logic [3:0] answers_o,   // number of blocks that can be read without waiting
    output logic       overflow_o,  // pulse: a block was dropped
    output logic       underflow_o, // pulse: a read found no block

    output logic         in_valid_o,  // to the engine
    input  logic         in_ready_i,
    output logic [127:0] in_data_o,
    output logic [  4:0] in_bytes_o,
    output logic         in_last_o,

    input logic         out_valid_i,  // from the engine, always accepted
    input logic [127:0] out_data_i,
    input logic [  4:0] out_bytes_i
);
  `MAE_PARAM(DepthLegal, Depth >= 1 && Depth <= 15)

  localparam int unsigned CountWidth = $clog2(Depth + 1);
  localparam int unsigned WaitClocks = 255;

  // Mask of the used bytes of a block.
  function automatic logic [127:0] byte_mask(input logic [4:0] bytes);
    logic [127:0] mask;
    for (int unsigned i = 0; i < 16; i++) mask[8*i+:8] = {8{5'(i) < bytes}};
    return mask;
  endfunction

  // Writing: words are collected, the fourth one pushes the block.
  logic [2:0][31:0] staged_q;
  logic [31:0] left_q;  // bytes of the job that were not written
  logic [3:0] held_q;  // blocks between write and read
  logic quiet_q;
  logic hand_over, push, pop, taken, last;
  logic [4:0] bytes;

  assign hand_over = write_req_i[3];
  assign push = hand_over && room_o != '0;
  assign overflow_o = hand_over && room_o == '0;
  assign last = left_q <= 32'd16;
  assign bytes = last ? left_q[4:0] : 5'd16;
  assign write_ack_o = write_req_i;

  always_comb begin
    room_o = 4'(Depth) - held_q;
    if (29'(room_o) > 29'((33'(left_q) + 33'd15) >> 4)) room_o = 4'((33'(left_q) + 33'd15) >> 4);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      staged_q <= '0;
      left_q   <= '0;
      held_q   <= '0;
      quiet_q  <= 1'b0;
    end else if (clear_i) begin
      staged_q <= '0;
      left_q   <= '0;
      held_q   <= '0;
      quiet_q  <= 1'b0;
    end else begin
      for (int unsigned i = 0; i < 3; i++) if (write_req_i[i]) staged_q[i] <= write_data_i;
      if (hand_over) staged_q <= '0;
      if (start_i) left_q <= length_i;
      else if (push) left_q <= last ? '0 : left_q - 32'd16;
      if (start_i) quiet_q <= quiet_i;
      held_q <= held_q + 4'(push) - 4'(pop) - 4'(taken);
    end
  end

  assign taken = quiet_q && in_valid_o && in_ready_i;

  // Held blocks never exceed Depth: both FIFOs always have space.
  logic unused_in_ready, unused_out_ready;
  logic [CountWidth-1:0] unused_in_count;

  mae_fifo #(
      .Width(134),
      .Depth(Depth)
  ) u_in (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (push),
      .in_ready_o (unused_in_ready),
      .in_data_i  ({last, bytes, {write_data_i, staged_q} & byte_mask(bytes)}),
      .out_valid_o(in_valid_o),
      .out_ready_i(in_ready_i),
      .out_data_o ({in_last_o, in_bytes_o, in_data_o}),
      .count_o    (unused_in_count)
  );

  // Reading: the fourth word pops.
  logic [127:0] answer;
  logic answer_valid, answer_taken;
  logic [3:0] wait_q, asked;
  logic [$clog2(WaitClocks+1)-1:0] waited_q;
  logic give_up;
  logic [CountWidth-1:0] answer_count;

  mae_fifo #(
      .Width(128),
      .Depth(Depth)
  ) u_out (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (out_valid_i),
      .in_ready_o (unused_out_ready),
      .in_data_i  (out_data_i & byte_mask(out_bytes_i)),
      .out_valid_o(answer_valid),
      .out_ready_i(answer_taken),
      .out_data_o (answer),
      .count_o    (answer_count)
  );

  assign asked = read_req_i | wait_q;
  assign give_up = !answer_valid && (held_q == '0 || quiet_q || int'(waited_q) == WaitClocks);
  assign read_ack_o = (answer_valid || give_up) ? asked : '0;
  assign underflow_o = give_up && asked != '0;
  assign answer_taken = asked[3];
  assign pop = answer_valid && answer_taken;
  assign answers_o = 4'(answer_count);

  always_comb begin
    read_data_o = '0;
    for (int unsigned i = 0; i < 4; i++)
    if (asked[i] && answer_valid) read_data_o |= answer[32*i+:32];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q   <= '0;
      waited_q <= '0;
    end else begin
      wait_q   <= asked & ~read_ack_o;
      waited_q <= (wait_q == '0) ? '0 : waited_q + 1'b1;
    end
  end

  `MAE_ASSERT(OneRequest, $onehot0({write_req_i, asked}))
  `MAE_ASSERT(NeverFull, !(out_valid_i && answer_count == CountWidth'(Depth)))
  `MAE_ASSERT(HeldIsEnough, 4'(answer_count) <= held_q)

endmodule
