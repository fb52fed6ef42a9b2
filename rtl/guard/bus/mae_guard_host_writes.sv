// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_host_writes: merges the guard's AXI4 write bursts of DMA engine and responses to host
// memory. It counts them, and completes owed beats after a halt.
//
// Bursts leave in the order of their addresses, response writes first; data follow in that order,
// whole bursts. A write response that belongs to no burst, or comes before the burst's last beat
// was accepted, is a fault and is not passed on (docs/protocol.md, H9: every beat is counted).
// halt_i: no burst starts, owed beats are sent as zeros without strobes, write responses are
// dropped; idle_o: no beat is owed and no response awaited. A burst whose data do not come blocks
// the others: announce it when its data are available. B is always ready; all ready outputs come
// from registers.
// Latency: 1 clock for addresses and data, 0 for write responses; fault_o comes 1 clock after the
// response.
// Throughput: one beat and one burst a clock.
// Reset: forgets all bursts.
// Security: holds no secrets.
// Source: docs/protocol.md, section 4 (slot), section 5 (FILL, SCRUB).

`include "mae_assert.svh"

module mae_guard_host_writes (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic halt_i,
    output logic idle_o,
    output logic fault_o, // pulse

    // DMA engine; its write responses are those of the bus
    input  logic         mov_aw_valid_i,
    output logic         mov_aw_ready_o,
    input  logic [  7:0] mov_aw_id_i,
    input  logic [ 63:0] mov_aw_addr_i,
    input  logic [  7:0] mov_aw_len_i,
    input  logic         mov_w_valid_i,
    output logic         mov_w_ready_o,
    input  logic [511:0] mov_w_data_i,
    input  logic [ 63:0] mov_w_strb_i,
    output logic         mov_b_valid_o,

    // bursts of response writes
    input  logic         ans_aw_valid_i,
    output logic         ans_aw_ready_o,
    input  logic [  7:0] ans_aw_id_i,
    input  logic [ 63:0] ans_aw_addr_i,
    input  logic [  7:0] ans_aw_len_i,
    input  logic         ans_w_valid_i,
    output logic         ans_w_ready_o,
    input  logic [511:0] ans_w_data_i,
    input  logic [ 63:0] ans_w_strb_i,
    output logic         ans_b_valid_o,

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
    input  logic [  7:0] b_id_i
);
  // Addresses, and the order of their data; the top bit of the ID tells the source.
  logic in_ready, launch, order_room, order_valid, order_pop;
  logic [79:0] in_data;
  logic [7:0] launch_id, launch_len, order_id, order_len;
  logic [63:0] unused_addr;
  logic [ 3:0] unused_orders;

  assign in_data = ans_aw_valid_i ? {ans_aw_id_i, ans_aw_addr_i, ans_aw_len_i} :
      {mov_aw_id_i, mov_aw_addr_i, mov_aw_len_i};
  assign ans_aw_ready_o = in_ready;
  assign mov_aw_ready_o = in_ready && !ans_aw_valid_i;

  mae_guard_halt_reg #(
      .Width(80)
  ) u_aw (
      .clk_i,
      .rst_ni,
      .halt_i,
      .room_i       (order_room),
      .in_valid_i   (ans_aw_valid_i || mov_aw_valid_i),
      .in_ready_o   (in_ready),
      .in_data_i    (in_data),
      .launch_o     (launch),
      .launch_data_o({launch_id, unused_addr, launch_len}),
      .out_valid_o  (aw_valid_o),
      .out_ready_i  (aw_ready_i),
      .out_data_o   ({aw_id_o, aw_addr_o, aw_len_o})
  );

  mae_fifo #(
      .Width(16),
      .Depth(8)
  ) u_order (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (launch),
      .in_ready_o (order_room),
      .in_data_i  ({launch_id, launch_len}),
      .out_valid_o(order_valid),
      .out_ready_i(order_pop),
      .out_data_o ({order_id, order_len}),
      .count_o    (unused_orders)
  );

  // Data, through two registers: the output register holds, the one behind it may be erased.
  logic [7:0] beat_q, w_id_q, skid_id_q;
  logic w_ready, w_take, w_last, skid_q, skid_last_q;
  logic [511:0] w_data, skid_data_q;
  logic [63:0] w_strb, skid_strb_q;

  assign w_ready = order_valid && !skid_q;
  assign ans_w_ready_o = w_ready && order_id[7] && !halt_i;
  assign mov_w_ready_o = w_ready && !order_id[7] && !halt_i;
  assign w_take = w_ready && (halt_i || (order_id[7] ? ans_w_valid_i : mov_w_valid_i));
  assign w_data = halt_i ? '0 : order_id[7] ? ans_w_data_i : mov_w_data_i;
  assign w_strb = halt_i ? '0 : order_id[7] ? ans_w_strb_i : mov_w_strb_i;
  assign w_last = beat_q == order_len;
  assign order_pop = w_take && w_last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_q <= '0;
    else if (w_take) beat_q <= w_last ? '0 : beat_q + 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      w_valid_o <= 1'b0;
      {w_data_o, w_strb_o, w_last_o, w_id_q} <= '0;
      skid_q <= 1'b0;
      {skid_data_q, skid_strb_q, skid_last_q, skid_id_q} <= '0;
    end else if (!w_valid_o || w_ready_i) begin
      w_valid_o <= skid_q || w_take;
      if (skid_q) {w_last_o, w_id_q} <= {skid_last_q, skid_id_q};
      else {w_last_o, w_id_q} <= {w_last, order_id};
      if (skid_q && !halt_i) {w_data_o, w_strb_o} <= {skid_data_q, skid_strb_q};
      else if (w_take) {w_data_o, w_strb_o} <= {w_data, w_strb};
      else {w_data_o, w_strb_o} <= '0;  // erased when unused
      skid_q <= 1'b0;
      {skid_data_q, skid_strb_q} <= '0;
    end else begin
      if (w_take) begin
        skid_q <= 1'b1;
        {skid_last_q, skid_id_q} <= {w_last, order_id};
      end
      if (w_take || halt_i) {skid_data_q, skid_strb_q} <= w_take ? {w_data, w_strb} : '0;
    end
  end

  // Write responses.
  logic [255:0] open_q;  // bursts without a response
  logic [255:0] sent_q;  // bursts whose data were all accepted
  logic [  7:0] under_way_q;
  logic last_now, known, good;

  assign last_now      = w_valid_o && w_ready_i && w_last_o;
  assign known         = open_q[b_id_i];
  assign good          = known && (sent_q[b_id_i] || (last_now && w_id_q == b_id_i));
  assign b_ready_o     = 1'b1;
  assign mov_b_valid_o = b_valid_i && good && !b_id_i[7] && !halt_i;
  assign ans_b_valid_o = b_valid_i && good && b_id_i[7] && !halt_i;
  assign idle_o        = under_way_q == '0 && !order_valid && !w_valid_o && !aw_valid_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q      <= '0;
      sent_q      <= '0;
      under_way_q <= '0;
      fault_o     <= 1'b0;
    end else begin
      fault_o     <= b_valid_i && !good;
      under_way_q <= under_way_q + 8'(launch) - 8'(b_valid_i && known);
      if (last_now) sent_q[w_id_q] <= 1'b1;
      if (b_valid_i) begin
        open_q[b_id_i] <= 1'b0;
        sent_q[b_id_i] <= 1'b0;
      end
      if (launch) begin
        open_q[launch_id] <= 1'b1;
        sent_q[launch_id] <= 1'b0;
      end
    end
  end

  `MAE_ASSERT(IdIsFree, !launch || !open_q[launch_id])
  `MAE_STREAM_HOLDS(WHolds, w_valid_o, w_ready_i, {w_data_o, w_strb_o, w_last_o})

endmodule
