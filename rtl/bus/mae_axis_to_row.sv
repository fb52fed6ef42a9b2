// SPDX-License-Identifier: Apache-2.0
//
// mae_axis_to_row: converts AXI4-Stream beats to rows of Lanes 16-byte blocks, the data format of
// the mode engine.
//
// Byte 0 of a beat (tdata[7:0]) becomes byte 0 of block 0 (bits 127:120); tkeep becomes the number
// of bytes. Every beat but the last of a frame must be full; in the last beat tkeep must select the
// lowest bytes, at least one. Bytes that tkeep excludes become zero.
// Latency: 0 clocks (combinational); ready is combinational from row_ready_i.
// Throughput: one row a clock.
// Parameters: Lanes is the number of blocks a row. Legal: Lanes >= 1.

`include "mae_assert.svh"

module mae_axis_to_row
  import mae_bytes_pkg::*;
#(
    parameter  int unsigned Lanes = 4,
    localparam int unsigned Bytes = 16 * Lanes
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic               s_axis_tvalid,
    output logic               s_axis_tready,
    input  logic [8*Bytes-1:0] s_axis_tdata,
    input  logic [  Bytes-1:0] s_axis_tkeep,
    input  logic               s_axis_tlast,

    output logic                              row_valid_o,
    input  logic                              row_ready_i,
    output logic [          Lanes-1:0][127:0] row_data_o,
    output logic [$clog2(Bytes+1)-1:0]        row_bytes_o,
    output logic                              row_last_o
);
  logic [8*Bytes-1:0] kept;

  always_comb begin
    row_bytes_o = '0;
    for (int unsigned i = 0; i < Bytes; i++) begin
      row_bytes_o += ($bits(row_bytes_o))'(s_axis_tkeep[i]);
      kept[8*i+:8] = s_axis_tkeep[i] ? s_axis_tdata[8*i+:8] : '0;
    end
    for (int unsigned i = 0; i < Lanes; i++) row_data_o[i] = swap_block(kept[128*i+:128]);
  end

  assign row_valid_o   = s_axis_tvalid;
  assign s_axis_tready = row_ready_i;
  assign row_last_o    = s_axis_tlast;

  `MAE_ASSERT(KeepFromByte0, !s_axis_tvalid || (s_axis_tkeep & (s_axis_tkeep + 1'b1)) == '0)
  `MAE_ASSERT(KeepSome, !s_axis_tvalid || s_axis_tkeep[0])
  `MAE_ASSERT(KeepAllButLast, !s_axis_tvalid || s_axis_tlast || s_axis_tkeep == '1)

endmodule
