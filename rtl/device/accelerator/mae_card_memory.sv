// SPDX-License-Identifier: Apache-2.0
//
// mae_card_memory: stores the device memory of an accelerator card and shares it among DMA, zero
// writes and kernel. The memory has rows (granules) of 64 bytes.
//
// One write port is shared, round-robin, by the DMA, by zero writes of an aborted transfer and by
// the kernel; DMA and kernel have one read port each (on an FPGA: two copies of the memory, with
// the same writes). Byte 0 of a row is in bits 7:0. The kernel's accesses, of 16 bytes or of a row
// (kernel_wide_i), are checked in the clock in which they are accepted: judge_*_o shows the access
// at its port (element 0 as a read, 1 as a write), judge_fault_i refuses it in the same clock
// (docs/protocol.md, H8: locked regions). So, when a region is locked, an access has either ended
// or not begun. A refused access
// has no effect; a refused read is answered with zero and kernel_fault_o, a refused write with
// kernel_fault_o only. DMA accesses belong to the locks' owners: they are not checked, and must be
// within the memory.
// Latency: a read is answered, and a refusal told, Latency clocks after it was accepted, in order;
// a write is visible to all reads accepted after it. Ready is combinational in the requests.
// Throughput: one row a clock at each port.
// Reset and clear: all rows are erased in 2^(MemoryBits - 6) clocks after clear_i (busy_o), in
// which nothing is accepted; outstanding reads are answered with zero.
// Parameters: MemoryBits is log2 of the size in bytes; Latency over 2 stands for DRAM behind an
// AXI port. Legal: MemoryBits 7..32; Latency 2..64.
// Security: timing does not depend on data.
// Source: docs/protocol.md, section 5 (H8: quarantine; H14: erasure).

