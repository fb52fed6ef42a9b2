// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_engine: runs all modes of operation (mae_mode_pkg) on N cipher lanes, for many
// interleaved messages.
//
// A job is a configuration of an idle context, followed by rows of Lanes blocks, the last one
// marked; only the last row may be shorter. Rows of different contexts may be interleaved. The rows
// of a context come out in order; rows of different contexts in any order. The chain value of a
// context is kept for its next job. Jobs whose chain value does not depend on the cipher's result
// take the parallel path, one row a clock. All others (with Parallel = 0: all) take the serial path
// of lane `context mod Lanes`, one block a cipher latency. Configure XTS with a partial last block
// with `serial`.
//
// room_o[c]: a row of context c can be accepted. When it falls, the client may send two more rows
// beside the row that made it fall (with SlotRows = 2 none). A client that ignores it loses no row,
// but a row without space stalls the rows behind it. room_o also falls while key banks are
// exchanged. waits_i tells for which contexts the client has rows: keys for which none wait give
// way to others. row_ready_o is combinational in row_ctx_i. All results of a row whose blocks were
// requested in one clock must come in one clock, as with every cipher of mae_aes_pkg's interface.
// State of the contexts: mae_mode_chain_values, mae_mode_key_requests and the two paths.
// Latency: parallel path 2 clocks + the cipher's + 1; serial path 1 clock + the cipher's + 1.
// Throughput: parallel path one row a clock; serial path one block a lane in each clock at most.
// Reset and clear: cfg_ready_o is low while the memories are erased after reset or clear_i: for 64
// clocks or, if that is more, as many as the largest memory has entries (Contexts / Lanes *
// SlotRows, FlightRows).
// Parameters: FlightRows, the rows between request and output, must be at least the cipher's latency
// + 2 for a row a clock. Legal: Lanes 1..16; Contexts 1 or a multiple of Lanes up to 256; SlotRows
// and FlightRows powers of 2 >= 2; Parallel 0 or 1.
// Security: constant-time in data and keys; no masking.
// Source: SP 800-38A; IEEE 1619; papers 000 to 004.

