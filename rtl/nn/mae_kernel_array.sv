// SPDX-License-Identifier: Apache-2.0
//
// mae_kernel_array: executes int8 layers of a neural network on an array of multipliers, from a
// command list in device memory of any latency.
//
// Layers: convolution and fully connected, residual addition and average pooling (mae_nn_pkg:
// OpMac), maximum pooling (OpMax). Sums of a tile of up to Depth pixels stay in the kernel; pixels
// and weights stream from memory, with Outstanding reads under way. start_i with list_i executes
// the list at that address. done_o is high for one clock at its end, with fault_o if it was
// aborted: the memory refused an access, a command is illegal or passes the end of the 32-bit
// space, or list_i is not a multiple of 64. After a fault no request is made from the next clock
// on, and what was written before remains. start_i is ignored while busy_o. A list has no loop.
//
// Memory port: mae_kernel_int8_nn's rules, 64 bytes an access; a run ends when mem_settled_i says
// that every write has reached the memory, so that a late fault of one still aborts it.
// Latency: a command takes about 30 clocks and twice the memory's latency besides its layer.
// Throughput: Lanes x Lanes x Columns multiply-accumulates a clock, where the port (one granule a
// clock) suffices: a pass of N pixels takes about max(N, N_read + Lanes x Lanes x columns / 64)
// clocks, N_read its granules.
// Reset and clear: both erase every register, and the sums in Depth clocks in which busy_o is high.
// From the clock after clear_i on nothing is requested, and done_o is not given.
// Parameters: Lanes are the channels of a plane, Columns the planes that a step computes. Legal:
// Lanes 8, 16, 32; Columns a power of two; Depth a power of two, a multiple of 64 / Lanes;
// Outstanding >= 2.
// Security: timing depends on the commands only, not on data.

