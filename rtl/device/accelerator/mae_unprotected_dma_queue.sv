// SPDX-License-Identifier: Apache-2.0
//
// mae_unprotected_dma_queue: queues the unprotected card's DMA transfers of one direction, and
// counts the completed ones. The host describes them in registers.
//
// It is a part of mae_unprotected_card; registers: regs/mae_unprotected_card.rdl, `in` and
// `out`. A write of the length pushes the transfer that the other registers describe. A transfer
// that is illegal or finds the queue full is refused, which sets a status bit. Two units report the
// end of each transfer, first_done_i and second_done_i, once a transfer and in order: a transfer is
// complete when both have reported.
// Latency: a transfer is at job_valid_o 1 clock after its length was written, if none waits.
// Register reads are combinational.
// Throughput: one transfer a clock.
// Parameters: Legal: Depth 2..128; MemoryBits 7..32.
// Security: holds no secrets.

`include "mae_assert.svh"

module mae_unprotected_dma_queue #(
    parameter int unsigned MemoryBits = 20,
    parameter int unsigned Depth = 8
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic        write_i,   // a whole word
    input  logic [ 4:0] offset_i,
    input  logic [31:0] data_i,
    input  logic [ 4:0] shown_i,   // offset of the register that is read
    output logic [31:0] data_o,

    output logic        job_valid_o,
    input  logic        job_ready_i,
    output logic [63:0] job_host_o,
    output logic [34:0] job_granule_o,
    output logic [31:0] job_bytes_o,

    input  logic first_done_i,
    input  logic second_done_i,
    input  logic error_i,        // valid with an end: a bus error
    output logic complete_o      // pulse
);
  `MAE_PARAM(MemoryBitsLegal, MemoryBits >= 7 && MemoryBits <= 32)
  // Counters have 8 bits; besides those of the queue, the movers have a few transfers.
  `MAE_PARAM(DepthLegal, Depth >= 2 && Depth <= 128)

  localparam logic [4:0] HostLo = mae_unprotected_card_regs_pkg::ChannelHostLo[4:0];
  localparam logic [4:0] HostHi = mae_unprotected_card_regs_pkg::ChannelHostHi[4:0];
  localparam logic [4:0] Device = mae_unprotected_card_regs_pkg::ChannelDevice[4:0];
  localparam logic [4:0] Length = mae_unprotected_card_regs_pkg::ChannelLength[4:0];
  localparam logic [4:0] Completed = mae_unprotected_card_regs_pkg::ChannelCompleted[4:0];
  localparam logic [4:0] Status = mae_unprotected_card_regs_pkg::ChannelStatus[4:0];
  localparam int unsigned MaxBytes = 1 << 20;

  logic [63:0] host_q;
  logic [31:0] device_q, completed_q;
  logic [7:0]
      pending_q, first_q, second_q;  // pushed and not complete; ends that wait for the other one
  logic refused_q, error_q;
  logic push, legal, room, accepted;
  logic [32:0] after;
  logic [$clog2(Depth+1)-1:0] unused_count;

  assign push = write_i && offset_i == Length;
  assign after = {1'b0, device_q} + {1'b0, data_i};
  assign legal = data_i != '0 && data_i <= 32'(MaxBytes) && device_q[5:0] == '0 &&
      host_q[5:0] == '0 && after <= 33'd1 << MemoryBits;
  assign accepted = push && legal && room;
  assign complete_o = (first_q != '0) && (second_q != '0);

  mae_fifo #(
      .Width(64 + 26 + 21),
      .Depth(Depth),
      .Zero (1'b0)
  ) u_transfers (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (push && legal),
      .in_ready_o (room),
      .in_data_i  ({host_q, device_q[31:6], data_i[20:0]}),
      .out_valid_o(job_valid_o),
      .out_ready_i(job_ready_i),
      .out_data_o ({job_host_o, job_granule_o[25:0], job_bytes_o[20:0]}),
      .count_o    (unused_count)
  );

  assign job_granule_o[34:26] = '0;
  assign job_bytes_o[31:21]   = '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {host_q, device_q, completed_q} <= '0;
      {pending_q, first_q, second_q, refused_q, error_q} <= '0;
    end else begin
      if (write_i) begin
        unique case (offset_i)
          HostLo:  host_q[31:0] <= data_i;
          HostHi:  host_q[63:32] <= data_i;
          Device:  device_q <= data_i;
          Status: begin
            if (data_i[8]) refused_q <= 1'b0;
            if (data_i[9]) error_q <= 1'b0;
          end
          default: ;
        endcase
      end
      if (push && !accepted) refused_q <= 1'b1;
      if (error_i) error_q <= 1'b1;
      first_q <= first_q + 8'(first_done_i) - 8'(complete_o);
      second_q <= second_q + 8'(second_done_i) - 8'(complete_o);
      pending_q <= pending_q + 8'(accepted) - 8'(complete_o);
      completed_q <= completed_q + 32'(complete_o);
    end
  end

  always_comb begin
    unique case (shown_i)
      HostLo:    data_o = host_q[31:0];
      HostHi:    data_o = host_q[63:32];
      Device:    data_o = device_q;
      Completed: data_o = completed_q;
      Status:    data_o = {22'b0, error_q, refused_q, pending_q};
      default:   data_o = '0;
    endcase
  end

  `MAE_ASSERT(EndsOfTransfers, first_q <= pending_q && second_q <= pending_q)

endmodule
