// SPDX-License-Identifier: Apache-2.0
//
// mae_nn_output: packs the results of the array kernel into granules and writes each to its plane.
//
// start_i loads the command's addresses. Results come in the order of mae_nn_address_gen: a tile's
// pixels of one step, with ends_i at the last. Planes beyond planes_out are not written. room_o: at
// least 8 more results can come. The rest of a map's last granule is written as zeros. command_i
// must hold while busy_o.
// Throughput: one result a clock as far as the memory takes Columns granules for each 64 / Lanes.
// Reset and clear: both erase everything.
// Parameters: as mae_nn_address_gen.
// Security: timing depends on the command only.

`include "mae_assert.svh"

module mae_nn_output
  import mae_nn_pkg::*;
#(
    parameter int unsigned Lanes   = 32,
    parameter int unsigned Columns = 2,
    parameter int unsigned Depth   = 512
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic           start_i,
    // verilator lint_off UNUSEDSIGNAL  // other modules use the other fields
    input  array_command_t command_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic           busy_o,

    input  logic                            valid_i,
    input  logic                            ends_i,
    input  logic [Columns-1:0][Lanes*8-1:0] values_i,
    output logic                            room_o,

    output logic          write_valid_o,
    input  logic          write_ready_i,
    output granule_addr_t write_granule_o,
    output granule_t      write_data_o
);
  localparam int unsigned Slots = 64 / Lanes;
  localparam int unsigned SlotBits = $clog2(Slots);
  localparam int unsigned Entries = 16;
  localparam int unsigned CountBits = $clog2(Entries + 1);
  localparam int unsigned ColumnBits = (Columns > 1) ? $clog2(Columns) : 1;

  // Packing.
  granule_t [Columns-1:0] packed_q, full;
  logic [SlotBits-1:0] slot_q;
  logic push, push_ready;

  always_comb begin
    full = packed_q;
    for (int unsigned c = 0; c < Columns; c++) begin
      full[c][Lanes*8*32'(slot_q)+:Lanes*8] = values_i[c];
    end
  end
  assign push = valid_i && (ends_i || slot_q == '1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {packed_q, slot_q} <= '0;
    else if (clear_i) {packed_q, slot_q} <= '0;
    else if (valid_i) begin
      packed_q <= push ? '0 : full;
      slot_q   <= push ? '0 : slot_q + 1'b1;
    end
  end

  logic entry_valid, entry_take, entry_ends;
  granule_t [Columns-1:0] entry;
  logic [CountBits-1:0] count;

  mae_fifo #(
      .Width(Columns * 512 + 1),
      .Depth(Entries)
  ) u_entries (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (push),
      .in_ready_o (push_ready),
      .in_data_i  ({ends_i, full}),
      .out_valid_o(entry_valid),
      .out_ready_i(entry_take),
      .out_data_o ({entry_ends, entry}),
      .count_o    (count)
  );

  assign room_o = count <= CountBits'(Entries - 8);
  assign busy_o = entry_valid;

  // Writing: the columns of an entry one after the other.
  logic [15:0] step_q;
  granule_addr_t step_row_q, column_row_q, tile_row_q, place_q;
  logic [ColumnBits-1:0] column_q;
  logic written, done, column_last;

  assign written = step_q + 16'(column_q) < command_i.planes_out;
  assign column_last = 8'(column_q) == command_i.columns - 8'd1;
  assign write_valid_o = entry_valid && written;
  assign write_granule_o = column_row_q + tile_row_q + place_q;
  assign write_data_o = entry[column_q];
  assign done = entry_valid && (write_ready_i || !written);
  assign entry_take = done && column_last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {step_q, step_row_q, column_row_q, tile_row_q, place_q, column_q} <= '0;
    else if (clear_i) {step_q, step_row_q, column_row_q, tile_row_q, place_q, column_q} <= '0;
    else if (start_i) begin
      {step_q, tile_row_q, place_q, column_q} <= '0;
      step_row_q <= command_i.destination[31:6];
      column_row_q <= command_i.destination[31:6];
    end else if (done) begin
      column_q <= column_q + 1'b1;
      column_row_q <= column_row_q + command_i.plane_out[31:6];
      if (column_last) begin
        column_q <= '0;
        column_row_q <= step_row_q;
        place_q <= place_q + 1'b1;
        if (entry_ends) begin
          place_q <= '0;
          step_q <= step_q + 16'(command_i.columns);
          step_row_q <= column_row_q + command_i.plane_out[31:6];
          column_row_q <= column_row_q + command_i.plane_out[31:6];
          if (step_q + 16'(command_i.columns) >= command_i.planes_out) begin
            step_q <= '0;
            step_row_q <= command_i.destination[31:6];
            column_row_q <= command_i.destination[31:6];
            tile_row_q <= tile_row_q + granule_addr_t'(Depth / Slots);
          end
        end
      end
    end
  end

  `MAE_ASSERT(RoomForEntries, !push || push_ready)
  `MAE_STREAM_HOLDS(WriteHolds, write_valid_o, write_ready_i || clear_i, {write_granule_o,
                                                                          write_data_o})

endmodule