`include "mae_assert.svh"

module mae_mode_engine
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    parameter bit Parallel = 1'b1,
    parameter int unsigned SlotRows = 4,
    parameter int unsigned FlightRows = 32,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic      cfg_valid_i,
    output logic      cfg_ready_o,
    input  ctx_t      cfg_ctx_i,
    input  mode_cfg_t cfg_i,

    output logic [Contexts-1:0] room_o,
    input  logic [Contexts-1:0] waits_i, // the client has rows of the context, or may have

    input  logic                    row_valid_i,
    output logic                    row_ready_o,
    input  ctx_t                    row_ctx_i,
    input  block_t [     Lanes-1:0] row_data_i,
    input  logic   [BytesWidth-1:0] row_bytes_i,
    input  logic                    row_last_i,

    output logic                    out_valid_o,
    input  logic                    out_ready_i,
    output ctx_t                    out_ctx_o,
    output block_t [     Lanes-1:0] out_data_o,
    output logic   [BytesWidth-1:0] out_bytes_o,
    output logic                    out_last_o,
    // the key changed during the job: data are zero
    output logic                    out_key_lost_o,

    input  key_state_t  keys_i,
    output key_demand_t demand_o,

    output logic        [Lanes-1:0] req_valid_o,
    input  logic        [Lanes-1:0] req_ready_i,
    output cipher_req_t [Lanes-1:0] req_o,
    input  logic        [Lanes-1:0] rsp_valid_i,
    input  cipher_rsp_t [Lanes-1:0] rsp_i
);
  localparam int unsigned Slots = (Contexts > Lanes) ? Contexts / Lanes : 1;
  localparam int unsigned SlotWidth = (Slots > 1) ? $clog2(Slots) : 1;
  localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  localparam int unsigned RowsWidth = $clog2(Slots * SlotRows);
  localparam int unsigned FlightWidth = $clog2(FlightRows);
  // Long enough also for the results that a cleared cipher may still output.
  localparam int unsigned WipeLeast = (RowsWidth > FlightWidth) ? RowsWidth : FlightWidth;
  localparam int unsigned WipeWidth = (WipeLeast > 6) ? WipeLeast : 6;

  `MAE_PARAM(ContextsLegal, Contexts == 1 || Contexts % Lanes == 0)
  `MAE_PARAM(ContextsInRange, Contexts >= 1 && Contexts <= 256)

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [SlotWidth-1:0] slot_t;

  // After reset and after clear_i the memories are erased, one entry a clock.
  logic                 wipe_q;
  logic [WipeWidth-1:0] wipe_count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wipe_q       <= 1'b1;
      wipe_count_q <= '0;
    end else if (clear_i) begin
      wipe_q       <= 1'b1;
      wipe_count_q <= '0;
    end else if (wipe_q) begin
      wipe_q       <= wipe_count_q != '1;
      wipe_count_q <= wipe_count_q + WipeWidth'(1);
    end
  end

  // Jobs of the contexts: from configuration to the last output row.
  logic   [Contexts-1:0] active_q;
  logic   [Contexts-1:0] parallel_q;  // the job's path
  logic   [Contexts-1:0] key_ok;
  logic   [Contexts-1:0] lost;
  logic   [Contexts-1:0] tweak;
  logic   [Contexts-1:0] slot_room;
  logic                  parallel_room;
  index_t                cfg_index;
  index_t                row_index;
  index_t                out_index;
  logic                  cfg_taken;

  assign cfg_index   = index_t'(cfg_ctx_i);
  assign row_index   = index_t'(row_ctx_i);
  assign out_index   = index_t'(out_ctx_o);
  assign cfg_ready_o = !wipe_q;
  assign cfg_taken   = cfg_valid_i && cfg_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q   <= '0;
      parallel_q <= '0;
    end else if (wipe_q) begin
      active_q   <= '0;
      parallel_q <= '0;
    end else begin
      if (out_valid_o && out_ready_i && out_last_o) active_q[out_index] <= 1'b0;
      if (cfg_taken) begin
        active_q[cfg_index]   <= 1'b1;
        parallel_q[cfg_index] <= Parallel && !cfg_i.serial && !mode_chains(cfg_i.mode, cfg_i.dir);
      end
    end
  end

  assign room_o = active_q & ((parallel_q & ~tweak & key_ok & {Contexts{parallel_room}}) |
                              (~parallel_q & slot_room));

  // Input rows: to the parallel path, or to the context's lane.
  logic  [Lanes-1:0] lane_row_valid;
  logic  [Lanes-1:0] lane_row_ready;
  logic              parallel_row_valid;
  logic              parallel_row_ready;
  slot_t             row_slot;
  slot_t             cfg_slot;

  assign cfg_slot = slot_t'(32'(cfg_ctx_i) / Lanes);
  assign row_slot = slot_t'(32'(row_ctx_i) / Lanes);
  assign parallel_row_valid = row_valid_i && active_q[row_index] && parallel_q[row_index] &&
      !tweak[row_index];

  always_comb begin
    lane_row_valid = '0;
    row_ready_o    = 1'b0;
    if (active_q[row_index]) begin
      if (parallel_q[row_index]) begin
        row_ready_o = parallel_row_ready && !tweak[row_index];
      end else begin
        lane_row_valid[32'(row_ctx_i)%Lanes] = row_valid_i;
        row_ready_o = lane_row_ready[32'(row_ctx_i)%Lanes];
      end
    end
  end

  // Keys that are needed, and keys that are in banks.
  logic [Lanes-1:0]                tweak_done;
  logic [Lanes-1:0][SlotWidth-1:0] answer_slot;

  mae_mode_key_requests #(
      .Lanes(Lanes),
      .Contexts(Contexts)
  ) u_keys (
      .clk_i,
      .rst_ni,
      .cfg_valid_i (cfg_taken),
      .cfg_ctx_i,
      .cfg_i,
      .tweak_done_i(tweak_done),
      .tweak_slot_i(answer_slot),
      .active_i    (active_q),
      .waits_i     (waits_i | ~parallel_q | tweak),
      .keys_i,
      .key_ok_o    (key_ok),
      .lost_o      (lost),
      .want_o      (demand_o.want),
      .waits_o     (demand_o.waits)
  );

  always_comb begin
    demand_o.used = '0;
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (req_valid_o[i] && req_ready_i[i]) demand_o.used[req_o[i].bank] = 1'b1;
    end
  end

  // Serial path of each lane.
  logic        [Lanes-1:0] serial_valid;
  logic        [Lanes-1:0] serial_ready;
  cipher_req_t [Lanes-1:0] serial_req;
  logic                    parallel_ask;
  logic                    parallel_taken;
  logic        [Lanes-1:0] parallel_lanes;
  cipher_req_t [Lanes-1:0] parallel_req;

  mae_mode_arbiter #(
      .Lanes(Lanes)
  ) u_turns (
      .clk_i,
      .rst_ni,
      .parallel_valid_i(parallel_ask),
      .parallel_taken_o(parallel_taken),
      .parallel_lanes_i(parallel_lanes),
      .parallel_req_i  (parallel_req),
      .serial_valid_i  (serial_valid),
      .serial_ready_o  (serial_ready),
      .serial_req_i    (serial_req),
      .req_valid_o,
      .req_ready_i,
      .req_o
  );

  // Results: all lanes of a row of the parallel path come in the same clock.
  logic               parallel_answer;
  logic   [Lanes-1:0] answer_lanes;
  logic   [Lanes-1:0] serial_answer;
  block_t [Lanes-1:0] answer_block;

  assign parallel_answer = Parallel && !wipe_q && rsp_valid_i[0] &&
      parallel_q[index_t'(rsp_i[0].ctx)] && !tweak[index_t'(rsp_i[0].ctx)];
  assign serial_answer = wipe_q ? '0 : rsp_valid_i & ~(parallel_answer ? answer_lanes : '0);

  always_comb for (int unsigned i = 0; i < Lanes; i++) answer_block[i] = rsp_i[i].block;

  // Output rows.
  logic   [Lanes:0]                 source_valid;
  logic   [Lanes:0]                 source_ready;
  ctx_t   [Lanes:0]                 source_ctx;
  block_t [Lanes:0][     Lanes-1:0] source_data;
  logic   [Lanes:0][BytesWidth-1:0] source_bytes;
  logic   [Lanes:0]                 source_last;

  mae_mode_output_arbiter #(
      .Lanes(Lanes),
      .Contexts(Contexts)
  ) u_merge (
      .clk_i,
      .rst_ni,
      .source_valid_i(source_valid),
      .source_ready_o(source_ready),
      .source_ctx_i  (source_ctx),
      .source_data_i (source_data),
      .source_bytes_i(source_bytes),
      .source_last_i (source_last),
      .lost_i        (lost),
      .out_valid_o,
      .out_ready_i,
      .out_ctx_o,
      .out_data_o,
      .out_bytes_o,
      .out_last_o,
      .out_key_lost_o
  );

  // The two paths share the chain values.
  ctx_t               chain_ctx;
  block_t             chain_write;
  logic               chain_valid;
  block_t [Lanes-1:0] chain_read;

  if (Parallel) begin : gen_parallel
    mae_mode_parallel #(
        .Lanes(Lanes),
        .Contexts(Contexts),
        .FlightRows(FlightRows)
    ) u_parallel (
        .clk_i,
        .rst_ni,
        .wipe_i        (wipe_q),
        .wipe_row_i    (wipe_count_q[FlightWidth-1:0]),
        .cfg_valid_i   (cfg_taken),
        .cfg_ctx_i,
        .cfg_i,
        .room_o        (parallel_room),
        .row_valid_i   (parallel_row_valid),
        .row_ready_o   (parallel_row_ready),
        .row_ctx_i,
        .row_data_i,
        .row_bytes_i,
        .row_last_i,
        .out_valid_o   (source_valid[Lanes]),
        .out_ready_i   (source_ready[Lanes]),
        .out_ctx_o     (source_ctx[Lanes]),
        .out_data_o    (source_data[Lanes]),
        .out_bytes_o   (source_bytes[Lanes]),
        .out_last_o    (source_last[Lanes]),
        .chain_ctx_o   (chain_ctx),
        .chain_i       (chain_read[32'(chain_ctx)%Lanes]),
        .chain_valid_o (chain_valid),
        .chain_o       (chain_write),
        .banks_i       (keys_i.banks),
        .urgent_o      (demand_o.urgent),
        .urgent_slot_o (demand_o.urgent_slot),
        .ask_o         (parallel_ask),
        .ask_taken_i   (parallel_taken),
        .ask_lanes_o   (parallel_lanes),
        .req_o         (parallel_req),
        .answer_i      (parallel_answer),
        .answer_lanes_o(answer_lanes),
        .answer_block_i(answer_block)
    );
  end else begin : gen_serial_only
    assign parallel_room        = 1'b0;
    assign parallel_row_ready   = 1'b0;
    assign source_valid[Lanes]  = 1'b0;
    assign source_ctx[Lanes]    = '0;
    assign source_data[Lanes]   = '0;
    assign source_bytes[Lanes]  = '0;
    assign source_last[Lanes]   = 1'b0;
    assign chain_ctx            = '0;
    assign chain_valid          = 1'b0;
    assign chain_write          = '0;
    assign demand_o.urgent      = 1'b0;
    assign demand_o.urgent_slot = '0;
    assign parallel_ask         = 1'b0;
    assign parallel_lanes       = '0;
    assign parallel_req         = '0;
    assign answer_lanes         = '0;

    logic unused;
    assign unused = ^{parallel_row_valid, parallel_taken, source_ready[Lanes], answer_block,
                      chain_read};
  end

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_lane
    slot_t              ask_slot;
    block_t             ask_chain;
    block_t             answer_chain_read;
    block_t             answer_chain_write;
    logic               answer_chain_valid;
    slot_t              out_slot;
    logic   [Slots-1:0] lane_tweak;
    logic   [Slots-1:0] lane_room;
    logic   [Slots-1:0] lane_key_ok;
    logic               lane_cfg;

    assign lane_cfg         = cfg_taken && 32'(cfg_ctx_i) % Lanes == lane;
    assign source_ctx[lane] = ctx_t'(32'(out_slot) * Lanes + lane);

    for (genvar slot = 0; slot < Slots; slot++) begin : gen_slot
      if (slot * Lanes + lane < Contexts) begin : gen_context
        assign tweak[slot*Lanes+lane]     = lane_tweak[slot];
        assign slot_room[slot*Lanes+lane] = lane_room[slot];
        assign lane_key_ok[slot]          = key_ok[slot*Lanes+lane];
      end else begin : gen_none
        assign lane_key_ok[slot] = 1'b0;

        logic unused;
        assign unused = ^{lane_tweak[slot], lane_room[slot]};
      end
    end

    mae_mode_chain_values #(
        .Slots(Slots),
        .Parallel(Parallel)
    ) u_chain (
        .clk_i,
        .wipe_i        (wipe_q),
        .wipe_slot_i   (slot_t'(wipe_count_q)),
        .iv_valid_i    (lane_cfg && cfg_i.init),
        .iv_slot_i     (cfg_slot),
        .iv_i          (cfg_i.iv),
        .par_slot_i    (slot_t'(32'(chain_ctx) / Lanes)),
        .par_o         (chain_read[lane]),
        .par_valid_i   (chain_valid && 32'(chain_ctx) % Lanes == lane),
        .par_i         (chain_write),
        .answer_slot_i (answer_slot[lane]),
        .answer_o      (answer_chain_read),
        .answer_valid_i(answer_chain_valid),
        .answer_i      (answer_chain_write),
        .ask_slot_i    (ask_slot),
        .ask_o         (ask_chain)
    );

    mae_mode_serial #(
        .Lanes(Lanes),
        .Lane(lane),
        .Slots(Slots),
        .SlotRows(SlotRows)
    ) u_serial (
        .clk_i,
        .rst_ni,
        .wipe_i        (wipe_q),
        .wipe_row_i    (wipe_count_q[RowsWidth-1:0]),
        .cfg_valid_i   (lane_cfg),
        .cfg_slot_i    (cfg_slot),
        .cfg_i,
        .room_o        (lane_room),
        .row_valid_i   (lane_row_valid[lane]),
        .row_ready_o   (lane_row_ready[lane]),
        .row_slot_i    (row_slot),
        .row_data_i,
        .row_bytes_i,
        .row_last_i,
        .out_valid_o   (source_valid[lane]),
        .out_ready_i   (source_ready[lane]),
        .out_slot_o    (out_slot),
        .out_data_o    (source_data[lane]),
        .out_bytes_o   (source_bytes[lane]),
        .out_last_o    (source_last[lane]),
        .answer_slot_o (answer_slot[lane]),
        .answer_valid_o(answer_chain_valid),
        .answer_chain_o(answer_chain_write),
        .answer_chain_i(answer_chain_read),
        .ask_slot_o    (ask_slot),
        .ask_chain_i   (ask_chain),
        .banks_i       (keys_i.banks),
        .key_ok_i      (lane_key_ok),
        .tweak_o       (lane_tweak),
        .tweak_done_o  (tweak_done[lane]),
        .req_valid_o   (serial_valid[lane]),
        .req_ready_i   (serial_ready[lane]),
        .req_o         (serial_req[lane]),
        .rsp_valid_i   (serial_answer[lane]),
        .rsp_i         (rsp_i[lane])
    );
  end

  `MAE_ASSERT(ConfiguredIdle, !cfg_taken || !active_q[cfg_index])
  `MAE_ASSERT(ContextExists, !row_valid_i || 32'(row_ctx_i) < Contexts)
  `MAE_STREAM_HOLDS(OutHolds, out_valid_o, out_ready_i || wipe_q || clear_i, {
                    out_ctx_o, out_bytes_o, out_last_o})

endmodule
