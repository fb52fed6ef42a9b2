// SPDX-License-Identifier: Apache-2.0
//
// tang_primer_25k: aes_uart on a Sipeed Tang Primer 25K (GW5A-25A) in its dock. led_ready: the
// self-test was right. led_done: the clock runs. Button S1 is the reset.

module tang_primer_25k (
    input  clk_50mhz,
    input  button,     // high while it is pressed
    input  uart_rx,
    output uart_tx,
    output led_ready,
    output led_done
);
  reg [24:0] count = 0;

  always @(posedge clk_50mhz) count <= count + 1;
  assign led_done = count[24];

  aes_uart #(
      .CLOCK_HZ(50000000)
  ) u_aes (
      .clk_i (clk_50mhz),
      .rst_ni(!button),
      .rx_i  (uart_rx),
      .tx_o  (uart_tx),
      .ok_o  (led_ready)
  );
endmodule
