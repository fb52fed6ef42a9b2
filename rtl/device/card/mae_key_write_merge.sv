// SPDX-License-Identifier: Apache-2.0
//
// mae_key_write_merge: merges the key writes of the host's registers and of key records to the one
// write port of the key slots. It converts a record's key to the key slots' byte order.
//
// Records go first; a write that was offered stays. No output depends on write_ready_i except the
// readies.
// Latency: 0 clocks.
// Throughput: one write a clock.
// Reset: nothing is stored but which of both was offered.
// Security: stores no key.

`include "mae_assert.svh"

module mae_key_write_merge
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_dma_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input  logic       host_valid_i,
    output logic       host_ready_o,
    input  key_write_t host_i,

    input  logic          record_valid_i,
    output logic          record_ready_o,
    input  record_write_t record_i,

    output logic       write_valid_o,
    input  logic       write_ready_i,
    output key_write_t write_o
);
  logic host, host_q;
  key_write_t record;

  always_comb begin
    record = '{
        slot: key_slot_t'(record_i.slot),
        erase: record_i.erase,
        len: key_len_e'(record_i.len),
        key: '0
    };
    for (int unsigned i = 0; i < 32; i++) record.key[8*(31-i)+:8] = record_i.key[8*i+:8];
  end

  assign host = host_q || !record_valid_i;
  assign write_valid_o = host ? host_valid_i : 1'b1;
  assign write_o = host ? host_i : record;
  assign host_ready_o = host && write_ready_i;
  assign record_ready_o = !host && write_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) host_q <= 1'b0;
    else host_q <= host && host_valid_i && !write_ready_i;
  end

  `MAE_STREAM_HOLDS(WriteHolds, write_valid_o, write_ready_i, write_o)

endmodule
