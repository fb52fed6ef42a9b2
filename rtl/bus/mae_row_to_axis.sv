// SPDX-License-Identifier: Apache-2.0
//
// mae_row_to_axis: converts rows of Lanes 16-byte blocks, the data format of the mode engine, to
// AXI4-Stream beats.
//
// Byte 0 of block 0 (bits 127:120) becomes byte 0 of the beat (tdata[7:0]); the number of bytes
// becomes tkeep; the bytes beyond it become zero. mae_axis_to_row is the inverse.
// Latency: 0 clocks (combinational); ready is combinational from m_axis_tready.
// Throughput: one beat a clock.
// Parameters: Lanes is the number of blocks a row. Legal: Lanes >= 1.

`include "mae_assert.svh"

module mae_row_to_axis
  import mae_bytes_pkg::*;
#(
    parameter  int unsigned Lanes = 4,
    localparam int unsigned Bytes = 16 * Lanes
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                              row_valid_i,
    output logic                              row_ready_o,
    input  logic [          Lanes-1:0][127:0] row_data_i,
    input  logic [$clog2(Bytes+1)-1:0]        row_bytes_i,
    input  logic                              row_last_i,

    output logic               m_axis_tvalid,
    input  logic               m_axis_tready,
    output logic [8*Bytes-1:0] m_axis_tdata,
    output logic [  Bytes-1:0] m_axis_tkeep,
    output logic               m_axis_tlast
);
  logic [8*Bytes-1:0] data;

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) data[128*i+:128] = swap_block(row_data_i[i]);
    for (int unsigned i = 0; i < Bytes; i++) begin
      m_axis_tkeep[i]      = i < 32'(row_bytes_i);
      m_axis_tdata[8*i+:8] = m_axis_tkeep[i] ? data[8*i+:8] : '0;
    end
  end

  assign m_axis_tvalid = row_valid_i;
  assign row_ready_o   = m_axis_tready;
  assign m_axis_tlast  = row_last_i;

  `MAE_ASSERT(SomeBytes, !row_valid_i || row_bytes_i != '0)
  `MAE_ASSERT(FullButLast, !row_valid_i || row_last_i || 32'(row_bytes_i) == Bytes)
  `MAE_STREAM_HOLDS(RowHolds, row_valid_i, row_ready_o, {row_data_i, row_bytes_i, row_last_i})

endmodule
