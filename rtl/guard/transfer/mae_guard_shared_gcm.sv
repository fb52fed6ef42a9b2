// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_shared_gcm: encrypts and decrypts the chunks of both directions with one
// mae_guard_chunk_gcm, in turns.
//
// Index 0 of the ports is H2D, 1 is D2H; they are those of mae_guard_chunk_gcm. A direction has its
// turn until its chunks in the engine have ended and the other one waits with a chunk and its first
// row; after each change at least one chunk is taken. So a chunk whose rows stay away holds the
// other direction up (the host can stop both in any case). Ready of chunks and rows is combinational
// in chunk_valid_i and row_valid_i of both directions.
// Latency: as mae_guard_chunk_gcm; one clock and the load of the key more when the turn changes.
// Throughput: one row a clock for both directions together.
// Reset and clear: as mae_guard_chunk_gcm.
// Parameters: Legal: as mae_guard_chunk_gcm.
// Security: the turns depend on what comes when, not on data; as mae_guard_chunk_gcm.
// Source: docs/protocol.md, sections 2, 3 and 5.

`include "mae_assert.svh"

module mae_guard_shared_gcm
  import mae_aes_pkg::*;
  import mae_guard_pkg::*;
#(
    parameter sbox_impl_e Sbox      = SboxTable,
    parameter bit         Small     = 1'b0,
    parameter bit         RomSboxes = 1'b0
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic             key_valid_i,
    output logic             key_ready_o,
    input  logic       [1:0] key_bank_i,
    input  class_key_t       key_i,

    input  logic   [  1:0]        chunk_valid_i,
    output logic   [  1:0]        chunk_ready_o,
    input  chunk_t [  1:0]        chunk_i,
    input  logic   [  1:0]        row_valid_i,
    output logic   [  1:0]        row_ready_o,
    input  logic   [  1:0][511:0] row_data_i,
    input  logic   [  1:0][  6:0] row_bytes_i,
    input  logic   [  1:0]        row_last_i,
    output logic   [  1:0]        out_valid_o,
    input  logic   [  1:0]        out_ready_i,
    output logic   [511:0]        out_data_o,
    output logic   [  6:0]        out_bytes_o,
    output logic                  out_last_o,
    output logic   [  1:0]        tag_valid_o,
    input  logic   [  1:0]        tag_ready_i,
    output logic                  tag_ok_o,
    output logic   [127:0]        tag_o
);
  // turn: whose chunks are in the engine; taken: one of them was, since the turn changed; offered:
  // a chunk that was offered to the engine stays.
  logic
      turn_q, taken_q, offered_q, other_waits, change, announce, chunk_ready, row_ready, out_valid;
  logic tag_valid, take, give;
  logic [2:0] open_q;  // chunks in the engine

  assign other_waits = chunk_valid_i[!turn_q] && row_valid_i[!turn_q];
  assign announce    = chunk_valid_i[turn_q] && (offered_q || !(other_waits && taken_q));
  assign change      = open_q == '0 && !out_valid && other_waits && !announce;
  assign take        = announce && chunk_ready;
  assign give        = tag_valid && tag_ready_i[turn_q];

  always_comb begin
    chunk_ready_o         = '0;
    row_ready_o           = '0;
    out_valid_o           = '0;
    tag_valid_o           = '0;
    chunk_ready_o[turn_q] = take;
    row_ready_o[turn_q]   = row_ready;
    out_valid_o[turn_q]   = out_valid;
    tag_valid_o[turn_q]   = tag_valid;
  end

  mae_guard_chunk_gcm #(
      .Both(1'b1),
      .Sbox(Sbox),
      .Small(Small),
      .RomSboxes(RomSboxes)
  ) u_gcm (
      .clk_i,
      .rst_ni,
      .clear_i,
      .key_valid_i,
      .key_ready_o,
      .key_bank_i,
      .key_i,
      .chunk_valid_i(announce),
      .chunk_ready_o(chunk_ready),
      .chunk_i      (chunk_i[turn_q]),
      .chunk_out_i  (turn_q),
      .row_valid_i  (row_valid_i[turn_q]),
      .row_ready_o  (row_ready),
      .row_data_i   (row_data_i[turn_q]),
      .row_bytes_i  (row_bytes_i[turn_q]),
      .row_last_i   (row_last_i[turn_q]),
      .out_valid_o  (out_valid),
      .out_ready_i  (out_ready_i[turn_q]),
      .out_data_o,
      .out_bytes_o,
      .out_last_o,
      .tag_valid_o  (tag_valid),
      .tag_ready_i  (tag_ready_i[turn_q]),
      .tag_ok_o,
      .tag_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {turn_q, taken_q, offered_q} <= '0;
      open_q                       <= '0;
    end else if (clear_i) begin
      {turn_q, taken_q, offered_q} <= '0;
      open_q                       <= '0;
    end else begin
      offered_q <= announce && !chunk_ready;
      open_q    <= open_q + 3'(take) - 3'(give);
      if (change) begin
        turn_q  <= !turn_q;
        taken_q <= 1'b0;
      end else if (take) taken_q <= 1'b1;
    end
  end

  `MAE_ASSERT(ChangeWhenEmpty, !change || (open_q == '0 && !tag_valid))

endmodule
