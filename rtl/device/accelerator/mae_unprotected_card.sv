// SPDX-License-Identifier: Apache-2.0
//
// mae_unprotected_card: integrates an accelerator kernel and its memory without the guard, as the
// baseline for mae_protected_card.
//
// It has the same memory, kernel and DMA engines, and executes every request of the host.
// Registers: regs/mae_unprotected_card.rdl. There is one channel of transfers for each
// direction, each with a queue of Depth transfers. Both channels and the kernel run concurrently;
// the host orders them. The kernel's registers are in a window of the address space; an illegal
// access there has no effect and gets SLVERR. irq_o is a level.
// Latency: a register access takes 2 clocks, in the kernel's window 3.
// Throughput: 64 bytes a clock in each direction at the same time.
// Reset: the memory is erased first, in 2^(MemoryBits - 6) clocks in which transfers and kernel
// wait.
// Parameters: Legal: MemoryBits 12..32; MemoryLatency as Latency of mae_card_memory; Kernel any of kernel_e; Depth as mae_unprotected_dma_queue.
// Security: holds no secret but the data.

module mae_unprotected_card
  import mae_kernel_pkg::*;
  import mae_device_pkg::*;
#(
    parameter int unsigned MemoryBits = 21,
    parameter bit AxiMemory = 1'b0,  // device memory behind m_axi_mem, not on the chip
    parameter int unsigned MemoryLatency = 2,  // clocks of a read of device memory on the chip
    parameter kernel_e Kernel = KernelNn,
    parameter int unsigned Depth = 8
) (
    input logic clk_i,
    input logic rst_ni,

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
    input  logic         m_axi_rlast,

    output logic         m_axi_mem_awvalid,
    input  logic         m_axi_mem_awready,
    output logic         m_axi_mem_awid,
    output logic [ 31:0] m_axi_mem_awaddr,
    output logic [  7:0] m_axi_mem_awlen,
    output logic [  2:0] m_axi_mem_awsize,
    output logic [  1:0] m_axi_mem_awburst,
    output logic         m_axi_mem_awlock,
    output logic [  3:0] m_axi_mem_awcache,
    output logic [  2:0] m_axi_mem_awprot,
    output logic         m_axi_mem_wvalid,
    input  logic         m_axi_mem_wready,
    output logic [511:0] m_axi_mem_wdata,
    output logic [ 63:0] m_axi_mem_wstrb,
    output logic         m_axi_mem_wlast,
    input  logic         m_axi_mem_bvalid,
    output logic         m_axi_mem_bready,
    input  logic         m_axi_mem_bid,
    input  logic [  1:0] m_axi_mem_bresp,
    output logic         m_axi_mem_arvalid,
    input  logic         m_axi_mem_arready,
    output logic         m_axi_mem_arid,
    output logic [ 31:0] m_axi_mem_araddr,
    output logic [  7:0] m_axi_mem_arlen,
    output logic [  2:0] m_axi_mem_arsize,
    output logic [  1:0] m_axi_mem_arburst,
    output logic         m_axi_mem_arlock,
    output logic [  3:0] m_axi_mem_arcache,
    output logic [  2:0] m_axi_mem_arprot,
    input  logic         m_axi_mem_rvalid,
    output logic         m_axi_mem_rready,
    input  logic         m_axi_mem_rid,
    input  logic [511:0] m_axi_mem_rdata,
    input  logic [  1:0] m_axi_mem_rresp,
    input  logic         m_axi_mem_rlast
);
  // Registers.
  localparam logic [31:0] Id = 32'h4d41_4550;  // MAEP
  localparam logic [31:0] Version = 32'h0001_0000;

  logic write_valid, read_valid, write_done, read_done, write_error, read_error, whole;
  logic [RegAddrWidth-1:0] write_addr, read_addr;
  logic [31:0] write_data, read_data, in_data, out_data;
  logic [3:0] write_strb;
  logic write_window, read_window, known;
  logic [2:0] irq_enable_q, irq_status_q, irq_set;
  logic memory_busy, memory_write_error, memory_read_error;

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
      .axil_i       (axil_req),
      .axil_o       (axil_rsp),
      .write_valid_o(write_valid),
      .write_done_i (write_done),
      .write_addr_o (write_addr),
      .write_data_o (write_data),
      .write_strb_o (write_strb),
      .write_error_i(write_error),
      .read_valid_o (read_valid),
      .read_done_i  (read_done),
      .read_addr_o  (read_addr),
      .read_data_i  (read_data),
      .read_error_i (read_error),
      .*
  );

  assign write_window = write_addr[11:7] == 5'h02;  // 0x100...0x17f
  assign read_window = read_addr[11:7] == 5'h02;
  assign whole = write_valid && write_done && write_strb == '1 && write_addr[1:0] == '0;
  assign irq_o = (irq_enable_q & irq_status_q) != '0;

  // The kernel's window: a write has priority over a read; the answer comes in the next clock.
  logic asked_q, asked_write_q, reg_valid, reg_write, reg_error;
  logic [63:0] reg_rdata;
  logic [11:0] reg_offset;

  assign reg_write  = write_valid && write_window;
  assign reg_valid  = (reg_write || (read_valid && read_window)) && !asked_q;
  assign reg_offset = reg_write ? write_addr : read_addr;
  assign write_done = !write_window || (asked_q && asked_write_q);
  assign read_done  = !read_window || (asked_q && !asked_write_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {asked_q, asked_write_q, irq_enable_q, irq_status_q} <= '0;
    end else begin
      asked_q <= reg_valid;
      asked_write_q <= reg_write;
      irq_status_q <= irq_status_q | irq_set;
      if (whole && write_addr[11:2] == mae_unprotected_card_regs_pkg::IrqEnable[11:2])
        irq_enable_q <= write_data[2:0];
      if (whole && write_addr[11:2] == mae_unprotected_card_regs_pkg::IrqStatus[11:2]) begin
        irq_status_q <= (irq_status_q & ~write_data[2:0]) | irq_set;
      end
    end
  end

  always_comb begin
    known = 1'b1;
    read_data = '0;
    unique case (read_addr[11:2])
      mae_unprotected_card_regs_pkg::Id[11:2]: read_data = Id;
      mae_unprotected_card_regs_pkg::Version[11:2]: read_data = Version;
      mae_unprotected_card_regs_pkg::Caps[11:2]:
      read_data = {8'b0, 8'(Depth), 8'(Kernel), 8'(MemoryBits)};
      mae_unprotected_card_regs_pkg::Status[11:2]: read_data = {31'b0, memory_busy};
      mae_unprotected_card_regs_pkg::IrqEnable[11:2]: read_data = {29'b0, irq_enable_q};
      mae_unprotected_card_regs_pkg::IrqStatus[11:2]: read_data = {29'b0, irq_status_q};
      default: begin
        if (read_window) read_data = reg_rdata[31:0];
        else if (read_addr[11:5] == mae_unprotected_card_regs_pkg::H2d[11:5]) read_data = in_data;
        else if (read_addr[11:5] == mae_unprotected_card_regs_pkg::D2h[11:5]) read_data = out_data;
        else known = 1'b0;
      end
    endcase
    read_error  = !known;
    write_error = write_window && reg_error;
  end

  // Transfers.
  logic mem_write_valid, mem_write_ready, mem_read_valid, mem_read_ready, mem_read_rvalid;
  logic [34:0] mem_write_granule, mem_read_granule;
  logic [63:0] mem_write_strb;
  logic [511:0] mem_write_data, mem_read_rdata;

  mae_unprotected_dma #(
      .MemoryBits(MemoryBits),
      .ReadRows  (AxiMemory ? AxiReadRows : read_rows(MemoryLatency)),
      .Depth     (Depth)
  ) u_moves (
      .clk_i,
      .rst_ni,
      .in_write_i     (whole && write_addr[11:5] == mae_unprotected_card_regs_pkg::H2d[11:5]),
      .out_write_i    (whole && write_addr[11:5] == mae_unprotected_card_regs_pkg::D2h[11:5]),
      .write_offset_i (write_addr[4:0]),
      .write_data_i   (write_data),
      .read_offset_i  (read_addr[4:0]),
      .in_data_o      (in_data),
      .out_data_o     (out_data),
      .in_complete_o  (irq_set[0]),
      .out_complete_o (irq_set[1]),
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
      .write_error_i  (memory_write_error),
      .read_error_i   (memory_read_error),
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

  // Memory and kernel.
  logic mem_valid, mem_ready, mem_rvalid, mem_fault;
  memory_request_t mem_request;
  row_t mem_rdata;
  logic mem_wide, mem_settled;
  logic [511:0] mem_row, mem_answer;
  logic [1:0] judge_fault, unused_judge_write;
  logic unused_scrub_ready, unused_busy, unused_legal, unused_fault;
  logic [63:0] unused_runs;
  logic [1:0][63:0] judge_address;

  always_comb
    for (int unsigned i = 0; i < 2; i++) judge_fault[i] = (judge_address[i] >> MemoryBits) != '0;

  mae_device_memory #(
      .Axi       (AxiMemory),
      .MemoryBits(MemoryBits),
      .Latency   (MemoryLatency)
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
      .kernel_valid_i  (mem_valid),
      .kernel_ready_o  (mem_ready),
      .kernel_request_i(mem_request),
      .kernel_wide_i   (mem_wide),
      .kernel_row_i    (mem_row),
      .kernel_row_o    (mem_answer),
      .kernel_rvalid_o (mem_rvalid),
      .kernel_rdata_o  (mem_rdata),
      .kernel_fault_o  (mem_fault),
      .judge_write_o   (unused_judge_write),
      .judge_address_o (judge_address),
      .judge_fault_i   (judge_fault),
      .write_error_o   (memory_write_error),
      .read_error_o    (memory_read_error),
      .kernel_settled_o(mem_settled),
      .*
  );

  mae_kernel_registers #(
      .Kernel(Kernel)
  ) u_kernel (
      .clk_i,
      .rst_ni,
      .clear_i           (1'b0),
      .busy_o            (unused_busy),
      .check_write_i     (1'b0),
      .check_offset_i    ('0),
      .check_log2_width_i('0),
      .check_legal_o     (unused_legal),
      .reg_valid_i       (reg_valid && (!reg_write || write_strb == '1)),
      .reg_write_i       (reg_write),
      .reg_offset_i      ({25'b0, reg_offset[6:2], 2'b0}),
      .reg_log2_width_i  (2'd2),
      .reg_wdata_i       ({32'b0, write_data}),
      .reg_rdata_o       (reg_rdata),
      .reg_error_o       (reg_error),
      .runs_o            (unused_runs),
      .fault_o           (unused_fault),
      .done_o            (irq_set[2]),
      .mem_valid_o       (mem_valid),
      .mem_ready_i       (mem_ready),
      .mem_request_o     (mem_request),
      .mem_wide_o        (mem_wide),
      .mem_row_o         (mem_row),
      .mem_row_i         (mem_answer),
      .mem_rvalid_i      (mem_rvalid),
      .mem_rdata_i       (mem_rdata),
      .mem_fault_i       (mem_fault),
      .mem_settled_i     (mem_settled)
  );

  logic unused;
  assign unused = ^{reg_offset, reg_rdata[63:32]};

endmodule
