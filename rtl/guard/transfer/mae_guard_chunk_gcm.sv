// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_chunk_gcm: encrypts the rows of D2H chunks and decrypts those of H2D chunks with
// AES-256-GCM.
//
// A chunk is announced with its chunk_t and direction; header, IV and the 48 bytes of AAD are built
// from these alone. Its rows follow in the order of the chunks and leave as they are processed. The
// verdict ends a chunk: of H2D whether the tag is the announced one, of D2H the tag. tag_ok_o also
// tells that exactly `length` bytes came. Bit 1 of a key's bank is its direction, bit 0 that of its
// epoch; each has its IV mask. A chunk whose bank has no key waits; a key waits until no chunk of
// its bank is in progress. row_ready_o is combinational in out_ready_i, chunk_ready_o in chunk_i and
// the key port, key_ready_o in key_bank_i.
// Latency: the first row is accepted 18 clocks after the chunk, with Small = 1 19; rows leave 1
// clock after they were accepted, the verdict 6 after the last one.
// Throughput: one row a clock, and one clock a chunk for the AAD; no other clock is lost if the
// next chunk was announced 18 clocks before. Small = 1: two clocks a chunk, and where the key
// changes, its load (mae_gcm_multi_key).
// Reset and clear: both erase keys, masks and data within two clocks; Small = 1: data within 44.
// Parameters: Both = 1 has banks for both directions, Both = 0 those of one, which is then always
// the same. Legal: Both 0 or 1; Sbox any of sbox_impl_e; Small and RomSboxes 0 or 1, RomSboxes = 1
// with Small = 1.
// Security: constant-time, the verdict too; no masking.
// Source: docs/protocol.md, sections 2, 3 and 5; SP 800-38D.

`include "mae_assert.svh"

module mae_guard_chunk_gcm
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
  import mae_guard_pkg::*;
#(
    parameter bit Both = 1'b0,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter bit Small = 1'b0,
    parameter bit RomSboxes = 1'b0
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic             key_valid_i,
    output logic             key_ready_o,
    input  logic       [1:0] key_bank_i,
    input  class_key_t       key_i,

    input  logic   chunk_valid_i,
    output logic   chunk_ready_o,
    input  chunk_t chunk_i,
    input  logic   chunk_out_i,    // D2H

    input  logic         row_valid_i,  // byte 0 in bits 7:0
    output logic         row_ready_o,
    input  logic [511:0] row_data_i,
    input  logic [  6:0] row_bytes_i,
    input  logic         row_last_i,

    output logic         out_valid_o,
    input  logic         out_ready_i,
    output logic [511:0] out_data_o,
    output logic [  6:0] out_bytes_o,
    output logic         out_last_o,

    output logic         tag_valid_o,
    input  logic         tag_ready_i,
    output logic         tag_ok_o,
    output logic [127:0] tag_o
);
  logic [3:0][95:0] mask_q;
  logic [1:0] bank, key_bank;
  class_e class_code;
  logic aad_ready, aad_valid, aad_take, msg_ready;
  logic [383:0] aad_new, aad;
  logic [63:0] unused_host;
  gcm_msg_t msg;

  assign bank = {Both && chunk_out_i, chunk_i.place.epoch[0]};
  assign key_bank = {Both && key_bank_i[1], key_bank_i[0]};
  assign class_code = chunk_out_i ? ClassDmaOut : ClassDmaIn;
  assign unused_host = chunk_i.host;
  assign aad_new = {
    header_of(class_code, {6'd0, chunk_i.last, chunk_i.first}, chunk_i.place),
    chunk_i.address,
    chunk_i.length,
    chunk_i.index,
    chunk_i.base,
    chunk_i.total
  };
  assign msg = '{
          bank: bank,
          dir: chunk_out_i ? Encrypt : Decrypt,
          iv: iv_of(mask_q[bank], class_code, chunk_i.place),
          iv_bytes: gcm_length_t'(12),
          aad_bytes: gcm_length_t'(48),
          data_bytes: gcm_length_t'(chunk_i.length),
          tag_bytes: 5'd16,
          tag: chunk_out_i ? '0 : chunk_i.tag
      };
  assign chunk_ready_o = msg_ready && aad_ready;

  mae_gcm_fifo #(
      .Width(384),
      .Depth(2),
      .Small(Small)
  ) u_aad (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (chunk_valid_i && msg_ready),
      .in_ready_o (aad_ready),
      .in_data_i  (aad_new),
      .out_valid_o(aad_valid),
      .out_ready_i(aad_take),
      .out_data_o (aad)
  );

  // The AAD of a chunk, followed by its rows.
  logic rows_q, in_valid, in_ready, in_last;
  logic [6:0] in_bytes;
  block_t [3:0] in_data, out_data;
  gcm_verdict_t verdict;

  assign in_valid    = rows_q ? row_valid_i : aad_valid;
  assign in_last     = rows_q && row_last_i;
  assign in_bytes    = rows_q ? row_bytes_i : 7'd48;
  assign aad_take    = !rows_q && in_ready;
  assign row_ready_o = rows_q && in_ready;

  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      in_data[i] = mae_bytes_pkg::swap_block(row_data_i[128*i+:128]);
      out_data_o[128*i+:128] = mae_bytes_pkg::swap_block(out_data[i]);
    end
    if (!rows_q) in_data = {128'd0, aad[127:0], aad[255:128], aad[383:256]};
  end

  mae_gcm_multi_key #(
      .Lanes    (4),
      .KeyBanks (Both ? 4 : 2),
      .OneKeyLen(1'b1),
      .Sbox     (Sbox),
      .Small    (Small),
      .RomSboxes(RomSboxes),
      .MsgDepth (4)
  ) u_gcm (
      .clk_i,
      .rst_ni,
      .clear_i,
      .abort_i    (1'b0),
      .key_valid_i,
      .key_ready_o,
      .key_i      ('{bank: key_bank, len: Aes256, key: key_i.key}),
      .msg_valid_i(chunk_valid_i && aad_ready),
      .msg_ready_o(msg_ready),
      .msg_i      (msg),
      .in_valid_i (in_valid),
      .in_ready_o (in_ready),
      .in_data_i  (in_data),
      .in_bytes_i (in_bytes),
      .in_last_i  (in_last),
      .out_valid_o,
      .out_ready_i,
      .out_data_o (out_data),
      .out_bytes_o,
      .out_last_o,
      .tag_valid_o,
      .tag_ready_i,
      .tag_o      (verdict)
  );

  assign tag_ok_o = verdict.ok;
  // The engine never outputs the tag of data that it decrypts (docs/protocol.md, H1).
  assign tag_o    = verdict.tag;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rows_q <= 1'b0;
      mask_q <= '0;
    end else if (clear_i) begin
      rows_q <= 1'b0;
      mask_q <= '0;
    end else begin
      if (in_valid && in_ready) rows_q <= !in_last;
      if (key_valid_i && key_ready_o) mask_q[key_bank] <= key_i.mask;
    end
  end

  `MAE_STREAM_HOLDS(ChunkHolds, chunk_valid_i, chunk_ready_o || clear_i, chunk_i)

endmodule
