// SPDX-License-Identifier: Apache-2.0
//
// mae_kernel_int8_nn: executes int8 layers of a neural network from a command list in device
// memory.
//
// The layers are convolution (kernel up to 15x15, stride 1, zero padding), fully connected, and 2x2
// max pooling, each with or without ReLU; the first two are requantized to int8. Formats:
// mae_kernel_pkg. Sums: mae_kernel_mac_lanes. Requantization: mae_kernel_requant. start_i with
// list_i executes the list at that address. done_o is high for one clock at its end, with fault_o
// if it was aborted: the memory refused an access, a command is illegal (or list_i is not a
// multiple of 16), or an address exceeded the 32-bit space. After a fault no request is made from
// the next clock on, a waiting request is withdrawn, and data written before remain. start_i is
// ignored while busy_o. A list has no loop and ends after at most 2^26 commands.
//
// Memory: requests are accepted and take effect in order (a read returns the data of the writes
// before it). Every read is answered once, in order, by one clock of mem_rvalid_i, at least one
// clock after it was accepted, with mem_fault_i if it was refused. A refused write is reported by
// one clock of mem_fault_i, at the latest together with the answer to the next read. mem_valid_o
// and mem_request_o come from registers and hold until accepted, except for the withdrawal above.
// Latency: without stalls, and if the memory answers A >= 1 clocks after it accepted a read: a
// command takes A + 12 clocks plus its layer, the list A + 4. The last pixel's sums take A + 20
// clocks to the write (pooling A + 3).
// Throughput: a convolution or fully connected layer takes, for each 16 output channels, 4 clocks,
// and for each output pixel of them: (in_channels + rows of a pixel) reads for each tap inside the
// map; 1 clock for each tap outside before the last one inside; 1 for the write; but at least A +
// 21. Pooling takes 5 clocks, but at least A + 4, for each output pixel and 16 channels.
// maeslant/protected/network/clocks.py counts all of it exactly; a test compares both.
// Reset and clear: both erase every register that holds data or a command in one clock. From the
// clock after clear_i on nothing is written; busy_o stays high until the outstanding reads are
// answered, and done_o is not given.
// Parameters: Outstanding is the maximum number of outstanding reads; one read a clock needs A + 2.
// Legal: Outstanding >= 2.
// Security: timing depends on the commands only, not on data.

