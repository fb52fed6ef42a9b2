// SPDX-License-Identifier: Apache-2.0
//
// mae_kernel_address_gen: generates the read and write addresses of one neural-network layer, in
// order.
//
// For each group of 16 output channels it reads 4 rows of biases. Then, for each output pixel, line
// by line, and for each tap of the kernel inside the map, it reads each row of the input's channels
// and, for each channel of that row, a row of weights. Pooling is the same with a 2x2 kernel, a
// step of 2, one row a tap and no parameters. A tap outside the map takes one clock; those after
// the last tap inside of an output pixel take none. The last read of an output row waits until the
// previous row is written (written_i), so that only one row is between its last read and its write;
// write_row_o is its address. busy_o falls after the last write. read_valid_o comes from a
// register; it and its payload hold until accepted. overrun_o: an address exceeded the 32-bit
// space; the generator then stops until clear_i. command_i must be legal (mae_kernel_pkg) and hold
// while busy_o.
// Latency: 4 clocks from start_i to the first read.
// Throughput: one read a clock.
// Reset and clear: both erase everything.

`include "mae_assert.svh"

module mae_kernel_address_gen
  import mae_kernel_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic     start_i,
    // verilator lint_off UNUSEDSIGNAL  // other modules use the fields for the results
    input  command_t command_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic     busy_o,
    output logic     overrun_o,

    output logic      read_valid_o,
    input  logic      read_ready_i,
    output row_addr_t read_row_o,
    output tag_t      read_tag_o,

    output row_addr_t write_row_o,
    input  logic      written_i
);
  typedef enum logic [2:0] {
    Idle,
    Lines,    // computes the constants of the layer
    Origin,
    Begin,
    Biases,
    Inputs,
    Weights,
    Ending
  } state_e;

  typedef logic signed [29:0] pointer_t;  // a row; may be outside the map, where nothing is read
  typedef logic signed [9:0] place_t;  // a line or a column of the input

  state_e          state_q;
  // Constants.
  logic            pool;
  logic     [12:0] groups_in;  // rows of a pixel
  logic     [12:0] groups_out;
  logic     [ 8:0] height_out;
  logic     [ 8:0] width_out;
  pointer_t        line_step_q;
  pointer_t        origin_q;  // tap (0, 0) of output pixel (0, 0); pooling: of this group
  logic     [23:0] piece_rows_q;  // parameters of a group
  // Position in the layer.
  logic     [12:0] group_q;
  logic [8:0] line_q, column_q;  // of the output
  place_t y_q, x_q;  // of the input, at tap (0, 0)
  logic [3:0] tap_y_q, tap_x_q;
  logic [15:0] left_q;  // remaining channels of this tap
  logic [ 3:0] lane_q;
  logic        first_q;
  pointer_t line_origin_q, pixel_q, tap_line_q, input_q;
  logic [28:0] piece_q, params_q, out_q;
  row_addr_t write_row_q;
  logic      pending_q;

  assign pool = command_i.op == OpPool;
  assign groups_in = 13'((17'(command_i.in_channels) + 17'd15) >> 4);
  assign groups_out = 13'((17'(command_i.out_channels) + 17'd15) >> 4);
  assign height_out = pool ? 9'(command_i.height >> 1) :
      9'(command_i.height) + 9'(command_i.pad << 1) + 9'd1 - 9'(command_i.kernel);
  assign width_out = pool ? 9'(command_i.width >> 1) :
      9'(command_i.width) + 9'(command_i.pad << 1) + 9'd1 - 9'(command_i.kernel);

  // The tap.
  place_t y, x;
  logic on_map, kernel_line_end, tap_last;
  assign y = y_q + place_t'({1'b0, tap_y_q});
  assign x = x_q + place_t'({1'b0, tap_x_q});
  assign on_map = y >= 0 && y < place_t'({2'b0, command_i.height}) &&
      x >= 0 && x < place_t'({2'b0, command_i.width});
  assign kernel_line_end = tap_x_q == 4'(command_i.kernel - 8'd1);
  assign tap_last =
      (tap_y_q == 4'(command_i.kernel - 8'd1) || y + 1 == place_t'({2'b0, command_i.height})) &&
      (kernel_line_end || x + 1 == place_t'({2'b0, command_i.width}));

  // The read.
  logic read_last, wanted, read, outside;
  assign read_last = tap_last && (pool ? state_q == Inputs : state_q == Weights && left_q == 16'd1);
  assign wanted = state_q == Biases || state_q == Weights || (state_q == Inputs && on_map);
  assign outside = state_q == Inputs ? input_q[29:28] != '0 : params_q[28];
  assign overrun_o = wanted && (outside || (read_last && out_q[28]));
  assign read_valid_o = wanted && !overrun_o && !(read_last && pending_q);
  assign read = read_valid_o && read_ready_i;
  assign read_row_o = state_q == Inputs ? input_q[27:0] : params_q[27:0];
  assign read_tag_o.take =
      state_q == Biases ? TakeBias : state_q == Inputs ? TakeInput : TakeWeights;
  assign read_tag_o.index = lane_q;
  assign read_tag_o.first = first_q;
  assign read_tag_o.last = read_last;

  // Loops that end with it.
  logic skip, tap_done, tap_end, pixel_end, line_end, group_end, layer_end;
  assign skip = state_q == Inputs && !on_map;
  assign tap_done = read && (pool || (state_q == Weights && left_q == 16'd1));
  assign tap_end = tap_done || skip;
  assign pixel_end = tap_done && tap_last;
  assign line_end = pixel_end && column_q == width_out - 9'd1;
  assign group_end = line_end && line_q == height_out - 9'd1;
  assign layer_end = group_end && group_q == groups_out - 13'd1;

  // Start of the next pixel. A group of a pooling layer begins one row after the previous one.
  pointer_t pixel_next, line_next, group_next;
  place_t step;
  assign step = pool ? 10'sd2 : 10'sd1;
  assign pixel_next = pixel_q + (pool ? 30'({groups_in, 1'b0}) : 30'(groups_in));
  assign line_next = line_origin_q + (pool ? line_step_q << 1 : line_step_q);
  assign group_next = origin_q + (pool ? 30'sd1 : 30'sd0);

  assign busy_o = state_q != Idle;
  assign write_row_o = write_row_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Idle;
    else if (clear_i) state_q <= Idle;
    else begin
      case (state_q)
        Idle: if (start_i) state_q <= Lines;
        Lines: state_q <= Origin;
        Origin: state_q <= Begin;
        Begin: state_q <= pool ? Inputs : Biases;
        Biases: if (read && lane_q == 4'd3) state_q <= Inputs;
        Inputs: if (read && !pool) state_q <= Weights;
        Weights: if (read && (lane_q == 4'd15 || left_q == 16'd1)) state_q <= Inputs;
        default: if (!pending_q) state_q <= Idle;
      endcase
      if (group_end && !pool) state_q <= Biases;
      if (layer_end) state_q <= Ending;
    end
  end

  // Constants, then the position in the layer: output group, line, column.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {line_step_q, origin_q, piece_rows_q} <= '0;
      {group_q, line_q, column_q, y_q, x_q} <= '0;
      {line_origin_q, pixel_q, piece_q, out_q} <= '0;
    end else if (clear_i) begin
      {line_step_q, origin_q, piece_rows_q} <= '0;
      {group_q, line_q, column_q, y_q, x_q} <= '0;
      {line_origin_q, pixel_q, piece_q, out_q} <= '0;
    end else if (state_q == Lines) begin
      line_step_q  <= pointer_t'(21'(command_i.width) * 21'(groups_in));
      piece_rows_q <= 24'(8'(command_i.kernel[3:0]) * 8'(command_i.kernel[3:0]));
    end else if (state_q == Origin) begin
      origin_q <= pointer_t'({2'b0, command_i.source[31:4]}) -
          30'(command_i.pad[3:0]) * (line_step_q + 30'(groups_in));
      piece_rows_q <= 24'(piece_rows_q[7:0]) * 24'(command_i.in_channels) + 24'd4;
    end else if (state_q == Begin) begin
      {group_q, line_q, column_q} <= '0;
      y_q <= -place_t'({2'b0, command_i.pad});
      x_q <= -place_t'({2'b0, command_i.pad});
      line_origin_q <= origin_q;
      pixel_q <= origin_q;
      piece_q <= {1'b0, command_i.params[31:4]};
      out_q <= {1'b0, command_i.destination[31:4]};
    end else if (pixel_end) begin
      column_q <= column_q + 9'd1;
      x_q <= x_q + step;
      pixel_q <= pixel_next;
      out_q <= out_q + 29'(groups_out);
      if (line_end) begin
        column_q <= '0;
        x_q <= -place_t'({2'b0, command_i.pad});
        line_q <= line_q + 9'd1;
        y_q <= y_q + step;
        line_origin_q <= line_next;
        pixel_q <= line_next;
      end
      if (group_end) begin
        group_q <= group_q + 13'd1;
        line_q <= '0;
        y_q <= -place_t'({2'b0, command_i.pad});
        line_origin_q <= group_next;
        origin_q <= group_next;
        pixel_q <= group_next;
        piece_q <= piece_q + 29'(piece_rows_q);
        out_q <= {1'b0, command_i.destination[31:4]} + 29'(group_q) + 29'd1;
      end
    end
  end

  // Position in an output pixel: tap, row of the input, channel.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {tap_y_q, tap_x_q, left_q, lane_q, first_q, tap_line_q, input_q, params_q} <= '0;
      {write_row_q, pending_q} <= '0;
    end else if (clear_i) begin
      {tap_y_q, tap_x_q, left_q, lane_q, first_q, tap_line_q, input_q, params_q} <= '0;
      {write_row_q, pending_q} <= '0;
    end else begin
      if (written_i) pending_q <= 1'b0;
      if (read) begin
        lane_q <= state_q == Inputs || tap_end ? '0 : lane_q + 4'd1;
        if (state_q != Inputs) params_q <= params_q + 29'd1;
        if (state_q == Biases && lane_q == 4'd3) lane_q <= '0;
        if (state_q == Inputs) input_q <= input_q + (pool ? 30'(groups_in) : 30'd1);
        if (state_q == Weights) left_q <= left_q - 16'd1;
        if (state_q == Weights || pool) first_q <= 1'b0;
      end
      if (skip) begin
        input_q  <= input_q + 30'(groups_in);
        params_q <= params_q + 29'(command_i.in_channels);
      end
      if (tap_end) begin
        left_q  <= command_i.in_channels;
        tap_x_q <= tap_x_q + 4'd1;
        if (kernel_line_end) begin
          tap_x_q <= '0;
          tap_y_q <= tap_y_q + 4'd1;
          tap_line_q <= tap_line_q + line_step_q;
          input_q <= tap_line_q + line_step_q;
        end
      end
      if (state_q == Begin || pixel_end) begin
        {tap_y_q, tap_x_q} <= '0;
        left_q <= command_i.in_channels;
        first_q <= 1'b1;
      end
      if (state_q == Begin) begin
        lane_q <= '0;
        tap_line_q <= origin_q;
        input_q <= origin_q;
        params_q <= {1'b0, command_i.params[31:4]};
      end
      if (pixel_end) begin
        tap_line_q <= group_end ? group_next : line_end ? line_next : pixel_next;
        input_q <= group_end ? group_next : line_end ? line_next : pixel_next;
        params_q <= piece_q + (group_end ? 29'(piece_rows_q) : 29'd4);
        write_row_q <= out_q[27:0];
        pending_q <= 1'b1;
      end
    end
  end

  `MAE_ASSERT(WrittenWhenPending, !written_i || pending_q)
  `MAE_ASSERT(LaneInRange, state_q != Biases || lane_q < 4'd4)
  `MAE_STREAM_HOLDS(ReadHolds, read_valid_o, read_ready_i || clear_i, {read_row_o, read_tag_o})

endmodule
