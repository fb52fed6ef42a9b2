// SPDX-License-Identifier: Apache-2.0
//
// mae_reset_sync: asynchronous assertion, synchronous release of a reset.
//
// Latency: asserts at once, releases on the second rising clk_i after rst_ni rises. Throughput:
// not applicable. Both registers are to be placed together; no timing path leads into them.

module mae_reset_sync (
    input  logic clk_i,
    input  logic rst_ni,  // from anywhere
    output logic rst_no   // for the domain of clk_i
);
  logic [1:0] sync_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sync_q <= 2'b00;
    else sync_q <= {sync_q[0], 1'b1};
  end

  assign rst_no = sync_q[1];

endmodule
