// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_copy_client: returns every row unchanged; it is the minimal client of mae_dma.
//
// Any core with these ports can take its place. Only operation Op is known; any other is refused
// with StatusBadOp. The fields iv, key slots and client flags of the descriptor are ignored. Ready
// comes from registers.
// Latency: 1 clock.
// Throughput: one row a clock.
// Reset: erases the stored rows.
// Parameters: Legal: DataWidth and Contexts as in mae_dma; Op 0..255.

module mae_dma_copy_client
  import mae_dma_pkg::*;
#(
    parameter  int unsigned       DataWidth  = 512,
    parameter  int unsigned       Contexts   = 64,
    parameter  logic        [7:0] Op         = 8'd0,
    localparam int unsigned       BytesWidth = $clog2(DataWidth / 8 + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic    cfg_valid_i,
    output logic    cfg_ready_o,
    input  desc_t   cfg_desc_i,
    output status_e cfg_status_o,

    input  logic                      row_valid_i,
    output logic                      row_ready_o,
    input  dma_ctx_t                  row_ctx_i,
    input  logic     [ DataWidth-1:0] row_data_i,
    input  logic     [BytesWidth-1:0] row_bytes_i,
    input  logic                      row_last_i,
    output logic     [  Contexts-1:0] client_room_o,

    output logic                      row_valid_o,
    input  logic                      row_ready_i,
    output dma_ctx_t                  row_ctx_o,
    output logic     [ DataWidth-1:0] row_data_o,
    output logic     [BytesWidth-1:0] row_bytes_o,
    output logic                      row_last_o
);
  desc_t unused_desc;  // the other fields are used by the DMA engine
  assign unused_desc = cfg_desc_i;

  assign cfg_ready_o = cfg_valid_i;
  always_comb begin
    cfg_status_o = StatusOk;
    if (cfg_desc_i.op != Op || cfg_desc_i.flags[FlagFinal]) cfg_status_o = StatusBadOp;
    else if ({cfg_desc_i.nonce, cfg_desc_i.phase, cfg_desc_i.tag_bytes} != '0)
      cfg_status_o = StatusBadOp;
    else if (cfg_desc_i.length == '0) cfg_status_o = StatusBadLength;
  end
  assign client_room_o = '1;

  mae_stream_reg #(
      .Width(8 + DataWidth + BytesWidth + 1)
  ) u_reg (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (row_valid_i),
      .in_ready_o (row_ready_o),
      .in_data_i  ({row_ctx_i, row_data_i, row_bytes_i, row_last_i}),
      .out_valid_o(row_valid_o),
      .out_ready_i(row_ready_i),
      .out_data_o ({row_ctx_o, row_data_o, row_bytes_o, row_last_o})
  );

endmodule
