// SPDX-License-Identifier: Apache-2.0
//
// mae_external_memory: reaches the device memory of an accelerator card by an AXI4 manager port,
// and shares it among DMA, zero writes and kernel: mae_card_memory for DRAM outside the chip.
//
// Requests, refusals and the order of accesses are mae_card_memory's: a write is visible to every
// read that is accepted after it, and invisible to every read of the kernel accepted before it,
// whatever order the memory's controller chooses for bursts that the AXI4 rules leave free. Answers
// come after any time, those of a port in order. Granules that follow each other make bursts of up
// to Beats beats. Addresses of the port begin at 0.
// Errors: an error response to a read of the kernel, or to any write, gives kernel_fault_o;
// write_error_o and read_error_o pulse for any write and for a read of the DMA. A read of the data
// concerned is not sent before that. kernel_settled_o: all writes of the kernel have responses.
// Latency: that of the memory; from a read's request to AR 3 or 4 clocks, from R to the answer 1.
// Throughput: one granule a clock for all reads, one for all writes.
// Reset and clear: all of the memory is written with zeros after both (busy_o), and again if a
// write fails; nothing is accepted meanwhile. clear_i erases all data in the module in one clock,
// also if the bus stands still: beats that it has not seen go out as zeros without strobes, and
// only the W beat that it has not taken stays. After clear_i the kernel's outstanding reads are
// answered with zero, the DMA's not at all.
// Parameters: MemoryBits is log2 of the size in bytes, Reads the kernel's reads under way, Writes
// and Rows as in mae_external_memory_writes. Legal: MemoryBits 12..32.
// Security: timing does not depend on data. What the memory's bus carries is not encrypted.
// Source: docs/protocol.md, section 5 (H8: quarantine; H14: erasure); ARM IHI 0022.

