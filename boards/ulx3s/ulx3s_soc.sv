// SPDX-License-Identifier: Apache-2.0
//
// ulx3s_soc: the PicoRV32 system on a Radiona ULX3S, its console on the serial line (8N1), its
// program in 64 KiB of block RAM. led 0: the program ended with 0. led 1: it ended with another
// code, or the CPU trapped. led 7: the clock runs. Button PWR starts the program again.

module ulx3s_soc
  import mae_aes_pkg::*;
#(
    parameter int unsigned Baud = 115_200,
    parameter string Image = ""  // the program, as mae_soc_memory reads it
) (
    input  logic       clk_25mhz,
    input  logic       btn_pwr_n,
    output logic       ftdi_rxd,   // to the host
    output logic [7:0] led
);
  logic [24:0] count = '0;
  logic rst_n, console_valid, console_ready, finish_valid, trap, ok_q, failed_q;
  logic [7:0] console_data, finish_code;

  always_ff @(posedge clk_25mhz) count <= count + 25'd1;

  mae_reset_sync u_reset (
      .clk_i(clk_25mhz),
      .rst_ni(btn_pwr_n),
      .test_mode_i(1'b0),
      .rst_no(rst_n)
  );

  mae_soc #(
      .RowBits  (12),
      .Image    (Image),
      .Sbox     (SboxLut),
      .KeySlots (2),
      .KeyBanks (1),
      .MaxKeyLen(Aes128)
  ) u_soc (
      .clk_i          (clk_25mhz),
      .rst_ni         (rst_n),
      .console_valid_o(console_valid),
      .console_ready_i(console_ready),
      .console_data_o (console_data),
      .finish_valid_o (finish_valid),
      .finish_code_o  (finish_code),
      .trap_o         (trap)
  );

  uart_tx #(
      .CLOCK_HZ(25_000_000),
      .BAUD    (Baud)
  ) u_tx (
      .clk_i  (clk_25mhz),
      .rst_ni (rst_n),
      .valid_i(console_valid),
      .ready_o(console_ready),
      .byte_i (console_data),
      .tx_o   (ftdi_rxd)
  );

  always_ff @(posedge clk_25mhz or negedge rst_n) begin
    if (!rst_n) {ok_q, failed_q} <= '0;
    else begin
      if (finish_valid) {ok_q, failed_q} <= {finish_code == '0, finish_code != '0};
      if (trap) {ok_q, failed_q} <= 2'b01;
    end
  end

  assign led = {count[24], 5'd0, failed_q, ok_q};
endmodule
