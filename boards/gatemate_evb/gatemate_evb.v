// SPDX-License-Identifier: Apache-2.0
//
// gatemate_evb: aes_uart on an Olimex GateMateA1-EVB (CCGM1A1). The LED lights while the self-test
// was right. Button FPGA_BUT1 is the reset.

module gatemate_evb (
    input  clk_10mhz,
    input  button_n,
    input  uart_rx,
    output uart_tx,
    output led_n
);
  wire ok;
  assign led_n = !ok;

  aes_uart #(
      .CLOCK_HZ(10000000)
  ) u_aes (
      .clk_i (clk_10mhz),
      .rst_ni(button_n),
      .rx_i  (uart_rx),
      .tx_o  (uart_tx),
      .ok_o  (ok)
  );
endmodule
