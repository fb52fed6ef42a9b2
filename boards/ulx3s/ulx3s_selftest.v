// SPDX-License-Identifier: Apache-2.0
//
// ulx3s_selftest: encrypts the example of FIPS 197 appendix C.1 over and over on a ULX3S board.
// led 0: the last ciphertext was right. led 1: one was wrong. led 7: the clock runs.
// The core is plain Verilog, written by `maeslant files`; its struct ports are vectors here, first
// field on top: key {bank[1:0], len[1:0], key[255:0]}, request {ctx[7:0], bank[1:0], dir,
// block[127:0]}, answer {ctx[7:0], block[127:0]}.

module ulx3s_selftest (
    input        clk_25mhz,
    output [7:0] led
);
  localparam [127:0] KEY = 128'h000102030405060708090a0b0c0d0e0f;
  localparam [127:0] PLAIN = 128'h00112233445566778899aabbccddeeff;
  localparam [127:0] CIPHER = 128'h69c4e0d86a7b0430d8cdb78070b4c55a;

  reg [24:0] count = 0;
  reg loaded = 0, right = 0, wrong = 0;
  wire rst_n = count[4] | loaded | right | wrong;
  wire key_ready, req_ready, rsp_valid;
  wire [135:0] rsp;

  mae_cipher_min_area u_cipher (
      .clk_i      (clk_25mhz),
      .rst_ni     (rst_n),
      .clear_i    (1'b0),
      .key_valid_i(!loaded),
      .key_ready_o(key_ready),
      .key_i      ({2'd0, 2'd0, KEY, 128'd0}),
      .req_valid_i(loaded),
      .req_ready_o(req_ready),
      .req_i      ({8'd0, 2'd0, 1'b0, PLAIN}),
      .rsp_valid_o(rsp_valid),
      .rsp_o      (rsp)
  );

  always @(posedge clk_25mhz) begin
    count <= count + 1;
    if (rst_n && key_ready) loaded <= 1;
    if (rsp_valid) begin
      right <= rsp[127:0] == CIPHER;
      wrong <= wrong | (rsp[127:0] != CIPHER);
    end
  end

  assign led = {count[24], 5'd0, wrong, right};
endmodule
