// SPDX-License-Identifier: Apache-2.0
//
// mae_kernel_affine_bytes: maps every byte x of a memory range to 3 x + 1 (modulo 256) and writes
// the results to another range.
//
// It is the smallest accelerator, for tests of everything in which only the accesses of a kernel
// matter. start_i begins a run over length_i bytes at source_i, one granule of 64 bytes after the
// other: its rows are read, then written; for overlapping ranges this order defines the result.
// done_o is high for one clock at the end of a run, with fault_o if the run was aborted: an access
// was refused, or an address is not a multiple of 64 or exceeds the 32-bit space (there is no
// access to such an address). A length of 0 ends at once. The inputs given with start_i must hold
// while busy_o. start_i is ignored while busy_o. The memory port is that of mae_kernel_int8_nn.
// Latency: without stalls, and if the memory answers A clocks after it accepted a read, a whole
// granule takes A + 10 clocks, the end of the run A + 4.
// Throughput: one granule at a time.
// Reset and clear: both erase the data. From the clock after clear_i on there is no request; busy_o
// stays high until the outstanding reads are answered, and done_o is not given.
// Security: timing does not depend on data.
// Source: the reference kernel in maeslant/protected/model/card.py.

`include "mae_assert.svh"

module mae_kernel_affine_bytes
  import mae_kernel_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic        start_i,
    input  logic [63:0] source_i,
    input  logic [63:0] destination_i,
    input  logic [63:0] length_i,
    output logic        busy_o,
    output logic        done_o,
    output logic        fault_o,

    output logic            mem_valid_o,
    input  logic            mem_ready_i,
    output memory_request_t mem_request_o,
    input  logic            mem_rvalid_i,
    input  row_t            mem_rdata_i,
    input  logic            mem_fault_i
);
  typedef enum logic [2:0] {
    Idle,
    Look,     // is there another granule, and is it legal
    Reads,
    Answers,
    Writes,
    Fence,    // one more read: its answer comes after those to all writes
    Settle,
    Drain     // waits for answers that are not used
  } state_e;

  typedef logic [26:0] granule_t;  // one bit more than needed, to detect overruns

  state_e state_q;
  logic told_q, done_q, fault_q;
  logic [63:0] left_q;  // bytes
  logic [25:0] at_q;  // number of the granule in the run
  logic [1:0] asked_q, got_q, last;  // rows of the granule, requested and received
  logic [2:0] open_q;  // outstanding reads
  row_t [3:0] rows_q;
  logic allowed, take, fault;
  granule_t source, destination;
  row_t mapped;

  assign source = {1'b0, source_i[31:6]} + {1'b0, at_q};
  assign destination = {1'b0, destination_i[31:6]} + {1'b0, at_q};
  assign allowed = source_i[63:32] == '0 && destination_i[63:32] == '0 && source_i[5:0] == '0 &&
      destination_i[5:0] == '0 && !source[26] && !destination[26];
  assign last = (left_q >= 64'd64) ? 2'd3 : 2'((left_q[5:0] - 6'd1) >> 4);
  assign fault = state_q != Idle && state_q != Drain &&
      (mem_fault_i || (state_q == Look && left_q != '0 && !allowed));
  assign busy_o = state_q != Idle;
  assign done_o = done_q;
  assign fault_o = fault_q;

  always_comb begin
    for (int unsigned i = 0; i < 16; i++) begin
      mapped[8*i+:8] = mem_rdata_i[8*i+:8] + (mem_rdata_i[8*i+:8] << 1) + 8'd1;
    end
  end

  // The request.
  assign mem_valid_o = state_q inside {Reads, Writes, Fence};
  assign take = mem_valid_o && mem_ready_i;

  always_comb begin
    mem_request_o = '0;
    mem_request_o.address = {source[25:0], asked_q, 4'b0};
    if (state_q == Fence) mem_request_o.address = {source_i[31:6], 6'b0};
    if (state_q == Writes) begin
      mem_request_o.write = 1'b1;
      mem_request_o.address = {destination[25:0], asked_q, 4'b0};
      mem_request_o.data = rows_q[asked_q];
      for (int unsigned i = 0; i < 16; i++) begin
        mem_request_o.strb[i] = left_q > 64'({asked_q, 4'(i)});
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      {told_q, done_q, fault_q} <= '0;
      {left_q, at_q, asked_q, got_q, open_q, rows_q} <= '0;
    end else begin
      done_q  <= 1'b0;
      fault_q <= 1'b0;
      open_q  <= open_q + 3'(take && state_q != Writes) - 3'(mem_rvalid_i);
      if (mem_rvalid_i) begin
        rows_q[got_q] <= mapped;
        got_q <= got_q + 1'b1;
      end
      unique case (state_q)
        Idle: begin
          told_q <= 1'b1;
          left_q <= length_i;
          at_q   <= '0;
          if (start_i) state_q <= Look;
        end
        Look: begin
          asked_q <= '0;
          got_q   <= '0;
          if (left_q != '0) state_q <= Reads;
          else if (at_q != '0) state_q <= Fence;
          else begin
            state_q <= Idle;
            done_q  <= 1'b1;
          end
        end
        Reads:
        if (take) begin
          asked_q <= asked_q + 1'b1;
          if (asked_q == last) state_q <= Answers;
        end
        Answers:
        if (open_q == '0) begin
          asked_q <= '0;
          state_q <= Writes;
        end
        Writes:
        if (take) begin
          asked_q <= asked_q + 1'b1;
          if (asked_q == last) begin
            at_q <= at_q + 1'b1;
            left_q <= (left_q >= 64'd64) ? left_q - 64'd64 : '0;
            state_q <= Look;
          end
        end
        Fence: if (take) state_q <= Settle;
        Settle:
        if (open_q == '0) begin
          state_q <= Idle;
          rows_q  <= '0;
          done_q  <= 1'b1;
        end
        default:
        if (open_q == '0) begin
          state_q <= Idle;
          rows_q  <= '0;
          done_q  <= told_q;
          fault_q <= told_q;
        end
      endcase
      if (fault) begin
        state_q <= Drain;
        done_q  <= 1'b0;
      end
      if (clear_i) begin
        state_q <= (state_q == Idle) ? Idle : Drain;
        told_q <= 1'b0;
        done_q <= 1'b0;
        fault_q <= 1'b0;
        {left_q, at_q, asked_q, got_q, rows_q} <= '0;
      end
    end
  end

  `MAE_ASSERT(AnswerExpected, !mem_rvalid_i || open_q != '0)
  `MAE_STREAM_HOLDS(RequestHolds, mem_valid_o, mem_ready_i || fault || clear_i, mem_request_o)

endmodule
