// SPDX-License-Identifier: Apache-2.0
//
// ulx3s_gcm: gcm_self_test on a Radiona ULX3S. led 0: the test was right. led 1: it was wrong.
// led 7: the clock runs. Button PWR starts the test again.

module ulx3s_gcm #(
    parameter int unsigned Baud = 115_200
) (
    input  logic       clk_25mhz,
    input  logic       btn_pwr_n,
    output logic       ftdi_rxd,   // to the host
    output logic [7:0] led
);
  logic [24:0] count = '0;
  logic done, ok;

  always_ff @(posedge clk_25mhz) count <= count + 25'd1;

  gcm_self_test #(
      .ClockHz(25_000_000),
      .Baud   (Baud)
  ) u_test (
      .clk_i (clk_25mhz),
      .rst_ni(btn_pwr_n),
      .tx_o  (ftdi_rxd),
      .done_o(done),
      .ok_o  (ok)
  );

  assign led = {count[24], 5'd0, done && !ok, ok};
endmodule
