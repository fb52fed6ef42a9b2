// SPDX-License-Identifier: Apache-2.0
//
// gcm_axis_top: encrypts messages with AES-128-GCM, one block a clock; a top to start from.
//
// Lays a key and a message's header out for mae_gcm_axis, whose streams it passes on. Byte 0 is in
// bits 7:0 everywhere. PLAIN: mae_gcm_axis is plain Verilog, its parameters already set.

module gcm_axis_top (
    input  logic         clk_i,
    input  logic         rst_ni,
    // A key, taken when both are 1; it counts for the messages after it.
    input  logic         key_valid_i,
    output logic         key_ready_o,
    input  logic [127:0] key_i,
    // A message: IV, and how many bytes of AAD and of data its frame has.
    input  logic         msg_valid_i,
    output logic         msg_ready_o,
    input  logic [ 95:0] iv_i,
    input  logic [ 31:0] aad_bytes_i,
    input  logic [ 31:0] data_bytes_i,
    // The frame: AAD, then data, each beginning a beat.
    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [127:0] s_axis_tdata,
    input  logic [ 15:0] s_axis_tkeep,
    input  logic         s_axis_tlast,
    // Ciphertext, and the tag.
    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [127:0] m_axis_tdata,
    output logic [ 15:0] m_axis_tkeep,
    output logic         m_axis_tlast,
    output logic         tag_valid_o,
    output logic [127:0] tag_o
);

  mae_gcm_axis
`ifndef PLAIN
  #(
      .Lanes    (1),
      .MaxKeyLen(mae_aes_pkg::Aes128),
      .Sbox     (mae_aes_pkg::SboxBoolean)
  )
`endif
  u_gcm (
      .clk_i,
      .rst_ni,
      .clear_i          (1'b0),
      .abort_i          (1'b0),
      .s_axis_key_tvalid(key_valid_i),
      .s_axis_key_tready(key_ready_o),
      .s_axis_key_tdata ({192'b0, key_i}),  // length 0: 16 bytes; bank 0
      .s_axis_cmd_tvalid(msg_valid_i),
      .s_axis_cmd_tready(msg_ready_o),
      .s_axis_cmd_tdata ({224'b0, iv_i, 64'd12, 32'b0, data_bytes_i, 32'b0, aad_bytes_i}),
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_tuser     (),
      .m_axis_tag_tvalid(tag_valid_o),
      .m_axis_tag_tready(1'b1),
      .m_axis_tag_tdata (tag_o),
      .m_axis_tag_tuser ()
  );

endmodule
