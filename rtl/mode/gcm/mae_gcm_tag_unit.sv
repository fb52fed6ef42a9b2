// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_tag_unit: computes the tag of each GCM message from its hash and its mask, or compares it
// with the expected tag.
//
// Tags come in the order of the messages. hash_used_o: a hash was used; at most HashDepth hashes
// may be computed or waiting at a time. done_o: a message of done_bank_o has ended. With Cut = 1
// ready and valid come from registers only. With Cut = 0 tag_valid_o is combinational in
// mask_valid_i; mask_ready_o and done_o are combinational in tag_ready_i.
// Latency: from the later one of hash and mask to tag_*: 1 clock, with Cut = 1 3 clocks.
// Throughput: one tag a clock.
// Reset and clear: both drop everything by the next clock; see mae_gcm_fifo for the data.
// Parameters: Legal: MsgDepth and HashDepth >= 1, with Small >= 2; Cut and Small 0 or 1, not both 1.
// Security: constant-time, the verdict too; no masking.
// Source: SP 800-38D §7.

`include "mae_assert.svh"

module mae_gcm_tag_unit
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
#(
    parameter int unsigned MsgDepth = 32,
    parameter int unsigned HashDepth = 8,
    parameter bit Cut = 1'b0,
    parameter bit Small = 1'b0
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         clear_i,
    input  logic         msg_valid_i,
    output logic         msg_ready_o,
    input  gcm_end_t     msg_i,
    input  logic         hash_valid_i,
    input  logic         hash_odd_i,    // its beats did not have the announced lengths
    input  block_t       hash_i,
    output logic         hash_used_o,
    input  logic         mask_valid_i,
    output logic         mask_ready_o,
    input  block_t       mask_i,
    output logic         done_o,
    output bank_t        done_bank_o,
    output logic         tag_valid_o,
    input  logic         tag_ready_i,
    output gcm_verdict_t tag_o
);

  logic end_valid, hash_valid, hash_odd, mask_valid, verdict_valid, verdict_ready, use_hash;
  gcm_end_t end_msg;
  block_t hash, mask;
  logic unused_hash_ready;

  mae_gcm_fifo #(
      .Width($bits(gcm_end_t)),
      .Depth(MsgDepth),
      .Cut  (Cut),
      .Small(Small)
  ) u_ends (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (msg_valid_i),
      .in_ready_o (msg_ready_o),
      .in_data_i  (msg_i),
      .out_valid_o(end_valid),
      .out_ready_i(done_o),
      .out_data_o (end_msg)
  );
  mae_gcm_fifo #(
      .Width(129),
      .Depth(HashDepth),
      .Cut  (Cut),
      .Small(Small)
  ) u_hashes (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (hash_valid_i),
      .in_ready_o (unused_hash_ready),
      .in_data_i  ({hash_odd_i, hash_i}),
      .out_valid_o(hash_valid),
      .out_ready_i(use_hash),
      .out_data_o ({hash_odd, hash})
  );
  mae_stream_reg_opt #(
      .Width(128),
      .Cut  (Cut)
  ) u_mask_cut (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (mask_valid_i),
      .in_ready_o (mask_ready_o),
      .in_data_i  (mask_i),
      .out_valid_o(mask_valid),
      .out_ready_i(done_o),
      .out_data_o (mask)
  );

  // For a message without AAD and data, only the check of its lengths is used of the hash.
  block_t full_tag, tag_keep;
  gcm_verdict_t verdict;
  always_comb begin
    full_tag = end_msg.empty ? mask : mask ^ hash;
    for (int unsigned k = 0; k < 16; k++) begin
      tag_keep[127-8*k-:8] = {8{k < 32'(end_msg.tag_bytes)}};
    end
    verdict    = '0;
    verdict.ok = !end_msg.has_beats || !hash_odd;
    if (end_msg.dir == Encrypt) verdict.tag = full_tag;
    else if (end_msg.tag_bytes == '0 || ((full_tag ^ end_msg.tag) & tag_keep) != '0) begin
      verdict.ok = 1'b0;
    end
    if (!verdict_valid) verdict = '0;
  end
  assign verdict_valid = end_valid && mask_valid && (!end_msg.has_beats || hash_valid);
  assign done_o        = verdict_valid && verdict_ready;
  assign done_bank_o   = end_msg.bank;
  assign use_hash      = done_o && end_msg.has_beats;
  assign hash_used_o   = use_hash;

  mae_stream_reg_opt #(
      .Width($bits(gcm_verdict_t)),
      .Cut  (Cut)
  ) u_tag_cut (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (verdict_valid),
      .in_ready_o (verdict_ready),
      .in_data_i  (verdict),
      .out_valid_o(tag_valid_o),
      .out_ready_i(tag_ready_i),
      .out_data_o (tag_o)
  );

  `MAE_ASSERT(HashHasPlace, !hash_valid_i || unused_hash_ready)
  `MAE_STREAM_HOLDS(TagHolds, tag_valid_o, tag_ready_i || clear_i, tag_o)

endmodule
