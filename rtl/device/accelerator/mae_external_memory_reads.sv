// SPDX-License-Identifier: Apache-2.0
//
// mae_external_memory_reads: turns the reads of kernel and DMA into AXI4 bursts, and returns their
// data.
//
// It is a part of mae_external_memory. ID 0 belongs to the kernel, ID 1 to the DMA; AXI keeps
// answers of an ID in order, those of the two may overtake each other. A read waits while hit_i
// says that a write to its block has no response yet (0 kernel, 1 DMA). A read of the kernel with
// kernel_refused_i is not sent, and is answered with zero and kernel_fault_o in its turn, as is one
// with an error response. asked_o and answered_o count the kernel's reads. While drop_i is high
// answers to the kernel are zero and the DMA gets none. Ready is combinational in the requests.
// Latency: from a request to AR 3 clocks, 2 + Wait if nothing follows it; from R to the answer 1.
// Throughput: one granule a clock, of both together.
// Reset: drops everything.
// Parameters: Reads is the number of the kernel's reads under way; GranuleWidth and Beats as
// mae_axi_burst_merge. Legal: Reads 2..1024.
// Security: timing does not depend on data.
// Source: ARM IHI 0022, A5.3 (order of an ID's answers).

`include "mae_assert.svh"

module mae_external_memory_reads
  import mae_kernel_pkg::*;
#(
    parameter  int unsigned GranuleWidth = 21,
    parameter  int unsigned Beats        = 8,
    parameter  int unsigned Reads        = 128,
    localparam int unsigned LowBits      = $clog2(Beats),
    localparam int unsigned BlockWidth   = GranuleWidth - LowBits
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic open_i,
    input  logic drop_i,
    output logic quiet_o,

    input  logic                    kernel_valid_i,
    output logic                    kernel_ready_o,
    input  logic [GranuleWidth-1:0] kernel_granule_i,
    input  logic [             1:0] kernel_part_i,
    input  logic                    kernel_refused_i,
    output logic                    kernel_rvalid_o,
    output row_t                    kernel_rdata_o,
    output logic [           511:0] kernel_row_o,
    output logic                    kernel_fault_o,

    input  logic                    dma_valid_i,
    output logic                    dma_ready_o,
    input  logic [GranuleWidth-1:0] dma_granule_i,
    output logic                    dma_rvalid_o,
    output logic [           511:0] dma_rdata_o,
    output logic                    dma_error_o,    // an error response, a pulse

    output logic [ 1:0][BlockWidth-1:0] block_o,
    input  logic [ 1:0]                 hit_i,
    output logic [19:0]                 asked_o,
    output logic [19:0]                 answered_o,

    output logic                    ar_valid_o,
    input  logic                    ar_ready_i,
    output logic                    ar_id_o,
    output logic [GranuleWidth-1:0] ar_granule_o,
    output logic [     LowBits-1:0] ar_len_o,
    input  logic                    r_valid_i,
    output logic                    r_ready_o,
    input  logic                    r_id_i,
    input  logic [           511:0] r_data_i,
    input  logic                    r_error_i      // SLVERR or DECERR
);
  `MAE_PARAM(ReadsLegal, Reads >= 2 && Reads <= 1024)

  typedef struct packed {
    logic       refused;
    logic [1:0] part;
  } order_t;

  order_t first;
  logic order_room, order_valid, kernel_take, dma_take, answer, beat, error;
  logic merge_valid, merge_ready, unused_index;
  logic [1:0] asks, grant;
  logic unused_hit, unused_empty;
  logic [GranuleWidth-1:0] merge_granule;
  logic [19:0] asked_q, answered_q;
  logic [15:0] dma_q;  // the DMA's reads under way
  logic [$clog2(Reads+1)-1:0] unused_count;

  assign block_o = {
    dma_granule_i[GranuleWidth-1:LowBits], kernel_granule_i[GranuleWidth-1:LowBits]
  };
  assign asks[0] = kernel_valid_i && !kernel_refused_i && !hit_i[0] && order_room && open_i;
  assign asks[1] = dma_valid_i && !hit_i[1] && dma_q != '1 && open_i;
  assign kernel_ready_o = open_i && (kernel_refused_i ? order_room : grant[0] && merge_ready);
  assign dma_ready_o = grant[1] && merge_ready;
  assign kernel_take = kernel_valid_i && kernel_ready_o;
  assign dma_take = dma_valid_i && dma_ready_o;
  assign merge_granule = grant[1] ? dma_granule_i : kernel_granule_i;

  mae_rr_arb #(
      .N(2)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (asks),
      .advance_i(merge_ready),
      .grant_o  (grant),
      .index_o  (unused_index),
      .valid_o  (merge_valid)
  );

  mae_axi_burst_merge #(
      .GranuleWidth(GranuleWidth),
      .Beats       (Beats)
  ) u_merge (
      .clk_i,
      .rst_ni,
      .in_valid_i   (merge_valid),
      .in_ready_o   (merge_ready),
      .in_granule_i (merge_granule),
      .in_source_i  (grant[1]),
      .out_valid_o  (ar_valid_o),
      .out_ready_i  (ar_ready_i),
      .out_granule_o(ar_granule_o),
      .out_last_o   (ar_len_o),
      .out_source_o (ar_id_o),
      .block_i      ('0),
      .hit_o        (unused_hit),
      .empty_o      (unused_empty)
  );

  // The kernel's reads in their order, with the 16 bytes that each is for.
  mae_fifo #(
      .Width($bits(order_t)),
      .Depth(Reads),
      .Zero (1'b0)
  ) u_order (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (kernel_take),
      .in_ready_o (order_room),
      .in_data_i  ({kernel_refused_i, kernel_part_i}),
      .out_valid_o(order_valid),
      .out_ready_i(answer),
      .out_data_o (first),
      .count_o    (unused_count)
  );

  assign r_ready_o = !(order_valid && first.refused);
  assign beat = r_valid_i && r_ready_o;
  assign error = r_error_i;
  assign answer = order_valid && (first.refused || (r_valid_i && !r_id_i));
  assign quiet_o = !order_valid && dma_q == '0;
  assign asked_o = asked_q;
  assign answered_o = answered_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {asked_q, answered_q, dma_q} <= '0;
      {kernel_rvalid_o, kernel_fault_o, dma_rvalid_o, dma_error_o} <= '0;
      {kernel_rdata_o, kernel_row_o, dma_rdata_o} <= '0;
    end else begin
      asked_q <= asked_q + 20'(kernel_take);
      answered_q <= answered_q + 20'(answer);
      dma_q <= dma_q + 16'(dma_take) - 16'(beat && r_id_i);
      kernel_rvalid_o <= answer;
      kernel_fault_o <= answer && (first.refused || error) && !drop_i;
      dma_rvalid_o <= beat && r_id_i && !drop_i;
      dma_error_o <= beat && r_id_i && error && !drop_i;
      kernel_rdata_o <= '0;
      kernel_row_o <= '0;
      dma_rdata_o <= '0;
      if (!error && !drop_i) begin
        if (answer && !first.refused) begin
          kernel_rdata_o <= r_data_i[{first.part, 7'b0}+:128];
          kernel_row_o   <= r_data_i;
        end
        if (beat && r_id_i) dma_rdata_o <= r_data_i;
      end
    end
  end

  `MAE_ASSERT(AnswerExpected, !(beat && !r_id_i) || order_valid)
  `MAE_ASSERT(DmaExpected, !(beat && r_id_i) || dma_q != '0)

endmodule
