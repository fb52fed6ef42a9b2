// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_region_locks: reserves and locks regions of device memory for DMA transfers. It checks
// every memory access against the locks.
//
// A region is reserved when its transfer is armed: no other transfer then gets a part of it, except
// that two D2H transfers may overlap. It is closed (locked) when its transfer starts: an H2D region
// against every access, a D2H region against writes. Both last until the region is released, after
// the last chunk of the transfer has passed: so nobody reads a byte that was not verified, and the
// data that leave are those that were there (docs/protocol.md, H8: quarantine). Regions are whole
// granules of 64 bytes. A reservation is refused, without effect, if the region is empty, begins
// within a granule, exceeds the memory or wraps around, overlaps a reserved one, or if no entry is
// free.
//
// Accesses are checked in their own clock, from registers: an access with fault_o must not be
// executed. pending_* are accesses that were allowed earlier and are still running: a closed region
// is quiet when none of them conflicts with it.
// Latency: refused_o, entry_o and fault_o are combinational; a reservation or lock takes effect in
// the next clock.
// Throughput: one reservation and Ports accesses a clock.
// Reset and clear: both release all regions (the memory is erased meanwhile).
// Parameters: Legal: MemoryBits 7..40; Entries 1..16; Ports >= 1; Pending >= 1.
// Security: holds no secrets.
// Source: docs/protocol.md, section 5 (H8, H17).

`include "mae_assert.svh"

module mae_guard_region_locks
  import mae_guard_pkg::*;
#(
    parameter int unsigned MemoryBits = 20,  // log2 of the device memory's size in bytes
    parameter int unsigned Entries = 8,
    parameter int unsigned Ports = 2,  // checked accesses a clock
    parameter int unsigned Pending = 4,  // accesses that may be running
    localparam int unsigned EntryWidth = (Entries > 1) ? $clog2(Entries) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic                  reserve_i,
    input  logic                  out_i,      // D2H, otherwise H2D
    input  logic [          63:0] base_i,
    input  logic [          63:0] bytes_i,
    output logic                  refused_o,
    output logic [EntryWidth-1:0] entry_o,

    input logic [Entries-1:0] close_i,   // lock these regions
    input logic [Entries-1:0] release_i,

    output logic [Entries-1:0] quiet_o,  // closed, and no earlier access conflicts

    input  logic    [Ports-1:0] write_i,
    input  logic    [Ports-1:0][63:0] address_i,  // of any byte of a granule
    output logic    [Ports-1:0] fault_o,

    input logic [Pending-1:0] pending_i,  // accesses that were allowed and have not ended
    input logic [Pending-1:0] pending_write_i,
    input logic [Pending-1:0][63:0] pending_address_i
);
  `MAE_PARAM(EntriesLegal, Entries >= 1 && Entries <= 16)
  `MAE_PARAM(MemoryLegal, MemoryBits >= 7 && MemoryBits <= 40)

  localparam int unsigned GranuleWidth = MemoryBits - 6;
  typedef logic [GranuleWidth-1:0] granule_t;

  typedef struct packed {
    logic     reserved;
    logic     closed;
    logic     out;
    granule_t first;
    granule_t last;
  } region_t;

  region_t [Entries-1:0] region_q;
  region_t wanted;
  logic [Entries-1:0] meets, reserved;
  logic [63:0] last_byte;
  logic found, legal;

  // An access to a granule conflicts with a locked region.
  function automatic logic forbids(input region_t region, input logic write, input logic beyond,
                                   input granule_t granule);
    return region.reserved && region.closed && !beyond && granule >= region.first &&
        granule <= region.last && (write || !region.out);
  endfunction

  assign last_byte = base_i + bytes_i - 64'd1;
  assign legal = bytes_i != '0 && base_i[5:0] == '0 && last_byte >= base_i &&
      (last_byte >> MemoryBits) == '0;
  assign wanted = '{
          reserved: 1'b1,
          closed: 1'b0,
          out: out_i,
          first: base_i[6+:GranuleWidth],
          last: last_byte[6+:GranuleWidth]
      };

  always_comb begin
    found   = 1'b0;
    entry_o = '0;
    for (int unsigned i = 0; i < Entries; i++) begin
      meets[i] = region_q[i].reserved && wanted.first <= region_q[i].last &&
          region_q[i].first <= wanted.last && !(wanted.out && region_q[i].out);
      if (!region_q[i].reserved && !found) begin
        found   = 1'b1;
        entry_o = EntryWidth'(i);
      end
    end
  end

  assign refused_o = !legal || meets != '0 || !found;

  always_comb begin
    fault_o = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      if ((address_i[p] >> MemoryBits) != '0) fault_o[p] = 1'b1;
      for (int unsigned i = 0; i < Entries; i++) begin
        fault_o[p] |= forbids(region_q[i], write_i[p], 1'b0, address_i[p][6+:GranuleWidth]);
      end
    end
    for (int unsigned i = 0; i < Entries; i++) begin
      reserved[i] = region_q[i].reserved;
      quiet_o[i]  = region_q[i].closed;
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
      for (int unsigned i = 0; i < Entries; i++) begin
        if (release_i[i]) region_q[i] <= '0;
        else if (close_i[i]) region_q[i].closed <= 1'b1;
      end
      if (reserve_i && !refused_o) region_q[entry_o] <= wanted;
    end
  end

  `MAE_ASSERT(OfReserved, ((close_i | release_i) & ~reserved) == '0)

endmodule
