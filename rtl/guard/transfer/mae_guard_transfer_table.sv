// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_transfer_table: stores the open DMA transfers and their queued chunks, with checks and
// region locks. They are mae_guard_chunk_arming and mae_guard_region_locks.
//
// A chunk that passes the checks is stored at {queue, slot_i}; it is read by queue and slot, and
// output together with the data of its transfer, as a DMA engine needs it. A transfer is identified
// by the entry of its region.
// Latency: armed 2 clocks after arm_valid_i; chunk_o in the clock after read_*_i.
// Throughput: one chunk read a clock.
// Reset and clear: both forget all transfers at once, and erase the memory in further clocks
// (busy_o).
// Parameters: Legal: as in mae_guard_transfer_engine.
// Security: constant-time in data; no masking.
// Source: docs/protocol.md, section 5 (H8, H17).

`include "mae_assert.svh"

module mae_guard_transfer_table
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4,
    parameter int unsigned SlotWidth = 3,
    parameter int unsigned Regions = 8,
    parameter int unsigned MemoryBits = 20,
    parameter int unsigned ChunkBits = 16,
    parameter int unsigned KernelPorts = 2,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1,
    localparam int unsigned EntryWidth = (Regions > 1) ? $clog2(Regions) : 1,
    localparam int unsigned GranuleWidth = MemoryBits - 6
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic busy_o,

    // must hold until arm_done_o, as the next three
    input  logic                       arm_valid_i,
    input  place_t                     arm_place_i,
    input  logic                       arm_out_i,
    input  transfer_t                  arm_i,
    output logic                       arm_done_o,
    output status_e                    arm_status_o,
    input  logic                       arm_commit_i,
    input  logic                       arm_held_i,
    output logic                       arming_o,
    // of the queue of the chunk
    input  logic      [ SlotWidth-1:0] slot_i,        // slot of its next chunk
    input  logic                       open_i,
    input  logic      [EntryWidth-1:0] open_entry_i,
    output logic                       push_o,        // armed; holds until push_taken_i
    input  logic                       push_taken_i,
    output logic      [QueueWidth-1:0] push_queue_o,
    output logic                       push_first_o,
    output logic                       push_last_o,
    output logic      [EntryWidth-1:0] push_entry_o,

    input  logic   [QueueWidth-1:0] read_queue_i,
    input  logic   [ SlotWidth-1:0] read_slot_i,
    output chunk_t                  chunk_o,
    output logic   [EntryWidth-1:0] chunk_entry_o,

    output logic [Regions-1:0]                   out_o,
    output logic [Regions-1:0][GranuleWidth-1:0] first_o,    // granule
    output logic [Regions-1:0][GranuleWidth-1:0] last_o,     // granule
    output logic [Regions-1:0][            63:0] after_o,
    input  logic [Regions-1:0]                   close_i,
    input  logic [Regions-1:0]                   release_i,
    output logic [Regions-1:0]                   quiet_o,

    input  logic [KernelPorts-1:0]       judge_write_i,
    input  logic [KernelPorts-1:0][63:0] judge_address_i,
    output logic [KernelPorts-1:0]       judge_fault_o
);
  localparam int unsigned Rows = Queues << SlotWidth;
  localparam int unsigned RowWidth = $clog2(Rows);

  typedef struct packed {
    logic [EntryWidth-1:0]   entry;
    logic                    last;
    epoch_t                  epoch;
    logic [63:0]             sequence_number;
    logic [GranuleWidth-1:0] granule;
    logic [ChunkBits:0]      length;
    logic [31:0]             index;
    logic [57:0]             host;             // granule number
    logic [127:0]            tag;
  } row_t;

  logic store, store_last, reserve, refused;
  logic [EntryWidth-1:0] free_entry, store_entry;
  logic [Regions-1:0][MemoryBits:0] total;
  logic [QueueWidth-1:0] arm_queue, push_queue_q, read_queue_q;
  row_t stored, row;

  assign arm_queue = QueueWidth'(arm_place_i.queue_index);

  always_comb begin
    stored = '{
        entry: store_entry,
        last: store_last,
        epoch: arm_place_i.epoch,
        sequence_number: arm_place_i.sequence_number,
        granule: arm_i.address[6+:GranuleWidth],
        length: arm_i.length[ChunkBits:0],
        index: arm_i.index,
        host: arm_i.host[63:6],
        tag: arm_i.tag
    };
    chunk_o = '{
        place: '{
            queue_index: 8'(read_queue_q),
            epoch: row.epoch,
            sequence_number: row.sequence_number
        },
        first: row.index == '0,
        last: row.last,
        address: 64'({row.granule, 6'd0}),
        length: 32'(row.length),
        index: row.index,
        base: 64'({first_o[row.entry], 6'd0}),
        total: 64'(total[row.entry]),
        host: {row.host, 6'd0},
        tag: row.tag
    };
    for (int unsigned i = 0; i < Regions; i++) begin
      last_o[i] = first_o[i] + GranuleWidth'((64'(total[i]) - 64'd1) >> 6);
    end
  end

  assign chunk_entry_o = row.entry;
  assign push_queue_o  = push_queue_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {push_queue_q, read_queue_q} <= '0;
    else if (clear_i) {push_queue_q, read_queue_q} <= '0;
    else begin
      read_queue_q <= read_queue_i;
      if (store) push_queue_q <= arm_queue;  // the next arm_i may be given before it is pushed
    end
  end

  mae_guard_chunk_memory #(
      .Rows (Rows),
      .Width($bits(row_t))
  ) u_chunks (
      .clk_i,
      .rst_ni,
      .clear_i,
      .busy_o,
      .write_i     (store),
      .write_row_i (RowWidth'({arm_queue, slot_i})),
      .write_data_i(stored),
      .read_row_i  (RowWidth'({read_queue_i, read_slot_i})),
      .read_data_o (row)
  );

  mae_guard_chunk_arming #(
      .MemoryBits(MemoryBits),
      .ChunkBits (ChunkBits),
      .Entries   (Regions)
  ) u_arming (
      .clk_i,
      .rst_ni,
      .clear_i,
      .arm_valid_i,
      .arm_out_i,
      .arm_i,
      .arm_done_o,
      .arm_status_o,
      .arm_commit_i,
      .held_i       (arm_held_i || busy_o),
      .busy_o       (arming_o),
      .open_i,
      .open_entry_i,
      .reserve_o    (reserve),
      .refused_i    (refused),
      .entry_i      (free_entry),
      .store_o      (store),
      .store_entry_o(store_entry),
      .store_last_o (store_last),
      .push_o,
      .push_taken_i,
      .push_first_o,
      .push_last_o,
      .push_entry_o,
      .out_o,
      .base_o       (first_o),
      .total_o      (total),
      .after_o
  );

  mae_guard_region_locks #(
      .MemoryBits(MemoryBits),
      .Entries   (Regions),
      .Ports     (KernelPorts),
      .Pending   (1)
  ) u_regions (
      .clk_i,
      .rst_ni,
      .clear_i,
      .reserve_i        (reserve),
      .out_i            (arm_out_i),
      .base_i           (arm_i.base),
      .bytes_i          (arm_i.total),
      .refused_o        (refused),
      .entry_o          (free_entry),
      .close_i,
      .release_i,
      .quiet_o,
      .write_i          (judge_write_i),
      .address_i        (judge_address_i),
      .fault_o          (judge_fault_o),
      .pending_i        ('0),
      .pending_write_i  ('0),
      .pending_address_i('0)
  );

  logic unused;
  assign unused = ^arm_place_i.queue_index;  // the upper bits are zero

  `MAE_ASSERT(QueueExists, !arm_valid_i || 32'(arm_place_i.queue_index) < Queues)

endmodule
