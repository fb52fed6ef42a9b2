// SPDX-License-Identifier: Apache-2.0
//
// mae_block_mover: moves the parts of requests from one memory to another, through the cipher.
//
// A part is at most a data unit. It begins in an idle context: reads, cipher and writes are set up
// in one clock. Its context is idle again when it was reported (done_valid_o); parts of different
// contexts run concurrently and end in any order. A failed read does not end a part: its data are
// moved like any other. part_ready_o is combinational in part_i.ctx.
// Latency: 3 clocks from part to AR; then as mae_dma_read_engine, mae_block_cipher and
// mae_dma_write_engine; 2 clocks from the last write response to done_valid_o.
// Throughput: one row a clock; one part a clock.
// Reset and clear: reset drops all parts; clear_i, only when idle, erases keys and buffers.
// Parameters: as in mae_block_cipher and the engines.
// Security: as mae_block_cipher.

`include "mae_assert.svh"

module mae_block_mover
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_dma_pkg::*;
  import mae_block_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 32,
    parameter int unsigned MediaKeys = 8,
    parameter int unsigned KeyBanks = 4,
    parameter dirs_e Dirs = DirsBoth,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    parameter int unsigned IdWidth = 8,
    localparam int unsigned DataWidth = 128 * Lanes,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic wiping_o,

    input  logic       write_valid_i,  // to a key slot of the cipher
    output logic       write_ready_o,
    input  key_write_t write_i,

    input  logic        part_valid_i,
    output logic        part_ready_o,
    input  block_part_t part_i,

    output logic     done_valid_o,  // pulse
    output dma_ctx_t done_ctx_o,
    output status_e  done_status_o,

    // AXI4 read channels of the source
    output logic                  ar_valid_o,
    input  logic                  ar_ready_i,
    output logic  [  IdWidth-1:0] ar_id_o,
    output addr_t                 ar_addr_o,
    output logic  [          7:0] ar_len_o,
    input  logic                  r_valid_i,
    output logic                  r_ready_o,   // constant 1
    input  logic  [  IdWidth-1:0] r_id_i,
    input  logic  [DataWidth-1:0] r_data_i,
    input  logic  [          1:0] r_resp_i,
    input  logic                  r_last_i,

    // AXI4 write channels of the destination
    output logic                    aw_valid_o,
    input  logic                    aw_ready_i,
    output logic  [    IdWidth-1:0] aw_id_o,
    output addr_t                   aw_addr_o,
    output logic  [            7:0] aw_len_o,
    output logic                    w_valid_o,
    input  logic                    w_ready_i,
    output logic  [  DataWidth-1:0] w_data_o,
    output logic  [DataWidth/8-1:0] w_strb_o,
    output logic                    w_last_o,
    input  logic                    b_valid_i,
    output logic                    b_ready_o,   // constant 1
    input  logic  [    IdWidth-1:0] b_id_i,
    input  logic  [            1:0] b_resp_i
);
  localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  typedef logic [IndexWidth-1:0] index_t;

  logic [Contexts-1:0] read_room, write_room, seg_read, seg_write, waits;
  logic take, cfg_ready, clearing_read, clearing_write, wiping;
  logic in_valid, in_ready, in_last, out_valid, out_ready, out_last, out_lost;
  dma_ctx_t in_ctx, out_ctx, read_ctx, write_ctx;
  logic [DataWidth-1:0] in_data, out_data;
  logic [BytesWidth-1:0] in_bytes, out_bytes;
  logic read_done, write_done;
  status_e read_status, write_status;
  logic [31:0] unused_bytes;

  assign part_ready_o = cfg_ready && seg_read[index_t'(part_i.ctx)] &&
      seg_write[index_t'(part_i.ctx)];
  assign take = part_valid_i && part_ready_o;
  assign wiping_o = wiping || clearing_read || clearing_write;

  mae_dma_read_engine #(
      .DataWidth     (DataWidth),
      .Contexts      (Contexts),
      .IdWidth       (IdWidth),
      .RowsPerContext(32)
  ) u_read (
      .clk_i,
      .rst_ni,
      .clear_i,
      .clearing_o   (clearing_read),
      .seg_ready_o  (seg_read),
      .seg_valid_i  (take),
      .seg_abort_i  (1'b0),
      .seg_ctx_i    (part_i.ctx),
      .seg_addr_i   (part_i.src),
      .seg_bytes_i  (32'(part_i.bytes)),
      .seg_last_i   (1'b1),
      .done_valid_o (read_done),
      .done_ready_i (1'b1),
      .done_ctx_o   (read_ctx),
      .done_status_o(read_status),
      .row_valid_o  (in_valid),
      .row_ready_i  (in_ready),
      .row_ctx_o    (in_ctx),
      .row_data_o   (in_data),
      .row_bytes_o  (in_bytes),
      .row_last_o   (in_last),
      .client_room_i(read_room),
      .row_waits_o  (waits),
      .writer_room_i(write_room),
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

  mae_block_cipher #(
      .Lanes       (Lanes),
      .Contexts    (Contexts),
      .MediaKeys   (MediaKeys),
      .KeyBanks    (KeyBanks),
      .Dirs        (Dirs),
      .Sbox        (Sbox),
      .RegsPerRound(RegsPerRound)
  ) u_cipher (
      .clk_i,
      .rst_ni,
      .clear_i,
      .wiping_o   (wiping),
      .write_valid_i,
      .write_ready_o,
      .write_i,
      .cfg_valid_i(take),
      .cfg_ready_o(cfg_ready),
      .cfg_i      (part_i),
      .row_valid_i(in_valid),
      .row_ready_o(in_ready),
      .row_ctx_i  (in_ctx),
      .row_data_i (in_data),
      .row_bytes_i(in_bytes),
      .row_last_i (in_last),
      .room_o     (read_room),
      .waits_i    (waits),
      .row_valid_o(out_valid),
      .row_ready_i(out_ready),
      .row_ctx_o  (out_ctx),
      .row_data_o (out_data),
      .row_bytes_o(out_bytes),
      .row_last_o (out_last),
      .lost_o     (out_lost)
  );

  mae_dma_write_engine #(
      .DataWidth     (DataWidth),
      .Contexts      (Contexts),
      .IdWidth       (IdWidth),
      .RowsPerContext(32)
  ) u_write (
      .clk_i,
      .rst_ni,
      .clear_i,
      .clearing_o     (clearing_write),
      .seg_ready_o    (seg_write),
      .seg_valid_i    (take),
      .seg_abort_i    (1'b0),
      .seg_ctx_i      (part_i.ctx),
      .seg_addr_i     (part_i.dst),
      .seg_bytes_i    (32'(part_i.bytes)),
      .seg_last_i     (1'b1),
      .done_valid_o   (write_done),
      .done_ready_i   (1'b1),
      .done_ctx_o     (write_ctx),
      .done_status_o  (write_status),
      .done_bytes_o   (unused_bytes),
      .row_valid_i    (out_valid),
      .row_ready_o    (out_ready),
      .row_ctx_i      (out_ctx),
      .row_data_i     (out_data),
      .row_bytes_i    (out_bytes),
      .row_last_i     (out_last),
      .row_room_o     (write_room),
      .reserve_valid_i(in_valid && in_ready),
      .reserve_ctx_i  (in_ctx),
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

  // A part ends when both engines have reported it; the read engine's report may come later.
  logic [Contexts-1:0] read_q, write_q, lost_q, ended;
  status_e read_status_q[Contexts];
  status_e write_status_q[Contexts];
  logic unused_grant_valid;
  logic [Contexts-1:0] grant;
  index_t done_index;

  assign ended = read_q & write_q;

  mae_rr_arb #(
      .N(Contexts)
  ) u_done (
      .clk_i,
      .rst_ni,
      .req_i    (ended),
      .advance_i(1'b1),
      .grant_o  (grant),
      .index_o  (done_index),
      .valid_o  (unused_grant_valid)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q        <= '0;
      write_q       <= '0;
      lost_q        <= '0;
      done_valid_o  <= 1'b0;
      done_ctx_o    <= '0;
      done_status_o <= StatusOk;
    end else begin
      if (read_done) read_q[index_t'(read_ctx)] <= 1'b1;
      if (write_done) write_q[index_t'(write_ctx)] <= 1'b1;
      if (out_valid && out_lost) lost_q[index_t'(out_ctx)] <= 1'b1;
      done_valid_o <= ended != '0;
      if (ended != '0) begin
        done_ctx_o    <= dma_ctx_t'(done_index);
        done_status_o <= write_status_q[done_index];
        if (read_status_q[done_index] != StatusOk) done_status_o <= read_status_q[done_index];
        if (lost_q[done_index]) done_status_o <= StatusBadKey;
        read_q[done_index]  <= 1'b0;
        write_q[done_index] <= 1'b0;
        lost_q[done_index]  <= 1'b0;
      end
    end
  end

  // No reset: read only after they were written.
  always_ff @(posedge clk_i) begin
    if (read_done) read_status_q[index_t'(read_ctx)] <= read_status;
    if (write_done) write_status_q[index_t'(write_ctx)] <= write_status;
  end

  logic unused;
  assign unused = ^{grant, read_ctx, write_ctx};

  `MAE_ASSERT(
      OneReport,
      !(read_done && read_q[index_t'(read_ctx)]) && !(write_done && write_q[index_t'(write_ctx)]))

endmodule
