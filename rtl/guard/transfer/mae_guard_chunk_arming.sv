// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_chunk_arming: checks whether the chunk of a DMA transfer request may be queued, and
// stores the open transfers. They are indexed by the entry of their region.
//
// The checks RANGE, ORDER, REGION come in this order (docs/protocol.md, section 5, H2D and D2H,
// checks 1 to 3). A legal chunk becomes the next one of its transfer, a first chunk has its region
// reserved; then the requester charges its budget and gives arm_commit_i, or the session ends. A
// refused chunk changes nothing.
// Latency: arm_done_o 2 clocks after arm_valid_i, unless delayed by held_i; store_o, with which the
// chunk must be stored, in the clock between. push_o from the clock after arm_commit_i until
// accepted.
// Throughput: one chunk at a time.
// Reset and clear: both forget everything.
// Parameters: Entries is the number of regions. Legal: MemoryBits 12..40; ChunkBits 12..20; Entries
// 1..16.
// Security: constant-time in data; holds no secrets.
// Source: docs/protocol.md, section 5 (H8: quarantine; H17: order of chunks).

`include "mae_assert.svh"

module mae_guard_chunk_arming
  import mae_guard_pkg::*;
#(
    parameter int unsigned MemoryBits = 20,
    parameter int unsigned ChunkBits = 16,
    parameter int unsigned Entries = 8,
    localparam int unsigned EntryWidth = (Entries > 1) ? $clog2(Entries) : 1,
    localparam int unsigned GranuleWidth = MemoryBits - 6
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic                       arm_valid_i,   // must hold until arm_done_o, as the next two
    input  logic                       arm_out_i,
    input  transfer_t                  arm_i,
    output logic                       arm_done_o,    // pulse
    output status_e                    arm_status_o,  // valid with arm_done_o
    input  logic                       arm_commit_i,  // pulse, together with StatusOk or later
    input  logic                       held_i,        // start no check
    output logic                       busy_o,
    // of the queue of the chunk
    input  logic                       open_i,        // it has an open transfer, with the entry
    input  logic      [EntryWidth-1:0] open_entry_i,
    // to mae_guard_region_locks, which gets base and bytes from the requester
    output logic                       reserve_o,     // pulse
    input  logic                       refused_i,
    input  logic      [EntryWidth-1:0] entry_i,

    output logic                  store_o,        // pulse: store the given chunk as:
    output logic [EntryWidth-1:0] store_entry_o,
    output logic                  store_last_o,

    output logic                  push_o,        // the chunk is armed; holds until push_taken_i
    input  logic                  push_taken_i,
    output logic                  push_first_o,
    output logic                  push_last_o,
    output logic [EntryWidth-1:0] push_entry_o,

    // The transfers.
    output logic [Entries-1:0]                   out_o,
    output logic [Entries-1:0][GranuleWidth-1:0] base_o,
    output logic [Entries-1:0][    MemoryBits:0] total_o,
    output logic [Entries-1:0][            63:0] after_o
);
  `MAE_PARAM(MemoryLegal, MemoryBits >= 12 && MemoryBits <= 40)
  `MAE_PARAM(ChunkLegal, ChunkBits >= 12 && ChunkBits <= 20)
  `MAE_PARAM(EntriesLegal, Entries >= 1 && Entries <= 16)

  typedef enum logic [2:0] {
    Idle,
    Check,
    Done,
    Commit,
    Push
  } arming_e;

  arming_e state_q;
  status_e status, status_q;
  logic first_q, last_q, range_q, first, last, range, follows;
  logic [EntryWidth-1:0] entry, entry_q;
  logic [Entries-1:0] out_q;
  logic [Entries-1:0][GranuleWidth-1:0] base_q;
  logic [Entries-1:0][MemoryBits:0] total_q;
  logic [Entries-1:0][63:0] after_q;
  logic [Entries-1:0][31:0] index_q;  // index of the next chunk
  logic [Entries-1:0][GranuleWidth:0] next_q;  // granule of the next chunk

  // RANGE: one bit wider than the fields, so that nothing wraps around.
  logic [64:0] chunk_end, region_end, host_end;
  assign chunk_end = {1'b0, arm_i.address} + 65'(arm_i.length);
  assign region_end = {1'b0, arm_i.base} + {1'b0, arm_i.total};
  assign host_end = {1'b0, arm_i.host} + 65'(arm_i.length);
  assign first = arm_i.index == '0;
  assign last = chunk_end == region_end;
  assign range = arm_i.length != '0 && arm_i.length <= 32'(1 << ChunkBits) && arm_i.total != '0 &&
      region_end <= (65'd1 << MemoryBits) && arm_i.base[5:0] == '0 && arm_i.address[5:0] == '0 &&
      arm_i.host[5:0] == '0 && arm_i.base <= arm_i.address && chunk_end <= region_end &&
      (arm_i.length[5:0] == '0 || last) && host_end <= (65'd1 << 64) &&
      first == (arm_i.address == arm_i.base);

  // ORDER, for a chunk within range.
  assign follows = open_i && out_q[open_entry_i] == arm_out_i &&
      64'({base_q[open_entry_i], 6'd0}) == arm_i.base &&
      64'(total_q[open_entry_i]) == arm_i.total && after_q[open_entry_i] == arm_i.after &&
      index_q[open_entry_i] == arm_i.index && 64'({next_q[open_entry_i], 6'd0}) == arm_i.address;

  always_comb begin
    status = StatusOk;
    if (!range_q) status = StatusRange;
    else if (first_q ? open_i : !follows) status = StatusOrder;
    else if (first_q && refused_i) status = StatusRegion;
  end

  assign entry = first_q ? entry_i : open_entry_i;
  assign store_o = state_q == Check && status == StatusOk;
  assign store_entry_o = entry;
  assign store_last_o = last_q;
  assign reserve_o = store_o && first_q;
  assign arm_done_o = state_q == Done;
  assign arm_status_o = status_q;
  assign busy_o = state_q != Idle;
  assign push_o = state_q == Push;
  assign push_first_o = first_q;
  assign push_last_o = last_q;
  assign push_entry_o = entry_q;
  assign out_o = out_q;
  assign base_o = base_q;
  assign total_o = total_q;
  assign after_o = after_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Idle;
    else if (clear_i) state_q <= Idle;
    else begin
      unique case (state_q)
        Idle: if (arm_valid_i && !held_i) state_q <= Check;
        Check: state_q <= Done;
        Done: state_q <= (status_q != StatusOk) ? Idle : arm_commit_i ? Push : Commit;
        Commit: if (arm_commit_i) state_q <= Push;
        default: if (push_taken_i) state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      status_q <= StatusNone;
      {first_q, last_q, range_q} <= '0;
      entry_q  <= '0;
      out_q    <= '0;
      base_q   <= '0;
      total_q  <= '0;
      after_q  <= '0;
      index_q  <= '0;
      next_q   <= '0;
    end else if (clear_i) begin
      status_q <= StatusNone;
      {first_q, last_q, range_q} <= '0;
      entry_q  <= '0;
      out_q    <= '0;
      base_q   <= '0;
      total_q  <= '0;
      after_q  <= '0;
      index_q  <= '0;
      next_q   <= '0;
    end else begin
      if (state_q == Idle) {first_q, last_q, range_q} <= {first, last, range};
      if (state_q == Check) begin
        status_q <= status;
        entry_q  <= entry;
      end
      if (store_o) begin
        if (first_q) begin
          out_q[entry]   <= arm_out_i;
          base_q[entry]  <= arm_i.base[6+:GranuleWidth];
          total_q[entry] <= arm_i.total[MemoryBits:0];
          after_q[entry] <= arm_i.after;
        end
        index_q[entry] <= arm_i.index + 32'd1;
        next_q[entry]  <= chunk_end[6+:GranuleWidth+1];
      end
    end
  end

  logic unused;
  assign unused = ^{arm_i.tag, chunk_end};  // the tag does not matter here

  `MAE_ASSERT(CommitOfArmed, !arm_commit_i || state_q inside {Done, Commit})
  `MAE_ASSERT(ArmHolds, state_q != Check || arm_valid_i)

endmodule
