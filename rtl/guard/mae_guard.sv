// SPDX-License-Identifier: Apache-2.0
//
// mae_guard: protects a card's memory and kernel from an untrusted host by encrypted traffic. It
// decrypts and checks requests, moves encrypted data, and seals responses.
//
//   registers ─► executor: mailbox ─► GCM ─► request handler ─┬─► batches ─► kernel registers
//       ▲                             ▲                       └─► transfers ─┬─► DMA H2D ─► memory
//    session                          └── response sealer ◄──────────────────┴─► DMA D2H ◄─ memory
// Only messages with a valid tag take effect; only sealed responses, and chunks encrypted under
// class 4, leave. docs/protocol.md, section 4, lists everything else that the host can do.
// mae_guard_session ends a session: halt_o, then clear_o until busy_i and the guard's own memory
// erasures have ended. The card answers check_* in the same clock and reg_* in the next one.
// Latency: from a doorbell to the response's number in host memory, see results/figures.md.
// Throughput: one message at a time; chunks one row of 64 bytes a clock in each direction.
// Parameters: docs/protocol.md, section 1. Small = 1 is for the fewest LUTs of an FPGA, best with
// Sbox = SboxLut: messages by an iterative cipher, and each direction's engine holds one key at a
// time; RomSboxes = 1 takes the S-boxes of these from block RAM; Shared = 1 has one engine for both
// directions. Legal: Queues 1..15; Depth 1..63; ChunkBits 12..20; Operations 4..64; MemoryBits
// 12..32; Regions 1..16; ReadRows as Depth of mae_dma_device_read; Sbox any of sbox_impl_e; Small,
// Shared and RomSboxes 0 or 1, RomSboxes = 1 with Small = 1.
// Security: constant-time in keys and data; no masking.
// Source: docs/protocol.md; Ghosh et al., sections 3 and 4.

