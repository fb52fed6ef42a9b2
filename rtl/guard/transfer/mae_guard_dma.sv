// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_dma: moves encrypted chunks between host memory and device memory in both directions,
// and writes responses, on one host bus port.
//
// in_*: H2D chunks (mae_guard_dma_h2d), out_*: D2H chunks (mae_guard_dma_d2h), ans_*: responses;
// mae_guard_host_port joins them. key_out_i tells the direction of a key, key_bank_i is bit 0 of its
// epoch.
// Latency: as mae_guard_dma_h2d and mae_guard_dma_d2h.
// Throughput: one row a clock in each direction at the same time; with Shared = 1 in both together.
// Reset and clear: as mae_guard_dma_h2d; also erases keys and masks (mae_guard_chunk_gcm).
// Parameters: Shared = 1 has one engine for both directions, in turns (mae_guard_shared_gcm).
// Legal: Sbox, Small and RomSboxes as mae_guard_chunk_gcm; ReadRows and PushRows as
// mae_guard_dma_d2h; PullRows as mae_guard_dma_h2d; Shared 0 or 1.
// Security: as mae_guard_chunk_gcm.
// Source: docs/protocol.md, section 5.

module mae_guard_dma
  import mae_aes_pkg::*;
  import mae_guard_pkg::*;
