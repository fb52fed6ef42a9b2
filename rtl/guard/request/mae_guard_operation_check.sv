// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_operation_check: whether one operation of a batch may be carried out (H7).
//
// The checks of docs/protocol.md §5, BATCH, in their order: OPERATION, OFFSET, WAIT. Which
// registers there are, in which direction and width, is the card's to say: check_* asks it,
// check_legal_i is its answer in the same clock (it is not asked for other widths than 4 and 8
// bytes, or for a WAIT: what it says then counts for nothing).
//
// Latency: combinational. Legal: Queues 1..64. No state.

`include "mae_assert.svh"

module mae_guard_operation_check
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4
) (
    input operation_t        operation_i,
    input logic       [ 7:0] queue_i,      // of the batch
    input logic       [63:0] number_i,     // of the batch

    output logic        check_write_o,
    output logic [31:0] check_offset_o,
    output logic [ 1:0] check_log2_width_o,
    input  logic        check_legal_i,

    output logic    is_read_o,  // by its first byte, legal or not: it has a place in the answer
    output status_e status_o    // OK, or why not
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 64)

  localparam logic [31:0] Kernel = 32'hffff_ffff;

  logic is_write, wide, narrow, aligned, fits, own, known;

  assign is_read_o = operation_i.op == OpRead;
  assign is_write = operation_i.op == OpWrite;
  assign narrow = operation_i.log2_width == 8'd2;
  assign wide = operation_i.log2_width == 8'd3;
  assign aligned = operation_i.offset[1:0] == '0 && (narrow || !operation_i.offset[2]);
  assign fits = is_read_o ? operation_i.data == '0 : wide || operation_i.data[63:32] == '0;
  assign own = operation_i.offset == 32'(queue_i) && operation_i.data >= number_i;
  assign known = operation_i.offset < Queues && operation_i.data != '0;

  assign check_write_o = is_write;
  assign check_offset_o = operation_i.offset;
  assign check_log2_width_o = operation_i.log2_width[1:0];

  always_comb begin
    status_o = StatusOk;
    if (operation_i.op == OpWait) begin
      if (operation_i.log2_width != '0) status_o = StatusOperation;
      else if (operation_i.offset != Kernel && (!known || own)) status_o = StatusWait;
    end else if (!is_read_o && !is_write) status_o = StatusOperation;
    else if (!(narrow || wide) || !aligned || !fits) status_o = StatusOperation;
    else if (!check_legal_i) status_o = StatusOffset;
  end

  // Its zero field is judged before, for all operations of a batch.
  logic unused;
  assign unused = ^operation_i.zero;

endmodule
