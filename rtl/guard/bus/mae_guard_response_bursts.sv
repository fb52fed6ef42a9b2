// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_response_bursts: splits the guard's response writes into AXI4 bursts. It combines their
// write responses into one result for each write.
//
// A write has up to 9 beats from any multiple of 64 bytes; one that crosses a 4 KiB boundary
// becomes two bursts. At most four writes are outstanding; done_valid_o comes in their order, with
// an error if one of their bursts had one. IDs are 0x80 + 2 * entry + burst. flush_i drops
// everything: hold it until no burst is outstanding, and pass on no write response meanwhile.
// aw_ready_o is combinational in burst_ready_i.
// Latency: 0 clocks from address to burst, 1 from the last write response to done_valid_o.
// Throughput: one burst a clock.
// Security: holds no secrets.
// Source: docs/protocol.md, section 4 (slot).

`include "mae_assert.svh"

module mae_guard_response_bursts (
    input logic clk_i,
    input logic rst_ni,
    input logic flush_i,

    input  logic        aw_valid_i,
    output logic        aw_ready_o,
    input  logic [63:0] aw_address_i,
    input  logic [ 3:0] aw_beats_i,    // 1..9
    output logic        done_valid_o,  // pulse
    output logic        done_error_o,

    output logic        burst_valid_o,
    input  logic        burst_ready_i,
    output logic [ 7:0] burst_id_o,
    output logic [63:0] burst_addr_o,
    output logic [ 7:0] burst_len_o,
    input  logic        b_valid_i,
    input  logic [ 2:0] b_id_i,
    input  logic        b_error_i
);
  logic [3:0] open_q;
  logic [3:0][1:0] bursts_q;  // one bit for each burst without a response
  logic [3:0] failed_q;
  logic [1:0] new_q, old_q;  // entry of the next write, and of the oldest
  logic second_q;  // second burst of a split write
  logic cut, take;
  logic [6:0] to_boundary;
  logic [3:0] first_beats, beats;

  assign to_boundary   = 7'd64 - {1'b0, aw_address_i[11:6]};
  assign cut           = 7'(aw_beats_i) > to_boundary;
  assign first_beats   = cut ? to_boundary[3:0] : aw_beats_i;
  assign beats         = second_q ? aw_beats_i - first_beats : first_beats;
  assign burst_valid_o = aw_valid_i && (second_q || !open_q[new_q]);
  assign burst_id_o    = {5'b1_0000, new_q, second_q};
  assign burst_addr_o  = second_q ? {aw_address_i[63:12] + 1'b1, 12'd0} : aw_address_i;
  assign burst_len_o   = 8'(beats) - 8'd1;
  assign take          = burst_valid_o && burst_ready_i;
  assign aw_ready_o    = take && (second_q || !cut);

  assign done_valid_o  = open_q[old_q] && bursts_q[old_q] == '0;
  assign done_error_o  = failed_q[old_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {open_q, bursts_q, failed_q} <= '0;
      {new_q, old_q, second_q}     <= '0;
    end else if (flush_i) begin
      {open_q, bursts_q, failed_q} <= '0;
      {new_q, old_q, second_q}     <= '0;
    end else begin
      if (b_valid_i) begin
        bursts_q[b_id_i[2:1]][b_id_i[0]] <= 1'b0;
        if (b_error_i) failed_q[b_id_i[2:1]] <= 1'b1;
      end
      if (done_valid_o) begin
        open_q[old_q] <= 1'b0;
        old_q         <= old_q + 1'b1;
      end
      if (take) begin
        second_q <= !second_q && cut;
        if (!second_q) begin
          open_q[new_q]   <= 1'b1;
          bursts_q[new_q] <= {cut, 1'b1};
          failed_q[new_q] <= 1'b0;
        end
        if (second_q || !cut) new_q <= new_q + 1'b1;
      end
    end
  end

  `MAE_ASSERT(WriteLegal,
              !aw_valid_i || aw_address_i[5:0] == '0 && aw_beats_i != '0 && aw_beats_i <= 4'd9)
  `MAE_ASSERT(AnswerExpected, !b_valid_i || bursts_q[b_id_i[2:1]][b_id_i[0]])
  `MAE_STREAM_HOLDS(AwHolds, aw_valid_i, aw_ready_o || flush_i, {aw_address_i, aw_beats_i})

endmodule
