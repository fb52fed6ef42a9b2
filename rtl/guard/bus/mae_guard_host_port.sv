// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_host_port: joins the guard's chunk reads, chunk writes and response writes on one AXI4
// manager to host memory. It counts every burst and beat.
//
// beat_fault_o pulses for a beat or response that was not requested, or comes too early or too
// late; such a beat is not passed on (docs/protocol.md, H9: every beat of a transfer is counted).
// Response writes have priority, between bursts; their IDs have the top bit set. A response write
// has 1 to 9 beats from a multiple of 64 bytes (split at 4 KiB here); its data follow its address.
// ans_done_valid_o comes in order, when all its write responses have arrived; at most four are
// outstanding. Announce a write only when its data are available: until they have come, no other
// data leave.
//
// halt_i must hold until quiet_o or longer: no AR or AW starts (one already visible stays until
// accepted), owed W beats are sent as zeros without strobes, read beats and write responses are
// dropped, response writes are dropped. DMA engines and response units may be reset meanwhile,
// quiet or not. quiet_o: nothing is outstanding on the bus. A burst that the host never ends never
// becomes quiet: AXI4 has no way to abandon it, and if it counted as ended, its late beats could be
// taken for those of a later burst (docs/protocol.md, H14: nothing of a session reaches the next
// one). Only the start of the next session waits for it.
//
// Data are 512 bits wide, IDs 8 bits; all bursts are INCR of whole beats. ans_aw_ready_o is
// combinational in ans_aw_valid_i; all other ready outputs are registered.
// Latency: 1 clock for addresses and write data, 0 for read beats and write responses.
// Throughput: one beat a clock in each direction.
// Security: holds no secrets.
// Source: docs/protocol.md, sections 4 and 5.

`include "mae_assert.svh"

module mae_guard_host_port (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic halt_i,
    output logic quiet_o,
    output logic beat_fault_o, // pulse

    // DMA engines; their other R and B signals are those of the bus
    input  logic         mov_ar_valid_i,
    output logic         mov_ar_ready_o,
    input  logic [  7:0] mov_ar_id_i,
    input  logic [ 63:0] mov_ar_addr_i,
    input  logic [  7:0] mov_ar_len_i,
    output logic         mov_r_valid_o,
    input  logic         mov_aw_valid_i,
    output logic         mov_aw_ready_o,
    input  logic [  7:0] mov_aw_id_i,
    input  logic [ 63:0] mov_aw_addr_i,
    input  logic [  7:0] mov_aw_len_i,
    input  logic         mov_w_valid_i,
    output logic         mov_w_ready_o,
    input  logic [511:0] mov_w_data_i,
    input  logic [ 63:0] mov_w_strb_i,
    input  logic         mov_w_last_i,
    output logic         mov_b_valid_o,

    // response writes
    input  logic         ans_aw_valid_i,
    output logic         ans_aw_ready_o,
    input  logic [ 63:0] ans_aw_address_i,
    input  logic [  3:0] ans_aw_beats_i,    // 1..9
    input  logic         ans_w_valid_i,
    output logic         ans_w_ready_o,
    input  logic [511:0] ans_w_data_i,
    input  logic [ 63:0] ans_w_strb_i,
    output logic         ans_done_valid_o,  // pulse
    output logic         ans_done_error_o,

    // AXI4 manager
    output logic         ar_valid_o,
    input  logic         ar_ready_i,
    output logic [  7:0] ar_id_o,
    output logic [ 63:0] ar_addr_o,
    output logic [  7:0] ar_len_o,
    input  logic         r_valid_i,
    output logic         r_ready_o,   // constant 1
    input  logic [  7:0] r_id_i,
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
    output logic         b_ready_o,   // constant 1
    input  logic [  7:0] b_id_i,
    input  logic [  1:0] b_resp_i
);
  logic reads_idle, writes_idle, read_fault, write_fault;
  logic burst_valid, burst_ready, ans_b_valid, unused;
  logic [7:0] burst_id, burst_len;
  logic [63:0] burst_addr;

  assign quiet_o      = reads_idle && writes_idle && !ar_valid_o;
  assign beat_fault_o = read_fault || write_fault;
  assign unused       = ^{b_resp_i[0], mov_w_last_i};  // bursts end as their addresses say

  mae_guard_host_reads u_reads (
      .clk_i,
      .rst_ni,
      .halt_i,
      .idle_o (reads_idle),
      .fault_o(read_fault),
      .mov_ar_valid_i,
      .mov_ar_ready_o,
      .mov_ar_id_i,
      .mov_ar_addr_i,
      .mov_ar_len_i,
      .mov_r_valid_o,
      .ar_valid_o,
      .ar_ready_i,
      .ar_id_o,
      .ar_addr_o,
      .ar_len_o,
      .r_valid_i,
      .r_ready_o,
      .r_id_i,
      .r_last_i
  );

  mae_guard_response_bursts u_answers (
      .clk_i,
      .rst_ni,
      .flush_i      (halt_i),
      .aw_valid_i   (ans_aw_valid_i),
      .aw_ready_o   (ans_aw_ready_o),
      .aw_address_i (ans_aw_address_i),
      .aw_beats_i   (ans_aw_beats_i),
      .done_valid_o (ans_done_valid_o),
      .done_error_o (ans_done_error_o),
      .burst_valid_o(burst_valid),
      .burst_ready_i(burst_ready),
      .burst_id_o   (burst_id),
      .burst_addr_o (burst_addr),
      .burst_len_o  (burst_len),
      .b_valid_i    (ans_b_valid),
      .b_id_i       (b_id_i[2:0]),
      .b_error_i    (b_resp_i[1])
  );

  mae_guard_host_writes u_writes (
      .clk_i,
      .rst_ni,
      .halt_i,
      .idle_o        (writes_idle),
      .fault_o       (write_fault),
      .mov_aw_valid_i,
      .mov_aw_ready_o,
      .mov_aw_id_i,
      .mov_aw_addr_i,
      .mov_aw_len_i,
      .mov_w_valid_i,
      .mov_w_ready_o,
      .mov_w_data_i,
      .mov_w_strb_i,
      .mov_b_valid_o,
      .ans_aw_valid_i(burst_valid),
      .ans_aw_ready_o(burst_ready),
      .ans_aw_id_i   (burst_id),
      .ans_aw_addr_i (burst_addr),
      .ans_aw_len_i  (burst_len),
      .ans_w_valid_i,
      .ans_w_ready_o,
      .ans_w_data_i,
      .ans_w_strb_i,
      .ans_b_valid_o (ans_b_valid),
      .aw_valid_o,
      .aw_ready_i,
      .aw_id_o,
      .aw_addr_o,
      .aw_len_o,
      .w_valid_o,
      .w_ready_i,
      .w_data_o,
      .w_strb_o,
      .w_last_o,
      .b_valid_i,
      .b_ready_o,
      .b_id_i
  );

  `MAE_ASSERT(MoversIds, !(mov_ar_valid_i && mov_ar_id_i[7]) && !(mov_aw_valid_i && mov_aw_id_i[7]))

endmodule