`include "mae_assert.svh"

module mae_kernel_array
  import mae_nn_pkg::*;
#(
    parameter int unsigned Lanes = 32,
    parameter int unsigned Columns = 2,
    parameter int unsigned Depth = 512,
    parameter int unsigned Outstanding = 128
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic        start_i,
    input  logic [31:0] list_i,
    output logic        busy_o,
    output logic        done_o,
    output logic        fault_o,

    output logic            mem_valid_o,
    input  logic            mem_ready_i,
    output logic            mem_write_o,
    output logic     [31:0] mem_address_o,
    output granule_t        mem_data_o,
    input  logic            mem_rvalid_i,
    input  granule_t        mem_rdata_i,
    input  logic            mem_fault_i,
    input  logic            mem_settled_i   // every write has reached the memory
);
  `MAE_PARAM(OutstandingLegal, Outstanding >= 2)
  `MAE_PARAM(DepthLegal, Depth >= 2 && (Depth & (Depth - 1)) == 0)

  localparam int unsigned Outputs = Lanes * Columns;
  localparam int unsigned ParamRows = Columns * Lanes / 8;
  localparam int unsigned TileRows = Lanes * Outputs / 64;
  localparam int unsigned CountBits = $clog2(Outstanding + 1);
  localparam int unsigned Rows = Outstanding;  // granules of pixels, under way or waiting
  localparam int unsigned PlaceBits = $clog2(Depth);

  typedef enum logic [3:0] {
    Erase,
    Idle,
    Fetch,   // requests a command
    Await,   // its answer
    Check,
    Passes,  // multiplies the counts of the command
    Total,
    Begin,
    Layer,
    Flush,   // waits for granules that were requested ahead
    Fence,   // one more read: its answer comes after the refusals of all writes
    Settle,
    Drain    // answers that are not used
  } state_e;

  typedef enum logic [1:0] {
    ForList,
    ForWeights,
    ForPixels
  } use_e;

  state_e state_q;
  logic told_q, done_q, fault_q;
  logic [PlaceBits-1:0] erase_q;
  logic [26:0] next_q;
  array_command_t command_q;
  logic [23:0] passes_q;
  logic [15:0] steps_q;
  logic [31:0] rows_q;
  logic fault, erase, erasing, quiet, layer_over, legal, quit;

  // Requests.
  logic list_valid, list_take, pixel_valid, pixel_take, weight_valid, weight_take, weight_room;
  logic pixel_room, write_valid, write_take, free, room, read_take, own_answer;
  granule_addr_t pixel_granule, weight_granule, write_granule;
  granule_t write_data;
  logic slot_valid_q, slot_write_q;
  use_e slot_use_q, tag;
  granule_addr_t slot_granule_q;
  granule_t slot_data_q;
  logic tag_valid, tag_ready;
  logic [CountBits-1:0] waiting, held_q;

  // The parts.
  logic walk_busy, macs_busy, output_busy, tag_go, pixel_tag_valid, pixel_tag_ready, row_take;
  pixel_tag_t pixel_tag;
  logic weights_ready, weights_take, result_valid, result_ends, result_room;
  granule_t [TileRows-1:0] weights;
  granule_t [ParamRows-1:0] params;
  logic [Columns-1:0][Lanes*8-1:0] results;

  assign busy_o = state_q != Idle;
  assign done_o = done_q;
  assign fault_o = fault_q;
  assign erasing = state_q == Erase;
  assign quiet = waiting == '0 && !slot_valid_q;
  assign legal = array_legal(command_q, Columns);
  assign layer_over = !walk_busy && !pixel_tag_valid && !macs_busy && !output_busy &&
      !result_valid && !write_valid;
  assign fault = !(state_q inside {Erase, Idle, Drain}) && (mem_fault_i ||
      (state_q == Fetch && next_q[26]) || (state_q == Check && !legal));
  assign erase = clear_i || fault || erasing;
  assign quit = erase || (state_q == Flush && quiet);
  assign tag_go = state_q == Begin;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Erase;
      {told_q, done_q, fault_q, erase_q, next_q} <= '0;
    end else begin
      done_q  <= 1'b0;
      fault_q <= 1'b0;
      case (state_q)
        Erase: begin
          erase_q <= erase_q + 1'b1;
          if (erase_q == '1 && quiet) state_q <= Idle;
        end
        Idle:
        if (start_i) begin
          state_q <= (list_i[5:0] == '0) ? Fetch : Drain;
          told_q  <= 1'b1;
          next_q  <= {1'b0, list_i[31:6]};
        end
        Fetch:
        if (list_take) begin
          state_q <= Await;
          next_q  <= next_q + 1'b1;
        end
        Await:  if (own_answer) state_q <= Check;
        Check:  state_q <= Passes;
        Passes: state_q <= Total;
        Total:  state_q <= Begin;
        Begin:  state_q <= Layer;
        Layer:  if (layer_over) state_q <= Flush;
        Flush:  if (quiet) state_q <= command_q.flags[0] ? Fence : Fetch;
        Fence:  if (list_take) state_q <= Settle;
        Settle:
        if (quiet && mem_settled_i) begin
          state_q <= Idle;
          done_q  <= 1'b1;
        end
        default:
        if (quiet) begin
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
        state_q <= Erase;
        {told_q, done_q, fault_q, erase_q, next_q} <= '0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {command_q, passes_q, steps_q, rows_q} <= '0;
    else if (erase) {command_q, passes_q, steps_q, rows_q} <= '0;
    else begin
      if (own_answer && state_q == Await) command_q <= array_command_t'(mem_rdata_i);
      if (state_q == Check) begin
        passes_q <= 24'(command_q.kernel_y[3:0] * 8'(command_q.kernel_x[3:0]));
        steps_q  <= command_q.planes_out;
        for (int unsigned i = 1; i < 8; i++) begin
          if (command_q.columns[i]) begin
            steps_q <= (command_q.planes_out + 16'(command_q.columns) - 16'd1) >> i;
          end
        end
      end
      if (state_q == Passes) passes_q <= passes_q * 24'(command_q.sources[11:0]);
      if (state_q == Total) begin
        rows_q <= 32'(steps_q) * 32'(command_q.columns) *
            (32'(Lanes / 8) + 32'(passes_q) * 32'(Lanes * Lanes / 64));
      end
    end
  end

  // A write goes before weights, weights before pixels.
  assign list_valid = (state_q == Fetch && !next_q[26]) || state_q == Fence;
  assign free = !slot_valid_q || mem_ready_i;
  assign room = waiting + CountBits'(slot_valid_q) < CountBits'(Outstanding);
  assign pixel_room = held_q != CountBits'(Rows);
  assign weight_room = state_q == Layer;
  assign list_take = list_valid && free && room;
  assign write_take = write_valid && free;
  assign weight_take = weight_valid && weight_room && !write_valid && free && room;
  assign pixel_take = pixel_valid && pixel_room && !write_valid && !(weight_valid && weight_room) &&
      free && room;
  assign read_take = list_take || weight_take || pixel_take;
  assign mem_valid_o = slot_valid_q;
  assign mem_write_o = slot_write_q;
  assign mem_address_o = {slot_granule_q, 6'b0};
  assign mem_data_o = slot_data_q;
  assign own_answer = mem_rvalid_i && tag == ForList;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {slot_valid_q, slot_write_q, slot_use_q, slot_granule_q, slot_data_q, held_q} <= '0;
    end else if (erase) begin
      {slot_valid_q, slot_write_q, slot_use_q, slot_granule_q, slot_data_q, held_q} <= '0;
    end else begin
      held_q <= held_q + CountBits'(pixel_take) - CountBits'(row_take);
      if (free) begin
        slot_valid_q <= read_take || write_take;
        slot_write_q <= write_take;
        slot_use_q <= list_take ? ForList : weight_take ? ForWeights : ForPixels;
        slot_granule_q <= write_take ? write_granule : weight_take ? weight_granule : pixel_granule;
        if (list_take) begin
          slot_granule_q <= (state_q == Fence) ? next_q[25:0] - 1'b1 : next_q[25:0];
        end
        slot_data_q <= write_take ? write_data : '0;
      end
    end
  end

  mae_fifo #(
      .Width(2),
      .Depth(Outstanding),
      .Zero (1'b0)
  ) u_uses (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .in_valid_i(slot_valid_q && mem_ready_i && !slot_write_q),
      .in_ready_o(tag_ready),
      .in_data_i(slot_use_q),
      .out_valid_o(tag_valid),
      .out_ready_i(mem_rvalid_i),
      .out_data_o({tag}),
      .count_o(waiting)
  );

  mae_nn_address_gen #(
      .Lanes(Lanes),
      .Depth(Depth),
      .Tags (4 * Outstanding)
  ) u_walk (
      .clk_i,
      .rst_ni,
      .clear_i(quit),
      .start_i(tag_go),
      .command_i(command_q),
      .busy_o(walk_busy),
      .granule_valid_o(pixel_valid),
      .granule_ready_i(pixel_take),
      .granule_o(pixel_granule),
      .tag_valid_o(pixel_tag_valid),
      .tag_ready_i(pixel_tag_ready),
      .tag_o(pixel_tag)
  );

  mae_nn_weights #(
      .Lanes  (Lanes),
      .Columns(Columns),
      .Ahead  (Outstanding / 2)
  ) u_weights (
      .clk_i,
      .rst_ni,
      .clear_i(quit),
      .start_i(tag_go && command_q.op == OpMac),
      .address_i(command_q.params[31:6]),
      .rows_i(rows_q),
      .passes_i(passes_q),
      .columns_i(command_q.columns),
      .granule_valid_o(weight_valid),
      .granule_ready_i(weight_take),
      .granule_o(weight_granule),
      .answer_valid_i(mem_rvalid_i && tag == ForWeights && state_q == Layer),
      .answer_i(mem_rdata_i),
      .ready_o(weights_ready),
      .take_i(weights_take),
      .weights_o(weights),
      .params_o(params)
  );

  mae_nn_macs #(
      .Lanes(Lanes),
      .Columns(Columns),
      .Depth(Depth),
      .Rows(Rows)
  ) u_macs (
      .clk_i,
      .rst_ni,
      .clear_i(quit),
      .erase_i(erasing),
      .erase_place_i(erase_q),
      .command_i(command_q),
      .tag_valid_i(pixel_tag_valid),
      .tag_ready_o(pixel_tag_ready),
      .tag_i(pixel_tag),
      .answer_valid_i(mem_rvalid_i && tag == ForPixels && state_q == Layer),
      .answer_i(mem_rdata_i),
      .row_take_o(row_take),
      .weights_ready_i(weights_ready),
      .weights_take_o(weights_take),
      .weights_i(weights),
      .params_i(params),
      .room_i(result_room),
      .busy_o(macs_busy),
      .valid_o(result_valid),
      .ends_o(result_ends),
      .values_o(results)
  );

  mae_nn_output #(
      .Lanes  (Lanes),
      .Columns(Columns),
      .Depth  (Depth)
  ) u_output (
      .clk_i,
      .rst_ni,
      .clear_i(quit),
      .start_i(tag_go),
      .command_i(command_q),
      .busy_o(output_busy),
      .valid_i(result_valid),
      .ends_i(result_ends),
      .values_i(results),
      .room_o(result_room),
      .write_valid_o(write_valid),
      .write_ready_i(write_take),
      .write_granule_o(write_granule),
      .write_data_o(write_data)
  );

  `MAE_ASSERT(AnswerExpected, !mem_rvalid_i || tag_valid)
  `MAE_ASSERT(TagsFit, tag_ready || !(slot_valid_q && mem_ready_i && !slot_write_q))
  `MAE_STREAM_HOLDS(RequestHolds, mem_valid_o, mem_ready_i || erase, {mem_write_o, mem_address_o,
                                                                      mem_data_o})

endmodule
