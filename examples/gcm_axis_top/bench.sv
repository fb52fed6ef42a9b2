// SPDX-License-Identifier: Apache-2.0
//
// bench: runs test case 4 of the GCM specification (McGrew, Viega) through gcm_axis_top.

`timescale 1ns / 1ps

module bench;
  // Bytes as the specification writes them, the first one on the left.
  localparam [127:0] Key = 128'hfeffe9928665731c6d6a8f9467308308;
  localparam [95:0] Iv = 96'hcafebabefacedbaddecaf888;
  localparam [255:0] Aad = {160'hfeedfacedeadbeeffeedfacedeadbeefabaddad2, 96'b0};
  localparam [511:0] Plain = {480'hd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39, 32'b0};
  localparam [511:0] Cipher = {480'h42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091, 32'b0};
  localparam [127:0] Tag = 128'h5bc94fbc3221a5db94fae95ae7121a47;

  reg clk = 0, rst_n = 0, key_valid = 0, msg_valid = 0, valid = 0;
  reg [767:0] frame = {Aad, Plain};  // six beats: 16 and 4 bytes of AAD; 16, 16, 16 and 12 of data
  reg [511:0] got = 0;
  wire key_ready, msg_ready, ready, out_valid, out_last, tag_valid;
  wire [127:0] out, tag;
  wire [15:0] out_keep;
  integer beat = 0, i;
  always #5 clk = !clk;

  // Between the order of the specification and byte 0 in bits 7:0.
  function [127:0] swap(input [127:0] block);
    for (i = 0; i < 16; i = i + 1) swap[8*i+:8] = block[127-8*i-:8];
  endfunction

  wire [127:0] iv = swap({Iv, 32'b0});
  wire [15:0] keep = (beat == 1) ? 16'h000f : (beat == 5) ? 16'h0fff : 16'hffff;
  gcm_axis_top u_top (
      .clk_i(clk), .rst_ni(rst_n),
      .key_valid_i(key_valid), .key_ready_o(key_ready), .key_i(swap(Key)),
      .msg_valid_i(msg_valid), .msg_ready_o(msg_ready), .iv_i(iv[95:0]),
      .aad_bytes_i(32'd20), .data_bytes_i(32'd60),
      .s_axis_tvalid(valid), .s_axis_tready(ready), .s_axis_tdata(swap(frame[767:640])),
      .s_axis_tkeep(keep), .s_axis_tlast(beat == 5),
      .m_axis_tvalid(out_valid), .m_axis_tready(1'b1), .m_axis_tdata(out),
      .m_axis_tkeep(out_keep), .m_axis_tlast(out_last), .tag_valid_o(tag_valid), .tag_o(tag)
  );

  initial begin
    repeat (4) @(negedge clk);
    rst_n = 1; key_valid = 1;
    @(negedge clk) while (!key_ready) @(negedge clk);
    @(negedge clk) key_valid = 0; msg_valid = 1;
    while (!msg_ready) @(negedge clk);
    @(negedge clk) msg_valid = 0; valid = 1;
    while (beat < 6) begin
      while (!ready) @(negedge clk);
      @(negedge clk) beat = beat + 1; frame = frame << 128; valid = beat < 6;
    end
    repeat (1000) @(negedge clk);
    $display("no tag came"); $finish;
  end
  always @(negedge clk) if (out_valid) got = {got[383:0], swap(out)};
  always @(negedge clk) if (tag_valid) begin
    #1 $display("%0s", (swap(tag) == Tag && got[511:32] == Cipher[511:32]) ? "right" : "wrong");
    $finish;
  end
endmodule
