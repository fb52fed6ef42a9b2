// SPDX-License-Identifier: Apache-2.0
//
// Defines the kinds of notes that the bus monitors write, and the simulator's function that takes
// them (sim/notes.h).

package mae_bus_monitor_pkg;

  // Kinds of notes, and their a, b, c and data.
  localparam int unsigned NoteWrite = 1;  // granule, strobes; data
  localparam int unsigned NoteClear = 2;  // the memory is being zeroed
  localparam int unsigned NoteAccess = 3;  // queue, write and width, offset; data: written
  localparam int unsigned NoteStart = 4;  // a run begins: length
  localparam int unsigned NoteRow = 5;  // the kernel was given 16 bytes
  localparam int unsigned NoteEnd = 6;  // a run ended: 1 with a fault
  localparam int unsigned NoteMoved = 7;  // queue, base, total: a transfer into the device
  localparam int unsigned NoteFatal = 8;  // cause, queue, number
  localparam int unsigned NoteTime = 9;  // what began or ended (below), clock since the start

  localparam int unsigned TimeIn = 0;  // a chunk into the device begins; ends, verified: 1
  localparam int unsigned TimeOut = 2;  // one out of it; 3
  localparam int unsigned TimeRequest = 4;  // a doorbell was rung; its answer's number is written: 5

  import "DPI-C" function void maeslant_bus_monitor(
    input int unsigned kind,
    input longint unsigned a,
    input longint unsigned b,
    input longint unsigned c,
    input bit [511:0] data
  );

endpackage
