// SPDX-License-Identifier: Apache-2.0
//
// Records the internal events of a protected card for the simulator (sim/notes.h): memory contents,
// register accesses, kernel reads, finished transfers, and the cause of a session's end. Bound to
// the card's modules; it drives nothing. maeslant/protected/rtl_card.py reads the notes.

module mae_monitor_memory
  import mae_bus_monitor_pkg::*;
(
    input logic         clk_i,
    input logic         walking_i,
    input logic [ 63:0] granule_i,
    input logic [ 63:0] strb_i,
    input logic [511:0] data_i
);
  logic walked_q;
  initial walked_q = 1'b0;

  always @(posedge clk_i) begin
    walked_q <= walking_i;
    if (walking_i && !walked_q) maeslant_bus_monitor(NoteClear, 0, 0, 0, '0);
    if (!walking_i && strb_i != '0) maeslant_bus_monitor(NoteWrite, granule_i, strb_i, 0, data_i);
  end
endmodule

module mae_monitor_registers
  import mae_bus_monitor_pkg::*;
(
    input logic        clk_i,
    input logic        valid_i,
    input logic        write_i,
    input logic [ 7:0] queue_i,
    input logic [31:0] offset_i,
    input logic [ 1:0] log2_width_i,
    input logic [63:0] wdata_i
);
  always @(posedge clk_i) begin
    if (valid_i) begin
      maeslant_bus_monitor(NoteAccess, 64'(queue_i), 64'({write_i, 6'b0, log2_width_i}), 64'(offset_i),
                       512'(wdata_i));
    end
  end
endmodule

module mae_monitor_kernel
  import mae_bus_monitor_pkg::*;
(
    input logic         clk_i,
    input logic         start_i,
    input logic [ 63:0] length_i,
    input logic         row_i,
    input logic [127:0] row_data_i,
    input logic         done_i,
    input logic         fault_i
);
  always @(posedge clk_i) begin
    if (row_i) maeslant_bus_monitor(NoteRow, 0, 0, 0, 512'(row_data_i));
    if (done_i) maeslant_bus_monitor(NoteEnd, 64'(fault_i), 0, 0, '0);
    if (start_i) maeslant_bus_monitor(NoteStart, length_i, 0, 0, '0);
  end
endmodule

module mae_monitor_h2d
  import mae_guard_pkg::*;
  import mae_bus_monitor_pkg::*;
(
    input logic   clk_i,
    input logic   clear_i,
    input logic   start_i,
    input chunk_t chunk_i,
    input logic   moved_i,
    input logic   passed_i
);
  chunk_t [1:0] chunk_q;  // under way, the older one first
  logic   [1:0] count_q;
  initial count_q = '0;

  always @(posedge clk_i) begin
    count_q <= count_q + 2'(start_i) - 2'(moved_i);
    if (moved_i) begin
      chunk_q[0] <= chunk_q[1];
      if (passed_i && chunk_q[0].last) begin
        maeslant_bus_monitor(NoteMoved, 64'(chunk_q[0].place.queue_index), chunk_q[0].base,
                         chunk_q[0].total, '0);
      end
    end
    if (start_i) chunk_q[1'(count_q-2'(moved_i))] <= chunk_i;
    if (clear_i) count_q <= '0;
  end
endmodule

module mae_monitor_session
  import mae_guard_pkg::*;
  import mae_bus_monitor_pkg::*;
(
    input logic   clk_i,
    input logic   failed_i,
    input fatal_t fatal_i
);
  always @(posedge clk_i) begin
    if (failed_i) begin
      maeslant_bus_monitor(NoteFatal, 64'(fatal_i.cause), 64'(fatal_i.queue_index),
                       fatal_i.sequence_number, '0);
    end
  end
endmodule

bind mae_card_memory mae_monitor_memory u_monitor (
    .clk_i,
    .walking_i(walking_q),
    .granule_i(64'(place)),
    .strb_i(strb),
    .data_i(data)
);

bind mae_guard_batch_executor mae_monitor_registers u_monitor (
    .clk_i,
    .valid_i(reg_valid_o),
    .write_i(reg_write_o),
    .queue_i(8'(current_q)),
    .offset_i(reg_offset_o),
    .log2_width_i(reg_log2_width_o),
    .wdata_i(reg_wdata_o)
);

bind mae_kernel_registers mae_monitor_kernel u_monitor (
    .clk_i,
    .start_i(started_q),
    .length_i(word_q[4]),
    .row_i(mem_rvalid_i),
    .row_data_i(mem_rdata_i),
    .done_i(done_o),
    .fault_i(beyond_q || kernel_fault)
);

bind mae_guard_dma_h2d mae_monitor_h2d u_monitor (
    .clk_i,
    .clear_i,
    .start_i (start),
    .chunk_i (start_i),
    .moved_i (moved_valid_o),
    .passed_i(moved_o.tag_ok && !moved_o.beat_error)
);

bind mae_guard_session mae_monitor_session u_monitor (
    .clk_i,
    .failed_i(failed),
    .fatal_i (first_fatal)
);

bind mae_guard_dma_h2d mae_bus_monitor_time #(
    .First(mae_bus_monitor_pkg::TimeIn)
) u_time (
    .clk_i,
    .event_i({moved_valid_o, start_valid_i && start_ready_o})
);

bind mae_guard_dma_d2h mae_bus_monitor_time #(
    .First(mae_bus_monitor_pkg::TimeOut)
) u_time (
    .clk_i,
    .event_i({moved_valid_o, start_valid_i && start_ready_o})
);

bind mae_guard_request_executor mae_bus_monitor_time #(
    .First(mae_bus_monitor_pkg::TimeRequest)
) u_time (
    .clk_i,
    .event_i({answered_valid_o, write_valid_i && write_offset_i == 12'h420})
);
