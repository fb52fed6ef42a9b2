// SPDX-License-Identifier: Apache-2.0
//
// mae_rr_arb: grants one of N requests at a time, in round-robin order.
//
// Grants the first request at or after a pointer. advance_i tells that the grant was used and moves
// the pointer behind it, so that a request waits for at most N - 1 others. A grant that was not
// used stays at the same request as long as that request is high, so that the payload of the
// selected stream holds.
// Latency: 0 clocks; the grant depends combinationally on the requests.
// Throughput: one grant a clock.
// Reset: the pointer returns to request 0.
// Parameters: N is the number of requests. Legal: N >= 1.

`include "mae_assert.svh"

module mae_rr_arb #(
    parameter int unsigned N = 4,
    localparam int unsigned IndexWidth = (N > 1) ? $clog2(N) : 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic [         N-1:0] req_i,
    input  logic                  advance_i,
    output logic [         N-1:0] grant_o,
    output logic [IndexWidth-1:0] index_o,
    output logic                  valid_o
);
  `MAE_PARAM(NLegal, N >= 1)

  logic [N-1:0] mask_q;  // ones at and above the pointer
  logic [N-1:0] after;  // the requests at and above the pointer
  logic [N-1:0] pool;

  assign after   = req_i & mask_q;
  assign pool    = (after != '0) ? after : req_i;
  assign grant_o = pool & (~pool + N'(1));  // the lowest bit that is set
  assign valid_o = req_i != '0;

  always_comb begin
    index_o = '0;
    for (int unsigned i = 0; i < N; i++) if (grant_o[i]) index_o |= IndexWidth'(i);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mask_q <= '1;
    else if (valid_o) mask_q <= ~(grant_o - N'(1)) & ~(advance_i ? grant_o : '0);
  end

  `MAE_ASSERT(GrantOneHot, $onehot0(grant_o))
  `MAE_ASSERT(GrantRequested, (grant_o & ~req_i) == '0 && (valid_o == (grant_o != '0)))

endmodule
