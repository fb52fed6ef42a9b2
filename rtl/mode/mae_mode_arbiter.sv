// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_arbiter: arbitrates the cipher's lanes between the mode engine's parallel path and
// serial path.
//
// A row of the parallel path enters all its lanes in one clock; a serial block needs one lane. When
// both want a lane, they alternate. The side that has the turn keeps it until it was served: a
// block of a shorter key length waits for the pipeline to drain, which it would not do if others
// continued. So alternating key lengths cost clocks: AES-128 behind AES-256 waits 4 rounds.
// req_ready_i depends on direction and bank of req_o, so the valid of a parallel row waits for the
// ready of all its lanes.
// Latency: 0 clocks, combinational from valid and ready to valid and taken.
// Throughput: one request a lane and clock.
// Reset: the parallel path has the turn in all lanes.
// Parameters: Legal: Lanes 1..16.

module mae_mode_arbiter
  import mae_aes_pkg::*;
#(
    parameter int unsigned Lanes = 4
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                    parallel_valid_i,
    output logic                    parallel_taken_o,
    input  logic        [Lanes-1:0] parallel_lanes_i,
    input  cipher_req_t [Lanes-1:0] parallel_req_i,

    input  logic        [Lanes-1:0] serial_valid_i,
    output logic        [Lanes-1:0] serial_ready_o,
    input  cipher_req_t [Lanes-1:0] serial_req_i,

    output logic        [Lanes-1:0] req_valid_o,
    input  logic        [Lanes-1:0] req_ready_i,
    output cipher_req_t [Lanes-1:0] req_o
);
  logic [Lanes-1:0] contested;
  logic [Lanes-1:0] owed_q;  // lanes where it is the serial path's turn
  logic [Lanes-1:0] serial_gone;
  logic             parallel_now;

  assign contested = parallel_valid_i ? serial_valid_i & parallel_lanes_i : '0;
  assign parallel_now = parallel_valid_i && (contested & owed_q) == '0;
  assign serial_gone = serial_valid_i & serial_ready_o;
  assign parallel_taken_o = parallel_now && (parallel_lanes_i & ~req_ready_i) == '0;

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (parallel_now && parallel_lanes_i[i]) begin
        req_o[i]          = parallel_req_i[i];
        req_valid_o[i]    = parallel_taken_o;
        serial_ready_o[i] = 1'b0;
      end else begin
        req_o[i]          = serial_req_i[i];
        req_valid_o[i]    = serial_valid_i[i];
        serial_ready_o[i] = req_ready_i[i];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) owed_q <= '0;
    else if (parallel_taken_o) owed_q <= (owed_q | contested) & serial_valid_i & ~serial_gone;
    else owed_q <= owed_q & serial_valid_i & ~serial_gone;
  end

endmodule