`include "mae_assert.svh"

module mae_guard
  import mae_aes_pkg::*;
  import mae_axi_pkg::*;
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4,
    parameter int unsigned Depth = 8,
    parameter int unsigned ChunkBits = 20,
    parameter int unsigned Operations = 64,
    parameter int unsigned MemoryBits = 21,
    parameter int unsigned Regions = 8,
    parameter int unsigned ReadRows = 8,  // of device memory, on their way
    parameter sbox_impl_e Sbox = SboxTable,
    parameter bit Small = 1'b0,
    parameter bit RomSboxes = 1'b0,
    parameter bit Shared = 1'b0,
    parameter longint unsigned Budget = BlocksPerKey,  // blocks that a key may encrypt
    localparam int unsigned AddrWidth = 20
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic         install_valid_i,       // provisioning port
    output logic         install_ready_o,
    input  logic [255:0] install_secret_i,
    input  logic [127:0] install_session_id_i,
    input  logic [191:0] nonce_i,               // of a random source
    output logic         nonce_take_o,          // pulse: the nonce was used

    input  axil_req_t axil_i,
    output axil_rsp_t axil_o,
    output logic      irq_o,   // pulse: a response was written

    // host memory
    output logic         ar_valid_o,
    input  logic         ar_ready_i,
    output logic [  7:0] ar_id_o,
    output logic [ 63:0] ar_addr_o,
    output logic [  7:0] ar_len_o,
    input  logic         r_valid_i,
    output logic         r_ready_o,
    input  logic [  7:0] r_id_i,
    input  logic [511:0] r_data_i,
    input  logic [  1:0] r_resp_i,
    input  logic         r_last_i,
    output logic         aw_valid_o,
    input  logic         aw_ready_i,
    output logic [  7:0] aw_id_o,
    output logic [ 63:0] aw_addr_o,
    output logic [  7:0] aw_len_o,
    output logic         w_valid_o,
    input  logic         w_ready_i,
    output logic [511:0] w_data_o,
    output logic [ 63:0] w_strb_o,
    output logic         w_last_o,
    input  logic         b_valid_i,
    output logic         b_ready_o,
    input  logic [  7:0] b_id_i,
    input  logic [  1:0] b_resp_i,

    // guarded kernel and memory
    output logic              clear_o,
    input  logic              busy_i,              // they are still being erased
    output logic              check_write_o,
    output logic [31:0]       check_offset_o,
    output logic [ 1:0]       check_log2_width_o,
    input  logic              check_legal_i,
    output logic              reg_valid_o,
    output logic              reg_write_o,
    output logic [31:0]       reg_offset_o,
    output logic [ 1:0]       reg_log2_width_o,
    output logic [63:0]       reg_wdata_o,
    input  logic [63:0]       reg_rdata_i,
    input  logic              reg_error_i,
    input  logic [63:0]       runs_i,
    input  logic              kernel_fault_i,
    input  logic              memory_error_i,      // pulse; ends the session
    input  logic [ 1:0]       judge_write_i,
    input  logic [ 1:0][63:0] judge_address_i,
    output logic [ 1:0]       judge_fault_o,

    output logic         write_valid_o,
    input  logic         write_ready_i,
    output logic [ 34:0] write_granule_o,
    output logic [ 63:0] write_strb_o,
    output logic [511:0] write_data_o,
    output logic         scrub_valid_o,
    input  logic         scrub_ready_i,
    output logic [ 34:0] scrub_granule_o,
    output logic         read_valid_o,
    input  logic         read_ready_i,
    output logic [ 34:0] read_granule_o,
    input  logic         read_rvalid_i,
    input  logic [511:0] read_rdata_i
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 15)
  `MAE_PARAM(DepthLegal, Depth >= 1 && Depth <= 63)
  `MAE_PARAM(ChunkLegal, ChunkBits >= 12 && ChunkBits <= 20)
  `MAE_PARAM(OperationsLegal, Operations >= 4 && Operations <= 64)
  `MAE_PARAM(MemoryLegal, MemoryBits >= 12 && MemoryBits <= 32)
  `MAE_PARAM(RegionsLegal, Regions >= 1 && Regions <= 16)

  localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1;
  localparam logic [63:0] Capabilities = {
    Version, 8'(Queues), 8'(Depth), 8'(ChunkBits), 8'(Operations), 8'(MemoryBits), 8'd6, 8'(Regions)
  };
  localparam int unsigned Fatals = 3;  // simultaneous failures; the executor counts as one

  state_e   state;
  session_t session;
  fatal_t   cause;
  logic halt, clear, mover_rst_n, open, opened, close, os_reset, install, keys_ready, quiet;
  logic [7:0] host_nonce_write;
  logic [31:0] host_nonce_word;
  logic [Fatals-1:0] fatal_valid;
  fatal_t [Fatals-1:0] fatals;
  logic executor_busy, transfers_busy, dma_clearing;

  assign clear_o = clear;

  mae_guard_session #(
      .Capabilities(Capabilities),
      .Fatals      (Fatals)
  ) u_session (
      .clk_i,
      .rst_ni,
      .install_valid_i,
      .install_ready_o,
      .install_secret_i,
      .install_session_id_i,
      .device_nonce_i(nonce_i),
      .nonce_take_o,
      .host_nonce_write_i(host_nonce_write),
      .host_nonce_word_i(host_nonce_word),
      .reset_i(os_reset),
      .open_i(opened),
      .close_i(close),
      .fatal_valid_i(fatal_valid),
      .fatal_i(fatals),
      .install_o(install),
      .keys_ready_i(keys_ready),
      .halt_o(halt),
      .quiet_i(quiet),
      .clear_o(clear),
      .mover_rst_no(mover_rst_n),
      .busy_i(busy_i || executor_busy || transfers_busy || dma_clearing),
      .state_o(state),
      .cause_o(cause),
      .session_o(session),
      .open_o(open)
  );

  assign fatal_valid[2] = memory_error_i;
  assign fatals[2] = '{cause: CauseAccess, default: '0};

  // ---- Registers of the host.
  logic write_valid, write_dropped;
  logic [QueueWidth-1:0] write_queue;
  logic [11:0] write_offset;
  logic [31:0] write_data;
  logic [Queues-1:0] ready;
  logic [Queues-1:0][7:0] outstanding;
  logic [Queues-1:0][63:0] next_number, response_base;

  mae_guard_os_registers #(
      .Queues   (Queues),
      .AddrWidth(AddrWidth)
  ) u_registers (
      .clear_i           (clear),
      .reset_o           (os_reset),
      .host_nonce_write_o(host_nonce_write),
      .host_nonce_word_o (host_nonce_word),
      .state_i           (state),
      .cause_i           (cause),
      .device_nonce_i    (session.device_nonce),
      .capabilities_i    (Capabilities),
      .write_valid_o     (write_valid),
      .write_queue_o     (write_queue),
      .write_offset_o    (write_offset),
      .write_data_o      (write_data),
      .ready_i           (open ? ready : '0),
      .outstanding_i     (outstanding),
      .next_i            (next_number),
      .response_base_o   (response_base),
      .*
  );

  // ---- Messages.
  logic key_valid, key_ready, key_bank;
  class_e key_class;
  class_key_t key;
  place_t arm_place;
  logic arm_valid, arm_out, arm_done, arm_commit, give_up_valid, give_up_done;
  transfer_t arm;
  status_e   arm_status;
  logic [QueueWidth-1:0] give_up_queue, unused_reg_queue;  // the latter is for bus monitors
  logic moved_answer_valid, moved_answer_ready, unused_answered_valid;
  answer_t   moved_answer;
  answered_t unused_answered;
  logic ans_aw_valid, ans_aw_ready, ans_w_valid, ans_w_ready, ans_done, ans_error;
  logic [ 63:0] ans_aw_address;
  logic [  3:0] ans_aw_beats;
  logic [511:0] ans_w_data;
  logic [ 63:0] ans_w_strb;

  mae_guard_request_executor #(
      .Queues    (Queues),
      .Depth     (Depth),
      .Operations(Operations),
      .Sbox      (Sbox),
      .Small     (Small),
      .Budget    (Budget)
  ) u_executor (
      .clk_i,
      .rst_ni,
      .clear_i         (clear),
      .halt_i          (halt),
      .busy_o          (executor_busy),
      .session_i       (session),
      .state_i         (state),
      .install_i       (install),
      .keys_ready_o    (keys_ready),
      .open_o          (opened),
      .close_o         (close),
      .fatal_valid_o   (fatal_valid[0]),
      .fatal_o         (fatals[0]),
      .write_valid_i   (write_valid),
      .write_queue_i   (write_queue),
      .write_offset_i  (write_offset),
      .write_data_i    (write_data),
      .write_dropped_o (write_dropped),
      .response_base_i (response_base),
      .ready_o         (ready),
      .outstanding_o   (outstanding),
      .next_o          (next_number),
      .check_write_o,
      .check_offset_o,
      .check_log2_width_o,
      .check_legal_i,
      .reg_valid_o,
      .reg_queue_o     (unused_reg_queue),
      .reg_write_o,
      .reg_offset_o,
      .reg_log2_width_o,
      .reg_wdata_o,
      .reg_rdata_i,
      .reg_error_i,
      .runs_i,
      .kernel_fault_i,
      .key_valid_o     (key_valid),
      .key_ready_i     (key_ready),
      .key_class_o     (key_class),
      .key_bank_o      (key_bank),
      .key_o           (key),
      .arm_valid_o     (arm_valid),
      .arm_place_o     (arm_place),
      .arm_out_o       (arm_out),
      .arm_o           (arm),
      .arm_done_i      (arm_done),
      .arm_status_i    (arm_status),
      .arm_commit_o    (arm_commit),
      .give_up_valid_o (give_up_valid),
      .give_up_queue_o (give_up_queue),
      .give_up_done_i  (give_up_done),
      .answer_valid_i  (moved_answer_valid),
      .answer_ready_o  (moved_answer_ready),
      .answer_i        (moved_answer),
      .answered_valid_o(unused_answered_valid),
      .answered_o      (unused_answered),
      .aw_valid_o      (ans_aw_valid),
      .aw_ready_i      (ans_aw_ready),
      .aw_address_o    (ans_aw_address),
      .aw_beats_o      (ans_aw_beats),
      .w_valid_o       (ans_w_valid),
      .w_ready_i       (ans_w_ready),
      .w_data_o        (ans_w_data),
      .w_strb_o        (ans_w_strb),
      .write_done_i    (ans_done),
      .write_error_i   (ans_error),
      .irq_o
  );

  // ---- Transfers.
  logic start_in_valid, start_in_ready, start_out_valid, start_out_ready;
  logic moved_in_valid, moved_out_valid, beat_fault;
  chunk_t start_in, start_out;
  moved_t moved_in, moved_out;

  mae_guard_transfer_engine #(
      .Queues     (Queues),
      .Depth      (Depth),
      .Regions    (Regions),
      .MemoryBits (MemoryBits),
      .ChunkBits  (ChunkBits),
      .KernelPorts(2)
  ) u_transfers (
      .clk_i,
      .rst_ni,
      .clear_i          (clear),
      .halt_i           (halt),
      .busy_o           (transfers_busy),
      .arm_valid_i      (arm_valid),
      .arm_place_i      (arm_place),
      .arm_out_i        (arm_out),
      .arm_i            (arm),
      .arm_done_o       (arm_done),
      .arm_status_o     (arm_status),
      .arm_commit_i     (arm_commit),
      .give_up_valid_i  (give_up_valid),
      .give_up_queue_i  (give_up_queue),
      .give_up_done_o   (give_up_done),
      .start_in_valid_o (start_in_valid),
      .start_in_ready_i (start_in_ready),
      .start_in_o       (start_in),
      .start_out_valid_o(start_out_valid),
      .start_out_ready_i(start_out_ready),
      .start_out_o      (start_out),
      .moved_in_valid_i (moved_in_valid),
      .moved_in_i       (moved_in),
      .moved_out_valid_i(moved_out_valid),
      .moved_out_i      (moved_out),
      .beat_fault_i     (beat_fault),
      .answer_valid_o   (moved_answer_valid),
      .answer_ready_i   (moved_answer_ready),
      .answer_o         (moved_answer),
      .fatal_valid_o    (fatal_valid[1]),
      .fatal_o          (fatals[1]),
      .runs_i,
      .kernel_fault_i,
      .judge_write_i,
      .judge_address_i,
      .judge_fault_o,
      .mem_valid_o      (scrub_valid_o),
      .mem_ready_i      (scrub_ready_i),
      .mem_granule_o    (scrub_granule_o)
  );

  // ---- Chunks, and the host bus.
  mae_guard_dma #(
      .Sbox     (Sbox),
      .Small    (Small),
      .RomSboxes(RomSboxes),
      .Shared   (Shared),
      .ReadRows (ReadRows)
  ) u_dma (
      .clk_i,
      .rst_ni,
      .mover_rst_ni    (mover_rst_n),
      .halt_i          (halt),
      .clear_i         (clear),
      .clearing_o      (dma_clearing),
      .quiet_o         (quiet),
      .beat_fault_o    (beat_fault),
      .key_valid_i     (key_valid && key_class inside {ClassDmaIn, ClassDmaOut}),
      .key_out_i       (key_class == ClassDmaOut),
      .key_ready_o     (key_ready),
      .key_bank_i      (key_bank),
      .key_i           (key),
      .in_valid_i      (start_in_valid),
      .in_ready_o      (start_in_ready),
      .in_i            (start_in),
      .in_moved_o      (moved_in_valid),
      .in_end_o        (moved_in),
      .out_valid_i     (start_out_valid),
      .out_ready_o     (start_out_ready),
      .out_i           (start_out),
      .out_moved_o     (moved_out_valid),
      .out_end_o       (moved_out),
      .ans_aw_valid_i  (ans_aw_valid),
      .ans_aw_ready_o  (ans_aw_ready),
      .ans_aw_address_i(ans_aw_address),
      .ans_aw_beats_i  (ans_aw_beats),
      .ans_w_valid_i   (ans_w_valid),
      .ans_w_ready_o   (ans_w_ready),
      .ans_w_data_i    (ans_w_data),
      .ans_w_strb_i    (ans_w_strb),
      .ans_done_valid_o(ans_done),
      .ans_done_error_o(ans_error),
      .wr_valid_o      (write_valid_o),
      .wr_ready_i      (write_ready_i),
      .wr_granule_o    (write_granule_o),
      .wr_strb_o       (write_strb_o),
      .wr_data_o       (write_data_o),
      .rd_valid_o      (read_valid_o),
      .rd_ready_i      (read_ready_i),
      .rd_granule_o    (read_granule_o),
      .rd_rvalid_i     (read_rvalid_i),
      .rd_rdata_i      (read_rdata_i),
      .*
  );

  logic unused;
  assign unused = ^{write_dropped, unused_answered_valid, unused_answered};

endmodule
