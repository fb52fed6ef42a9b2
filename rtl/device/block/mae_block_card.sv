// SPDX-License-Identifier: Apache-2.0
//
// mae_block_card: is a storage controller with inline encryption. Requests of sectors come from rings
// in host memory; the media is a memory behind an AXI4 manager of its own; AES-256-XTS lies between.
//
// A write encrypts from host memory to the media, a read decrypts from the media to host memory,
// each request under the media key that it names or in plain. Each direction has its own channel, so
// both run at the rate of the bus at the same time. Keys are loaded by registers after OCP L.O.C.K.
// Registers and requests: regs/mae_block_card.rdl, mae_block_pkg. A bad request, an empty key slot or
// an error response of either bus ends in the status of a completion.
// A request that fails by a bus error may have written any part: on the media ciphertext, if not plain.
// m_axi_ is host memory, m_axi_mem_ the media, from address 0. Ports come from registers, but for
// flush_valid_o: while it is high the media keeps all writes that it has answered, then raises
// flush_ready_i, which may be high always. A wipe and ctrl.enable low end it without an answer.
// Latency: of a read or write of one data unit, those of both memories and about 60 clocks.
// Throughput: one row of 128 * Lanes bits a clock and direction, if both memories answer in less
// than 250 clocks on average.
// Reset and clear: reset drops all requests and erases keys, tweaks and stored rows, but for the DMA
// buffers, which are erased in the clocks after it (status.wiping); ctrl.wipe does all of it within
// 160 + 16 * Contexts clocks, while the buses may stand still. An offered write beat stays on the bus.
// Test mode: see mae_wipe_control; tie it low where no scan chain is.
// Parameters: Legal: Lanes 1, 2, 4, 8; Contexts a multiple of Lanes up to 256 (parts in flight in each
// direction); Queues 1..3; MediaKeys 1..32; MediaLog2 13..63 (bytes of the media); KeyBanks 2..4;
// KeyWait >= 4; IdWidth >= 8.
// Security: constant-time in data and keys; no masking. The data unit number is the host's: a host
// that uses one twice with one key gives away which blocks are equal.
// Source: OCP L.O.C.K. draft 0.8; IEEE 1619.