#(
    parameter sbox_impl_e Sbox = SboxTable,
    parameter bit Small = 1'b0,
    parameter bit RomSboxes = 1'b0,
    parameter bit Shared = 1'b0,
    parameter int unsigned ReadRows = 8,  // of device memory, on their way
    parameter int unsigned PullRows = 512,  // buffered rows of a chunk
    parameter int unsigned PushRows = 64
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic mover_rst_ni,
    input  logic halt_i,
    input  logic clear_i,
    output logic clearing_o,
    output logic quiet_o,
    output logic beat_fault_o,

    input  logic       key_valid_i,
    input  logic       key_out_i,
    output logic       key_ready_o,
    input  logic       key_bank_i,
    input  class_key_t key_i,

    input  logic   in_valid_i,
    output logic   in_ready_o,
    input  chunk_t in_i,
    output logic   in_moved_o,
    output moved_t in_end_o,
    input  logic   out_valid_i,
    output logic   out_ready_o,
    input  chunk_t out_i,
    output logic   out_moved_o,
    output moved_t out_end_o,

    input  logic         ans_aw_valid_i,
    output logic         ans_aw_ready_o,
    input  logic [ 63:0] ans_aw_address_i,
    input  logic [  3:0] ans_aw_beats_i,
    input  logic         ans_w_valid_i,
    output logic         ans_w_ready_o,
    input  logic [511:0] ans_w_data_i,
    input  logic [ 63:0] ans_w_strb_i,
    output logic         ans_done_valid_o,
    output logic         ans_done_error_o,

    output logic         wr_valid_o,
    input  logic         wr_ready_i,
    output logic [ 34:0] wr_granule_o,
    output logic [ 63:0] wr_strb_o,
    output logic [511:0] wr_data_o,
    output logic         rd_valid_o,
    input  logic         rd_ready_i,
    output logic [ 34:0] rd_granule_o,
    input  logic         rd_rvalid_i,
    input  logic [511:0] rd_rdata_i,

    output logic         ar_valid_o,
    input  logic         ar_ready_i,
    output logic [  7:0] ar_id_o,
    output logic [ 63:0] ar_addr_o,
    output logic [  7:0] ar_len_o,
    input  logic         r_valid_i,
    output logic         r_ready_o,
    input  logic [  7:0] r_id_i,
    input  logic [511:0] r_data_i,
    input  logic [  1:0] r_resp_i,
    input  logic         r_last_i,
    output logic         aw_valid_o,
    input  logic         aw_ready_i,
    output logic [  7:0] aw_id_o,
    output logic [ 63:0] aw_addr_o,
    output logic [  7:0] aw_len_o,
    output logic         w_valid_o,
    input  logic         w_ready_i,
    output logic [511:0] w_data_o,
    output logic [ 63:0] w_strb_o,
    output logic         w_last_o,
    input  logic         b_valid_i,
    output logic         b_ready_o,
    input  logic [  7:0] b_id_i,
    input  logic [  1:0] b_resp_i
);
  logic in_clearing, out_clearing;
  logic mov_ar_valid, mov_ar_ready, mov_r_valid, mov_aw_valid, mov_aw_ready;
  logic mov_w_valid, mov_w_ready, mov_w_last, mov_b_valid, unused_in_ready, unused_out_ready;
  logic [7:0] mov_ar_id, mov_ar_len, mov_aw_id, mov_aw_len;
  logic [63:0] mov_ar_addr, mov_aw_addr, mov_w_strb;
  logic [511:0] mov_w_data;

  assign clearing_o = in_clearing || out_clearing;

  // ---- Ciphers. Index 0 is H2D, 1 is D2H.
  logic [1:0] chunk_valid, chunk_ready, row_valid, row_ready, row_last;
  logic [1:0] rows_valid, rows_ready, rows_last, tag_valid, tag_ready, tag_ok;
  chunk_t [1:0] chunk;
  logic [1:0][511:0] row_data, rows_data;
  logic [1:0][6:0] row_bytes, rows_bytes;
  logic [1:0][127:0] tag;
  logic unused_tag;  // of H2D: zero

  if (Shared) begin : gen_shared
    mae_guard_shared_gcm #(
        .Sbox(Sbox),
        .Small(Small),
        .RomSboxes(RomSboxes)
    ) u_gcm (
        .clk_i,
        .rst_ni,
        .clear_i,
        .key_valid_i,
        .key_ready_o,
        .key_bank_i   ({key_out_i, key_bank_i}),
        .key_i,
        .chunk_valid_i(chunk_valid),
        .chunk_ready_o(chunk_ready),
        .chunk_i      (chunk),
        .row_valid_i  (row_valid),
        .row_ready_o  (row_ready),
        .row_data_i   (row_data),
        .row_bytes_i  (row_bytes),
        .row_last_i   (row_last),
        .out_valid_o  (rows_valid),
        .out_ready_i  (rows_ready),
        .out_data_o   (rows_data[0]),
        .out_bytes_o  (rows_bytes[0]),
        .out_last_o   (rows_last[0]),
        .tag_valid_o  (tag_valid),
        .tag_ready_i  (tag_ready),
        .tag_ok_o     (tag_ok[0]),
        .tag_o        (tag[0])
    );
    assign rows_data[1]  = rows_data[0];
    assign rows_bytes[1] = rows_bytes[0];
    assign rows_last[1]  = rows_last[0];
    assign tag_ok[1]     = tag_ok[0];
    assign tag[1]        = tag[0];
  end else begin : gen_each
    logic [1:0] key_ready;
    assign key_ready_o = key_ready[key_out_i];
    for (genvar d = 0; d < 2; d++) begin : gen_direction
      mae_guard_chunk_gcm #(
          .Sbox(Sbox),
          .Small(Small),
          .RomSboxes(RomSboxes)
      ) u_gcm (
          .clk_i,
          .rst_ni,
          .clear_i,
          .key_valid_i  (key_valid_i && key_out_i == 1'(d)),
          .key_ready_o  (key_ready[d]),
          .key_bank_i   ({1'(d), key_bank_i}),
          .key_i,
          .chunk_valid_i(chunk_valid[d]),
          .chunk_ready_o(chunk_ready[d]),
          .chunk_i      (chunk[d]),
          .chunk_out_i  (1'(d)),
          .row_valid_i  (row_valid[d]),
          .row_ready_o  (row_ready[d]),
          .row_data_i   (row_data[d]),
          .row_bytes_i  (row_bytes[d]),
          .row_last_i   (row_last[d]),
          .out_valid_o  (rows_valid[d]),
          .out_ready_i  (rows_ready[d]),
          .out_data_o   (rows_data[d]),
          .out_bytes_o  (rows_bytes[d]),
          .out_last_o   (rows_last[d]),
          .tag_valid_o  (tag_valid[d]),
          .tag_ready_i  (tag_ready[d]),
          .tag_ok_o     (tag_ok[d]),
          .tag_o        (tag[d])
      );
    end
  end
  assign unused_tag = ^tag[0];

  // ---- Movers.

  mae_guard_dma_h2d #(
      .PullRows(PullRows)
  ) u_h2d (
      .clk_i,
      .rst_ni,
      .mover_rst_ni,
      .halt_i,
      .clear_i,
      .clearing_o       (in_clearing),
      .start_valid_i    (in_valid_i),
      .start_ready_o    (in_ready_o),
      .start_i          (in_i),
      .moved_valid_o    (in_moved_o),
      .moved_o          (in_end_o),
      .gcm_chunk_valid_o(chunk_valid[0]),
      .gcm_chunk_ready_i(chunk_ready[0]),
      .gcm_chunk_o      (chunk[0]),
      .gcm_row_valid_o  (row_valid[0]),
      .gcm_row_ready_i  (row_ready[0]),
      .gcm_row_data_o   (row_data[0]),
      .gcm_row_bytes_o  (row_bytes[0]),
      .gcm_row_last_o   (row_last[0]),
      .gcm_out_valid_i  (rows_valid[0]),
      .gcm_out_ready_o  (rows_ready[0]),
      .gcm_out_data_i   (rows_data[0]),
      .gcm_out_bytes_i  (rows_bytes[0]),
      .gcm_out_last_i   (rows_last[0]),
      .gcm_tag_valid_i  (tag_valid[0]),
      .gcm_tag_ready_o  (tag_ready[0]),
      .gcm_tag_ok_i     (tag_ok[0]),
      .mem_valid_o      (wr_valid_o),
      .mem_ready_i      (wr_ready_i),
      .mem_granule_o    (wr_granule_o),
      .mem_strb_o       (wr_strb_o),
      .mem_data_o       (wr_data_o),
      .ar_valid_o       (mov_ar_valid),
      .ar_ready_i       (mov_ar_ready),
      .ar_id_o          (mov_ar_id),
      .ar_addr_o        (mov_ar_addr),
      .ar_len_o         (mov_ar_len),
      .r_valid_i        (mov_r_valid),
      .r_ready_o        (unused_in_ready),
      .r_id_i,
      .r_data_i,
      .r_resp_i,
      .r_last_i
  );

  mae_guard_dma_d2h #(
      .ReadRows(ReadRows),
      .PushRows(PushRows)
  ) u_d2h (
      .clk_i,
      .rst_ni,
      .mover_rst_ni,
      .halt_i,
      .clear_i,
      .clearing_o       (out_clearing),
      .start_valid_i    (out_valid_i),
      .start_ready_o    (out_ready_o),
      .start_i          (out_i),
      .moved_valid_o    (out_moved_o),
      .moved_o          (out_end_o),
      .gcm_chunk_valid_o(chunk_valid[1]),
      .gcm_chunk_ready_i(chunk_ready[1]),
      .gcm_chunk_o      (chunk[1]),
      .gcm_row_valid_o  (row_valid[1]),
      .gcm_row_ready_i  (row_ready[1]),
      .gcm_row_data_o   (row_data[1]),
      .gcm_row_bytes_o  (row_bytes[1]),
      .gcm_row_last_o   (row_last[1]),
      .gcm_out_valid_i  (rows_valid[1]),
      .gcm_out_ready_o  (rows_ready[1]),
      .gcm_out_data_i   (rows_data[1]),
      .gcm_out_bytes_i  (rows_bytes[1]),
      .gcm_out_last_i   (rows_last[1]),
      .gcm_tag_valid_i  (tag_valid[1]),
      .gcm_tag_ready_o  (tag_ready[1]),
      .gcm_tag_ok_i     (tag_ok[1]),
      .gcm_tag_i        (tag[1]),
      .mem_valid_o      (rd_valid_o),
      .mem_ready_i      (rd_ready_i),
      .mem_granule_o    (rd_granule_o),
      .mem_rvalid_i     (rd_rvalid_i),
      .mem_rdata_i      (rd_rdata_i),
      .aw_valid_o       (mov_aw_valid),
      .aw_ready_i       (mov_aw_ready),
      .aw_id_o          (mov_aw_id),
      .aw_addr_o        (mov_aw_addr),
      .aw_len_o         (mov_aw_len),
      .w_valid_o        (mov_w_valid),
      .w_ready_i        (mov_w_ready),
      .w_data_o         (mov_w_data),
      .w_strb_o         (mov_w_strb),
      .w_last_o         (mov_w_last),
      .b_valid_i        (mov_b_valid),
      .b_ready_o        (unused_out_ready),
      .b_id_i,
      .b_resp_i
  );

  mae_guard_host_port u_bus (
      .clk_i,
      .rst_ni,
      .halt_i,
      .quiet_o,
      .beat_fault_o,
      .mov_ar_valid_i(mov_ar_valid),
      .mov_ar_ready_o(mov_ar_ready),
      .mov_ar_id_i   (mov_ar_id),
      .mov_ar_addr_i (mov_ar_addr),
      .mov_ar_len_i  (mov_ar_len),
      .mov_r_valid_o (mov_r_valid),
      .mov_aw_valid_i(mov_aw_valid),
      .mov_aw_ready_o(mov_aw_ready),
      .mov_aw_id_i   (mov_aw_id),
      .mov_aw_addr_i (mov_aw_addr),
      .mov_aw_len_i  (mov_aw_len),
      .mov_w_valid_i (mov_w_valid),
      .mov_w_ready_o (mov_w_ready),
      .mov_w_data_i  (mov_w_data),
      .mov_w_strb_i  (mov_w_strb),
      .mov_w_last_i  (mov_w_last),
      .mov_b_valid_o (mov_b_valid),
      .ans_aw_valid_i,
      .ans_aw_ready_o,
      .ans_aw_address_i,
      .ans_aw_beats_i,
      .ans_w_valid_i,
      .ans_w_ready_o,
      .ans_w_data_i,
      .ans_w_strb_i,
      .ans_done_valid_o,
      .ans_done_error_o,
      .ar_valid_o,
      .ar_ready_i,
      .ar_id_o,
      .ar_addr_o,
      .ar_len_o,
      .r_valid_i,
      .r_ready_o,
      .r_id_i,
      .r_last_i,
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

endmodule
