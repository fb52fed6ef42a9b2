// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_descriptor_feed: reads descriptors from the submission ring and, with RecordSlots > 0,
// the key records that they name. Both share one port to memory; records have the tags from 32 on.
//
// Without key records it is mae_dma_descriptor_fetch alone.
// Latency: as mae_dma_descriptor_fetch, with key records as mae_dma_key_records more.
// Throughput: one descriptor a clock.
// Reset: drops all descriptors and forgets all records.
// Parameters: Legal: as in the two modules; with RecordSlots > 0 at most 32 descriptors are read
// ahead.

module mae_dma_descriptor_feed
  import mae_dma_pkg::*;
#(
    parameter int unsigned BeatWidth = 512,
    parameter int unsigned Prefetch = 64,
    parameter int unsigned Contexts = 64,
    parameter int unsigned FirstSlot = 16,
    parameter int unsigned RecordSlots = 0,
    parameter int unsigned MaxKeyBytes = 32,
    parameter logic [7:0] KeptOp = 8'hff
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic              start_i,
    input  logic              fetch_i,
    input  logic              give_i,
    input  logic              aborting_i,
    input  logic       [57:0] base_i,
    input  logic       [ 3:0] log2_i,
    input  logic       [15:0] tail_i,
    output logic       [15:0] head_o,
    output logic              empty_o,
    output logic              quiet_o,
    input  key_table_t        table_i,
    output logic              forgetting_o,

    output logic         desc_valid_o,
    input  logic         desc_ready_i,
    output desc_t        desc_o,
    output logic         desc_error_o,
    output logic  [15:0] desc_index_o,

    // see mae_dma_key_records
    input logic           accept_i,
    input logic           refuse_i,
    input logic     [7:0] job_slot_i,
    input dma_ctx_t       job_ctx_i,
    input logic           report_i,
    input dma_ctx_t       report_ctx_i,
    input logic           finish_i,
    input dma_ctx_t       finish_ctx_i,

    output logic                         ar_valid_o,
    input  logic                         ar_ready_i,
    output control_ar_t                  ar_o,
    input  logic                         r_valid_i,   // always accepted
    input  control_tag_t                 r_tag_i,
    input  logic         [          1:0] r_beat_i,
    input  logic         [BeatWidth-1:0] r_data_i,
    input  logic                         r_error_i,
    input  logic                         r_last_i,

    output logic          write_valid_o,
    input  logic          write_ready_i,
    output record_write_t write_o
);
  localparam bit Records = RecordSlots > 0;
  localparam int unsigned Ahead = (Records && Prefetch > 32) ? 32 : Prefetch;

  logic fetch_empty, fetch_quiet, valid, ready, error;
  desc_t desc;
  logic [15:0] index;
  logic fetch_ar_valid, fetch_ar_ready, of_record;
  control_ar_t fetch_ar;

  assign of_record = Records && r_tag_i[5];

  mae_dma_descriptor_fetch #(
      .BeatWidth(BeatWidth),
      .Prefetch (Ahead)
  ) u_fetch (
      .clk_i,
      .rst_ni,
      .start_i,
      .fetch_i,
      .give_i,
      .base_i,
      .log2_i,
      .tail_i,
      .head_o,
      .empty_o     (fetch_empty),
      .quiet_o     (fetch_quiet),
      .desc_valid_o(valid),
      .desc_ready_i(ready),
      .desc_o      (desc),
      .desc_error_o(error),
      .desc_index_o(index),
      .ar_valid_o  (fetch_ar_valid),
      .ar_ready_i  (fetch_ar_ready),
      .ar_o        (fetch_ar),
      .r_valid_i   (r_valid_i && !of_record),
      .r_tag_i,
      .r_beat_i,
      .r_data_i,
      .r_error_i,
      .r_last_i
  );

  if (Records) begin : gen_records
    logic key_ar_valid, waits_empty, records_quiet;
    control_ar_t key_ar;

    mae_dma_key_records #(
        .BeatWidth  (BeatWidth),
        .Contexts   (Contexts),
        .FirstSlot  (FirstSlot),
        .RecordSlots(RecordSlots),
        .MaxKeyBytes(MaxKeyBytes),
        .KeptOp     (KeptOp)
    ) u_records (
        .clk_i,
        .rst_ni,
        .start_i,
        .aborting_i,
        .table_i,
        .forgetting_o,
        .empty_o    (waits_empty),
        .quiet_o    (records_quiet),
        .in_valid_i (valid),
        .in_ready_o (ready),
        .in_desc_i  (desc),
        .in_error_i (error),
        .in_index_i (index),
        .out_valid_o(desc_valid_o),
        .out_ready_i(desc_ready_i),
        .out_desc_o (desc_o),
        .out_error_o(desc_error_o),
        .out_index_o(desc_index_o),
        .accept_i,
        .refuse_i,
        .job_slot_i,
        .job_ctx_i,
        .report_i,
        .report_ctx_i,
        .finish_i,
        .finish_ctx_i,
        .ar_valid_o (key_ar_valid),
        .ar_ready_i,
        .ar_o       (key_ar),
        .r_valid_i  (r_valid_i && of_record),
        .r_tag_i,
        .r_beat_i,
        .r_data_i,
        .r_error_i,
        .r_last_i,
        .write_valid_o,
        .write_ready_i,
        .write_o
    );
    assign fetch_ar_ready = ar_ready_i && !key_ar_valid;
    assign ar_valid_o = key_ar_valid || fetch_ar_valid;
    assign ar_o = key_ar_valid ? key_ar : fetch_ar;
    assign empty_o = fetch_empty && waits_empty;
    assign quiet_o = fetch_quiet && records_quiet;
  end else begin : gen_slots
    logic unused;

    assign unused = ^{aborting_i, table_i, accept_i, refuse_i, job_slot_i, job_ctx_i, report_i,
                      report_ctx_i, finish_i, finish_ctx_i, write_ready_i};
    assign desc_valid_o = valid;
    assign ready = desc_ready_i;
    assign desc_o = desc;
    assign desc_error_o = error;
    assign desc_index_o = index;
    assign fetch_ar_ready = ar_ready_i;
    assign ar_valid_o = fetch_ar_valid;
    assign ar_o = fetch_ar;
    assign empty_o = fetch_empty;
    assign quiet_o = fetch_quiet;
    assign forgetting_o = 1'b0;
    assign write_valid_o = 1'b0;
    assign write_o = '0;
  end

endmodule
