// SPDX-License-Identifier: Apache-2.0
//
// mae_cdc_reset_ctrl: resets both halves of a clock-domain crossing when either side is reset.
//
// Resetting only one half of an asynchronous FIFO would lose one of its pointers. The contents of
// the crossing are lost: the side that was not reset must be idle, or its manager must abandon its
// outstanding accesses.
// Latency: both resets are asserted at once. Each is released at the second rising clock of its
// side after both input resets have been released.
// Throughput: not applicable.

module mae_cdc_reset_ctrl (
    input  logic test_mode_i,  // high: resets not synchronized (mae_reset_sync)
    input  logic s_clk_i,
    input  logic s_rst_ni,
    output logic s_rst_no,
    input  logic m_clk_i,
    input  logic m_rst_ni,
    output logic m_rst_no
);
  logic both;

  assign both = s_rst_ni && m_rst_ni;

  mae_reset_sync u_s (
      .clk_i (s_clk_i),
      .rst_ni(both),
      .test_mode_i,
      .rst_no(s_rst_no)
  );

  mae_reset_sync u_m (
      .clk_i (m_clk_i),
      .rst_ni(both),
      .test_mode_i,
      .rst_no(m_rst_no)
  );

endmodule
