// SPDX-License-Identifier: Apache-2.0
//
// uart_tx: sends bytes over a serial line (8N1).
//
// A byte is taken in a clock in which valid_i and ready_o are 1.

module uart_tx #(
    parameter CLOCK_HZ = 25000000,
    parameter BAUD = 115200
) (
    input        clk_i,
    input        rst_ni,
    input        valid_i,
    output       ready_o,
    input  [7:0] byte_i,
    output       tx_o
);
  localparam [15:0] BIT = CLOCK_HZ / BAUD - 1;

  reg [15:0] wait_q;  // clocks of the current bit to come
  reg [3:0] bits_q;  // bits to come, the stop bit included
  reg [9:0] frame_q;
  assign ready_o = bits_q == 0 && wait_q == 0;
  assign tx_o = frame_q[0];

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      wait_q <= 0;
      bits_q <= 0;
      frame_q <= 10'h3ff;
    end else if (wait_q != 0) wait_q <= wait_q - 1;
    else if (bits_q != 0) begin
      wait_q <= BIT;
      bits_q <= bits_q - 1;
      frame_q <= {1'b1, frame_q[9:1]};
    end else if (valid_i) begin
      wait_q <= BIT;
      bits_q <= 10;
      frame_q <= {1'b1, byte_i, 1'b0};
    end
endmodule
