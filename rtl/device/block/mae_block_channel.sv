// SPDX-License-Identifier: Apache-2.0
//
// mae_block_channel: executes the checked requests of one direction: cuts them into parts, gives the
// parts to mae_block_mover, and reports each request when its last part has ended.
//
// A part is a data unit, or 4,096 bytes of a plain request. Parts of several requests run at once;
// requests end in any order. The status of a request is that of a part that failed, else 0.
// used_o[s]: a request in the channel uses media key s; it rises in the clock after the request was
// accepted. idle_o: no request is in the channel, its result included. Ready comes from registers.
// Latency: 2 clocks from request to its first part, 2 from its last part to the result.
// Throughput: one part a clock.
// Reset and clear: as mae_block_mover.
// Parameters: Write: from host memory to the media, encrypting; otherwise the other way round.
// Legal: as mae_block_mover.
// Security: as mae_block_mover.

`include "mae_assert.svh"

module mae_block_channel
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_dma_pkg::*;
  import mae_block_pkg::*;
#(
    parameter bit Write = 1'b0,
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 32,
    parameter int unsigned MediaKeys = 8,
    parameter int unsigned KeyBanks = 4,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    parameter int unsigned IdWidth = 8,
    localparam int unsigned DataWidth = 128 * Lanes
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic wiping_o,

    input  logic       write_valid_i,  // to a key slot of the cipher
    output logic       write_ready_o,
    input  key_write_t write_i,

    input  logic       job_valid_i,
    output logic       job_ready_o,
    input  block_job_t job_i,

    output logic          result_valid_o,
    input  logic          result_ready_i,
    output block_result_t result_o,

    output logic                 idle_o,
    output logic [MediaKeys-1:0] used_o,

    // AXI4 read channels of the source
    output logic                  ar_valid_o,
    input  logic                  ar_ready_i,
    output logic  [  IdWidth-1:0] ar_id_o,
    output addr_t                 ar_addr_o,
    output logic  [          7:0] ar_len_o,
    input  logic                  r_valid_i,
    output logic                  r_ready_o,   // constant 1
    input  logic  [  IdWidth-1:0] r_id_i,
    input  logic  [DataWidth-1:0] r_data_i,
    input  logic  [          1:0] r_resp_i,
    input  logic                  r_last_i,

    // AXI4 write channels of the destination
    output logic                    aw_valid_o,
    input  logic                    aw_ready_i,
    output logic  [    IdWidth-1:0] aw_id_o,
    output addr_t                   aw_addr_o,
    output logic  [            7:0] aw_len_o,
    output logic                    w_valid_o,
    input  logic                    w_ready_i,
    output logic  [  DataWidth-1:0] w_data_o,
    output logic  [DataWidth/8-1:0] w_strb_o,
    output logic                    w_last_o,
    input  logic                    b_valid_i,
    output logic                    b_ready_o,   // constant 1
    input  logic  [    IdWidth-1:0] b_id_i,
    input  logic  [            1:0] b_resp_i
);
  localparam int unsigned Ahead = 4;  // requests that wait for their parts
  localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  typedef logic [IndexWidth-1:0] index_t;

  typedef struct packed {
    index_t     tag;
    block_job_t job;
  } tagged_job_t;

  function automatic logic [3:0] sectors_of(input logic [1:0] unit_code);
    return 4'd1 << unit_code;
  endfunction

  // Requests in the channel, each with a tag; there are as many tags as contexts.
  typedef struct packed {
    logic [1:0]  pair;
    logic [31:0] cookie;
    logic [15:0] index;
    logic        irq;
    logic [16:0] sectors;
  } request_t;

  logic [Contexts-1:0] tag_used_q, tag_ended_q, tag_cipher_q;
  request_t request_q[Contexts];
  logic [4:0] slot_q[Contexts];
  logic [16:0] left_q[Contexts];  // parts that have not ended
  logic [7:0] status_q[Contexts];
  index_t tag_free, tag_done, tag_part;
  logic tag_any, accept, wait_ready, head_valid, head_take;
  tagged_job_t head;
  logic [16:0] parts;
  logic [2:0] unused_count;

  always_comb begin
    tag_free = '0;
    for (int unsigned i = 0; i < Contexts; i++) begin
      if (!tag_used_q[Contexts-1-i]) tag_free = index_t'(Contexts - 1 - i);
    end
    used_o = '0;
    for (int unsigned i = 0; i < Contexts; i++) begin
      for (int unsigned s = 0; s < MediaKeys; s++) begin
        if (tag_used_q[i] && tag_cipher_q[i] && slot_q[i] == 5'(s)) used_o[s] = 1'b1;
      end
    end
  end

  assign tag_any = tag_used_q != '1;
  assign job_ready_o = tag_any && wait_ready;
  assign accept = job_valid_i && job_ready_o;
  assign idle_o = tag_used_q == '0 && !result_valid_o;
  assign parts = 17'((18'(job_i.sectors) + 18'(sectors_of(
      job_i.unit_code
  )) - 18'd1) >> job_i.unit_code);

  mae_fifo #(
      .Width($bits(tagged_job_t)),
      .Depth(Ahead)
  ) u_wait (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (job_valid_i && tag_any),
      .in_ready_o (wait_ready),
      .in_data_i  ({tag_free, job_i}),
      .out_valid_o(head_valid),
      .out_ready_i(head_take),
      .out_data_o (head),
      .count_o    (unused_count)
  );

  // The request that is being cut into parts.
  logic cut_q, last_part, part_valid, part_ready, part_take, context_any;
  tagged_job_t job_q;
  logic [12:0] part_bytes;
  block_part_t part;
  logic [Contexts-1:0] context_used_q;
  index_t context_free;
  index_t context_tag_q[Contexts];
  logic part_done;
  dma_ctx_t done_ctx;
  index_t done_index;
  status_e done_status;

  always_comb begin
    context_free = '0;
    for (int unsigned i = 0; i < Contexts; i++) begin
      if (!context_used_q[Contexts-1-i]) context_free = index_t'(Contexts - 1 - i);
    end
  end

  assign context_any = context_used_q != '1;
  assign last_part = job_q.job.sectors <= 17'(sectors_of(job_q.job.unit_code));
  assign part_bytes = last_part ? 13'(job_q.job.sectors) << SectorLog2 : 13'(sectors_of(
      job_q.job.unit_code
  )) << SectorLog2;
  assign part = '{
          ctx: dma_ctx_t'(context_free),
          src: Write ? job_q.job.host : job_q.job.media,
          dst: Write ? job_q.job.media : job_q.job.host,
          bytes: part_bytes,
          plain: job_q.job.plain,
          slot: job_q.job.slot,
          unit: job_q.job.unit
      };
  assign part_valid = cut_q && context_any;
  assign part_take = part_valid && part_ready;
  assign head_take = !cut_q || (part_take && last_part);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cut_q <= 1'b0;
      job_q <= '0;
    end else begin
      if (part_take) begin
        job_q.job.sectors <= job_q.job.sectors - 17'(sectors_of(job_q.job.unit_code));
        job_q.job.host    <= job_q.job.host + addr_t'(part_bytes);
        job_q.job.media   <= job_q.job.media + addr_t'(part_bytes);
        job_q.job.unit    <= job_q.job.unit + 128'd1;
      end
      if (head_take) begin
        cut_q <= head_valid;
        job_q <= head;
      end
    end
  end

  mae_block_mover #(
      .Lanes       (Lanes),
      .Contexts    (Contexts),
      .MediaKeys   (MediaKeys),
      .KeyBanks    (KeyBanks),
      .Dirs        (Write ? DirsEncrypt : DirsBoth),
      .Sbox        (Sbox),
      .RegsPerRound(RegsPerRound),
      .IdWidth     (IdWidth)
  ) u_mover (
      .part_valid_i (part_valid),
      .part_ready_o (part_ready),
      .part_i       (part),
      .done_valid_o (part_done),
      .done_ctx_o   (done_ctx),
      .done_status_o(done_status),
      .*
  );

  assign done_index = index_t'(done_ctx);
  assign tag_part   = context_tag_q[done_index];

  logic unused;
  assign unused = ^done_ctx;

  // Results, in turn.
  logic [Contexts-1:0] unused_grant;
  logic report_any, report;

  mae_rr_arb #(
      .N(Contexts)
  ) u_report (
      .clk_i,
      .rst_ni,
      .req_i    (tag_ended_q),
      .advance_i(report),
      .grant_o  (unused_grant),
      .index_o  (tag_done),
      .valid_o  (report_any)
  );

  assign report = report_any && (!result_valid_o || result_ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tag_used_q     <= '0;
      tag_ended_q    <= '0;
      context_used_q <= '0;
      result_valid_o <= 1'b0;
      result_o       <= '0;
    end else begin
      if (part_take) context_used_q[context_free] <= 1'b1;
      if (part_done) begin
        context_used_q[done_index] <= 1'b0;
        if (left_q[tag_part] == 17'd1) tag_ended_q[tag_part] <= 1'b1;
      end
      if (result_ready_i) result_valid_o <= 1'b0;
      if (report) begin
        tag_used_q[tag_done] <= 1'b0;
        tag_ended_q[tag_done] <= 1'b0;
        result_valid_o <= 1'b1;
        result_o <= '{
            pair: request_q[tag_done].pair,
            cookie: request_q[tag_done].cookie,
            index: request_q[tag_done].index,
            irq: request_q[tag_done].irq,
            status: status_q[tag_done],
            bytes:
            (
            status_q[tag_done] == 8'(StatusOk)
            ) ?
            32'(request_q[tag_done].sectors) << SectorLog2
            : '0
        };
      end
      if (accept) tag_used_q[tag_free] <= 1'b1;
    end
  end

  // No reset: read only after they were written.
  always_ff @(posedge clk_i) begin
    if (part_take) context_tag_q[context_free] <= job_q.tag;
    if (part_done) begin
      left_q[tag_part] <= left_q[tag_part] - 1'b1;
      if (done_status != StatusOk) status_q[tag_part] <= 8'(done_status);
    end
    if (accept) begin
      tag_cipher_q[tag_free] <= !job_i.plain;
      slot_q[tag_free] <= job_i.slot;
      left_q[tag_free] <= parts;
      status_q[tag_free] <= 8'(StatusOk);
      request_q[tag_free] <= '{
          pair: job_i.pair,
          cookie: job_i.cookie,
          index: job_i.index,
          irq: job_i.irq,
          sectors: job_i.sectors
      };
    end
  end

  `MAE_ASSERT(
      PartOfARequest,
      !part_done || (context_used_q[done_index] && tag_used_q[tag_part] && left_q[tag_part] != '0))
  `MAE_STREAM_HOLDS(ResultHolds, result_valid_o, result_ready_i, result_o)

endmodule
