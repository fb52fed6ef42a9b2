// SPDX-License-Identifier: Apache-2.0
//
// mae_ghosh_dma: moves data between host memory and device memory through AES-GCM engines, and
// shows the tag of the ciphertext, as Ghosh et al. describe.
//
// It is a part of mae_ghosh_card. A start gives direction, device address, length and IV; a move
// gives the host address. Into the card one engine decrypts, and another encrypts what was decrypted
// again, for its tag: the card checks nothing, the host compares tags, and what it may find wrong
// is in device memory by then. Out of the card the second engine encrypts. finalize_i shows the tag
// of the last start's data once they have passed; a start before that begins anew. One transfer at
// a time; a start while data are moved, or of an illegal target, is ignored.
// Latency: that of the movers and 1 clock for each engine.
// Throughput: 64 bytes a clock.
// Reset: erases key, data and tag.
// Parameters: ReadRows as Depth of mae_dma_device_read. Legal: MemoryBits 7..31.
// Security: follows a protocol that mae_guard does not: the tag of unverified data is an oracle for
// the hash key (`maeslant attack --ghosh`).
// Source: Ghosh et al., sections 3 and 4.1.

`include "mae_assert.svh"

module mae_ghosh_dma
  import mae_aes_pkg::*;
  import mae_bytes_pkg::*;
  import mae_gcm_pkg::*;
  import mae_dma_pkg::*;
#(
    parameter int unsigned MemoryBits = 14,
    parameter int unsigned ReadRows   = 8
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic key_valid_i,
    output logic key_ready_o,
    input  key_t key_i,

    input  logic          start_valid_i,   // pulses
    input  logic          start_out_i,
    input  logic   [31:0] start_device_i,
    input  logic   [30:0] start_bytes_i,
    input  logic   [95:0] start_iv_i,
    input  logic          move_i,
    input  logic   [63:0] move_host_i,
    input  logic          finalize_i,
    output logic          moving_o,
    output block_t        tag_o,

    // device memory
    output logic         write_valid_o,
    input  logic         write_ready_i,
    output logic [ 34:0] write_granule_o,
    output logic [ 63:0] write_strb_o,
    output logic [511:0] write_data_o,
    output logic         read_valid_o,
    input  logic         read_ready_i,
    output logic [ 34:0] read_granule_o,
    input  logic         read_rvalid_i,
    input  logic [511:0] read_rdata_i,

    // AXI4
    output logic          ar_valid_o,
    input  logic          ar_ready_i,
    output logic  [  7:0] ar_id_o,
    output addr_t         ar_addr_o,
    output logic  [  7:0] ar_len_o,
    input  logic          r_valid_i,
    output logic          r_ready_o,
    input  logic  [  7:0] r_id_i,
    input  logic  [511:0] r_data_i,
    input  logic  [  1:0] r_resp_i,
    input  logic          r_last_i,
    output logic          aw_valid_o,
    input  logic          aw_ready_i,
    output logic  [  7:0] aw_id_o,
    output addr_t         aw_addr_o,
    output logic  [  7:0] aw_len_o,
    output logic          w_valid_o,
    input  logic          w_ready_i,
    output logic  [511:0] w_data_o,
    output logic  [ 63:0] w_strb_o,
    output logic          w_last_o,
    input  logic          b_valid_i,
    output logic          b_ready_o,
    input  logic  [  7:0] b_id_i,
    input  logic  [  1:0] b_resp_i
);
  `MAE_PARAM(MemoryBitsLegal, MemoryBits >= 7 && MemoryBits <= 31)

  typedef block_t [3:0] row_blocks_t;

  // Reverses the bytes of each block of a row.
  function automatic row_blocks_t swap_row(input row_blocks_t row);
    for (int unsigned i = 0; i < 4; i++) swap_row[i] = swap_block(row[i]);
  endfunction

  // ---- The transfer. Aborting lasts until nothing of the last message is in the engines.
  typedef enum logic [2:0] {
    Idle,
    Abort,
    Aborted,
    Announce,
    Armed,
    Give,
    Moving
  } state_e;
  state_e state_q;

  logic out_q, opened_q, sealed_q, pulled_q, stored_q, tag_valid_q, finalize_q;
  logic [25:0] granule_q;
  logic [30:0] bytes_q;
  logic [95:0] iv_q;
  logic [63:0] host_q;
  block_t tag_q, shown_q;
  logic legal, start, abort, moved, job_in, job_out, jobs_ready;
  logic [32:0] stop;
  logic open_ready, seal_ready, pull_ready, store_ready, load_ready, push_ready;
  logic pulled, stored, pushed, tag_valid;
  gcm_msg_t open_msg, seal_msg;
  gcm_verdict_t tag;

  assign stop = 33'(start_device_i) + 33'(start_bytes_i);
  assign legal = start_device_i[5:0] == '0 && start_bytes_i != '0 && stop <= 33'd1 << MemoryBits;
  assign moving_o = state_q == Give || state_q == Moving;
  assign start = start_valid_i && legal && !moving_o;
  assign abort = state_q == Abort;
  assign jobs_ready = out_q ? load_ready && push_ready : pull_ready && store_ready;
  assign job_in = state_q == Give && !out_q && jobs_ready;
  assign job_out = state_q == Give && out_q && jobs_ready;
  assign moved = out_q ? pushed : (pulled || pulled_q) && (stored || stored_q);
  assign tag_o = shown_q;

  always_comb begin
    seal_msg            = '0;
    seal_msg.dir        = Encrypt;
    seal_msg.iv         = iv_q;
    seal_msg.iv_bytes   = LengthWidth'(12);
    seal_msg.data_bytes = LengthWidth'(bytes_q);
    seal_msg.tag_bytes  = 5'd16;
    open_msg            = seal_msg;
    open_msg.dir        = Decrypt;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      {out_q, opened_q, sealed_q, pulled_q, stored_q, tag_valid_q, finalize_q} <= '0;
      {granule_q, bytes_q, iv_q, host_q, tag_q, shown_q} <= '0;
    end else begin
      unique case (state_q)
        Abort: state_q <= Aborted;
        Aborted: state_q <= Announce;
        Announce: begin
          opened_q <= opened_q || open_ready || out_q;
          sealed_q <= sealed_q || seal_ready;
          if ((opened_q || open_ready || out_q) && (sealed_q || seal_ready)) state_q <= Armed;
        end
        Armed: if (move_i) state_q <= Give;
        Give: if (jobs_ready) state_q <= Moving;
        Moving: if (moved) state_q <= Idle;
        default: ;
      endcase
      if (state_q == Armed && move_i) host_q <= move_host_i;
      if (state_q == Moving) begin
        pulled_q <= pulled_q || pulled;
        stored_q <= stored_q || stored;
      end
      if (tag_valid) {tag_q, tag_valid_q} <= {tag.tag, 1'b1};
      if (finalize_i) finalize_q <= 1'b1;
      if (finalize_q && tag_valid_q) {shown_q, finalize_q} <= {tag_q, 1'b0};
      if (start) begin
        state_q <= Abort;
        {out_q, granule_q, bytes_q} <= {start_out_i, start_device_i[31:6], start_bytes_i};
        iv_q <= start_iv_i;
        {opened_q, sealed_q, pulled_q, stored_q, tag_valid_q, finalize_q} <= '0;
      end
    end
  end

  // ---- Engines: one opens what comes in; the other seals what goes out, or came in.
  logic open_key_ready, seal_key_ready, open_key_q, seal_key_q;
  cipher_key_t key;
  assign key         = '{bank: '0, len: Aes128, key: key_i};
  assign key_ready_o = (open_key_q || open_key_ready) && (seal_key_q || seal_key_ready);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {open_key_q, seal_key_q} <= '0;
    else if (key_ready_o) {open_key_q, seal_key_q} <= '0;
    else if (key_valid_i) begin
      open_key_q <= open_key_q || open_key_ready;
      seal_key_q <= seal_key_q || seal_key_ready;
    end
  end

  logic pull_valid, pull_row_ready, pull_last, open_valid, open_last, store_row_ready;
  logic load_valid, load_row_ready, load_last, seal_in_valid, seal_in_ready, seal_in_last;
  logic seal_valid, seal_last, push_row_ready, unused_open_tag;
  logic [6:0] pull_bytes, open_bytes, load_bytes, seal_in_bytes, seal_bytes;
  row_blocks_t pull_row, open_row, load_row, seal_in_row, seal_row;
  gcm_verdict_t unused_verdict;

  mae_gcm_stream #(
      .Lanes    (4),
      .KeyBanks (1),
      .MaxKeyLen(Aes128)
  ) u_open (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .abort_i    (abort),
      .key_valid_i(key_valid_i && !open_key_q),
      .key_ready_o(open_key_ready),
      .key_i      (key),
      .msg_valid_i(state_q == Announce && !opened_q && !out_q),
      .msg_ready_o(open_ready),
      .msg_i      (open_msg),
      .in_valid_i (pull_valid),
      .in_ready_o (pull_row_ready),
      .in_data_i  (swap_row(pull_row)),
      .in_bytes_i (pull_bytes),
      .in_last_i  (pull_last),
      .out_valid_o(open_valid),
      .out_ready_i(store_row_ready && seal_in_ready),
      .out_data_o (open_row),
      .out_bytes_o(open_bytes),
      .out_last_o (open_last),
      .tag_valid_o(unused_open_tag),
      .tag_ready_i(1'b1),
      .tag_o      (unused_verdict)
  );

  assign seal_in_valid  = out_q ? load_valid : open_valid && store_row_ready;
  assign seal_in_row    = out_q ? swap_row(load_row) : open_row;
  assign seal_in_bytes  = out_q ? load_bytes : open_bytes;
  assign seal_in_last   = out_q ? load_last : open_last;
  assign load_row_ready = out_q && seal_in_ready;

  mae_gcm_stream #(
      .Lanes    (4),
      .KeyBanks (1),
      .MaxKeyLen(Aes128)
  ) u_seal (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .abort_i    (abort),
      .key_valid_i(key_valid_i && !seal_key_q),
      .key_ready_o(seal_key_ready),
      .key_i      (key),
      .msg_valid_i(state_q == Announce && !sealed_q),
      .msg_ready_o(seal_ready),
      .msg_i      (seal_msg),
      .in_valid_i (seal_in_valid),
      .in_ready_o (seal_in_ready),
      .in_data_i  (seal_in_row),
      .in_bytes_i (seal_in_bytes),
      .in_last_i  (seal_in_last),
      .out_valid_o(seal_valid),
      .out_ready_i(push_row_ready || !out_q),
      .out_data_o (seal_row),
      .out_bytes_o(seal_bytes),
      .out_last_o (seal_last),
      .tag_valid_o(tag_valid),
      .tag_ready_i(1'b1),
      .tag_o      (tag)
  );

  // ---- Movers.
  logic [1:0] unused_clearing, unused_error;

  mae_dma_host_read u_pull (
      .clk_i,
      .rst_ni,
      .clear_i     (1'b0),
      .clearing_o  (unused_clearing[0]),
      .job_valid_i (job_in),
      .job_ready_o (pull_ready),
      .job_addr_i  (host_q),
      .job_bytes_i (32'(bytes_q)),
      .row_valid_o (pull_valid),
      .row_ready_i (pull_row_ready),
      .row_data_o  (pull_row),
      .row_bytes_o (pull_bytes),
      .row_last_o  (pull_last),
      .done_valid_o(pulled),
      .done_error_o(unused_error[0]),
      .ar_valid_o,
      .ar_ready_i,
      .ar_id_o,
      .ar_addr_o,
      .ar_len_o,
      .r_valid_i,
      .r_ready_o,
      .r_id_i,
      .r_data_i,
      .r_resp_i,
      .r_last_i
  );

  mae_dma_device_write u_store (
      .clk_i,
      .rst_ni,
      .clear_i      (1'b0),
      .job_valid_i  (job_in),
      .job_ready_o  (store_ready),
      .job_granule_i(35'(granule_q)),
      .job_bytes_i  (32'(bytes_q)),
      .row_valid_i  (open_valid && seal_in_ready),
      .row_ready_o  (store_row_ready),
      .row_data_i   (swap_row(open_row)),
      .row_bytes_i  (open_bytes),
      .row_last_i   (open_last),
      .mem_valid_o  (write_valid_o),
      .mem_ready_i  (write_ready_i),
      .mem_granule_o(write_granule_o),
      .mem_strb_o   (write_strb_o),
      .mem_data_o   (write_data_o),
      .done_valid_o (stored)
  );

  mae_dma_device_read #(
      .Depth(ReadRows)
  ) u_load (
      .clk_i,
      .rst_ni,
      .clear_i      (1'b0),
      .job_valid_i  (job_out),
      .job_ready_o  (load_ready),
      .job_granule_i(35'(granule_q)),
      .job_bytes_i  (32'(bytes_q)),
      .mem_valid_o  (read_valid_o),
      .mem_ready_i  (read_ready_i),
      .mem_granule_o(read_granule_o),
      .mem_rvalid_i (read_rvalid_i),
      .mem_rdata_i  (read_rdata_i),
      .row_valid_o  (load_valid),
      .row_ready_i  (load_row_ready),
      .row_data_o   (load_row),
      .row_bytes_o  (load_bytes),
      .row_last_o   (load_last)
  );

  mae_dma_host_write u_push (
      .clk_i,
      .rst_ni,
      .clear_i     (1'b0),
      .clearing_o  (unused_clearing[1]),
      .job_valid_i (job_out),
      .job_ready_o (push_ready),
      .job_addr_i  (host_q),
      .job_bytes_i (32'(bytes_q)),
      .row_valid_i (seal_valid && out_q),
      .row_ready_o (push_row_ready),
      .row_data_i  (swap_row(seal_row)),
      .row_bytes_i (seal_bytes),
      .row_last_i  (seal_last),
      .done_valid_o(pushed),
      .done_error_o(unused_error[1]),
      .aw_valid_o,
      .aw_ready_i,
      .aw_id_o,
      .aw_addr_o,
      .aw_len_o,
      .w_valid_o,
      .w_ready_i,
      .w_data_o,
      .w_strb_o,
      .w_last_o,
      .b_valid_i,
      .b_ready_o,
      .b_id_i,
      .b_resp_i
  );

  logic unused;
  assign unused = tag.ok;

endmodule
