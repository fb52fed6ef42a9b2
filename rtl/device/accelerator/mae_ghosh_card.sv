// SPDX-License-Identifier: Apache-2.0
//
// mae_ghosh_card: follows the protocol of Ghosh et al. between host and device memory, so that
// attacks on it run against hardware. It is no product: mae_protected_card is.
//
// mae_ghosh_registers checks the tags of accesses to protected registers, mae_ghosh_dma moves data
// through AES-GCM and shows their tag to anyone. Registers: regs/mae_ghosh_card.rdl. There is no
// accelerator: what a transfer left in device memory is what one would work on. install_*: the
// provisioning port of mae_protected_card; the first 16 bytes of the secret are the key of
// AES-128-GCM for everything, as in the paper. Session and nonce are not used.
// Latency: a plain register 2 clocks, a protected one as mae_ghosh_registers.
// Throughput: 64 bytes a clock, one transfer at a time.
// Reset: erases the key, and the memory in 2^(MemoryBits - 6) clocks.
// Parameters: Legal: MemoryBits 12..31.
// Security: none of the attacks that docs/guides/protected-channel.md lists as let through is
// stopped (`maeslant attack --ghosh`).
// Source: Ghosh et al., section 3.

module mae_ghosh_card
  import mae_aes_pkg::*;
  import mae_bytes_pkg::*;
  import mae_kernel_pkg::*;
  import mae_device_pkg::*;
  import mae_ghosh_card_regs_pkg::*;
