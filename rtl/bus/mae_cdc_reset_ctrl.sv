// SPDX-License-Identifier: Apache-2.0
//
// mae_cdc_reset_ctrl: the resets of a clock crossing: when either side is reset, both halves are.
//
// A FIFO whose pointers cross must not lose one of them. Latency: asserts at once, each half is
// released on the second rising clock of its side after both resets have risen. Throughput: not
// applicable. What was in the crossing is lost: the side that was not reset must be idle, or its
// manager gives up what it has outstanding.

module mae_cdc_reset_ctrl (
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
      .rst_no(s_rst_no)
  );

  mae_reset_sync u_m (
      .clk_i (m_clk_i),
      .rst_ni(both),
      .rst_no(m_rst_no)
  );

endmodule