`include "mae_assert.svh"

module mae_kernel_int8_nn
  import mae_kernel_pkg::*;
#(
    parameter int unsigned Outstanding = 16
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic       start_i,
    input  byte_addr_t list_i,
    output logic       busy_o,
    output logic       done_o,
    output logic       fault_o,

    output logic            mem_valid_o,
    input  logic            mem_ready_i,
    output memory_request_t mem_request_o,
    input  logic            mem_rvalid_i,
    input  row_t            mem_rdata_i,
    input  logic            mem_fault_i
);
  `MAE_PARAM(OutstandingLegal, Outstanding >= 2)

  localparam int unsigned CountWidth = $clog2(Outstanding + 1);

  typedef enum logic [2:0] {
    Idle,
    Fetch,   // requests the rows of a command
    Await,   // waits for their answers
    Layer,
    Fence,   // one more read: its answer comes after those to all writes
    Settle,  // waits for the fence's answer
    Drain    // after a fault or clear_i: waits for answers that are not used
  } state_e;

  state_e                           state_q;
  // the drain ends with done_o: after a fault, not after a clear
  logic                             told_q;
  logic                             done_q;
  logic                             fault_q;
  logic            [          28:0] next_q;  // next row of the list
  logic            [           1:0] fetched_q;  // rows of this command that were requested
  row_t            [           1:0] command_rows_q;
  logic                             stray_q;  // the zero fields of the command are not zero
  command_t                         command;

  logic                             fault;
  logic                             erase;
  logic                             go;
  logic                             quiet;

  // Reads: the list's own and the layer's.
  logic                             own_valid;
  logic                             fence;
  logic                             walk_valid;
  row_addr_t                        walk_row;
  tag_t                             walk_tag;
  logic                             walk_busy;
  logic                             walk_overrun;
  logic                             read_valid;
  row_addr_t                        read_row;
  tag_t                             read_tag;
  logic                             read_take;
  // Results.
  row_addr_t                        write_row;
  logic                             row_valid;
  row_t                             row;
  logic                             write_take;
  // The request at the port, and the use of its answer.
  logic                             slot_valid_q;
  memory_request_t                  slot_q;
  tag_t                             slot_tag_q;
  logic                             slot_free;
  logic                             tag_valid;
  logic                             tag_ready;
  tag_t                             tag;
  logic            [CountWidth-1:0] tag_count;

  logic                             sums_valid;
  sums_t                            sums;
  logic                             pool_valid;
  row_t                             pool_row;
  logic                             pool;

  assign command = command_t'(command_rows_q);
  assign pool = command.op == OpPool;
  assign busy_o = state_q != Idle;
  assign done_o = done_q;
  assign fault_o = fault_q;

  // The list.
  assign quiet = tag_count == '0 && !slot_valid_q;
  assign go = state_q == Await && quiet && legal(command) && !stray_q;
  assign fault = state_q != Idle && state_q != Drain && (mem_fault_i || walk_overrun ||
      (state_q == Fetch && next_q[28]) || (state_q == Await && quiet && !go));
  assign erase = clear_i || fault;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      told_q <= 1'b0;
      done_q <= 1'b0;
      fault_q <= 1'b0;
      next_q <= '0;
      fetched_q <= '0;
    end else begin
      done_q  <= 1'b0;
      fault_q <= 1'b0;
      case (state_q)
        Idle:
        if (start_i) begin
          state_q <= list_i[3:0] == '0 ? Fetch : Drain;
          told_q <= 1'b1;
          next_q <= {1'b0, list_i[31:4]};
          fetched_q <= '0;
        end
        Fetch:
        if (read_take) begin
          next_q <= next_q + 29'd1;
          fetched_q <= fetched_q + 2'd1;
          if (read_tag.last) state_q <= Await;
        end
        Await: if (go) state_q <= Layer;
        Layer: if (!walk_busy) state_q <= command.flags.last ? Fence : Fetch;
        Fence: if (read_take) state_q <= Settle;
        Settle:
        if (quiet) begin
          state_q <= Idle;
          done_q  <= 1'b1;
        end
        default:
        if (tag_count == '0) begin
          state_q <= Idle;
          done_q  <= told_q;
          fault_q <= told_q;
        end
      endcase
      if (fault) begin
        state_q <= Drain;
        done_q  <= 1'b0;
      end
      if (clear_i) begin
        state_q <= state_q == Idle ? Idle : Drain;
        told_q <= 1'b0;
        done_q <= 1'b0;
        fault_q <= 1'b0;
        next_q <= '0;
        fetched_q <= '0;
      end
    end
  end

  // The command: four rows, the upper two zero.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      command_rows_q <= '0;
      stray_q <= 1'b0;
    end else if (erase) begin
      command_rows_q <= '0;
      stray_q <= 1'b0;
    end else if (mem_rvalid_i && state_q inside {Fetch, Await}) begin
      if (tag.index[1]) stray_q <= (tag.index[0] && stray_q) || mem_rdata_i != '0;
      else command_rows_q[tag.index[0]] <= mem_rdata_i;
    end
  end

  // Requests: a result has priority over a read.
  assign own_valid = (state_q == Fetch && !next_q[28]) || fence;
  assign fence = state_q == Fence;
  assign read_valid = own_valid || walk_valid;
  assign read_row = state_q == Layer ? walk_row : fence ? 28'(next_q - 29'd1) : next_q[27:0];
  assign slot_free = !slot_valid_q || mem_ready_i;
  assign write_take = row_valid && slot_free;
  assign read_take = read_valid && !row_valid && slot_free &&
      tag_count + CountWidth'(slot_valid_q) < CountWidth'(Outstanding);
  assign mem_valid_o = slot_valid_q;
  assign mem_request_o = slot_q;

  always_comb begin
    read_tag = walk_tag;
    if (own_valid) begin
      read_tag.take  = TakeCommand;
      read_tag.index = {2'b0, fetched_q};
      read_tag.last  = fetched_q == 2'(CommandRows - 1);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slot_valid_q <= 1'b0;
      slot_q <= '0;
      slot_tag_q <= '0;
    end else if (erase) begin
      slot_valid_q <= 1'b0;
      slot_q <= '0;
      slot_tag_q <= '0;
    end else if (slot_free) begin
      slot_valid_q <= write_take || read_take;
      slot_q.write <= write_take;
      slot_q.address <= {write_take ? write_row : read_row, 4'd0};
      slot_q.strb <= {16{write_take}};
      slot_q.data <= write_take ? row : '0;
      slot_tag_q <= read_tag;
    end
  end

  mae_fifo #(
      .Width($bits(tag_t)),
      .Depth(Outstanding),
      .Zero (1'b0)
  ) u_tags (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .in_valid_i(slot_valid_q && mem_ready_i && !slot_q.write),
      .in_ready_o(tag_ready),
      .in_data_i(slot_tag_q),
      .out_valid_o(tag_valid),
      .out_ready_i(mem_rvalid_i),
      .out_data_o(tag),
      .count_o(tag_count)
  );

  mae_kernel_address_gen u_walk (
      .clk_i,
      .rst_ni,
      .clear_i(erase),
      .start_i(go),
      .command_i(command),
      .busy_o(walk_busy),
      .overrun_o(walk_overrun),
      .read_valid_o(walk_valid),
      .read_ready_i(read_take),
      .read_row_o(walk_row),
      .read_tag_o(walk_tag),
      .write_row_o(write_row),
      .written_i(write_take)
  );

  mae_kernel_mac_lanes u_lanes (
      .clk_i,
      .rst_ni,
      .clear_i(erase),
      .pool_i(pool),
      .relu_i(command.flags.relu),
      .valid_i(mem_rvalid_i && state_q == Layer),
      .tag_i(tag),
      .data_i(mem_rdata_i),
      .sums_valid_o(sums_valid),
      .sums_o(sums),
      .row_valid_o(pool_valid),
      .row_o(pool_row)
  );

  mae_kernel_requant u_requant (
      .clk_i,
      .rst_ni,
      .clear_i(erase),
      .multiplier_i(command.multiplier),
      .shift_i(command.shift[5:0]),
      .relu_i(command.flags.relu),
      .sums_valid_i(sums_valid),
      .sums_i(sums),
      .load_i(pool_valid),
      .load_row_i(pool_row),
      .row_valid_o(row_valid),
      .row_ready_i(slot_free),
      .row_o(row)
  );

  `MAE_ASSERT(AnswerExpected, !mem_rvalid_i || tag_valid)
  `MAE_ASSERT(TagsFit, tag_ready || !(slot_valid_q && mem_ready_i && !slot_q.write))
  `MAE_STREAM_HOLDS(RequestHolds, mem_valid_o, mem_ready_i || erase, mem_request_o)

endmodule
