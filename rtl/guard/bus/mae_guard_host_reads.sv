// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_host_reads: checks the guard's AXI4 read channels to host memory and passes on only
// requested beats. It counts bursts and beats.
//
// Every outstanding burst is stored by its ID, with its beats. A beat that belongs to no
// burst, or whose RLAST comes too early or is missing, is a fault and is not passed on
// (docs/protocol.md, H9: every beat is counted). A burst ends on the bus with RLAST: surplus beats
// are dropped up to there. halt_i: no burst starts and arriving beats are dropped; idle_o: no burst
// is outstanding. R is always ready.
// Latency: 1 clock from AR to AR, 0 for beats; fault_o comes 1 clock after the beat.
// Throughput: one beat and one burst a clock.
// Reset: forgets all bursts.
// Security: holds no secrets.
// Source: docs/protocol.md, section 5, FILL and SCRUB.

`include "mae_assert.svh"

module mae_guard_host_reads (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic halt_i,
    output logic idle_o,
    output logic fault_o, // pulse

    // DMA engine; its read data are those of the bus
    input  logic        mov_ar_valid_i,
    output logic        mov_ar_ready_o,
    input  logic [ 7:0] mov_ar_id_i,
    input  logic [63:0] mov_ar_addr_i,
    input  logic [ 7:0] mov_ar_len_i,
    output logic        mov_r_valid_o,

    output logic        ar_valid_o,
    input  logic        ar_ready_i,
    output logic [ 7:0] ar_id_o,
    output logic [63:0] ar_addr_o,
    output logic [ 7:0] ar_len_o,
    input  logic        r_valid_i,
    output logic        r_ready_o,
    input  logic [ 7:0] r_id_i,
    input  logic        r_last_i
);
  logic launch;
  logic [7:0] launch_id, launch_len;
  logic [63:0] unused_addr;

  mae_guard_halt_reg #(
      .Width(8 + 64 + 8)
  ) u_ar (
      .clk_i,
      .rst_ni,
      .halt_i,
      .room_i       (1'b1),
      .in_valid_i   (mov_ar_valid_i),
      .in_ready_o   (mov_ar_ready_o),
      .in_data_i    ({mov_ar_id_i, mov_ar_addr_i, mov_ar_len_i}),
      .launch_o     (launch),
      .launch_data_o({launch_id, unused_addr, launch_len}),
      .out_valid_o  (ar_valid_o),
      .out_ready_i  (ar_ready_i),
      .out_data_o   ({ar_id_o, ar_addr_o, ar_len_o})
  );

  logic [127:0] open_q;  // outstanding bursts
  logic [127:0] begun_q;  // bursts of which a beat has come
  logic [127:0] over_q;  // bursts whose requested beats have all come, but not RLAST
  logic [  7:0] under_way_q;
  logic [  6:0] id;
  logic [7:0] len, beats, beat;  // beats of the burst, less 1; number of this beat
  logic known, good, ends, takes;

  assign id            = r_id_i[6:0];
  assign known         = open_q[id] && !r_id_i[7];
  assign beat          = begun_q[id] ? beats : '0;
  assign good          = known && !over_q[id] && r_last_i == (beat == len);
  assign takes         = r_valid_i && known;
  assign ends          = takes && r_last_i;
  assign r_ready_o     = 1'b1;
  assign mov_r_valid_o = r_valid_i && good && !halt_i;
  assign idle_o        = under_way_q == '0;

  // In memories with one write port, for LUT RAM.
  mae_ram #(
      .Width(8),
      .Depth(128)
  ) u_lengths (
      .clk_i,
      .write_i     (launch),
      .write_addr_i(launch_id[6:0]),
      .write_data_i(launch_len),
      .read_i      (1'b0),
      .clear_i     (1'b0),
      .read_addr_i (id),
      .read_data_o (len)
  );
  mae_ram #(
      .Width(8),
      .Depth(128)
  ) u_beats (
      .clk_i,
      .write_i     (takes),
      .write_addr_i(id),
      .write_data_i(beat + 1'b1),
      .read_i      (1'b0),
      .clear_i     (1'b0),
      .read_addr_i (id),
      .read_data_o (beats)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q      <= '0;
      begun_q     <= '0;
      over_q      <= '0;
      under_way_q <= '0;
      fault_o     <= 1'b0;
    end else begin
      fault_o     <= r_valid_i && !good;
      under_way_q <= under_way_q + 8'(launch) - 8'(ends);
      if (takes) begin
        begun_q[id] <= !r_last_i;
        over_q[id]  <= !r_last_i && (over_q[id] || beat == len);
        if (r_last_i) open_q[id] <= 1'b0;
      end
      if (launch) open_q[launch_id[6:0]] <= 1'b1;
    end
  end

  `MAE_ASSERT(IdIsFree, !launch || !open_q[launch_id[6:0]] && !launch_id[7])

endmodule
