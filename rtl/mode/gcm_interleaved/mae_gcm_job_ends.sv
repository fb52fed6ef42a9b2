// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_job_ends: passes jobs of interleaved GCM messages to the GHASH unit when their last rows
// have passed. It passes one job at a time.
//
// ended_i: contexts whose job's last row passes now. In the clock in which picked_o has a context's
// bit its job is taken up; it is offered to the hash (sum_*) from the next clock on, until
// sum_ready_i. hashed_o: contexts whose hash is complete, until taken_i. Outputs come from registers.
// Latency: hashed_o follows ended_i by 4 clocks; a sum is in the hash's register two clocks after
// its operation.
// Throughput: one job in 2 clocks.
// Reset and clear: both drop everything by the next clock.
// Parameters: Legal: Contexts 1..256.

module mae_gcm_job_ends
  import mae_gcm_pkg::*;
#(
    parameter  int unsigned Contexts   = 64,
    localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic [Contexts-1:0] ended_i,
    output logic [Contexts-1:0] picked_o,

    output logic                  sum_valid_o,
    input  logic                  sum_ready_i,
    output logic [IndexWidth-1:0] sum_ctx_o,

    output logic [Contexts-1:0] hashed_o,
    input  logic [Contexts-1:0] taken_i
);

  typedef logic [Contexts-1:0] set_t;
  typedef logic [IndexWidth-1:0] index_t;

  set_t ended_q, hashed_q, end_grant;
  index_t end_index, sum_ctx_q, summing_ctx_q;
  logic end_pick, sum_q, summing_q;

  mae_rr_arb #(
      .N(Contexts)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i    (ended_q),
      .advance_i(!sum_q),
      .grant_o  (end_grant),
      .index_o  (end_index),
      .valid_o  (end_pick)
  );

  assign picked_o    = sum_q ? '0 : end_grant;
  assign sum_valid_o = sum_q;
  assign sum_ctx_o   = sum_ctx_q;
  assign hashed_o    = hashed_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {ended_q, hashed_q, sum_q, sum_ctx_q, summing_q, summing_ctx_q} <= '0;
    end else if (clear_i) begin
      {ended_q, hashed_q, sum_q, sum_ctx_q, summing_q, summing_ctx_q} <= '0;
    end else begin
      ended_q  <= (ended_q & ~picked_o) | ended_i;
      hashed_q <= (hashed_q & ~taken_i) | (summing_q ? set_t'(1) << summing_ctx_q : '0);
      if (!sum_q) {sum_q, sum_ctx_q} <= {end_pick, end_index};
      else if (sum_ready_i) sum_q <= 1'b0;
      summing_q     <= sum_q && sum_ready_i;
      summing_ctx_q <= sum_ctx_q;
    end
  end

endmodule
