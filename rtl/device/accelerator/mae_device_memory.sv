// SPDX-License-Identifier: Apache-2.0
//
// mae_device_memory: is the device memory of an accelerator card, on the chip (mae_card_memory) or
// behind an AXI4 port (mae_external_memory).
//
// A memory on the chip has no errors, its kernel is always settled, and its AXI4 port is idle.
// Latency, Throughput, Reset and clear: those of the module chosen.
// Parameters: Axi selects the memory behind the port; Latency is that of mae_card_memory. Legal:
// those of the module chosen.
// Security: timing does not depend on data.
// Source: docs/protocol.md, section 5.

module mae_device_memory
  import mae_kernel_pkg::*;
#(
    parameter bit Axi = 1'b0,
    parameter int unsigned MemoryBits = 20,  // log2 of the size in bytes
    parameter int unsigned Latency = 2  // clocks of a read, on the chip
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
    input logic kernel_wide_i,  // the row of the address, with the data below
    input logic [511:0] kernel_row_i,
    output logic [511:0] kernel_row_o,  // read, beside kernel_rdata_o
    output logic kernel_rvalid_o,
    output row_t kernel_rdata_o,
    output logic kernel_fault_o,
    output logic kernel_settled_o,  // no write of the kernel is under way

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
  if (Axi) begin : gen_axi
    mae_external_memory #(.MemoryBits(MemoryBits)) u_memory (.*);
  end else begin : gen_chip
    mae_card_memory #(
        .MemoryBits(MemoryBits),
        .Latency   (Latency)
    ) u_memory (
        .*
    );

    assign write_error_o = 1'b0;
    assign read_error_o = 1'b0;
    assign kernel_settled_o = 1'b1;
    assign m_axi_mem_awvalid = '0;
    assign m_axi_mem_awid = '0;
    assign m_axi_mem_awaddr = '0;
    assign m_axi_mem_awlen = '0;
    assign m_axi_mem_awsize = '0;
    assign m_axi_mem_awburst = '0;
    assign m_axi_mem_awlock = '0;
    assign m_axi_mem_awcache = '0;
    assign m_axi_mem_awprot = '0;
    assign m_axi_mem_wvalid = '0;
    assign m_axi_mem_wdata = '0;
    assign m_axi_mem_wstrb = '0;
    assign m_axi_mem_wlast = '0;
    assign m_axi_mem_bready = '0;
    assign m_axi_mem_arvalid = '0;
    assign m_axi_mem_arid = '0;
    assign m_axi_mem_araddr = '0;
    assign m_axi_mem_arlen = '0;
    assign m_axi_mem_arsize = '0;
    assign m_axi_mem_arburst = '0;
    assign m_axi_mem_arlock = '0;
    assign m_axi_mem_arcache = '0;
    assign m_axi_mem_arprot = '0;
    assign m_axi_mem_rready = '0;

    logic unused;
    assign unused = ^{
      m_axi_mem_awready, m_axi_mem_wready, m_axi_mem_bvalid, m_axi_mem_bid, m_axi_mem_bresp,
      m_axi_mem_arready, m_axi_mem_rvalid, m_axi_mem_rid, m_axi_mem_rdata, m_axi_mem_rresp,
      m_axi_mem_rlast
    };
  end

endmodule
