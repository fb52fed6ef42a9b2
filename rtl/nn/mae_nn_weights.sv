// SPDX-License-Identifier: Apache-2.0
//
// mae_nn_weights: reads the parameters of a command of the array kernel and prepares the next
// section and the next tile of weights while the multipliers use the previous ones.
//
// From start_i on it reads `rows_i` granules from address_i, and then the same again, without end,
// as far as its FIFO of Ahead granules has room; clear_i ends that (reads under way are the
// caller's to drop). ready_o: weights_o hold the tile of the next pass, and, before the first
// pass of a step, params_o the biases and scales. take_i takes them. passes_i is the number of
// passes of a step.
// Throughput: one granule a clock; a tile takes Lanes x Lanes x columns / 64 clocks.
// Reset and clear: both erase everything.
// Parameters: as mae_nn_address_gen. Legal: Columns a power of two; Ahead >= 2.
// Security: timing depends on the command only.

`include "mae_assert.svh"

module mae_nn_weights
  import mae_nn_pkg::*;
#(
    parameter int unsigned Lanes = 32,
    parameter int unsigned Columns = 2,
    parameter int unsigned Ahead = 32,
    localparam int unsigned Outputs = Lanes * Columns,
    localparam int unsigned ParamRows = Columns * Lanes / 8,
    localparam int unsigned TileRows = Lanes * Outputs / 64
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input logic                 start_i,
    input granule_addr_t        address_i,
    input logic          [31:0] rows_i,
    input logic          [23:0] passes_i,
    input logic          [ 7:0] columns_i,

    output logic          granule_valid_o,
    input  logic          granule_ready_i,
    output granule_addr_t granule_o,
    input  logic          answer_valid_i,
    input  granule_t      answer_i,

    output logic                     ready_o,
    input  logic                     take_i,
    output granule_t [ TileRows-1:0] weights_o,
    output granule_t [ParamRows-1:0] params_o
);
  `MAE_PARAM(ColumnsLegal, Columns >= 1 && (Columns & (Columns - 1)) == 0)
  `MAE_PARAM(AheadLegal, Ahead >= 2)

  localparam int unsigned CountBits = $clog2(Ahead + 1);
  localparam int unsigned RowBits = (TileRows > ParamRows) ? $clog2(
      TileRows + 1
  ) : $clog2(
      ParamRows + 1
  );

  typedef enum logic [1:0] {
    Idle,
    Params,
    Tile,
    Full
  } state_e;

  state_e state_q;
  logic running_q;
  logic [31:0] left_q;
  granule_addr_t at_q;
  logic [CountBits-1:0] held_q;  // granules under way or in the FIFO
  logic ask, fifo_valid, fifo_take;
  granule_t row;
  logic [RowBits-1:0] row_q, last_row;
  logic [23:0] pass_q;
  granule_t [TileRows-1:0] weights_q;
  granule_t [ParamRows-1:0] params_q;

  assign granule_valid_o = running_q && held_q != CountBits'(Ahead);
  assign granule_o = at_q;
  assign ask = granule_valid_o && granule_ready_i;
  assign fifo_take = fifo_valid && state_q inside {Params, Tile};
  assign last_row = (state_q == Params) ? RowBits'(32'(columns_i) * (Lanes / 8) - 32'd1) :
      RowBits'(32'(columns_i) * (Lanes * Lanes / 64) - 32'd1);
  assign ready_o = state_q == Full;
  assign weights_o = weights_q;
  assign params_o = params_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      {running_q, left_q, at_q, held_q, row_q, pass_q} <= '0;
    end else if (clear_i) begin
      state_q <= Idle;
      {running_q, left_q, at_q, held_q, row_q, pass_q} <= '0;
    end else begin
      held_q <= held_q + CountBits'(ask) - CountBits'(fifo_take);
      if (ask) begin
        at_q   <= at_q + 1'b1;
        left_q <= left_q - 32'd1;
        if (left_q == 32'd1) begin
          at_q   <= address_i;
          left_q <= rows_i;
        end
      end
      if (fifo_take) row_q <= (row_q == last_row) ? '0 : row_q + 1'b1;
      case (state_q)
        Idle: begin
          if (start_i) begin
            running_q <= 1'b1;
            at_q <= address_i;
            left_q <= rows_i;
            state_q <= Params;
          end
        end
        Params: if (fifo_take && row_q == last_row) state_q <= Tile;
        Tile:   if (fifo_take && row_q == last_row) state_q <= Full;
        default:
        if (take_i) begin
          pass_q  <= (pass_q == passes_i - 24'd1) ? '0 : pass_q + 24'd1;
          state_q <= (pass_q == passes_i - 24'd1) ? Params : Tile;
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      weights_q <= '{default: '0};
      params_q  <= '0;
    end else if (fifo_take) begin
      if (state_q == Params) params_q[row_q[(ParamRows>1?$clog2(ParamRows) : 1)-1:0]] <= row;
      else weights_q[row_q[(TileRows>1?$clog2(TileRows) : 1)-1:0]] <= row;
    end
  end

  logic fifo_ready;
  logic [CountBits-1:0] unused_count;

  mae_fifo #(
      .Width(512),
      .Depth(Ahead)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (answer_valid_i),
      .in_ready_o (fifo_ready),
      .in_data_i  (answer_i),
      .out_valid_o(fifo_valid),
      .out_ready_i(state_q inside {Params, Tile}),
      .out_data_o (row),
      .count_o    (unused_count)
  );

  `MAE_ASSERT(RoomForAnswers, !answer_valid_i || fifo_ready)
  `MAE_ASSERT(TakenWhenReady, !take_i || ready_o)

endmodule
