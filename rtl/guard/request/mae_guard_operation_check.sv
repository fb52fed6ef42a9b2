// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_operation_check: checks whether one register operation of a batch request is legal.
//
// The checks are those of docs/protocol.md, section 5, BATCH, in their order: OPERATION, OFFSET,
// WAIT (H7: all operations are checked before the first is executed). The card knows its registers,
// with directions and widths: check_* asks it, and check_legal_i is its answer in the same clock,
// which is ignored for widths other than 4 and 8 bytes and for WAIT.
// Latency: 0 clocks (combinational, no state).
// Throughput: one operation a clock.
// Parameters: Legal: Queues 1..64.
// Source: docs/protocol.md, section 5.

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

    output logic    is_read_o,  // by its first byte, legal or not: it has a word in the response
    output status_e status_o    // StatusOk, or the reason for the refusal
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

  // The zero field is checked elsewhere, for all operations of a batch.
  logic unused;
  assign unused = ^operation_i.zero;

endmodule
