// SPDX-License-Identifier: Apache-2.0
//
// mae_kernel_int8_nn: int8 layers of a neural network, run from a list of commands in device
// memory: convolution (kernel to 15x15, stride 1, zero padding), fully connected, max pooling 2x2,
// each with ReLU or without, the first two requantized to int8. Formats: mae_kernel_pkg.
// Arithmetic: sums in mae_kernel_mac_lanes, requantization in mae_kernel_requant.
//
// start_i with list_i runs the list from there; done_o is high for one clock when it is over, with
// fault_o if it was given up: the memory refused an access, a command is illegal (or list_i no
// multiple of 16), or an address passed the end of the 32-bit space. After a fault no request is
// made from the next clock on, one that waits is withdrawn, and what was written before stays.
// start_i while busy_o is ignored. clear_i and reset erase every register that holds data or a
// command within the clock; from the clock after clear_i on nothing is written, busy_o stays until
// the reads under way are answered, and done_o does not come. A list has no loop and ends after at
// most 2^26 commands; a layer may be as long as its sizes say.
//
// Memory: requests are taken in order and take effect in order (a read returns what the writes
// before it wrote). Every read is answered once, in order, by a clock of mem_rvalid_i, no earlier
// than the clock after it was taken; mem_fault_i beside it: it was refused. A refused write is told
// by a clock of mem_fault_i, no later than the answer to the next read. mem_valid_o and
// mem_request_o come from registers and hold until taken, but for the withdrawal above.
//
// Clocks, without a stall, with answers A clocks after the read was taken (1 at least): a command
// takes A + 12 and its layer, the list A + 4. A layer of convolution or fully connected takes for
// each 16 output channels 4, and for each output pixel of them: its reads, which are (in_channels +
// rows of a pixel) for each tap inside the map; 1 for each tap outside before the last one inside;
// 1 for the write; but at least A + 21. Pooling takes 5 for each output pixel and 16 channels, but
// at least A + 4. The last pixel's sums take A + 20 to the write (pooling A + 3).
// maeslant/protected/network/clocks.py counts all of it exactly; a test holds the two against each
// other.
// Legal: Outstanding (reads under way) >= 2; a read a clock needs A + 2. Time depends on no data
// but the commands.

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
    Fetch,   // ask for the rows of a command
    Await,   // their answers
    Layer,
    Fence,   // read once more: then every write before has been answered for
    Settle,  // the fence's answer
    Drain    // after a fault or clear_i: answers that nobody wants
  } state_e;

  state_e                           state_q;
  logic                             told_q;  // the drain ends with done_o: a fault, not a clear
  logic                             done_q;
  logic                             fault_q;
  logic            [          28:0] next_q;  // row of the list
  logic            [           1:0] fetched_q;  // rows of this command that are asked for
  row_t            [           1:0] command_rows_q;
  logic                             stray_q;  // what must be zero behind a command is not
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
  // The request at the port, and what its answer is for.
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

  // Its command: four rows, the upper two zero.
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

  // Requests: a result goes before a read.
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
