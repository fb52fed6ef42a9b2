// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_response_packer: packs the rows of a response into lines of 64 bytes, as its slot holds
// them.
//
// The first line begins at byte 16, behind the number. Rows have 16 bytes, but the one before the
// tag has 8 when the response ends with an odd word: then the tag lies across rows, perhaps across
// lines.
//
// Latency: a line is there in the clock after its last row. Throughput: a row a clock while lines
// are taken at once, but one clock more for a tag that lies across rows. begin_i: before the first
// row. row_ready_o depends on line_ready_i in the same clock. Line: byte 0 in bits 7:0; row: in
// 127:120. clear_i: empty in the next clock. Constant-time in data. Source: docs/protocol.md §3,
// §4.

`include "mae_assert.svh"

module mae_guard_response_packer
  import mae_bytes_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input logic begin_i,  // pulse: a response follows

    input  logic         row_valid_i,
    output logic         row_ready_o,
    input  logic [127:0] row_i,
    input  logic         row_short_i,  // its first 8 bytes only
    input  logic         row_last_i,   // the tag

    output logic         line_valid_o,
    input  logic         line_ready_i,
    output logic [511:0] line_o,
    output logic [ 63:0] line_strb_o,
    output logic         line_last_o
);
  logic [7:0][63:0] line_q;
  logic [7:0] strobe_q;  // of halves of rows
  logic [2:0] half_q;  // the next free one
  logic [63:0] rest_q;  // of a tag that lies across
  logic rest_valid_q, valid_q, last_q;
  logic [127:0] row;
  logic taken, room;

  assign row = swap_block(row_i);
  assign taken = valid_q && line_ready_i;
  assign room = !valid_q || taken;
  assign row_ready_o = room && !rest_valid_q;

  assign line_valid_o = valid_q;
  assign line_o = line_q;
  assign line_last_o = last_q;

  always_comb begin
    for (int unsigned i = 0; i < 8; i++) line_strb_o[8*i+:8] = {8{strobe_q[i]}};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      line_q       <= '0;
      strobe_q     <= '0;
      half_q       <= 3'd2;
      rest_q       <= '0;
      rest_valid_q <= 1'b0;
      valid_q      <= 1'b0;
      last_q       <= 1'b0;
    end else if (clear_i) begin
      line_q       <= '0;
      strobe_q     <= '0;
      half_q       <= 3'd2;
      rest_q       <= '0;
      rest_valid_q <= 1'b0;
      valid_q      <= 1'b0;
      last_q       <= 1'b0;
    end else begin
      if (taken) begin
        line_q   <= '0;
        strobe_q <= '0;
        valid_q  <= 1'b0;
        last_q   <= 1'b0;
      end
      if (begin_i) half_q <= 3'd2;
      if (row_valid_i && row_ready_o) begin
        line_q[half_q]   <= row[63:0];
        strobe_q[half_q] <= 1'b1;
        half_q           <= half_q + 3'd1;
        if (row_last_i && half_q[0]) begin
          rest_q       <= row[127:64];
          rest_valid_q <= 1'b1;
          valid_q      <= half_q == 3'd7;
        end else if (row_short_i) begin
          valid_q <= 1'b0;  // the tag's first half goes beside it
        end else begin
          line_q[half_q+3'd1]   <= row[127:64];
          strobe_q[half_q+3'd1] <= 1'b1;
          half_q                <= half_q + 3'd2;
          valid_q               <= half_q == 3'd6 || row_last_i;
          last_q                <= row_last_i;
        end
      end
      if (rest_valid_q && room) begin
        line_q[half_q]   <= rest_q;
        strobe_q[half_q] <= 1'b1;
        rest_q           <= '0;
        rest_valid_q     <= 1'b0;
        valid_q          <= 1'b1;
        last_q           <= 1'b1;
      end
    end
  end

  `MAE_ASSERT(BeginsEmpty, !begin_i || !(valid_q || rest_valid_q))
  `MAE_ASSERT(WholeRowsFit, !(row_valid_i && row_ready_o) || half_q != 3'd7 || row_last_i)
  `MAE_STREAM_HOLDS(LineHolds, line_valid_o, line_ready_i || clear_i, {line_o, line_strb_o,
                                                                       line_last_o})

endmodule
