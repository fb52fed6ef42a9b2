// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_request_parser: parses and checks the body of a request as it is decrypted, for all
// kinds of requests at once.
//
// The verdict over the message comes after its body: use the results only after a good verdict.
// mae_guard_request_handler selects the results of the request's kind.
// Latency: the results are valid in the clock after the last row.
// Throughput: one row a clock.
// Reset and clear: clear_i, given before each request, erases all state.
// Parameters: Legal: Queues 1..64.
// Security: constant-time.
// Source: docs/protocol.md, sections 3 and 5.

`include "mae_assert.svh"

module mae_guard_request_parser
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input place_t         place_i,      // of the request
    input logic           row_valid_i,
    input logic   [  6:0] row_index_i,
    input logic   [127:0] row_i,

    // Legality of a register access: answered in the same clock.
    output logic        check_write_o,
    output logic [31:0] check_offset_o,
    output logic [ 1:0] check_log2_width_o,
    input  logic        check_legal_i,

    output logic            all_zero_o,
    output transfer_t       transfer_o,           // H2D, D2H: the first four rows
    output logic            tag_zero_o,           // the fourth row is zero
    output logic            fields_zero_o,        // BATCH: all zero fields are 0
    output logic      [6:0] reads_o,              // number of READs
    // StatusOk, or the status of the first illegal operation
    output status_e         operations_status_o,
    output logic      [5:0] at_fault_o            // index of that operation
);
  operation_t operation;
  status_e operation_status, status_q;
  transfer_t transfer_q;
  logic is_read, not_zero_q, tag_q, fields_q;
  logic [6:0] reads_q;
  logic [5:0] at_fault_q;

  assign operation = row_i;
  assign all_zero_o = !not_zero_q;
  assign transfer_o = transfer_q;
  assign tag_zero_o = !tag_q;
  assign fields_zero_o = !fields_q;
  assign reads_o = reads_q;
  assign operations_status_o = status_q;
  assign at_fault_o = at_fault_q;

  mae_guard_operation_check #(
      .Queues(Queues)
  ) u_operations (
      .operation_i(operation),
      .queue_i    (place_i.queue_index),
      .number_i   (place_i.sequence_number),
      .check_write_o,
      .check_offset_o,
      .check_log2_width_o,
      .check_legal_i,
      .is_read_o  (is_read),
      .status_o   (operation_status)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      transfer_q <= '0;
      not_zero_q <= 1'b0;
      tag_q      <= 1'b0;
      fields_q   <= 1'b0;
      reads_q    <= '0;
      status_q   <= StatusOk;
      at_fault_q <= '0;
    end else if (clear_i) begin
      transfer_q <= '0;
      not_zero_q <= 1'b0;
      tag_q      <= 1'b0;
      fields_q   <= 1'b0;
      reads_q    <= '0;
      status_q   <= StatusOk;
      at_fault_q <= '0;
    end else if (row_valid_i) begin
      if (row_index_i < 7'd4) transfer_q <= {transfer_q[383:0], row_i};
      not_zero_q <= not_zero_q || row_i != '0;
      tag_q      <= tag_q || (row_index_i == 7'd3 && row_i != '0);
      fields_q   <= fields_q || operation.zero != '0;
      reads_q    <= reads_q + 7'(is_read);
      if (status_q == StatusOk && operation_status != StatusOk) begin
        status_q   <= operation_status;
        at_fault_q <= row_index_i[5:0];
      end
    end
  end

  logic unused;
  assign unused = ^place_i.epoch;

endmodule
