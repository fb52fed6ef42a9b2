// SPDX-License-Identifier: Apache-2.0
//
// mae_kernel_affine_bytes: the smallest accelerator: every byte x of a piece of memory becomes 3 x
// + 1 (modulo 256) in another place. It stands for any kernel where only its accesses matter.
//
// start_i begins a run over length_i bytes at source_i, a granule of 64 bytes after the other: its
// rows are read, then written, so that places which overlap give what that order gives. done_o is
// high for one clock when the run is over, with fault_o if it was given up: an access was refused,
// or a place does not begin at a granule or passes the end of the 32-bit space (then nothing is
// asked there). A length of 0 is done at once. What is given at start_i holds while busy_o.
// start_i while busy_o is ignored. clear_i and reset erase the data; nothing is asked from the
// clock after clear_i on, busy_o stays until the reads under way are answered, and done_o does not
// come. The memory port is mae_kernel_int8_nn's.
//
// Clocks, without a stall and with answers A clocks after the read was taken: a whole granule takes
// A + 10, what ends the run A + 4. Time depends on no data. Source: the reference's kernel,
// maeslant/protected/model/card.py.

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
    Look,     // whether there is more, and whether it may be
    Reads,
    Answers,
    Writes,
    Fence,    // read once more: then every write before has been answered for
    Settle,
    Drain     // answers that nobody wants
  } state_e;

  typedef logic [26:0] granule_t;  // and a bit for what passes the end

  state_e state_q;
  logic told_q, done_q, fault_q;
  logic [63:0] left_q;  // bytes
  logic [25:0] at_q;  // granule of the run
  logic [1:0] asked_q, got_q, last;  // rows of the granule
  logic [2:0] open_q;  // reads under way
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