`include "mae_assert.svh"

module mae_card_memory
  import mae_kernel_pkg::*;
#(
    parameter int unsigned MemoryBits = 20,  // log2 of the size in bytes
    parameter int unsigned Latency = 2  // clocks of a read
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

    input  logic        scrub_valid_i,   // writes of zeros
    output logic        scrub_ready_o,
    input  logic [34:0] scrub_granule_i,

    input  logic         read_valid_i,    // to the host
    output logic         read_ready_o,
    input  logic [ 34:0] read_granule_i,
    output logic         read_rvalid_o,
    output logic [511:0] read_rdata_o,

    input logic kernel_valid_i,
    output logic kernel_ready_o,
    input memory_request_t kernel_request_i,
    input logic kernel_wide_i,  // the row of the address, with the data below
    input logic [511:0] kernel_row_i,
    output logic [511:0] kernel_row_o,  // read, beside kernel_rdata_o
    output logic kernel_rvalid_o,
    output row_t kernel_rdata_o,
    output logic kernel_fault_o,

    output logic [1:0]       judge_write_o,
    output logic [1:0][63:0] judge_address_o,
    input  logic [1:0]       judge_fault_i
);
  `MAE_PARAM(MemoryBitsLegal, MemoryBits >= 7 && MemoryBits <= 32)
  `MAE_PARAM(LatencyLegal, Latency >= 2 && Latency <= 64)

  localparam int unsigned GranuleWidth = MemoryBits - 6;
  typedef logic [GranuleWidth-1:0] granule_t;

  logic [511:0] rows_q[2**GranuleWidth];
  granule_t walk_q;
  logic walking_q, open;

  assign busy_o = walking_q;
  assign open   = !walking_q && !clear_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walking_q <= 1'b1;
      walk_q    <= '0;
    end else if (clear_i) begin
      walking_q <= 1'b1;
      walk_q    <= '0;
    end else if (walking_q) begin
      walk_q <= walk_q + 1'b1;
      if (walk_q == '1) walking_q <= 1'b0;
    end
  end

  // The kernel's request.
  granule_t kernel_granule;
  logic kernel_write, kernel_refused, kernel_read;

  assign kernel_granule = kernel_request_i.address[6+:GranuleWidth];
  assign kernel_write = kernel_valid_i && kernel_request_i.write;
  assign judge_write_o = 2'b10;
  assign judge_address_o = {2{64'(kernel_request_i.address)}};
  assign kernel_refused = judge_fault_i[kernel_request_i.write];
  assign kernel_read = kernel_valid_i && !kernel_request_i.write && open;

  // One write a clock.
  logic [2:0] grant;
  logic [1:0] unused_writer;
  logic writing;
  granule_t place;
  logic [63:0] strb;
  logic [511:0] data;

  mae_rr_arb #(
      .N(3)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    ({kernel_write, scrub_valid_i, write_valid_i}),
      .advance_i(open),
      .grant_o  (grant),
      .index_o  (unused_writer),
      .valid_o  (writing)
  );

  assign write_ready_o  = open && grant[0];
  assign scrub_ready_o  = open && grant[1];
  assign kernel_ready_o = open && (!kernel_request_i.write || grant[2]);
  assign read_ready_o   = open;

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
      strb  = '0;
      if (!kernel_refused) strb[{kernel_request_i.address[5:4], 4'b0}+:16] = kernel_request_i.strb;
      data = {4{kernel_request_i.data}};
      if (kernel_wide_i) begin
        strb = {64{!kernel_refused}};
        data = kernel_row_i;
      end
    end
    if (!writing) strb = '0;
    if (!open) begin
      place = walk_q;
      strb  = {64{walking_q}};
      data  = '0;
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 64; i++) if (strb[i]) rows_q[place][8*i+:8] <= data[8*i+:8];
  end

  // Reads: a register behind the memory, then one behind the selection of 16 bytes.
  logic read_taken_q, kernel_taken_q, refused_q, write_refused_q;
  logic [1:0] part_q;
  logic [511:0] read_row_q, kernel_row_q;
  logic read_answered_q, kernel_answered_q, kernel_fault_q;
  logic [511:0] read_answer_q, kernel_answer_q;
  row_t kernel_part_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {read_taken_q, kernel_taken_q, refused_q, write_refused_q} <= '0;
      {read_answered_q, kernel_answered_q, kernel_fault_q} <= '0;
    end else begin
      read_taken_q <= read_valid_i && read_ready_o;
      kernel_taken_q <= kernel_read;
      refused_q <= kernel_read && kernel_refused;
      write_refused_q <= kernel_write && kernel_ready_o && kernel_refused;
      read_answered_q <= read_taken_q;
      kernel_answered_q <= kernel_taken_q;
      kernel_fault_q <= refused_q || write_refused_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      read_row_q   <= '0;
      kernel_row_q <= '0;
    end else begin
      if (read_valid_i) read_row_q <= rows_q[read_granule_i[GranuleWidth-1:0]];
      if (kernel_read) kernel_row_q <= rows_q[kernel_granule];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      part_q          <= '0;
      read_answer_q   <= '0;
      kernel_part_q   <= '0;
      kernel_answer_q <= '0;
    end else if (clear_i) begin
      part_q          <= '0;
      read_answer_q   <= '0;
      kernel_part_q   <= '0;
      kernel_answer_q <= '0;
    end else begin
      part_q <= kernel_request_i.address[5:4];
      if (read_taken_q) read_answer_q <= read_row_q;
      if (kernel_taken_q) begin
        kernel_part_q   <= refused_q ? '0 : kernel_row_q[{part_q, 7'b0}+:128];
        kernel_answer_q <= refused_q ? '0 : kernel_row_q;
      end
    end
  end

  // The way to a memory outside the chip and back.
  if (Latency == 2) begin : gen_near
    assign read_rvalid_o = read_answered_q;
    assign read_rdata_o = read_answer_q;
    assign kernel_rvalid_o = kernel_answered_q;
    assign kernel_rdata_o = kernel_part_q;
    assign kernel_row_o = kernel_answer_q;
    assign kernel_fault_o = kernel_fault_q;
  end else begin : gen_far
    logic unused_fault;

    mae_delay_line #(
        .Width (512),
        .Clocks(Latency - 2)
    ) u_read (
        .clk_i,
        .rst_ni,
        .clear_i,
        .valid_i(read_answered_q),
        .data_i (read_answer_q),
        .valid_o(read_rvalid_o),
        .data_o (read_rdata_o)
    );

    mae_delay_line #(
        .Width (640),
        .Clocks(Latency - 2)
    ) u_kernel (
        .clk_i,
        .rst_ni,
        .clear_i,
        .valid_i(kernel_answered_q),
        .data_i ({kernel_part_q, kernel_answer_q}),
        .valid_o(kernel_rvalid_o),
        .data_o ({kernel_rdata_o, kernel_row_o})
    );

    mae_delay_line #(
        .Width (1),
        .Clocks(Latency - 2)
    ) u_fault (
        .clk_i,
        .rst_ni,
        .clear_i(1'b0),
        .valid_i(kernel_fault_q),
        .data_i (1'b0),
        .valid_o(kernel_fault_o),
        .data_o (unused_fault)
    );
  end

  logic unused;
  assign unused = ^{write_granule_i, scrub_granule_i, read_granule_i};

  `MAE_ASSERT(WriteInside, !write_valid_i || (write_granule_i >> GranuleWidth) == '0)
  `MAE_ASSERT(ScrubInside, !scrub_valid_i || (scrub_granule_i >> GranuleWidth) == '0)
  `MAE_ASSERT(ReadInside, !read_valid_i || (read_granule_i >> GranuleWidth) == '0)
  `MAE_ASSERT(KernelAligned, !kernel_valid_i || kernel_request_i.address[3:0] == '0)
  `MAE_STREAM_HOLDS(WriteHolds, write_valid_i, write_ready_o || clear_i, {
                    write_granule_i, write_strb_i, write_data_i})

endmodule
