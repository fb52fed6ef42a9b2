// SPDX-License-Identifier: Apache-2.0
//
// mae_reset_sync: synchronizes the release of an asynchronous reset with a clock.
//
// This is the generic view; rtl/technology has others of the same name (docs/adr/0040).
// Latency: the output falls with rst_ni at once, and rises at the second rising clk_i after rst_ni
// has risen.
// Throughput: not applicable.
// Test mode: while test_mode_i is high the output is rst_ni itself, so that a scan test controls
// the resets of all registers. Tie it low where no scan chain is.
// Constraint: place both registers next to each other. No timing path leads into them.

module mae_reset_sync (
    input  logic clk_i,
    input  logic rst_ni,       // asynchronous reset
    input  logic test_mode_i,
    output logic rst_no        // reset of the clock domain of clk_i
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

  assign rst_no = test_mode_i ? rst_ni : released_q;

endmodule
