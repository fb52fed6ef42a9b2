// SPDX-License-Identifier: Apache-2.0
//
// mae_copy_card: copies data between buffers of host memory by DMA, without AES. It has the
// registers, rings and DMA engines of mae_stream_card.
//
// It shows the performance of the DMA alone, and the place of another client. With Crc = 1 that is
// mae_dma_crc_client: bytes 0..3 of a completion's tag are the CRC-32C of the copied data.
// Registers: regs/mae_stream_card.rdl (no key slots, mode 7 only).
// Latency: that of mae_dma plus 1 clock.
// Throughput: one row of 128 * Lanes bits a clock.
// Test mode: while test_mode_i is high, the resets that the card makes are rst_ni itself
// (mae_wipe_control): tie it low where no scan chain is.
// Parameters: Legal: Lanes 1, 2, 4, 8; Contexts 1..256; IdWidth >= 8.

module mae_copy_card
  import mae_mode_pkg::*;
  import mae_dma_pkg::*;
  import mae_device_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    parameter int unsigned IdWidth = 8,
    parameter bit Crc = 1'b0,
    localparam int unsigned DataWidth = 128 * Lanes,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic test_mode_i,

    input  logic                    s_axil_awvalid,
    output logic                    s_axil_awready,
    input  logic [RegAddrWidth-1:0] s_axil_awaddr,
    input  logic [             2:0] s_axil_awprot,
    input  logic                    s_axil_wvalid,
    output logic                    s_axil_wready,
    input  logic [            31:0] s_axil_wdata,
    input  logic [             3:0] s_axil_wstrb,
    output logic                    s_axil_bvalid,
    input  logic                    s_axil_bready,
    output logic [             1:0] s_axil_bresp,
    input  logic                    s_axil_arvalid,
    output logic                    s_axil_arready,
    input  logic [RegAddrWidth-1:0] s_axil_araddr,
    input  logic [             2:0] s_axil_arprot,
    output logic                    s_axil_rvalid,
    input  logic                    s_axil_rready,
    output logic [            31:0] s_axil_rdata,
    output logic [             1:0] s_axil_rresp,
    output logic                    irq_o,

    output logic                   m_axi_awvalid,
    input  logic                   m_axi_awready,
    output logic [    IdWidth-1:0] m_axi_awid,
    output logic [           63:0] m_axi_awaddr,
    output logic [            7:0] m_axi_awlen,
    output logic [            2:0] m_axi_awsize,
    output logic [            1:0] m_axi_awburst,
    output logic                   m_axi_awlock,
    output logic [            3:0] m_axi_awcache,
    output logic [            2:0] m_axi_awprot,
    output logic                   m_axi_wvalid,
    input  logic                   m_axi_wready,
    output logic [  DataWidth-1:0] m_axi_wdata,
    output logic [DataWidth/8-1:0] m_axi_wstrb,
    output logic                   m_axi_wlast,
    input  logic                   m_axi_bvalid,
    output logic                   m_axi_bready,
    input  logic [    IdWidth-1:0] m_axi_bid,
    input  logic [            1:0] m_axi_bresp,
    output logic                   m_axi_arvalid,
    input  logic                   m_axi_arready,
    output logic [    IdWidth-1:0] m_axi_arid,
    output logic [           63:0] m_axi_araddr,
    output logic [            7:0] m_axi_arlen,
    output logic [            2:0] m_axi_arsize,
    output logic [            1:0] m_axi_arburst,
    output logic                   m_axi_arlock,
    output logic [            3:0] m_axi_arcache,
    output logic [            2:0] m_axi_arprot,
    input  logic                   m_axi_rvalid,
    output logic                   m_axi_rready,
    input  logic [    IdWidth-1:0] m_axi_rid,
    input  logic [  DataWidth-1:0] m_axi_rdata,
    input  logic [            1:0] m_axi_rresp,
    input  logic                   m_axi_rlast
);

  dma_ctrl_t   dma_ctrl;
  dma_status_t dma_status;
  logic unused_dma_irq, dma_irq_ack;
  logic cfg_valid, cfg_ready, in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  dma_ctx_t cfg_ctx, in_ctx, out_ctx;
  desc_t cfg_desc;
  status_e cfg_status;
  accept_t cfg_accept;
  logic report_valid;
  report_t report;
  logic [DataWidth-1:0] in_data, out_data;
  logic [BytesWidth-1:0] in_bytes, out_bytes;
  logic [Contexts-1:0] room, unused_waits;
  logic halt, draining, job_rst_n, clear, clearing, unused_write_valid;
  key_write_t unused_write;
  dma_ctx_t unused_ctx;  // a copy has no state of a context and uses the operation only
  desc_t unused_desc;
  key_table_t key_table;
  logic forgetting, unused_record_valid;
  record_write_t unused_record;

  assign unused_ctx  = cfg_ctx;
  assign unused_desc = cfg_desc;

  mae_axi_pkg::axil_req_t axil_req;
  mae_axi_pkg::axil_rsp_t axil_rsp;

  mae_axil_port_to_struct #(
      .AddrWidth(RegAddrWidth)
  ) u_axil (
      .axil_o(axil_req),
      .axil_i(axil_rsp),
      .*
  );

  mae_card_control #(
      .Lanes   (Lanes),
      .Contexts(Contexts),
      .KeySlots(0)
  ) u_ctrl (
      .axil_i       (axil_req),
      .axil_o       (axil_rsp),
      .dma_ctrl_o   (dma_ctrl),
      .dma_status_i (dma_status),
      .dma_irq_ack_o(dma_irq_ack),
      .halt_o       (halt),
      .table_o      (key_table),
      .forgetting_i (forgetting),
      .draining_i   (draining),
      .job_rst_no   (job_rst_n),
      .clear_o      (clear),
      .wiping_i     (clearing),
      .write_valid_o(unused_write_valid),
      .write_ready_i(1'b1),
      .write_o      (unused_write),
      .slot_valid_i (1'b0),
      .row_i        (out_valid && out_ready),
      .row_bytes_i  (out_bytes),
      .read_beat_i  (m_axi_rvalid && m_axi_rready),
      .write_beat_i (m_axi_wvalid && m_axi_wready),
      .*
  );

  mae_dma #(
      .DataWidth(DataWidth),
      .Contexts (Contexts),
      .IdWidth  (IdWidth)
  ) u_dma (
      .clk_i,
      .rst_ni,
      .engine_rst_ni (job_rst_n),
      .halt_i        (halt),
      .draining_o    (draining),
      .clear_i       (clear),
      .clearing_o    (clearing),
      .ctrl_i        (dma_ctrl),
      .status_o      (dma_status),
      .irq_o         (unused_dma_irq),
      .irq_ack_i     (dma_irq_ack),
      .table_i       (key_table),
      .forgetting_o  (forgetting),
      .key_valid_o   (unused_record_valid),
      .key_ready_i   (1'b1),
      .key_o         (unused_record),
      .cfg_valid_o   (cfg_valid),
      .cfg_ready_i   (cfg_ready),
      .cfg_ctx_o     (cfg_ctx),
      .cfg_desc_o    (cfg_desc),
      .cfg_status_i  (cfg_status),
      .cfg_accept_i  (cfg_accept),
      .report_valid_i(report_valid),
      .report_i      (report),
      .row_valid_o   (in_valid),
      .row_ready_i   (in_ready),
      .row_ctx_o     (in_ctx),
      .row_data_o    (in_data),
      .row_bytes_o   (in_bytes),
      .row_last_o    (in_last),
      .client_room_i (room),
      .row_waits_o   (unused_waits),
      .row_valid_i   (out_valid),
      .row_ready_o   (out_ready),
      .row_ctx_i     (out_ctx),
      .row_data_i    (out_data),
      .row_bytes_i   (out_bytes),
      .row_last_i    (out_last),
      .ar_valid_o    (m_axi_arvalid),
      .ar_ready_i    (m_axi_arready),
      .ar_id_o       (m_axi_arid),
      .ar_addr_o     (m_axi_araddr),
      .ar_len_o      (m_axi_arlen),
      .ar_size_o     (m_axi_arsize),
      .r_valid_i     (m_axi_rvalid),
      .r_ready_o     (m_axi_rready),
      .r_id_i        (m_axi_rid),
      .r_data_i      (m_axi_rdata),
      .r_resp_i      (m_axi_rresp),
      .r_last_i      (m_axi_rlast),
      .aw_valid_o    (m_axi_awvalid),
      .aw_ready_i    (m_axi_awready),
      .aw_id_o       (m_axi_awid),
      .aw_addr_o     (m_axi_awaddr),
      .aw_len_o      (m_axi_awlen),
      .aw_size_o     (m_axi_awsize),
      .w_valid_o     (m_axi_wvalid),
      .w_ready_i     (m_axi_wready),
      .w_data_o      (m_axi_wdata),
      .w_strb_o      (m_axi_wstrb),
      .w_last_o      (m_axi_wlast),
      .b_valid_i     (m_axi_bvalid),
      .b_ready_o     (m_axi_bready),
      .b_id_i        (m_axi_bid),
      .b_resp_i      (m_axi_bresp)
  );

  // INCR bursts, bufferable and modifiable, unprivileged secure data.
  assign m_axi_awburst = 2'b01;
  assign m_axi_arburst = 2'b01;
  assign m_axi_awlock  = 1'b0;
  assign m_axi_arlock  = 1'b0;
  assign m_axi_awcache = 4'b0011;
  assign m_axi_arcache = 4'b0011;
  assign m_axi_awprot  = 3'b000;
  assign m_axi_arprot  = 3'b000;

  if (Crc) begin : g_crc
    mae_dma_crc_client #(
        .DataWidth(DataWidth),
        .Contexts (Contexts),
        .Op       (OpCopy)
    ) u_client (
        .clk_i,
        .rst_ni        (job_rst_n),
        .cfg_valid_i   (cfg_valid),
        .cfg_ready_o   (cfg_ready),
        .cfg_desc_i    (cfg_desc),
        .cfg_status_o  (cfg_status),
        .cfg_accept_o  (cfg_accept),
        .report_valid_o(report_valid),
        .report_o      (report),
        .row_valid_i   (in_valid),
        .row_ready_o   (in_ready),
        .row_ctx_i     (in_ctx),
        .row_data_i    (in_data),
        .row_bytes_i   (in_bytes),
        .row_last_i    (in_last),
        .client_room_o (room),
        .row_valid_o   (out_valid),
        .row_ready_i   (out_ready),
        .row_ctx_o     (out_ctx),
        .row_data_o    (out_data),
        .row_bytes_o   (out_bytes),
        .row_last_o    (out_last)
    );
  end else begin : g_copy
    assign cfg_accept   = '0;
    assign report_valid = 1'b0;
    assign report       = '0;
    mae_dma_copy_client #(
        .DataWidth(DataWidth),
        .Contexts (Contexts),
        .Op       (OpCopy)
    ) u_client (
        .clk_i,
        .rst_ni       (job_rst_n),
        .cfg_valid_i  (cfg_valid),
        .cfg_ready_o  (cfg_ready),
        .cfg_desc_i   (cfg_desc),
        .cfg_status_o (cfg_status),
        .row_valid_i  (in_valid),
        .row_ready_o  (in_ready),
        .row_ctx_i    (in_ctx),
        .row_data_i   (in_data),
        .row_bytes_i  (in_bytes),
        .row_last_i   (in_last),
        .client_room_o(room),
        .row_valid_o  (out_valid),
        .row_ready_i  (out_ready),
        .row_ctx_o    (out_ctx),
        .row_data_o   (out_data),
        .row_bytes_o  (out_bytes),
        .row_last_o   (out_last)
    );
  end

endmodule
