// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_halt_reg: registers a stream in front of a bus and stops it within one clock of a halt.
// It does not withdraw a word that the bus has already seen.
//
// A word is launched when it enters the output register; from then on it is held until accepted,
// whatever happens. A word in the second register is not launched, and halt_i drops it. Nothing is
// launched while room_i is low. in_ready_o and out_* come from registers; launch_* are
// combinational.
// Latency: 1 clock.
// Throughput: one word a clock.
// Reset: erases both words.
// Parameters: Width is the word width in bits. Legal: Width >= 1.

`include "mae_assert.svh"

module mae_guard_halt_reg #(
    parameter int unsigned Width = 8
) (
    input logic clk_i,
    input logic rst_ni,
    input logic halt_i,
    input logic room_i,

    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [Width-1:0] in_data_i,

    output logic             launch_o,
    output logic [Width-1:0] launch_data_o, // valid with launch_o

    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_data_o
);
  `MAE_PARAM(WidthLegal, Width >= 1)

  logic waiting_q;
  logic [Width-1:0] waiting_data_q;

  assign in_ready_o = !waiting_q;
  assign launch_o = (waiting_q || in_valid_i) && (!out_valid_o || out_ready_i) && room_i && !halt_i;
  assign launch_data_o = waiting_q ? waiting_data_q : in_data_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_o    <= 1'b0;
      out_data_o     <= '0;
      waiting_q      <= 1'b0;
      waiting_data_q <= '0;
    end else begin
      if (launch_o) begin
        out_valid_o <= 1'b1;
        out_data_o  <= launch_data_o;
      end else if (out_ready_i) begin
        out_valid_o <= 1'b0;
      end
      if (halt_i || launch_o) begin
        waiting_q <= 1'b0;
      end else if (in_valid_i && in_ready_o) begin
        waiting_q      <= 1'b1;
        waiting_data_q <= in_data_i;
      end
    end
  end

  `MAE_STREAM_HOLDS(OutHolds, out_valid_o, out_ready_i, out_data_o)

endmodule
