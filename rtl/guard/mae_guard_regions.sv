// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_regions: which parts of device memory a transfer has locked (quarantine, H8).
//
// A transfer into the device locks its whole region against every other access until it is released,
// that is, until its last chunk has passed: nobody sees a byte that was not verified. A transfer out
// of the device locks it against writes: what leaves is what was there. Regions are whole granules
// of 64 bytes, so two transfers never share one. A region is refused (and nothing is locked) if it
// is empty, begins within a granule, goes beyond the memory or its end wraps around, meets a locked
// one (two transfers out may meet), or if no entry is free.
//
// Accesses are judged in their own clock, from registers: one that conflicts is a fault, and whoever
// asks must not carry it out. `pending_i` names what still runs: a lock becomes `quiet` when none of
// the accesses that were let in before it, and that overlap it, is left.
// Latency: lock_refused_o and lock_entry_o are combinational; a lock holds from the next clock on.
// Legal: Entries 1..16; Ports 1..8; Pending 1..16. clear_i opens all (the memory is being scrubbed).
// Source: docs/protocol.md, H8, H17. No secrets.

`include "mae_assert.svh"

module mae_guard_regions
  import mae_guard_pkg::*;
#(
    parameter int unsigned MemoryBits = 20,  // of the device memory's size in bytes
    parameter int unsigned Entries = 8,
    parameter int unsigned Ports = 2,  // that are judged
    parameter int unsigned Pending = 4,  // accesses that may be under way
    localparam int unsigned EntryWidth = (Entries > 1) ? $clog2(Entries) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic                  lock_valid_i,
    input  logic                  lock_out_i,      // a transfer out of the device
    input  logic [          63:0] lock_base_i,
    input  logic [          63:0] lock_bytes_i,
    output logic                  lock_refused_o,
    output logic [EntryWidth-1:0] lock_entry_o,

    input logic [Entries-1:0] free_i,  // release these

    output logic [Entries-1:0] locked_o,
    output logic [Entries-1:0] quiet_o,   // locked, and nothing older overlaps it

    input  logic    [Ports-1:0] write_i,
    input  logic    [Ports-1:0][63:0] address_i,  // of any byte of a granule
    output logic    [Ports-1:0] fault_o,

    input logic [Pending-1:0] pending_i,  // accesses that were let in and are not over
    input logic [Pending-1:0] pending_write_i,
    input logic [Pending-1:0][63:0] pending_address_i
);
  `MAE_PARAM(EntriesLegal, Entries >= 1 && Entries <= 16)
  `MAE_PARAM(MemoryLegal, MemoryBits >= 7 && MemoryBits <= 40)

  localparam int unsigned GranuleWidth = MemoryBits - 6;
  typedef logic [GranuleWidth-1:0] granule_t;

  typedef struct packed {
    logic     locked;
    logic     out;
    granule_t first;
    granule_t last;
  } region_t;

  region_t [Entries-1:0] region_q;
  region_t wanted;
  logic [Entries-1:0] meets;
  logic [63:0] last_byte;
  logic found, legal;

  // Whether an access of a granule meets a locked region that forbids it.
  function automatic logic forbids(input region_t region, input logic write, input logic beyond,
                                   input granule_t granule);
    return region.locked && !beyond && granule >= region.first && granule <= region.last &&
        (write || !region.out);
  endfunction

  assign last_byte = lock_base_i + lock_bytes_i - 64'd1;
  assign legal = lock_bytes_i != '0 && lock_base_i[5:0] == '0 && last_byte >= lock_base_i &&
      (last_byte >> MemoryBits) == '0;
  assign wanted = '{
          locked: 1'b1,
          out: lock_out_i,
          first: lock_base_i[6+:GranuleWidth],
          last: last_byte[6+:GranuleWidth]
      };

  always_comb begin
    found = 1'b0;
    lock_entry_o = '0;
    for (int unsigned i = 0; i < Entries; i++) begin
      meets[i] = region_q[i].locked && wanted.first <= region_q[i].last &&
          region_q[i].first <= wanted.last && !(wanted.out && region_q[i].out);
      if (!region_q[i].locked && !found) begin
        found = 1'b1;
        lock_entry_o = EntryWidth'(i);
      end
    end
  end

  assign lock_refused_o = !legal || meets != '0 || !found;

  always_comb begin
    fault_o = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      if ((address_i[p] >> MemoryBits) != '0) fault_o[p] = 1'b1;
      for (int unsigned i = 0; i < Entries; i++) begin
        fault_o[p] |= forbids(region_q[i], write_i[p], 1'b0, address_i[p][6+:GranuleWidth]);
      end
    end
    for (int unsigned i = 0; i < Entries; i++) begin
      locked_o[i] = region_q[i].locked;
      quiet_o[i]  = region_q[i].locked;
      for (int unsigned a = 0; a < Pending; a++) begin
        if (pending_i[a] && forbids(
                region_q[i],
                pending_write_i[a],
                (pending_address_i[a] >> MemoryBits) != '0,
                pending_address_i[a][6+:GranuleWidth]
            ))
          quiet_o[i] = 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) region_q <= '0;
    else if (clear_i) region_q <= '0;
    else begin
      for (int unsigned i = 0; i < Entries; i++) if (free_i[i]) region_q[i] <= '0;
      if (lock_valid_i && !lock_refused_o) region_q[lock_entry_o] <= wanted;
    end
  end

  `MAE_ASSERT(FreeLocked, (free_i & ~locked_o) == '0)

endmodule
