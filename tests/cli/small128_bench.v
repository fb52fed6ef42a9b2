// SPDX-License-Identifier: Apache-2.0
// Tests the plain Verilog of the build `small128` with the example of FIPS 197, Appendix C.1.
module small128_bench;
  reg clk = 0, rst_n = 0, key_valid = 0, req_valid = 0;
  wire key_ready, req_ready, rsp_valid;
  wire [135:0] rsp;
  integer clocks = 0;

  always #5 clk = !clk;

  mae_cipher_min_area dut (
      .clk_i(clk),
      .rst_ni(rst_n),
      .clear_i(1'b0),
      .key_valid_i(key_valid),
      .key_ready_o(key_ready),
      // bank, length (0: AES-128), key in the upper half
      .key_i({2'd0, 2'd0, 128'h000102030405060708090a0b0c0d0e0f, 128'd0}),
      .req_valid_i(req_valid),
      .req_ready_o(req_ready),
      // context, bank, direction (0: encrypt), block
      .req_i({8'h5a, 2'd0, 1'b0, 128'h00112233445566778899aabbccddeeff}),
      .rsp_valid_o(rsp_valid),
      .rsp_o(rsp)
  );

  always @(posedge clk) begin
    clocks <= clocks + 1;
    if (clocks == 3) rst_n <= 1;
    if (clocks == 5) key_valid <= 1;
    if (key_valid && key_ready) begin
      key_valid <= 0;
      req_valid <= 1;
    end
    if (req_valid && req_ready) req_valid <= 0;
    if (rsp_valid) begin
      if (rsp === {8'h5a, 128'h69c4e0d86a7b0430d8cdb78070b4c55a}) $display("right");
      else $display("wrong: %h", rsp);
      $finish;
    end
    if (clocks > 200) begin
      $display("no answer");
      $finish;
    end
  end
endmodule
