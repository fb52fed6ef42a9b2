// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_response_packer: packs the 16-byte rows of a response into the 64-byte lines of its
// slot in host memory.
//
// The response begins at byte 16 of the first line, after the number. If the body ends with an odd
// word, the row before the tag has 8 bytes only; the tag then spans two rows, perhaps two lines.
// Give begin_i before the first row. row_ready_o is combinational in line_ready_i. Byte 0 is in
// bits 7:0 of a line and in bits 127:120 of a row.
// Latency: a line is valid in the clock after its last row.
// Throughput: one row a clock while lines are accepted at once; one clock more for a tag that spans
// two rows.
// Reset and clear: empty in the next clock.
// Security: constant-time in data.
// Source: docs/protocol.md, sections 3 and 4.

`include "mae_assert.svh"

module mae_guard_response_packer
  import mae_bytes_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input logic begin_i,  // pulse: a new response follows

    input  logic         row_valid_i,
    output logic         row_ready_o,
    input  logic [127:0] row_i,
    input  logic         row_short_i,  // only the first 8 bytes are used
    input  logic         row_last_i,   // the tag

    output logic         line_valid_o,
    input  logic         line_ready_i,
    output logic [511:0] line_o,
    output logic [ 63:0] line_strb_o,
    output logic         line_last_o
);
  logic [7:0][63:0] line_q;
  logic [7:0] strobe_q;  // one bit for each half row
  logic [2:0] half_q;  // the next free half row
  logic [63:0] rest_q;  // second half of a tag that spans two rows
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
          valid_q <= 1'b0;  // the first half of the tag is placed beside it
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