module mae_block_card
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_dma_pkg::*;
  import mae_device_pkg::*;
  import mae_block_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 32,
    parameter int unsigned Queues = 2,
    parameter int unsigned MediaKeys = 8,
    parameter int unsigned MediaLog2 = 26,
    parameter int unsigned KeyBanks = 4,
    parameter int unsigned KeyWait = 65536,  // clocks that a key command waits for requests
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    parameter int unsigned IdWidth = 8,
    localparam int unsigned DataWidth = 128 * Lanes
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
    output logic                    flush_valid_o,
    input  logic                    flush_ready_i,

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
    input  logic                   m_axi_rlast,

    output logic                   m_axi_mem_awvalid,
    input  logic                   m_axi_mem_awready,
    output logic [    IdWidth-1:0] m_axi_mem_awid,
    output logic [           63:0] m_axi_mem_awaddr,
    output logic [            7:0] m_axi_mem_awlen,
    output logic [            2:0] m_axi_mem_awsize,
    output logic [            1:0] m_axi_mem_awburst,
    output logic                   m_axi_mem_awlock,
    output logic [            3:0] m_axi_mem_awcache,
    output logic [            2:0] m_axi_mem_awprot,
    output logic                   m_axi_mem_wvalid,
    input  logic                   m_axi_mem_wready,
    output logic [  DataWidth-1:0] m_axi_mem_wdata,
    output logic [DataWidth/8-1:0] m_axi_mem_wstrb,
    output logic                   m_axi_mem_wlast,
    input  logic                   m_axi_mem_bvalid,
    output logic                   m_axi_mem_bready,
    input  logic [    IdWidth-1:0] m_axi_mem_bid,
    input  logic [            1:0] m_axi_mem_bresp,
    output logic                   m_axi_mem_arvalid,
    input  logic                   m_axi_mem_arready,
    output logic [    IdWidth-1:0] m_axi_mem_arid,
    output logic [           63:0] m_axi_mem_araddr,
    output logic [            7:0] m_axi_mem_arlen,
    output logic [            2:0] m_axi_mem_arsize,
    output logic [            1:0] m_axi_mem_arburst,
    output logic                   m_axi_mem_arlock,
    output logic [            3:0] m_axi_mem_arcache,
    output logic [            2:0] m_axi_mem_arprot,
    input  logic                   m_axi_mem_rvalid,
    output logic                   m_axi_mem_rready,
    input  logic [    IdWidth-1:0] m_axi_mem_rid,
    input  logic [  DataWidth-1:0] m_axi_mem_rdata,
    input  logic [            1:0] m_axi_mem_rresp,
    input  logic                   m_axi_mem_rlast
);
  localparam int unsigned BeatWidth = (DataWidth < 8 * BlockBytes) ? DataWidth : 8 * BlockBytes;
  localparam int unsigned Rd = 0, Wr = 1;  // channels

  mae_axi_pkg::axil_req_t axil_req;
  mae_axi_pkg::axil_rsp_t axil_rsp;
  logic enable, queues_busy, ring_error, halt, job_rst_n, clear;
  block_queue_ctrl_t   [Queues-1:0] queue_ctrl;
  block_queue_status_t [Queues-1:0] queue_status;
  logic [1:0] draining, wiping, write_valid, write_ready, idle;
  logic [MediaKeys-1:0] key_valid;
  logic [1:0][MediaKeys-1:0] used;
  key_write_t key_write;
  logic [1:0] job_valid, job_ready, result_valid, result_ready;
  block_job_t [1:0] job;
  block_result_t [1:0] result;

  mae_axil_port_to_struct #(
      .AddrWidth(RegAddrWidth)
  ) u_axil (
      .axil_o(axil_req),
      .axil_i(axil_rsp),
      .*
  );

  mae_block_card_registers #(
      .Lanes    (Lanes),
      .Queues   (Queues),
      .MediaKeys(MediaKeys),
      .MediaLog2(MediaLog2),
      .KeyWait  (KeyWait)
  ) u_control (
      .axil_i       (axil_req),
      .axil_o       (axil_rsp),
      .enable_o     (enable),
      .ctrl_o       (queue_ctrl),
      .status_i     (queue_status),
      .busy_i       (queues_busy),
      .ring_error_i (ring_error),
      .halt_o       (halt),
      .draining_i   (draining != '0),
      .job_rst_no   (job_rst_n),
      .clear_o      (clear),
      .wiping_i     (wiping != '0),
      .used_i       (used[Rd] | used[Wr]),
      .key_valid_o  (key_valid),
      .write_valid_o(write_valid),
      .write_ready_i(write_ready),
      .write_o      (key_write),
      .*
  );

  // Control traffic of the rings.
  logic [2:0] ctl_ar_valid, ctl_ar_ready, ctl_r_valid;
  control_ar_t [2:0] ctl_ar;
  control_tag_t ctl_r_tag;
  completion_tag_t ctl_aw_tag, ctl_b_tag;
  logic [1:0] ctl_r_beat;
  logic [BeatWidth-1:0] ctl_r_data;
  logic ctl_r_error, ctl_r_last;
  logic ctl_aw_valid, ctl_aw_ready, ctl_w_valid, ctl_w_ready, ctl_w_last, ctl_b_valid, ctl_b_error;
  addr_t ctl_aw_addr;
  logic [DataWidth-1:0] ctl_w_data;
  logic [DataWidth/8-1:0] ctl_w_strb;

  mae_block_queues #(
      .Queues   (Queues),
      .MediaKeys(MediaKeys),
      .MediaLog2(MediaLog2),
      .DataWidth(DataWidth),
      .BeatWidth(BeatWidth)
  ) u_queues (
      .clk_i,
      .rst_ni        (job_rst_n),
      .enable_i      (enable),
      .ctrl_i        (queue_ctrl),
      .status_o      (queue_status),
      .busy_o        (queues_busy),
      .ring_error_o  (ring_error),
      .key_valid_i   (key_valid),
      .job_valid_o   (job_valid),
      .job_ready_i   (job_ready),
      .job_o         (job),
      .result_valid_i(result_valid),
      .result_ready_o(result_ready),
      .result_i      (result),
      .idle_i        (idle),
      .flush_valid_o,
      .flush_ready_i,
      .ar_valid_o    (ctl_ar_valid),
      .ar_ready_i    (ctl_ar_ready),
      .ar_o          (ctl_ar),
      .r_valid_i     (ctl_r_valid),
      .r_tag_i       (ctl_r_tag),
      .r_beat_i      (ctl_r_beat),
      .r_data_i      (ctl_r_data),
      .r_error_i     (ctl_r_error),
      .r_last_i      (ctl_r_last),
      .aw_valid_o    (ctl_aw_valid),
      .aw_ready_i    (ctl_aw_ready),
      .aw_tag_o      (ctl_aw_tag),
      .aw_addr_o     (ctl_aw_addr),
      .w_valid_o     (ctl_w_valid),
      .w_ready_i     (ctl_w_ready),
      .w_data_o      (ctl_w_data),
      .w_strb_o      (ctl_w_strb),
      .w_last_o      (ctl_w_last),
      .b_valid_i     (ctl_b_valid),
      .b_tag_i       (ctl_b_tag),
      .b_error_i     (ctl_b_error)
  );

  // Channels: each reads one bus and writes the other.
  logic [1:0] ar_valid, ar_ready, r_valid, aw_valid, aw_ready, w_valid, w_ready, w_last, b_valid;
  logic [1:0] unused_r_ready, unused_b_ready;
  logic [1:0][IdWidth-1:0] ar_id, aw_id;
  addr_t [1:0] ar_addr, aw_addr;
  logic [1:0][7:0] ar_len, aw_len;
  logic [1:0][  DataWidth-1:0] w_data;
  logic [1:0][DataWidth/8-1:0] w_strb;

  for (genvar c = 0; c < 2; c++) begin : gen_channel
    mae_block_channel #(
        .Write       (c == Wr),
        .Lanes       (Lanes),
        .Contexts    (Contexts),
        .MediaKeys   (MediaKeys),
        .KeyBanks    (KeyBanks),
        .Sbox        (Sbox),
        .RegsPerRound(RegsPerRound),
        .IdWidth     (IdWidth)
    ) u_channel (
        .clk_i,
        .rst_ni        (job_rst_n),
        .clear_i       (clear),
        .wiping_o      (wiping[c]),
        .write_valid_i (write_valid[c]),
        .write_ready_o (write_ready[c]),
        .write_i       (key_write),
        .job_valid_i   (job_valid[c]),
        .job_ready_o   (job_ready[c]),
        .job_i         (job[c]),
        .result_valid_o(result_valid[c]),
        .result_ready_i(result_ready[c]),
        .result_o      (result[c]),
        .idle_o        (idle[c]),
        .used_o        (used[c]),
        .ar_valid_o    (ar_valid[c]),
        .ar_ready_i    (ar_ready[c]),
        .ar_id_o       (ar_id[c]),
        .ar_addr_o     (ar_addr[c]),
        .ar_len_o      (ar_len[c]),
        .r_valid_i     (r_valid[c]),
        .r_ready_o     (unused_r_ready[c]),
        .r_id_i        ((c == Wr) ? m_axi_rid : m_axi_mem_rid),
        .r_data_i      ((c == Wr) ? m_axi_rdata : m_axi_mem_rdata),
        .r_resp_i      ((c == Wr) ? m_axi_rresp : m_axi_mem_rresp),
        .r_last_i      ((c == Wr) ? m_axi_rlast : m_axi_mem_rlast),
        .aw_valid_o    (aw_valid[c]),
        .aw_ready_i    (aw_ready[c]),
        .aw_id_o       (aw_id[c]),
        .aw_addr_o     (aw_addr[c]),
        .aw_len_o      (aw_len[c]),
        .w_valid_o     (w_valid[c]),
        .w_ready_i     (w_ready[c]),
        .w_data_o      (w_data[c]),
        .w_strb_o      (w_strb[c]),
        .w_last_o      (w_last[c]),
        .b_valid_i     (b_valid[c]),
        .b_ready_o     (unused_b_ready[c]),
        .b_id_i        ((c == Wr) ? m_axi_mem_bid : m_axi_bid),
        .b_resp_i      ((c == Wr) ? m_axi_mem_bresp : m_axi_bresp)
    );
  end

  // Both buses: control and data of the host's; data only of the media's.
  logic [2:0] unused_ctl_ar_ready, unused_ctl_r_valid;
  control_tag_t unused_ctl_r_tag;
  completion_tag_t unused_ctl_b_tag;
  logic [1:0] unused_ctl_r_beat;
  logic [BeatWidth-1:0] unused_ctl_r_data;
  logic unused_ctl_r_error, unused_ctl_r_last, unused_ctl_aw_ready, unused_ctl_w_ready;
  logic unused_ctl_b_valid, unused_ctl_b_error;

  mae_block_bus #(
      .DataWidth(DataWidth),
      .IdWidth  (IdWidth),
      .BeatWidth(BeatWidth)
  ) u_host (
      .clk_i,
      .rst_ni,
      .halt_i        (halt),
      .draining_o    (draining[0]),
      .ctl_ar_valid_i(ctl_ar_valid),
      .ctl_ar_ready_o(ctl_ar_ready),
      .ctl_ar_i      (ctl_ar),
      .ctl_r_valid_o (ctl_r_valid),
      .ctl_r_tag_o   (ctl_r_tag),
      .ctl_r_beat_o  (ctl_r_beat),
      .ctl_r_data_o  (ctl_r_data),
      .ctl_r_error_o (ctl_r_error),
      .ctl_r_last_o  (ctl_r_last),
      .ctl_aw_valid_i(ctl_aw_valid),
      .ctl_aw_ready_o(ctl_aw_ready),
      .ctl_aw_tag_i  (ctl_aw_tag),
      .ctl_aw_addr_i (ctl_aw_addr),
      .ctl_w_valid_i (ctl_w_valid),
      .ctl_w_ready_o (ctl_w_ready),
      .ctl_w_data_i  (ctl_w_data),
      .ctl_w_strb_i  (ctl_w_strb),
      .ctl_w_last_i  (ctl_w_last),
      .ctl_b_valid_o (ctl_b_valid),
      .ctl_b_tag_o   (ctl_b_tag),
      .ctl_b_error_o (ctl_b_error),
      .mov_ar_valid_i(ar_valid[Wr]),
      .mov_ar_ready_o(ar_ready[Wr]),
      .mov_ar_id_i   (ar_id[Wr]),
      .mov_ar_addr_i (ar_addr[Wr]),
      .mov_ar_len_i  (ar_len[Wr]),
      .mov_r_valid_o (r_valid[Wr]),
      .mov_aw_valid_i(aw_valid[Rd]),
      .mov_aw_ready_o(aw_ready[Rd]),
      .mov_aw_id_i   (aw_id[Rd]),
      .mov_aw_addr_i (aw_addr[Rd]),
      .mov_aw_len_i  (aw_len[Rd]),
      .mov_w_valid_i (w_valid[Rd]),
      .mov_w_ready_o (w_ready[Rd]),
      .mov_w_data_i  (w_data[Rd]),
      .mov_w_strb_i  (w_strb[Rd]),
      .mov_w_last_i  (w_last[Rd]),
      .mov_b_valid_o (b_valid[Rd]),
      .ar_valid_o    (m_axi_arvalid),
      .ar_ready_i    (m_axi_arready),
      .ar_id_o       (m_axi_arid),
      .ar_addr_o     (m_axi_araddr),
      .ar_len_o      (m_axi_arlen),
      .ar_size_o     (m_axi_arsize),
      .r_valid_i     (m_axi_rvalid),
      .r_id_i        (m_axi_rid),
      .r_data_i      (m_axi_rdata),
      .r_error_i     (m_axi_rresp[1]),
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
      .b_id_i        (m_axi_bid),
      .b_error_i     (m_axi_bresp[1])
  );

  mae_block_bus #(
      .DataWidth(DataWidth),
      .IdWidth  (IdWidth),
      .BeatWidth(BeatWidth)
  ) u_media (
      .clk_i,
      .rst_ni,
      .halt_i        (halt),
      .draining_o    (draining[1]),
      .ctl_ar_valid_i('0),
      .ctl_ar_ready_o(unused_ctl_ar_ready),
      .ctl_ar_i      ('0),
      .ctl_r_valid_o (unused_ctl_r_valid),
      .ctl_r_tag_o   (unused_ctl_r_tag),
      .ctl_r_beat_o  (unused_ctl_r_beat),
      .ctl_r_data_o  (unused_ctl_r_data),
      .ctl_r_error_o (unused_ctl_r_error),
      .ctl_r_last_o  (unused_ctl_r_last),
      .ctl_aw_valid_i('0),
      .ctl_aw_ready_o(unused_ctl_aw_ready),
      .ctl_aw_tag_i  ('0),
      .ctl_aw_addr_i ('0),
      .ctl_w_valid_i ('0),
      .ctl_w_ready_o (unused_ctl_w_ready),
      .ctl_w_data_i  ('0),
      .ctl_w_strb_i  ('0),
      .ctl_w_last_i  ('0),
      .ctl_b_valid_o (unused_ctl_b_valid),
      .ctl_b_tag_o   (unused_ctl_b_tag),
      .ctl_b_error_o (unused_ctl_b_error),
      .mov_ar_valid_i(ar_valid[Rd]),
      .mov_ar_ready_o(ar_ready[Rd]),
      .mov_ar_id_i   (ar_id[Rd]),
      .mov_ar_addr_i (ar_addr[Rd]),
      .mov_ar_len_i  (ar_len[Rd]),
      .mov_r_valid_o (r_valid[Rd]),
      .mov_aw_valid_i(aw_valid[Wr]),
      .mov_aw_ready_o(aw_ready[Wr]),
      .mov_aw_id_i   (aw_id[Wr]),
      .mov_aw_addr_i (aw_addr[Wr]),
      .mov_aw_len_i  (aw_len[Wr]),
      .mov_w_valid_i (w_valid[Wr]),
      .mov_w_ready_o (w_ready[Wr]),
      .mov_w_data_i  (w_data[Wr]),
      .mov_w_strb_i  (w_strb[Wr]),
      .mov_w_last_i  (w_last[Wr]),
      .mov_b_valid_o (b_valid[Wr]),
      .ar_valid_o    (m_axi_mem_arvalid),
      .ar_ready_i    (m_axi_mem_arready),
      .ar_id_o       (m_axi_mem_arid),
      .ar_addr_o     (m_axi_mem_araddr),
      .ar_len_o      (m_axi_mem_arlen),
      .ar_size_o     (m_axi_mem_arsize),
      .r_valid_i     (m_axi_mem_rvalid),
      .r_id_i        (m_axi_mem_rid),
      .r_data_i      (m_axi_mem_rdata),
      .r_error_i     (m_axi_mem_rresp[1]),
      .r_last_i      (m_axi_mem_rlast),
      .aw_valid_o    (m_axi_mem_awvalid),
      .aw_ready_i    (m_axi_mem_awready),
      .aw_id_o       (m_axi_mem_awid),
      .aw_addr_o     (m_axi_mem_awaddr),
      .aw_len_o      (m_axi_mem_awlen),
      .aw_size_o     (m_axi_mem_awsize),
      .w_valid_o     (m_axi_mem_wvalid),
      .w_ready_i     (m_axi_mem_wready),
      .w_data_o      (m_axi_mem_wdata),
      .w_strb_o      (m_axi_mem_wstrb),
      .w_last_o      (m_axi_mem_wlast),
      .b_valid_i     (m_axi_mem_bvalid),
      .b_id_i        (m_axi_mem_bid),
      .b_error_i     (m_axi_mem_bresp[1])
  );

  // INCR bursts, bufferable and modifiable, unprivileged secure data.
  assign m_axi_rready = 1'b1;
  assign m_axi_bready = 1'b1;
  assign m_axi_awburst = 2'b01;
  assign m_axi_awlock = 1'b0;
  assign m_axi_awcache = 4'b0011;
  assign m_axi_awprot = 3'b000;
  assign m_axi_arburst = 2'b01;
  assign m_axi_arlock = 1'b0;
  assign m_axi_arcache = 4'b0011;
  assign m_axi_arprot = 3'b000;
  assign m_axi_mem_rready = 1'b1;
  assign m_axi_mem_bready = 1'b1;
  assign m_axi_mem_awburst = 2'b01;
  assign m_axi_mem_awlock = 1'b0;
  assign m_axi_mem_awcache = 4'b0011;
  assign m_axi_mem_awprot = 3'b000;
  assign m_axi_mem_arburst = 2'b01;
  assign m_axi_mem_arlock = 1'b0;
  assign m_axi_mem_arcache = 4'b0011;
  assign m_axi_mem_arprot = 3'b000;

endmodule
