// SPDX-License-Identifier: Apache-2.0
//
// mae_wipe_control: sequences the wipe of a card: halts the bus, resets queues, engines and ciphers,
// then has their memories erased.
//
// Latency: halt_o rises with wipe_i; one clock later job_rst_no falls for ResetClocks; then clear_o
// is high for a clock, the last one of halt_o. A further wipe_i begins again.
// Throughput: not applicable.
// Reset: job_rst_no is low. With AtReset = 1 a reset begins a wipe.
// Test mode: while test_mode_i is high job_rst_no is rst_ni itself, so that a scan test controls the
// resets of all registers. A wipe then resets nothing.
// Parameters: Legal: AtReset 0 or 1.

module mae_wipe_control #(
    parameter bit AtReset = 1'b0
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic test_mode_i,
    input  logic wipe_i,
    output logic halt_o,
    output logic job_rst_no,   // reset, from a register
    output logic clear_o       // pulse: erase everything
);
  localparam int unsigned ResetClocks = 8;

  logic job_rst_n_q;
  logic [$clog2(ResetClocks+2)-1:0] left_q;  // clocks to the end of halt_o

  assign halt_o = wipe_i || left_q != '0;
  assign clear_o = left_q == 1;
  assign job_rst_no = test_mode_i ? rst_ni : job_rst_n_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q      <= AtReset ? ($bits(left_q))'(ResetClocks + 1) : '0;
      job_rst_n_q <= 1'b0;
    end else begin
      if (wipe_i) left_q <= ($bits(left_q))'(ResetClocks + 1);
      else if (left_q != '0) left_q <= left_q - 1'b1;
      job_rst_n_q <= !(wipe_i || left_q > 2);
    end
  end

endmodule
