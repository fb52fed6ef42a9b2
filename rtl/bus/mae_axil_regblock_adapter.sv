// SPDX-License-Identifier: Apache-2.0
//
// mae_axil_regblock_adapter: connects a generated register block (PeakRDL's pass-through CPU
// interface) to AXI4-Lite.
//
// The register block executes one access at a time; reads and writes alternate when both are
// pending. A response that is not accepted stalls its own direction only; a read is executed after
// the response of the one before has left, so that no data wait behind a response that is never
// accepted. All bus outputs come from registers.
// Latency: 2 clocks an access, plus the wait of an external register.
// Throughput: one write a clock, one read in two clocks.
// Parameters: AddrWidth is the width of the addresses. Legal: AddrWidth 2..32.
// Source: ARM IHI 0022 (AXI4-Lite); PeakRDL-regblock, "CPU interface: passthrough".

`include "mae_assert.svh"

module mae_axil_regblock_adapter
  import mae_axi_pkg::*;
#(
    parameter int unsigned AddrWidth = 12
) (
    input logic clk_i,
    input logic rst_ni,

    input  axil_req_t axil_i,
    output axil_rsp_t axil_o,

    // to the register block: req_o is high for one clock; the answer comes in that clock or later
    output logic                 req_o,
    output logic                 req_is_wr_o,
    output logic [AddrWidth-1:0] addr_o,
    output logic [         31:0] wr_data_o,
    output logic [         31:0] wr_biten_o,
    input  logic                 rd_ack_i,
    input  logic                 rd_err_i,
    input  logic [         31:0] rd_data_i,
    input  logic                 wr_ack_i,
    input  logic                 wr_err_i
);
  logic write_valid, read_valid, read_wanted, busy_q, read_last_q;
  logic [AddrWidth-1:0] write_addr, read_addr;
  logic [3:0] write_strb;
  logic unused_bytes;

  mae_axil_to_reg #(
      .AddrWidth(AddrWidth)
  ) u_port (
      .clk_i,
      .rst_ni,
      .write_valid_o(write_valid),
      .write_done_i (wr_ack_i),
      .write_addr_o (write_addr),
      .write_data_o (wr_data_o),
      .write_strb_o (write_strb),
      .write_error_i(wr_err_i),
      .read_valid_o (read_wanted),
      .read_done_i  (rd_ack_i),
      .read_addr_o  (read_addr),
      .read_data_i  (rd_data_i),
      .read_error_i (rd_err_i),
      .*
  );

  assign unused_bytes = ^{write_addr[1:0], read_addr[1:0]};  // registers are 32-bit words
  assign read_valid = read_wanted && !axil_o.r_valid;
  assign req_o = (write_valid || read_valid) && !busy_q;
  assign req_is_wr_o = write_valid && !(read_valid && !read_last_q);
  assign addr_o = {req_is_wr_o ? write_addr[AddrWidth-1:2] : read_addr[AddrWidth-1:2], 2'b00};
  always_comb for (int unsigned i = 0; i < 4; i++) wr_biten_o[8*i+:8] = {8{write_strb[i]}};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      read_last_q <= 1'b0;
    end else begin
      busy_q <= (busy_q || req_o) && !rd_ack_i && !wr_ack_i;
      if (req_o) read_last_q <= !req_is_wr_o;
    end
  end

  `MAE_ASSERT(AckForRequest, !(rd_ack_i || wr_ack_i) || busy_q || req_o)
  `MAE_ASSERT(OneAck, !(rd_ack_i && wr_ack_i))

endmodule
