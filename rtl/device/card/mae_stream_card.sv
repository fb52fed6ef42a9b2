// SPDX-License-Identifier: Apache-2.0
//
// mae_stream_card: encrypts and decrypts data between buffers of host memory by AES. It is
// controlled by rings of descriptors and completions.
//
// It reads its own descriptors and data (the pull model of Fernando et al.), with scatter-gather
// lists, and processes many messages at the same time on the lanes of Dong et al.. Registers:
// regs/mae_stream_card.rdl; ring formats: mae_dma_pkg. The data bus has 128 * Lanes bits, or fewer:
// BusWidth (mae_axi_narrow).
//
// ctrl.wipe erases keys, round keys, powers of H, keystream, plaintext and all memories within 160
// + 16 * Contexts clocks, whatever the card is doing and although the bus never ends a burst. Only
// the write beat that is offered on the bus stays until it is taken. On a narrower bus, parts of
// reads that it never ends are erased within 2^IdWidth clocks more. draining_o tells a crossing
// behind m_axi to purge its write data, too (mae_stream_card_async); otherwise leave it open. With
// RecordSlots > 0 a descriptor may name a key record in host memory (mae_dma_key_records), whose
// key lies in plain there; the keys' slots are KeySlots and up, and the host's registers do not
// reach them.
// Latency: see mae_dma and mae_dma_aes_client; a narrower bus adds one or two clocks on
// each channel.
// Throughput: Lanes blocks a clock in modes with independent blocks, or over 11 * Lanes interleaved
// messages in chained modes, as far as the bus keeps up: a beat a clock in each direction.
// Test mode: while test_mode_i is high, the resets that the card makes are rst_ni itself
// (mae_wipe_control): tie it low where no scan chain is.
// Parameters: Legal: Lanes 1, 2, 4, 8; Contexts a multiple of Lanes, at most 256 - Lanes with Gcm
// (whose engine uses one context for each lane), otherwise 256; KeySlots 1..64; RecordSlots 0 or
// 2..32, with KeySlots at most 64; KeyBanks 1..4; Dirs any of dirs_e; MaxKeyLen any of key_len_e;
// Sbox any but SboxOnehot; RegsPerRound 1..3; IdWidth >= 8; BusWidth a power of two,
// 32..128 * Lanes; Small 0, or 1 with KeyBanks = 1, Dirs = DirsBoth and RegsPerRound = 1. Small = 1
// is for few LUTs of an FPGA (docs/adr/0035): rounds of one table for both directions, which drain
// when they are cleared (mae_cipher_lanes_luts), and a GCM engine whose memories have one write port
// (mae_gcm_interleaved). ctrl.wipe takes as many clocks as without.
// Security: constant-time for one message (concurrent messages wait for each other); no masking.
// Source: Fernando et al.; Dong et al..