#(
    parameter int unsigned MemoryBits = 14
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic         install_valid_i,
    output logic         install_ready_o,
    input  logic [255:0] install_secret_i,
    input  logic [127:0] install_session_id_i,
    input  logic [191:0] nonce_i,
    output logic         nonce_take_o,

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

    output logic         m_axi_awvalid,
    input  logic         m_axi_awready,
    output logic [  7:0] m_axi_awid,
    output logic [ 63:0] m_axi_awaddr,
    output logic [  7:0] m_axi_awlen,
    output logic [  2:0] m_axi_awsize,
    output logic [  1:0] m_axi_awburst,
    output logic         m_axi_awlock,
    output logic [  3:0] m_axi_awcache,
    output logic [  2:0] m_axi_awprot,
    output logic         m_axi_wvalid,
    input  logic         m_axi_wready,
    output logic [511:0] m_axi_wdata,
    output logic [ 63:0] m_axi_wstrb,
    output logic         m_axi_wlast,
    input  logic         m_axi_bvalid,
    output logic         m_axi_bready,
    input  logic [  7:0] m_axi_bid,
    input  logic [  1:0] m_axi_bresp,
    output logic         m_axi_arvalid,
    input  logic         m_axi_arready,
    output logic [  7:0] m_axi_arid,
    output logic [ 63:0] m_axi_araddr,
    output logic [  7:0] m_axi_arlen,
    output logic [  2:0] m_axi_arsize,
    output logic [  1:0] m_axi_arburst,
    output logic         m_axi_arlock,
    output logic [  3:0] m_axi_arcache,
    output logic [  2:0] m_axi_arprot,
    input  logic         m_axi_rvalid,
    output logic         m_axi_rready,
    input  logic [  7:0] m_axi_rid,
    input  logic [511:0] m_axi_rdata,
    input  logic [  1:0] m_axi_rresp,
    input  logic         m_axi_rlast
);
  localparam logic [31:0] CardId = 32'h4d41_4547;  // MAEG
  localparam logic [31:0] CardVersion = 32'h0001_0000;

  logic write_valid, read_valid, write_done, read_done, read_error, whole;
  logic [RegAddrWidth-1:0] write_addr, read_addr;
  logic [31:0] write_data, read_data, opened_data;
  logic [3:0] write_strb;
  logic memory_busy, moving, key_ready, start_valid;
  logic [63:0] target, start;
  logic [127:0] answer_tag, engine_tag;
  logic [63:0] host_q;
  key_t key_q;
  logic key_valid_q;
  block_t tag;

  // ---- Key.
  assign install_ready_o = !key_valid_q;
  assign nonce_take_o    = 1'b0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      key_q       <= '0;
      key_valid_q <= 1'b0;
    end else if (install_valid_i && install_ready_o) begin
      key_q       <= {install_secret_i[255:128], 128'b0};
      key_valid_q <= 1'b1;
    end else if (key_ready) begin
      key_valid_q <= 1'b0;
    end
  end

  // ---- Registers.
  mae_axi_pkg::axil_req_t axil_req;
  mae_axi_pkg::axil_rsp_t axil_rsp;

  mae_axil_port_to_struct #(
      .AddrWidth(RegAddrWidth)
  ) u_axil (
      .axil_o(axil_req),
      .axil_i(axil_rsp),
      .*
  );

  mae_axil_to_reg #(
      .AddrWidth(RegAddrWidth)
  ) u_port (
      .clk_i,
      .rst_ni,
      .axil_i       (axil_req),
      .axil_o       (axil_rsp),
      .write_valid_o(write_valid),
      .write_done_i (write_done),
      .write_addr_o (write_addr),
      .write_data_o (write_data),
      .write_strb_o (write_strb),
      .write_error_i(1'b0),
      .read_valid_o (read_valid),
      .read_done_i  (read_done),
      .read_addr_o  (read_addr),
      .read_data_i  (read_data),
      .read_error_i (read_error)
  );

  mae_ghosh_registers u_protected (
      .clk_i,
      .rst_ni,
      .key_i        (key_q),
      .write_valid_i(write_valid),
      .write_done_o (write_done),
      .write_addr_i (write_addr),
      .write_data_i (write_data),
      .write_strb_i (write_strb),
      .read_valid_i (read_valid),
      .read_done_o  (read_done),
      .read_addr_i  (read_addr),
      .read_data_o  (opened_data),
      .answer_tag_o (answer_tag),
      .target_o     (target),
      .start_valid_o(start_valid),
      .start_o      (start)
  );

  assign whole      = write_valid && write_done && write_strb == '1;
  assign engine_tag = swap_block(tag);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      host_q <= '0;
    end else begin
      if (whole && write_addr[11:2] == HostLo[11:2]) host_q[31:0] <= write_data;
      if (whole && write_addr[11:2] == HostHi[11:2]) host_q[63:32] <= write_data;
    end
  end

  always_comb begin
    read_error = 1'b0;
    read_data  = '0;
    unique case (read_addr[11:4])
      Id[11:4]:
      unique case (read_addr[3:2])
        Id[3:2]:      read_data = CardId;
        Version[3:2]: read_data = CardVersion;
        Caps[3:2]:    read_data = MemoryBits;
        default:      read_data = {30'b0, moving, memory_busy};
      endcase
      AnswerTag[11:4]: read_data = answer_tag[32*read_addr[3:2]+:32];
      EngineTag[11:4]: read_data = engine_tag[32*read_addr[3:2]+:32];
      default: begin
        read_error = !read_addr[11];
        read_data  = opened_data;
      end
    endcase
  end

  // ---- Transfers.
  logic mem_write_valid, mem_write_ready, mem_read_valid, mem_read_ready, mem_read_rvalid;
  logic [34:0] mem_write_granule, mem_read_granule;
  logic [63:0] mem_write_strb, start_swapped;
  logic [511:0] mem_write_data, mem_read_rdata;
  logic [127:0] start_block;

  assign start_block   = swap_block({64'b0, start});
  assign start_swapped = start_block[127:64];

  mae_ghosh_dma #(
      .MemoryBits(MemoryBits)
  ) u_dma (
      .clk_i,
      .rst_ni,
      .key_valid_i    (key_valid_q),
      .key_ready_o    (key_ready),
      .key_i          (key_q),
      .start_valid_i  (start_valid),
      .start_out_i    (target[63]),
      .start_device_i (target[31:0]),
      .start_bytes_i  (target[62:32]),
      .start_iv_i     ({"dma", 8'b0, start_swapped}),
      .move_i         (whole && write_addr[11:2] == Move[11:2]),
      .move_host_i    (host_q),
      .finalize_i     (whole && write_addr[11:2] == Finalize[11:2]),
      .moving_o       (moving),
      .tag_o          (tag),
      .write_valid_o  (mem_write_valid),
      .write_ready_i  (mem_write_ready),
      .write_granule_o(mem_write_granule),
      .write_strb_o   (mem_write_strb),
      .write_data_o   (mem_write_data),
      .read_valid_o   (mem_read_valid),
      .read_ready_i   (mem_read_ready),
      .read_granule_o (mem_read_granule),
      .read_rvalid_i  (mem_read_rvalid),
      .read_rdata_i   (mem_read_rdata),
      .ar_valid_o     (m_axi_arvalid),
      .ar_id_o        (m_axi_arid),
      .ar_addr_o      (m_axi_araddr),
      .ar_len_o       (m_axi_arlen),
      .ar_ready_i     (m_axi_arready),
      .r_ready_o      (m_axi_rready),
      .r_valid_i      (m_axi_rvalid),
      .r_id_i         (m_axi_rid),
      .r_data_i       (m_axi_rdata),
      .r_resp_i       (m_axi_rresp),
      .r_last_i       (m_axi_rlast),
      .aw_valid_o     (m_axi_awvalid),
      .aw_id_o        (m_axi_awid),
      .aw_addr_o      (m_axi_awaddr),
      .aw_len_o       (m_axi_awlen),
      .aw_ready_i     (m_axi_awready),
      .w_valid_o      (m_axi_wvalid),
      .w_data_o       (m_axi_wdata),
      .w_strb_o       (m_axi_wstrb),
      .w_last_o       (m_axi_wlast),
      .w_ready_i      (m_axi_wready),
      .b_ready_o      (m_axi_bready),
      .b_valid_i      (m_axi_bvalid),
      .b_id_i         (m_axi_bid),
      .b_resp_i       (m_axi_bresp)
  );

  // INCR bursts of whole rows, bufferable and modifiable, unprivileged secure data.
  assign m_axi_awsize  = 3'd6;
  assign m_axi_arsize  = 3'd6;
  assign m_axi_awburst = 2'b01;
  assign m_axi_arburst = 2'b01;
  assign m_axi_awlock  = 1'b0;
  assign m_axi_arlock  = 1'b0;
  assign m_axi_awcache = 4'b0011;
  assign m_axi_arcache = 4'b0011;
  assign m_axi_awprot  = 3'b000;
  assign m_axi_arprot  = 3'b000;

  // ---- Memory, without an accelerator.
  logic unused_scrub_ready, unused_kernel_ready, unused_kernel_rvalid, unused_kernel_fault;
  logic [1:0] unused_judge_write;
  logic [1:0][63:0] unused_judge_address;
  logic [511:0] unused_kernel_row;
  row_t unused_kernel_rdata;

  mae_card_memory #(
      .MemoryBits(MemoryBits)
  ) u_memory (
      .clk_i,
      .rst_ni,
      .clear_i         (1'b0),
      .busy_o          (memory_busy),
      .write_valid_i   (mem_write_valid),
      .write_ready_o   (mem_write_ready),
      .write_granule_i (mem_write_granule),
      .write_strb_i    (mem_write_strb),
      .write_data_i    (mem_write_data),
      .scrub_valid_i   (1'b0),
      .scrub_ready_o   (unused_scrub_ready),
      .scrub_granule_i ('0),
      .read_valid_i    (mem_read_valid),
      .read_ready_o    (mem_read_ready),
      .read_granule_i  (mem_read_granule),
      .read_rvalid_o   (mem_read_rvalid),
      .read_rdata_o    (mem_read_rdata),
      .kernel_valid_i  (1'b0),
      .kernel_ready_o  (unused_kernel_ready),
      .kernel_request_i('0),
      .kernel_wide_i   (1'b0),
      .kernel_row_i    ('0),
      .kernel_row_o    (unused_kernel_row),
      .kernel_rvalid_o (unused_kernel_rvalid),
      .kernel_rdata_o  (unused_kernel_rdata),
      .kernel_fault_o  (unused_kernel_fault),
      .judge_write_o   (unused_judge_write),
      .judge_address_o (unused_judge_address),
      .judge_fault_i   ('0)
  );

  logic unused;
  assign unused = ^{install_secret_i[127:0], install_session_id_i, nonce_i, write_addr[1:0],
      read_addr[1:0], start_block[63:0]};

endmodule
