// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_movers_loop: connects mae_dma_read_engine's rows to mae_dma_write_engine, for tests.

module mae_dma_movers_loop
  import mae_dma_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Contexts = 64,
    parameter int unsigned IdWidth = 8,
    parameter int unsigned RowsPerContext = 32,
    parameter int unsigned BurstBeats = 8,
    parameter int unsigned Window = 256
) (
    input logic clk_i,
    input logic rst_ni,

    output logic     [Contexts-1:0] src_seg_ready_o,
    input  logic                    src_seg_valid_i,
    input  logic                    src_seg_abort_i,
    input  dma_ctx_t                src_seg_ctx_i,
    input  addr_t                   src_seg_addr_i,
    input  logic     [        31:0] src_seg_bytes_i,
    input  logic                    src_seg_last_i,
    output logic     [Contexts-1:0] dst_seg_ready_o,
    input  logic                    dst_seg_valid_i,
    input  logic                    dst_seg_abort_i,
    input  dma_ctx_t                dst_seg_ctx_i,
    input  addr_t                   dst_seg_addr_i,
    input  logic     [        31:0] dst_seg_bytes_i,
    input  logic                    dst_seg_last_i,

    output logic            src_done_valid_o,
    input  logic            src_done_ready_i,
    output dma_ctx_t        src_done_ctx_o,
    output status_e         src_done_status_o,
    output logic            dst_done_valid_o,
    input  logic            dst_done_ready_i,
    output dma_ctx_t        dst_done_ctx_o,
    output status_e         dst_done_status_o,
    output logic     [31:0] dst_done_bytes_o,

    output logic held_o,  // the writer held a row back

    output logic                    ar_valid_o,
    input  logic                    ar_ready_i,
    output logic  [    IdWidth-1:0] ar_id_o,
    output addr_t                   ar_addr_o,
    output logic  [            7:0] ar_len_o,
    input  logic                    r_valid_i,
    output logic                    r_ready_o,
    input  logic  [    IdWidth-1:0] r_id_i,
    input  logic  [  DataWidth-1:0] r_data_i,
    input  logic  [            1:0] r_resp_i,
    input  logic                    r_last_i,
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
    output logic                    b_ready_o,
    input  logic  [    IdWidth-1:0] b_id_i,
    input  logic  [            1:0] b_resp_i
);
  logic                                 row_valid;
  logic                                 row_ready;
  dma_ctx_t                             row_ctx;
  logic     [            DataWidth-1:0] row_data;
  logic     [$clog2(DataWidth/8+1)-1:0] row_bytes;
  logic                                 row_last;
  logic     [             Contexts-1:0] room;

  assign held_o = row_valid && !row_ready;

  mae_dma_read_engine #(
      .DataWidth     (DataWidth),
      .Contexts      (Contexts),
      .IdWidth       (IdWidth),
      .RowsPerContext(RowsPerContext),
      .BurstBeats    (BurstBeats),
      .Window        (Window)
  ) u_read (
      .clk_i,
      .rst_ni,
      .clear_i      (1'b0),
      .clearing_o   (),
      .seg_ready_o  (src_seg_ready_o),
      .seg_valid_i  (src_seg_valid_i),
      .seg_abort_i  (src_seg_abort_i),
      .seg_ctx_i    (src_seg_ctx_i),
      .seg_addr_i   (src_seg_addr_i),
      .seg_bytes_i  (src_seg_bytes_i),
      .seg_last_i   (src_seg_last_i),
      .done_valid_o (src_done_valid_o),
      .done_ready_i (src_done_ready_i),
      .done_ctx_o   (src_done_ctx_o),
      .done_status_o(src_done_status_o),
      .row_valid_o  (row_valid),
      .row_ready_i  (row_ready),
      .row_ctx_o    (row_ctx),
      .row_data_o   (row_data),
      .row_bytes_o  (row_bytes),
      .row_last_o   (row_last),
      .client_room_i('1),
      .row_waits_o  (),
      .writer_room_i(room),
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

  mae_dma_write_engine #(
      .DataWidth     (DataWidth),
      .Contexts      (Contexts),
      .IdWidth       (IdWidth),
      .RowsPerContext(RowsPerContext),
      .BurstBeats    (BurstBeats)
  ) u_write (
      .clk_i,
      .rst_ni,
      .clear_i        (1'b0),
      .clearing_o     (),
      .seg_ready_o    (dst_seg_ready_o),
      .seg_valid_i    (dst_seg_valid_i),
      .seg_abort_i    (dst_seg_abort_i),
      .seg_ctx_i      (dst_seg_ctx_i),
      .seg_addr_i     (dst_seg_addr_i),
      .seg_bytes_i    (dst_seg_bytes_i),
      .seg_last_i     (dst_seg_last_i),
      .done_valid_o   (dst_done_valid_o),
      .done_ready_i   (dst_done_ready_i),
      .done_ctx_o     (dst_done_ctx_o),
      .done_status_o  (dst_done_status_o),
      .done_bytes_o   (dst_done_bytes_o),
      .row_valid_i    (row_valid),
      .row_ready_o    (row_ready),
      .row_ctx_i      (row_ctx),
      .row_data_i     (row_data),
      .row_bytes_i    (row_bytes),
      .row_last_i     (row_last),
      .row_room_o     (room),
      .reserve_valid_i(row_valid && row_ready),
      .reserve_ctx_i  (row_ctx),
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
