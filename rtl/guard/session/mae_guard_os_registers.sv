// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_os_registers: implements the unprotected registers that the OS may access, on
// AXI4-Lite.
//
// Register map: regs/mae_guard.rdl (regs/mae_guard.rdl), one 4 KiB page for the device and
// one for each queue. Accesses beyond these pages get SLVERR and have no effect (docs/protocol.md,
// M1: no access to a protected register without a tag). Nothing written here is trusted; words for
// a mailbox go to mae_guard_mailbox, which decides about them. Only whole aligned words are
// accepted: a write with partial strobes, or to a read-only register, gets OKAY and has no effect.
// Unused addresses read as zero.
// Latency: a write is output (write_*_o, reset_o, host_nonce_*_o: pulses) in the clock after
// address and data were accepted.
// Throughput: one write and one read a clock.
// Reset and clear: clear_i sets the queues' response base addresses to zero.
// Parameters: Legal: Queues 1..15; AddrWidth 13..32, enough for more than the pages.
// Security: holds no secrets.
// Source: docs/protocol.md, section 4.

`include "mae_assert.svh"

module mae_guard_os_registers
  import mae_axi_pkg::*;
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4,
    parameter int unsigned AddrWidth = 20,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  axil_req_t axil_i,
    output axil_rsp_t axil_o,

    // the session
    output logic           reset_o,             // the OS resets the device
    output logic   [  7:0] host_nonce_write_o,
    output logic   [ 31:0] host_nonce_word_o,
    input  state_e         state_i,
    input  fatal_t         cause_i,
    input  logic   [255:0] device_nonce_i,
    input  logic   [ 63:0] capabilities_i,

    // the mailboxes
    output logic                  write_valid_o,   // a word of a queue's page
    output logic [QueueWidth-1:0] write_queue_o,
    output logic [          11:0] write_offset_o,
    output logic [          31:0] write_data_o,

    // the queues
    input  logic [Queues-1:0]       ready_i,
    input  logic [Queues-1:0][ 7:0] outstanding_i,
    input  logic [Queues-1:0][63:0] next_i,
    output logic [Queues-1:0][63:0] response_base_o
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 15)
  `MAE_PARAM(AddrWidthLegal, AddrWidth <= 32 && 1 << (AddrWidth - 12) > Queues)

  localparam int unsigned PageWidth = AddrWidth - 12;
  localparam logic [31:0] ResetLetters = 32'h5245_5354;  // REST

  logic write_valid, read_valid, write_error, read_error, whole;
  logic [AddrWidth-1:0] write_addr, read_addr;
  logic [31:0] read_data;
  logic [ 3:0] write_strb;
  logic [PageWidth-1:0] write_page, read_page;

  mae_axil_to_reg #(
      .AddrWidth(AddrWidth)
  ) u_port (
      .write_valid_o(write_valid),
      .write_done_i (1'b1),
      .write_addr_o (write_addr),
      .write_data_o,
      .write_strb_o (write_strb),
      .write_error_i(write_error),
      .read_valid_o (read_valid),
      .read_done_i  (1'b1),
      .read_addr_o  (read_addr),
      .read_data_i  (read_data),
      .read_error_i (read_error),
      .*
  );

  assign write_page = write_addr[AddrWidth-1:12];
  assign read_page = read_addr[AddrWidth-1:12];
  assign write_error = 32'(write_page) > Queues;
  assign read_error = 32'(read_page) > Queues;
  assign whole = write_valid && write_strb == '1 && write_addr[1:0] == '0 && !write_error;

  // Writes.
  assign write_valid_o = whole && write_page != '0;
  assign write_queue_o = QueueWidth'(write_page - 1'b1);
  assign write_offset_o = write_addr[11:0];
  assign host_nonce_word_o = write_data_o;

  always_comb begin
    reset_o = 1'b0;
    host_nonce_write_o = '0;
    if (whole && write_page == '0) begin
      reset_o = write_addr[11:0] == mae_guard_regs_pkg::ResetWord && write_data_o == ResetLetters;
      if (write_addr[11:5] == mae_guard_regs_pkg::HostNonce[11:5])
        host_nonce_write_o[write_addr[4:2]] = 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) response_base_o <= '0;
    else if (clear_i) response_base_o <= '0;
    else if (write_valid_o && write_offset_o[11:3] == mae_guard_regs_pkg::QueueResponseBaseLo[11:3]
    ) begin
      // A slot begins at a multiple of 64 bytes, whatever is written.
      if (write_offset_o[2]) response_base_o[write_queue_o][63:32] <= write_data_o;
      else response_base_o[write_queue_o][31:0] <= {write_data_o[31:6], 6'b0};
    end
  end

  // Reads.
  logic [QueueWidth-1:0] queue;
  logic [63:0] word;  // of 8 bytes
  logic [255:0] nonce;

  assign queue = QueueWidth'(read_page - 1'b1);

  // Bytes in the order of the bus, byte 0 in bits 7:0.
  always_comb begin
    for (int unsigned i = 0; i < 32; i++) nonce[8*i+:8] = device_nonce_i[8*(31-i)+:8];
  end

  always_comb begin
    word = '0;
    if (read_page == '0) begin
      unique case (read_addr[11:3])
        mae_guard_regs_pkg::State[11:3]: begin
          word[31:0]  = 32'(state_i);
          word[63:32] = {16'b0, cause_i.queue_index, cause_i.cause};
        end
        mae_guard_regs_pkg::CauseSequenceLo[11:3]: word = cause_i.sequence_number;
        mae_guard_regs_pkg::CapabilitiesLo[11:3]: word = capabilities_i;
        default:
        if (read_addr[11:5] == mae_guard_regs_pkg::DeviceNonce[11:5])
          word = nonce[{read_addr[4:3], 6'b0}+:64];
      endcase
    end else if (!read_error) begin
      unique case (read_addr[11:3])
        mae_guard_regs_pkg::QueueStatus[11:3]:
        word = {16'b0, outstanding_i[queue], 7'b0, ready_i[queue], 32'b0};
        mae_guard_regs_pkg::QueueResponseBaseLo[11:3]: word = response_base_o[queue];
        mae_guard_regs_pkg::QueueNextLo[11:3]: word = next_i[queue];
        default: ;
      endcase
    end
    read_data = read_addr[2] ? word[63:32] : word[31:0];
  end

  logic unused;
  assign unused = ^{read_valid, read_addr[1:0]};

endmodule