`include "mae_assert.svh"

module mae_stream_card
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_dma_pkg::*;
  import mae_device_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    parameter int unsigned KeySlots = 16,
    parameter int unsigned KeyBanks = 4,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    parameter bit Gcm = 1'b1,
    parameter bit Small = 1'b0,
    parameter int unsigned RecordSlots = 0,
    parameter int unsigned IdWidth = 8,
    parameter int unsigned BusWidth = 128 * Lanes,
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
    output logic                    draining_o,      // from a register

    output logic                  m_axi_awvalid,
    input  logic                  m_axi_awready,
    output logic [   IdWidth-1:0] m_axi_awid,
    output logic [          63:0] m_axi_awaddr,
    output logic [           7:0] m_axi_awlen,
    output logic [           2:0] m_axi_awsize,
    output logic [           1:0] m_axi_awburst,
    output logic                  m_axi_awlock,
    output logic [           3:0] m_axi_awcache,
    output logic [           2:0] m_axi_awprot,
    output logic                  m_axi_wvalid,
    input  logic                  m_axi_wready,
    output logic [  BusWidth-1:0] m_axi_wdata,
    output logic [BusWidth/8-1:0] m_axi_wstrb,
    output logic                  m_axi_wlast,
    input  logic                  m_axi_bvalid,
    output logic                  m_axi_bready,
    input  logic [   IdWidth-1:0] m_axi_bid,
    input  logic [           1:0] m_axi_bresp,
    output logic                  m_axi_arvalid,
    input  logic                  m_axi_arready,
    output logic [   IdWidth-1:0] m_axi_arid,
    output logic [          63:0] m_axi_araddr,
    output logic [           7:0] m_axi_arlen,
    output logic [           2:0] m_axi_arsize,
    output logic [           1:0] m_axi_arburst,
    output logic                  m_axi_arlock,
    output logic [           3:0] m_axi_arcache,
    output logic [           2:0] m_axi_arprot,
    input  logic                  m_axi_rvalid,
    output logic                  m_axi_rready,
    input  logic [   IdWidth-1:0] m_axi_rid,
    input  logic [  BusWidth-1:0] m_axi_rdata,
    input  logic [           1:0] m_axi_rresp,
    input  logic                  m_axi_rlast
);
  localparam int unsigned AllSlots = KeySlots + RecordSlots;
  localparam int unsigned MaxKeyBytes = 16 + 8 * 32'(MaxKeyLen);
  `MAE_PARAM(RecordSlotsLegal, RecordSlots inside {0, [2 : 32]} && AllSlots <= MaxKeySlots)
  `MAE_PARAM(BusWidthLegal, BusWidth >= 32 && BusWidth <= DataWidth)
  `MAE_PARAM(ContextsLegal, Contexts % Lanes == 0 && Contexts <= (Gcm ? 256 - Lanes : 256))

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
  logic [Contexts-1:0] room, row_waits;
  logic halt, job_rst_n, clear, client_wiping, dma_clearing, write_valid, write_ready;
  logic host_valid, host_ready, record_valid, record_ready, forgetting;
  key_write_t host_write, write;
  record_write_t record_write;
  key_table_t key_table;
  logic [AllSlots-1:0] slot_valid;

  // The memory bus at the lanes' width.
  logic bus_awvalid, bus_awready, bus_wvalid, bus_wready, bus_wlast, bus_bvalid, bus_bready;
  logic bus_arvalid, bus_arready, bus_rvalid, bus_rready, bus_rlast;
  logic [IdWidth-1:0] bus_awid, bus_bid, bus_arid, bus_rid;
  logic [63:0] bus_awaddr, bus_araddr;
  logic [7:0] bus_awlen, bus_arlen;
  logic [2:0] bus_awsize, bus_arsize;
  logic [1:0] bus_awburst, bus_arburst, bus_bresp, bus_rresp;
  logic [DataWidth-1:0] bus_wdata, bus_rdata;
  logic [DataWidth/8-1:0] bus_wstrb;

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
      .Lanes       (Lanes),
      .Contexts    (Contexts),
      .KeySlots    (KeySlots),
      .KeyBanks    (KeyBanks),
      .Dirs        (Dirs),
      .MaxKeyLen   (MaxKeyLen),
      .Sbox        (Sbox),
      .RegsPerRound(RegsPerRound),
      .Gcm         (Gcm),
      .RecordSlots (RecordSlots)
  ) u_ctrl (
      .axil_i       (axil_req),
      .axil_o       (axil_rsp),
      .dma_ctrl_o   (dma_ctrl),
      .dma_status_i (dma_status),
      .dma_irq_ack_o(dma_irq_ack),
      .halt_o       (halt),
      .draining_i   (draining_o),
      .job_rst_no   (job_rst_n),
      .clear_o      (clear),
      .wiping_i     (client_wiping || dma_clearing),
      .table_o      (key_table),
      .forgetting_i (forgetting),
      .write_valid_o(host_valid),
      .write_ready_i(host_ready),
      .write_o      (host_write),
      .slot_valid_i (slot_valid[KeySlots-1:0]),
      .row_i        (out_valid && out_ready),
      .row_bytes_i  (out_bytes),
      .read_beat_i  (bus_rvalid && bus_rready),
      .write_beat_i (bus_wvalid && bus_wready),
      .*
  );

  mae_dma #(
      .DataWidth(DataWidth),
      .Contexts (Contexts),
      .IdWidth  (IdWidth),
      .FirstSlot(KeySlots),
      .RecordSlots(RecordSlots),
      .MaxKeyBytes(MaxKeyBytes),
      .KeptOp   (OpGcm)
  ) u_dma (
      .clk_i,
      .rst_ni,
      .engine_rst_ni (job_rst_n),
      .halt_i        (halt),
      .draining_o,
      .clear_i       (clear),
      .clearing_o    (dma_clearing),
      .ctrl_i        (dma_ctrl),
      .status_o      (dma_status),
      .irq_o         (unused_dma_irq),
      .irq_ack_i     (dma_irq_ack),
      .table_i       (key_table),
      .forgetting_o  (forgetting),
      .key_valid_o   (record_valid),
      .key_ready_i   (record_ready),
      .key_o         (record_write),
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
      .row_waits_o   (row_waits),
      .row_valid_i   (out_valid),
      .row_ready_o   (out_ready),
      .row_ctx_i     (out_ctx),
      .row_data_i    (out_data),
      .row_bytes_i   (out_bytes),
      .row_last_i    (out_last),
      .ar_valid_o    (bus_arvalid),
      .ar_ready_i    (bus_arready),
      .ar_id_o       (bus_arid),
      .ar_addr_o     (bus_araddr),
      .ar_len_o      (bus_arlen),
      .ar_size_o     (bus_arsize),
      .r_valid_i     (bus_rvalid),
      .r_ready_o     (bus_rready),
      .r_id_i        (bus_rid),
      .r_data_i      (bus_rdata),
      .r_resp_i      (bus_rresp),
      .r_last_i      (bus_rlast),
      .aw_valid_o    (bus_awvalid),
      .aw_ready_i    (bus_awready),
      .aw_id_o       (bus_awid),
      .aw_addr_o     (bus_awaddr),
      .aw_len_o      (bus_awlen),
      .aw_size_o     (bus_awsize),
      .w_valid_o     (bus_wvalid),
      .w_ready_i     (bus_wready),
      .w_data_o      (bus_wdata),
      .w_strb_o      (bus_wstrb),
      .w_last_o      (bus_wlast),
      .b_valid_i     (bus_bvalid),
      .b_ready_o     (bus_bready),
      .b_id_i        (bus_bid),
      .b_resp_i      (bus_bresp)
  );

  if (RecordSlots > 0) begin : gen_records
    logic unused;

    assign unused = ^slot_valid[AllSlots-1:KeySlots];  // mae_dma knows which it has written
    mae_key_write_merge u_merge (
        .clk_i,
        .rst_ni        (job_rst_n),
        .host_valid_i  (host_valid),
        .host_ready_o  (host_ready),
        .host_i        (host_write),
        .record_valid_i(record_valid),
        .record_ready_o(record_ready),
        .record_i      (record_write),
        .write_valid_o (write_valid),
        .write_ready_i (write_ready),
        .write_o       (write)
    );
  end else begin : gen_slots
    logic unused;

    assign unused = ^{record_valid, record_write};
    assign record_ready = 1'b0;
    assign write_valid = host_valid;
    assign host_ready = write_ready;
    assign write = host_write;
  end

  if (BusWidth < DataWidth) begin : gen_narrow
    // Write data of a narrower bus.
    logic parts_wvalid, parts_wready, parts_wlast;
    logic [  BusWidth-1:0] parts_wdata;
    logic [BusWidth/8-1:0] parts_wstrb;

    mae_axi_narrow #(
        .SWidth   (DataWidth),
        .MWidth   (BusWidth),
        .IdWidth  (IdWidth),
        .AddrWidth(64)
    ) u_narrow (
        .purge_i(draining_o),
        .s_axi_awvalid(bus_awvalid),
        .s_axi_awready(bus_awready),
        .s_axi_awid(bus_awid),
        .s_axi_awaddr(bus_awaddr),
        .s_axi_awlen(bus_awlen),
        .s_axi_awsize(bus_awsize),
        .s_axi_awburst(bus_awburst),
        .s_axi_wvalid(bus_wvalid),
        .s_axi_wready(bus_wready),
        .s_axi_wdata(bus_wdata),
        .s_axi_wstrb(bus_wstrb),
        .s_axi_wlast(bus_wlast),
        .s_axi_bvalid(bus_bvalid),
        .s_axi_bready(bus_bready),
        .s_axi_bid(bus_bid),
        .s_axi_bresp(bus_bresp),
        .s_axi_arvalid(bus_arvalid),
        .s_axi_arready(bus_arready),
        .s_axi_arid(bus_arid),
        .s_axi_araddr(bus_araddr),
        .s_axi_arlen(bus_arlen),
        .s_axi_arsize(bus_arsize),
        .s_axi_arburst(bus_arburst),
        .s_axi_rvalid(bus_rvalid),
        .s_axi_rready(bus_rready),
        .s_axi_rid(bus_rid),
        .s_axi_rdata(bus_rdata),
        .s_axi_rresp(bus_rresp),
        .s_axi_rlast(bus_rlast),
        .m_axi_wvalid(parts_wvalid),
        .m_axi_wready(parts_wready),
        .m_axi_wdata(parts_wdata),
        .m_axi_wstrb(parts_wstrb),
        .m_axi_wlast(parts_wlast),
        .*
    );

    mae_axi_w_purge #(
        .DataWidth(BusWidth)
    ) u_purge (
        .purge_i(draining_o),
        .s_axi_wvalid(parts_wvalid),
        .s_axi_wready(parts_wready),
        .s_axi_wdata(parts_wdata),
        .s_axi_wstrb(parts_wstrb),
        .s_axi_wlast(parts_wlast),
        .*
    );
  end else begin : gen_full
    assign m_axi_awvalid = bus_awvalid;
    assign bus_awready = m_axi_awready;
    assign m_axi_awid = bus_awid;
    assign m_axi_awaddr = bus_awaddr;
    assign m_axi_awlen = bus_awlen;
    assign m_axi_awsize = bus_awsize;
    assign m_axi_awburst = bus_awburst;
    assign m_axi_wvalid = bus_wvalid;
    assign bus_wready = m_axi_wready;
    assign m_axi_wdata = bus_wdata;
    assign m_axi_wstrb = bus_wstrb;
    assign m_axi_wlast = bus_wlast;
    assign bus_bvalid = m_axi_bvalid;
    assign m_axi_bready = bus_bready;
    assign bus_bid = m_axi_bid;
    assign bus_bresp = m_axi_bresp;
    assign m_axi_arvalid = bus_arvalid;
    assign bus_arready = m_axi_arready;
    assign m_axi_arid = bus_arid;
    assign m_axi_araddr = bus_araddr;
    assign m_axi_arlen = bus_arlen;
    assign m_axi_arsize = bus_arsize;
    assign m_axi_arburst = bus_arburst;
    assign bus_rvalid = m_axi_rvalid;
    assign m_axi_rready = bus_rready;
    assign bus_rid = m_axi_rid;
    assign bus_rdata = m_axi_rdata;
    assign bus_rresp = m_axi_rresp;
    assign bus_rlast = m_axi_rlast;
  end

  // INCR bursts, bufferable and modifiable, unprivileged secure data.
  assign bus_awburst   = 2'b01;
  assign bus_arburst   = 2'b01;
  assign m_axi_awlock  = 1'b0;
  assign m_axi_arlock  = 1'b0;
  assign m_axi_awcache = 4'b0011;
  assign m_axi_arcache = 4'b0011;
  assign m_axi_awprot  = 3'b000;
  assign m_axi_arprot  = 3'b000;

  mae_dma_aes_client #(
      .Lanes       (Lanes),
      .Contexts    (Contexts),
      .KeySlots    (AllSlots),
      .KeyBanks    (KeyBanks),
      .Dirs        (Dirs),
      .MaxKeyLen   (MaxKeyLen),
      .Sbox        (Sbox),
      .RegsPerRound(RegsPerRound),
      .Gcm         (Gcm),
      .Small       (Small)
  ) u_client (
      .clk_i,
      .rst_ni        (job_rst_n),
      .clear_i       (clear),
      .wiping_o      (client_wiping),
      .write_valid_i (write_valid),
      .write_ready_o (write_ready),
      .write_i       (write),
      .slot_valid_o  (slot_valid),
      .cfg_valid_i   (cfg_valid),
      .cfg_ready_o   (cfg_ready),
      .cfg_ctx_i     (cfg_ctx),
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
      .row_waits_i   (row_waits),
      .row_valid_o   (out_valid),
      .row_ready_i   (out_ready),
      .row_ctx_o     (out_ctx),
      .row_data_o    (out_data),
      .row_bytes_o   (out_bytes),
      .row_last_o    (out_last)
  );

endmodule
