// SPDX-License-Identifier: Apache-2.0
//
// mae_nn_macs: multiplies pixels by tiles of weights, adds the sums of a tile's passes, and scales
// the last pass's sums to int8; or takes the maximum.
//
// A pixel is Lanes int8 values; each of the Outputs = Lanes x Columns sums gets Lanes products a
// clock. Pixels come as tags (mae_nn_address_gen) and, in the order of their fresh ones, granules.
// The first pixel of a pass takes the next weights; the first of a step, and any of a pass that
// follows one of fewer than 8 pixels, waits until no pixel is inside. Fields of the command must
// hold while busy_o or tag_valid_i.
// Latency: 5 clocks from a pixel to its result.
// Throughput: one pixel a clock.
// Reset and clear: both erase the registers; the sums are erased one tile pixel a clock while
// erase_i is high, at erase_place_i.
// Parameters: as mae_nn_address_gen; Rows is the number of granules that wait. Legal: Rows >= 2.
// Security: constant-time in data.

`include "mae_assert.svh"

module mae_nn_macs
  import mae_nn_pkg::*;
#(
    parameter int unsigned Lanes = 32,
    parameter int unsigned Columns = 2,
    parameter int unsigned Depth = 512,
    parameter int unsigned Rows = 64,
    localparam int unsigned Outputs = Lanes * Columns,
    localparam int unsigned ParamRows = Columns * Lanes / 8,
    localparam int unsigned TileRows = Lanes * Outputs / 64
) (
    input logic                     clk_i,
    input logic                     rst_ni,
    input logic                     clear_i,
    input logic                     erase_i,
    input logic [$clog2(Depth)-1:0] erase_place_i,

    // verilator lint_off UNUSEDSIGNAL  // other modules use the other fields
    input array_command_t command_i,
    // verilator lint_on UNUSEDSIGNAL

    input  logic       tag_valid_i,
    output logic       tag_ready_o,
    input  pixel_tag_t tag_i,
    input  logic       answer_valid_i,
    input  granule_t   answer_i,
    output logic       row_take_o,      // a granule has left

    input  logic                     weights_ready_i,
    output logic                     weights_take_o,
    input  granule_t [ TileRows-1:0] weights_i,
    input  granule_t [ParamRows-1:0] params_i,

    input  logic                            room_i,   // for 8 more results
    output logic                            busy_o,
    output logic                            valid_o,
    output logic                            ends_o,
    output logic [Columns-1:0][Lanes*8-1:0] values_o
);
  `MAE_PARAM(RowsLegal, Rows >= 2)

  localparam int unsigned PlaceBits = $clog2(Depth);
  typedef logic [PlaceBits-1:0] place_t;
  typedef logic [Outputs-1:0][31:0] sums_t;

  typedef struct packed {
    logic   valid;
    logic   first;
    logic   last;
    logic   ends;
    place_t place;
  } stage_t;

  logic maximum, row_valid, row_ready, empty, can_begin, issue;
  granule_t row, held_q, granule;
  logic [Lanes-1:0][7:0] pixel, x_q;
  stage_t x_stage_q, dot_stage_q;
  logic begin_q, short_q;
  place_t place_q;
  logic [Outputs-1:0][Lanes-1:0][7:0] weights_q;
  logic [Columns-1:0][1:0][Lanes-1:0][31:0] params_q;
  sums_t dots_q, earlier, sums, sums_q, biases, scales;
  logic sums_valid_q, sums_ends_q, requant_busy;

  assign maximum = command_i.op == OpMax;
  assign empty = !x_stage_q.valid && !dot_stage_q.valid && !sums_valid_q && !requant_busy;
  assign busy_o = !empty;
  assign can_begin = (maximum || weights_ready_i) && (empty || !(tag_i.pass_first || short_q));
  assign issue = tag_valid_i && (!tag_i.fresh || row_valid) && (!tag_i.pass_last || room_i) &&
      (!begin_q || can_begin);
  assign tag_ready_o = issue;
  assign row_ready = issue && tag_i.fresh;
  assign row_take_o = row_ready;
  assign weights_take_o = issue && begin_q && !maximum;
  assign granule = tag_i.fresh ? row : held_q;
  assign pixel = tag_i.pad ? {Lanes{command_i.pad_value}} :
      granule[Lanes*8*32'(tag_i.slot)+:Lanes*8];

  function automatic logic [31:0] dot(logic [Lanes-1:0][7:0] x, logic [Lanes-1:0][7:0] weights);
    dot = '0;
    for (int unsigned i = 0; i < Lanes; i++) begin
      dot += 32'($signed(x[i])) * 32'($signed(weights[i]));
    end
  endfunction

  always_comb begin
    for (int unsigned o = 0; o < Outputs; o++) begin
      biases[o] = params_q[o/Lanes][0][o%Lanes];
      scales[o] = params_q[o/Lanes][1][o%Lanes];
      if (maximum) begin
        sums[o] = (dot_stage_q.first || $signed(dots_q[o]) > $signed(earlier[o])) ? dots_q[o] :
            earlier[o];
      end else sums[o] = dots_q[o] + (dot_stage_q.first ? biases[o] : earlier[o]);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {x_stage_q, dot_stage_q, sums_valid_q, sums_ends_q, short_q, place_q} <= '0;
      begin_q <= 1'b1;
    end else if (clear_i) begin
      {x_stage_q, dot_stage_q, sums_valid_q, sums_ends_q, short_q, place_q} <= '0;
      begin_q <= 1'b1;
    end else begin
      x_stage_q.valid <= issue;
      x_stage_q.first <= tag_i.pass_first;
      x_stage_q.last <= tag_i.pass_last;
      x_stage_q.ends <= tag_i.ends;
      x_stage_q.place <= place_q;
      dot_stage_q <= x_stage_q;
      sums_valid_q <= dot_stage_q.valid && dot_stage_q.last;
      sums_ends_q <= dot_stage_q.ends;
      if (issue) begin
        begin_q <= tag_i.ends;
        place_q <= tag_i.ends ? '0 : place_q + 1'b1;
        if (tag_i.ends) short_q <= 32'(place_q) < 32'd7;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      {x_q, held_q, dots_q, sums_q} <= '0;
      params_q <= '0;
      weights_q <= '{default: '0};
    end else begin
      if (issue) begin
        x_q <= pixel;
        if (tag_i.fresh) held_q <= row;
      end
      if (weights_take_o) begin
        weights_q <= weights_i;
        if (tag_i.pass_first) params_q <= params_i;
      end
      if (x_stage_q.valid) begin
        for (int unsigned o = 0; o < Outputs; o++) begin
          dots_q[o] <= maximum ? 32'($signed(x_q[o%Lanes])) : dot(x_q, weights_q[o]);
        end
      end
      if (dot_stage_q.valid) sums_q <= sums;
    end
  end

  // The sums of a tile.
  mae_ram #(
      .Width  (Outputs * 32),
      .Depth  (Depth),
      .ReadReg(1'b1)
  ) u_sums (
      .clk_i,
      .write_i     (erase_i || dot_stage_q.valid),
      .write_addr_i(erase_i ? erase_place_i : dot_stage_q.place),
      .write_data_i(erase_i ? '0 : sums),
      .read_i      (x_stage_q.valid),
      .clear_i     (erase_i),
      .read_addr_i (x_stage_q.place),
      .read_data_o (earlier)
  );

  logic answer_ready;
  logic [$clog2(Rows+1)-1:0] unused_count;

  mae_fifo #(
      .Width(512),
      .Depth(Rows)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (answer_valid_i),
      .in_ready_o (answer_ready),
      .in_data_i  (answer_i),
      .out_valid_o(row_valid),
      .out_ready_i(row_ready),
      .out_data_o (row),
      .count_o    (unused_count)
  );

  mae_nn_requant #(
      .Outputs(Outputs)
  ) u_requant (
      .clk_i,
      .rst_ni,
      .clear_i,
      .scales_i(scales),
      .zero_i  (command_i.zero),
      .low_i   (command_i.low),
      .high_i  (command_i.high),
      .bypass_i(maximum),
      .valid_i (sums_valid_q),
      .ends_i  (sums_ends_q),
      .sums_i  (sums_q),
      .busy_o  (requant_busy),
      .valid_o,
      .ends_o,
      .values_o
  );

  `MAE_ASSERT(RoomForAnswers, !answer_valid_i || answer_ready)

endmodule
