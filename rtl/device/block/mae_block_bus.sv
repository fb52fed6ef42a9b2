// SPDX-License-Identifier: Apache-2.0
//
// mae_block_bus: is an AXI4 manager port of the block card: control traffic and data of the channels
// through mae_dma_axi_mux, write data through mae_axi_w_purge.
//
// Ports and halt_i are those of mae_dma_axi_mux. A wipe drops the data of the bursts that are left.
// Latency: as mae_dma_axi_mux.
// Throughput: as mae_dma_axi_mux.
// Reset: drops everything.
// Parameters: as mae_dma_axi_mux.

module mae_block_bus
  import mae_dma_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned IdWidth   = 8,
    parameter int unsigned BeatWidth = 512   // of control reads: min(DataWidth, 512)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic halt_i,
    output logic draining_o,

    // control reads, indexed by reader_e
    input  logic         [          2:0] ctl_ar_valid_i,
    output logic         [          2:0] ctl_ar_ready_o,
    input  control_ar_t  [          2:0] ctl_ar_i,
    output logic         [          2:0] ctl_r_valid_o,
    output control_tag_t                 ctl_r_tag_o,
    output logic         [          1:0] ctl_r_beat_o,
    output logic         [BeatWidth-1:0] ctl_r_data_o,
    output logic                         ctl_r_error_o,
    output logic                         ctl_r_last_o,

    // completions
    input  logic                              ctl_aw_valid_i,
    output logic                              ctl_aw_ready_o,
    input  completion_tag_t                   ctl_aw_tag_i,
    input  addr_t                             ctl_aw_addr_i,
    input  logic                              ctl_w_valid_i,
    output logic                              ctl_w_ready_o,
    input  logic            [  DataWidth-1:0] ctl_w_data_i,
    input  logic            [DataWidth/8-1:0] ctl_w_strb_i,
    input  logic                              ctl_w_last_i,
    output logic                              ctl_b_valid_o,
    output completion_tag_t                   ctl_b_tag_o,
    output logic                              ctl_b_error_o,

    // data engines; their responses are the manager's inputs
    input  logic                    mov_ar_valid_i,
    output logic                    mov_ar_ready_o,
    input  logic  [    IdWidth-1:0] mov_ar_id_i,
    input  addr_t                   mov_ar_addr_i,
    input  logic  [            7:0] mov_ar_len_i,
    output logic                    mov_r_valid_o,
    input  logic                    mov_aw_valid_i,
    output logic                    mov_aw_ready_o,
    input  logic  [    IdWidth-1:0] mov_aw_id_i,
    input  addr_t                   mov_aw_addr_i,
    input  logic  [            7:0] mov_aw_len_i,
    input  logic                    mov_w_valid_i,
    output logic                    mov_w_ready_o,
    input  logic  [  DataWidth-1:0] mov_w_data_i,
    input  logic  [DataWidth/8-1:0] mov_w_strb_i,
    input  logic                    mov_w_last_i,
    output logic                    mov_b_valid_o,

    // AXI4 manager
    output logic                    ar_valid_o,
    input  logic                    ar_ready_i,
    output logic  [    IdWidth-1:0] ar_id_o,
    output addr_t                   ar_addr_o,
    output logic  [            7:0] ar_len_o,
    output logic  [            2:0] ar_size_o,
    input  logic                    r_valid_i,
    input  logic  [    IdWidth-1:0] r_id_i,
    input  logic  [  DataWidth-1:0] r_data_i,
    input  logic                    r_error_i,
    input  logic                    r_last_i,
    output logic                    aw_valid_o,
    input  logic                    aw_ready_i,
    output logic  [    IdWidth-1:0] aw_id_o,
    output addr_t                   aw_addr_o,
    output logic  [            7:0] aw_len_o,
    output logic  [            2:0] aw_size_o,
    output logic                    w_valid_o,
    input  logic                    w_ready_i,
    output logic  [  DataWidth-1:0] w_data_o,
    output logic  [DataWidth/8-1:0] w_strb_o,
    output logic                    w_last_o,
    input  logic                    b_valid_i,
    input  logic  [    IdWidth-1:0] b_id_i,
    input  logic                    b_error_i
);
  logic w_valid, w_ready, w_last;
  logic [  DataWidth-1:0] w_data;
  logic [DataWidth/8-1:0] w_strb;

  mae_dma_axi_mux #(
      .DataWidth(DataWidth),
      .IdWidth  (IdWidth),
      .BeatWidth(BeatWidth)
  ) u_mux (
      .w_valid_o(w_valid),
      .w_ready_i(w_ready),
      .w_data_o (w_data),
      .w_strb_o (w_strb),
      .w_last_o (w_last),
      .*
  );

  mae_axi_w_purge #(
      .DataWidth(DataWidth)
  ) u_purge (
      .clk_i,
      .rst_ni,
      .purge_i     (halt_i || draining_o),
      .s_axi_wvalid(w_valid),
      .s_axi_wready(w_ready),
      .s_axi_wdata (w_data),
      .s_axi_wstrb (w_strb),
      .s_axi_wlast (w_last),
      .m_axi_wvalid(w_valid_o),
      .m_axi_wready(w_ready_i),
      .m_axi_wdata (w_data_o),
      .m_axi_wstrb (w_strb_o),
      .m_axi_wlast (w_last_o)
  );

endmodule
