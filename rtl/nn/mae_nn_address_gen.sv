// SPDX-License-Identifier: Apache-2.0
//
// mae_nn_address_gen: generates the pixels that a command of the array kernel reads, in order, with
// the granules of memory that hold them.
//
// A tile is up to Depth consecutive pixels of the result. For each tile, for each step (columns
// planes of the result), for each source plane, kernel line and kernel column (a pass), it goes
// through the pixels of the tile: each gives a tag, and a granule where the previous pixel of the
// pass did not come from the same one. Pixels outside the source have pad set and no granule. Tags
// and granules leave through FIFOs. busy_o is high from start_i until the last pixel is in them.
// command_i must be legal (mae_nn_pkg) and hold while busy_o.
// Latency: 3 clocks from start_i to the first tag.
// Throughput: one pixel a clock.
// Reset and clear: both erase everything.
// Parameters: Lanes are the channels of a plane, Depth the pixels of a tile. Legal: Lanes 8, 16,
// 32; Depth a multiple of 64 / Lanes.
// Security: timing depends on the command only.

`include "mae_assert.svh"

module mae_nn_address_gen
  import mae_nn_pkg::*;
#(
    parameter int unsigned Lanes = 32,
    parameter int unsigned Depth = 512,
    parameter int unsigned Tags = 256,  // pixels on their way
    parameter int unsigned Granules = 32  // addresses that wait
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic           start_i,
    // verilator lint_off UNUSEDSIGNAL  // other modules use the other fields
    input  array_command_t command_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic           busy_o,

    output logic          granule_valid_o,
    input  logic          granule_ready_i,
    output granule_addr_t granule_o,

    output logic       tag_valid_o,
    input  logic       tag_ready_i,
    output pixel_tag_t tag_o
);
  `MAE_PARAM(LanesLegal, Lanes == 8 || Lanes == 16 || Lanes == 32)
  `MAE_PARAM(DepthLegal, Depth % (64 / Lanes) == 0)

  localparam int unsigned SlotBits = $clog2(64 / Lanes);
  localparam int unsigned CountBits = $clog2(Depth);

  typedef logic signed [12:0] place_t;  // a line or a column
  typedef logic signed [28:0] index_t;  // of a pixel in a plane; outside the map, too

  // The place of a pixel of the result, without the kernel's line and column.
  typedef struct packed {
    logic [11:0] y;
    logic [11:0] x;
    place_t      line;    // of the source
    place_t      column;
    index_t      base;    // of the line
  } position_t;

  logic busy_q, begin_q;
  position_t at_q, tile_q, first, next;
  logic [CountBits-1:0] count_q;
  logic [15:0] step_q, plane_q;
  logic [3:0] kernel_y_q, kernel_x_q;
  index_t kernel_base_q, line_step_q;
  granule_addr_t step_row_q, plane_row_q, last_row_q;
  logic last_valid_q;

  // The pixel.
  place_t line, column;
  index_t index;
  granule_addr_t row;
  pixel_tag_t tag;
  logic on_map, go, tag_room, row_room;

  assign line = at_q.line + place_t'({1'b0, kernel_y_q});
  assign column = at_q.column + place_t'({1'b0, kernel_x_q});
  assign on_map = line >= 0 && 16'(line) < command_i.height && column >= 0 &&
      16'(column) < command_i.width;
  assign index = at_q.base + kernel_base_q + index_t'(column);
  assign row = plane_row_q + granule_addr_t'(index >>> SlotBits);
  assign go = busy_q && !begin_q && tag_room && row_room;

  // Loops that end with it.
  logic map_end, line_end, tile_end, kernel_line_end, kernel_end, sources_end, steps_end;
  assign line_end = at_q.x == 12'(command_i.width_out - 16'd1);
  assign map_end = line_end && at_q.y == 12'(command_i.height_out - 16'd1);
  assign tile_end = map_end || count_q == CountBits'(Depth - 1);
  assign kernel_line_end = kernel_x_q == 4'(command_i.kernel_x - 8'd1);
  assign kernel_end = kernel_line_end && kernel_y_q == 4'(command_i.kernel_y - 8'd1);
  assign sources_end = kernel_end && plane_q == command_i.sources - 16'd1;
  assign steps_end = sources_end && step_q + 16'(command_i.columns) >= command_i.planes_out;

  always_comb begin
    tag.pad = !on_map;
    tag.fresh = on_map && !(last_valid_q && last_row_q == row);
    tag.slot = 3'(index[SlotBits-1:0]);
    tag.pass_first = kernel_x_q == '0 && kernel_y_q == '0 && plane_q == '0;
    tag.pass_last = sources_end;
    tag.ends = tile_end;
    first.y = '0;
    first.x = '0;
    first.line = -place_t'({5'b0, command_i.pad_y});
    first.column = -place_t'({5'b0, command_i.pad_x});
    first.base = -index_t'(command_i.pad_y[3:0] * command_i.width);
    next = at_q;
    next.x = at_q.x + 12'd1;
    next.column = at_q.column + place_t'({5'b0, command_i.stride_x});
    if (line_end) begin
      next.x = '0;
      next.column = first.column;
      next.y = at_q.y + 12'd1;
      next.line = at_q.line + place_t'({5'b0, command_i.stride_y});
      next.base = at_q.base + line_step_q;
    end
  end

  assign busy_o = busy_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {busy_q, begin_q, at_q, tile_q, count_q, step_q, plane_q} <= '0;
      {kernel_y_q, kernel_x_q, kernel_base_q, line_step_q} <= '0;
      {step_row_q, plane_row_q, last_row_q, last_valid_q} <= '0;
    end else if (clear_i) begin
      {busy_q, begin_q, at_q, tile_q, count_q, step_q, plane_q} <= '0;
      {kernel_y_q, kernel_x_q, kernel_base_q, line_step_q} <= '0;
      {step_row_q, plane_row_q, last_row_q, last_valid_q} <= '0;
    end else if (!busy_q) begin
      busy_q  <= start_i;
      begin_q <= start_i;
    end else if (begin_q) begin
      begin_q <= 1'b0;
      {count_q, step_q, plane_q, kernel_y_q, kernel_x_q, kernel_base_q, last_valid_q} <= '0;
      line_step_q <= index_t'(command_i.stride_y[3:0] * command_i.width);
      at_q <= first;
      tile_q <= first;
      step_row_q <= command_i.source[31:6];
      plane_row_q <= command_i.source[31:6];
    end else if (go) begin
      if (tag.fresh) begin
        last_valid_q <= 1'b1;
        last_row_q   <= row;
      end
      count_q <= count_q + 1'b1;
      at_q <= next;
      if (tile_end) begin
        count_q <= '0;
        at_q <= tile_q;
        last_valid_q <= 1'b0;
        kernel_x_q <= kernel_x_q + 4'd1;
        if (kernel_line_end) begin
          kernel_x_q <= '0;
          kernel_y_q <= kernel_y_q + 4'd1;
          kernel_base_q <= kernel_base_q + index_t'({1'b0, command_i.width});
        end
        if (kernel_end) begin
          kernel_y_q <= '0;
          kernel_base_q <= '0;
          plane_q <= plane_q + 16'd1;
          plane_row_q <= plane_row_q + command_i.plane_in[31:6];
        end
        if (sources_end) begin
          plane_q <= '0;
          step_q <= step_q + 16'(command_i.columns);
          step_row_q <= step_row_q + command_i.step_in[31:6];
          plane_row_q <= step_row_q + command_i.step_in[31:6];
        end
        if (steps_end) begin
          step_q <= '0;
          step_row_q <= command_i.source[31:6];
          plane_row_q <= command_i.source[31:6];
          at_q <= next;
          tile_q <= next;
          if (map_end) busy_q <= 1'b0;
        end
      end
    end
  end

  // Granules to ask for gather while weights occupy the memory's port.
  logic [$clog2(Granules+1)-1:0] unused_rows;
  logic [$clog2(Tags+1)-1:0] unused_tags;

  mae_fifo #(
      .Width($bits(granule_addr_t)),
      .Depth(Granules)
  ) u_granules (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (go && tag.fresh),
      .in_ready_o (row_room),
      .in_data_i  (row),
      .out_valid_o(granule_valid_o),
      .out_ready_i(granule_ready_i),
      .out_data_o (granule_o),
      .count_o    (unused_rows)
  );

  mae_fifo #(
      .Width($bits(pixel_tag_t)),
      .Depth(Tags)
  ) u_tags (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (go),
      .in_ready_o (tag_room),
      .in_data_i  (tag),
      .out_valid_o(tag_valid_o),
      .out_ready_i(tag_ready_i),
      .out_data_o (tag_o),
      .count_o    (unused_tags)
  );

endmodule