`include "mae_assert.svh"

module mae_external_memory
  import mae_kernel_pkg::*;
#(
    parameter int unsigned MemoryBits = 27,
    parameter int unsigned Beats = 8,
    parameter int unsigned Reads = 128,
    parameter int unsigned Writes = 64,
    parameter int unsigned Rows = 64
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic busy_o,

    input  logic         write_valid_i,    // from the host
    output logic         write_ready_o,
    input  logic [ 34:0] write_granule_i,
    input  logic [ 63:0] write_strb_i,
    input  logic [511:0] write_data_i,
    output logic         write_error_o,

    input  logic        scrub_valid_i,   // writes of zeros
    output logic        scrub_ready_o,
    input  logic [34:0] scrub_granule_i,

    input  logic         read_valid_i,    // to the host
    output logic         read_ready_o,
    input  logic [ 34:0] read_granule_i,
    output logic         read_rvalid_o,
    output logic [511:0] read_rdata_o,
    output logic         read_error_o,

    input logic kernel_valid_i,
    output logic kernel_ready_o,
    input memory_request_t kernel_request_i,
    input logic kernel_wide_i,
    input logic [511:0] kernel_row_i,
    output logic [511:0] kernel_row_o,
    output logic kernel_rvalid_o,
    output row_t kernel_rdata_o,
    output logic kernel_fault_o,
    output logic kernel_settled_o,

    output logic [1:0]       judge_write_o,
    output logic [1:0][63:0] judge_address_o,
    input  logic [1:0]       judge_fault_i,

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
  `MAE_PARAM(MemoryBitsLegal, MemoryBits >= 12 && MemoryBits <= 32)

  localparam int unsigned GranuleWidth = MemoryBits - 6;
  localparam int unsigned LowBits = $clog2(Beats);
  typedef logic [GranuleWidth-1:0] granule_t;

  // Erasure.
  logic walking_q, failed_q, open, walk_take, reads_quiet, writes_quiet, write_error;
  logic [GranuleWidth:0] walk_q;  // the top bit: all are written

  assign busy_o = walking_q;
  assign open   = !walking_q && !clear_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walking_q <= 1'b1;
      {walk_q, failed_q} <= '0;
    end else if (clear_i) begin
      walking_q <= 1'b1;
      {walk_q, failed_q} <= '0;
    end else if (walking_q) begin
      if (walk_take) walk_q <= walk_q + 1'b1;
      if (write_error) failed_q <= 1'b1;
      if (walk_q[GranuleWidth] && reads_quiet && writes_quiet) begin
        walking_q <= failed_q;
        {walk_q, failed_q} <= '0;
      end
    end
  end

  // The kernel's request.
  logic [2:0] grant;  // of a write
  logic writing, writable;
  granule_t kernel_granule;
  logic kernel_write, kernel_read, kernel_refused, read_ready, kernel_fault, refused_q;

  assign kernel_granule = kernel_request_i.address[6+:GranuleWidth];
  assign kernel_write = kernel_valid_i && kernel_request_i.write;
  assign kernel_read = kernel_valid_i && !kernel_request_i.write;
  assign judge_write_o = 2'b10;
  assign judge_address_o = {2{64'(kernel_request_i.address)}};
  assign kernel_refused = judge_fault_i[kernel_request_i.write];
  assign kernel_ready_o = kernel_request_i.write ?
      open && (kernel_refused || (grant[2] && writable)) : read_ready;
  assign kernel_fault_o = kernel_fault || refused_q || (write_error && open);
  assign write_error_o = write_error && open;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) refused_q <= 1'b0;
    else refused_q <= open && kernel_write && kernel_refused;
  end

  // One write a clock.
  logic [1:0] unused_writer;
  granule_t place;
  logic [63:0] strb;
  logic [511:0] data;

  mae_rr_arb #(
      .N(3)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    ({kernel_write && !kernel_refused, scrub_valid_i, write_valid_i}),
      .advance_i(open && writable),
      .grant_o  (grant),
      .index_o  (unused_writer),
      .valid_o  (writing)
  );

  assign write_ready_o = open && grant[0] && writable;
  assign scrub_ready_o = open && grant[1] && writable;
  assign walk_take = walking_q && !clear_i && !walk_q[GranuleWidth] && writable;

  always_comb begin
    place = write_granule_i[GranuleWidth-1:0];
    strb  = write_strb_i;
    data  = write_data_i;
    if (grant[1]) begin
      place = scrub_granule_i[GranuleWidth-1:0];
      strb  = '1;
      data  = '0;
    end
    if (grant[2]) begin
      place = kernel_granule;
      strb  = kernel_wide_i ? '1 : '0;
      data  = kernel_wide_i ? kernel_row_i : {4{kernel_request_i.data}};
      if (!kernel_wide_i) strb[{kernel_request_i.address[5:4], 4'b0}+:16] = kernel_request_i.strb;
    end
    if (!open) begin
      place = walk_q[GranuleWidth-1:0];
      strb  = '1;
      data  = '0;
    end
  end

  logic [1:0][GranuleWidth-LowBits-1:0] block;
  logic [1:0] hit;
  logic [19:0] asked, answered;
  granule_t aw_granule, ar_granule;
  logic [LowBits-1:0] aw_len, ar_len;

  mae_external_memory_writes #(
      .GranuleWidth(GranuleWidth),
      .Beats       (Beats),
      .Writes      (Writes),
      .Rows        (Rows)
  ) u_writes (
      .clk_i,
      .rst_ni,
      .clear_i,
      .settled_o   (kernel_settled_o),
      .quiet_o     (writes_quiet),
      .error_o     (write_error),
      .valid_i     (open ? writing : walking_q && !clear_i && !walk_q[GranuleWidth]),
      .ready_o     (writable),
      .kernel_i    (open && grant[2]),
      .granule_i   (place),
      .strb_i      (strb),
      .data_i      (data),
      .block_i     (block),
      .hit_o       (hit),
      .asked_i     (asked),
      .answered_i  (answered),
      .aw_valid_o  (m_axi_mem_awvalid),
      .aw_ready_i  (m_axi_mem_awready),
      .aw_granule_o(aw_granule),
      .aw_len_o    (aw_len),
      .w_valid_o   (m_axi_mem_wvalid),
      .w_ready_i   (m_axi_mem_wready),
      .w_data_o    (m_axi_mem_wdata),
      .w_strb_o    (m_axi_mem_wstrb),
      .w_last_o    (m_axi_mem_wlast),
      .b_valid_i   (m_axi_mem_bvalid),
      .b_error_i   (m_axi_mem_bresp[1])
  );

  mae_external_memory_reads #(
      .GranuleWidth(GranuleWidth),
      .Beats       (Beats),
      .Reads       (Reads)
  ) u_reads (
      .clk_i,
      .rst_ni,
      .open_i          (open),
      .drop_i          (!open),
      .quiet_o         (reads_quiet),
      .kernel_valid_i  (kernel_read),
      .kernel_ready_o  (read_ready),
      .kernel_granule_i(kernel_granule),
      .kernel_part_i   (kernel_request_i.address[5:4]),
      .kernel_refused_i(kernel_refused),
      .kernel_rvalid_o,
      .kernel_rdata_o,
      .kernel_row_o,
      .kernel_fault_o  (kernel_fault),
      .dma_valid_i     (read_valid_i),
      .dma_ready_o     (read_ready_o),
      .dma_granule_i   (read_granule_i[GranuleWidth-1:0]),
      .dma_rvalid_o    (read_rvalid_o),
      .dma_rdata_o     (read_rdata_o),
      .dma_error_o     (read_error_o),
      .block_o         (block),
      .hit_i           (hit),
      .asked_o         (asked),
      .answered_o      (answered),
      .ar_valid_o      (m_axi_mem_arvalid),
      .ar_ready_i      (m_axi_mem_arready),
      .ar_id_o         (m_axi_mem_arid),
      .ar_granule_o    (ar_granule),
      .ar_len_o        (ar_len),
      .r_valid_i       (m_axi_mem_rvalid),
      .r_ready_o       (m_axi_mem_rready),
      .r_id_i          (m_axi_mem_rid),
      .r_data_i        (m_axi_mem_rdata),
      .r_error_i       (m_axi_mem_rresp[1])
  );

  // INCR bursts of whole rows, bufferable and modifiable, unprivileged secure data.
  assign m_axi_mem_awid = 1'b0;
  assign m_axi_mem_awaddr = 32'({aw_granule, 6'b0});
  assign m_axi_mem_araddr = 32'({ar_granule, 6'b0});
  assign m_axi_mem_awlen = 8'(aw_len);
  assign m_axi_mem_arlen = 8'(ar_len);
  assign m_axi_mem_bready = 1'b1;
  assign m_axi_mem_awsize = 3'd6;
  assign m_axi_mem_arsize = 3'd6;
  assign m_axi_mem_awburst = 2'b01;
  assign m_axi_mem_arburst = 2'b01;
  assign m_axi_mem_awlock = 1'b0;
  assign m_axi_mem_arlock = 1'b0;
  assign m_axi_mem_awcache = 4'b0011;
  assign m_axi_mem_arcache = 4'b0011;
  assign m_axi_mem_awprot = 3'b000;
  assign m_axi_mem_arprot = 3'b000;

  logic unused;
  assign unused = ^{write_granule_i, scrub_granule_i, read_granule_i, m_axi_mem_bid,
      m_axi_mem_rlast, m_axi_mem_bresp[0], m_axi_mem_rresp[0]};

  `MAE_ASSERT(WriteInside, !write_valid_i || (write_granule_i >> GranuleWidth) == '0)
  `MAE_ASSERT(ScrubInside, !scrub_valid_i || (scrub_granule_i >> GranuleWidth) == '0)
  `MAE_ASSERT(ReadInside, !read_valid_i || (read_granule_i >> GranuleWidth) == '0)
  `MAE_ASSERT(KernelAligned, !kernel_valid_i || kernel_request_i.address[3:0] == '0)

endmodule
