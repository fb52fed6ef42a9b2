// SPDX-License-Identifier: Apache-2.0
//
// ulx3s: aes_uart on a Radiona ULX3S. led 0: the self-test was right. led 1: it was wrong. led 7:
// the clock runs. Button PWR is the reset.

module ulx3s (
    input        clk_25mhz,
    input        btn_pwr_n,
    input        ftdi_txd,   // from the host
    output       ftdi_rxd,
    output [7:0] led
);
  reg [24:0] count = 0;
  wire ok;

  always @(posedge clk_25mhz) count <= count + 1;

  aes_uart #(
      .CLOCK_HZ(25000000)
  ) u_aes (
      .clk_i (clk_25mhz),
      .rst_ni(btn_pwr_n),
      .rx_i  (ftdi_txd),
      .tx_o  (ftdi_rxd),
      .ok_o  (ok)
  );

  assign led = {count[24], 5'd0, !ok, ok};
endmodule
