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
  logic first_q, released_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q    <= 1'b0;
      released_q <= 1'b0;
    end else begin
      first_q    <= 1'b1;
      released_q <= first_q;
    end
  end

  assign rst_no = released_q;

endmodule
