// SPDX-License-Identifier: Apache-2.0
//
// sim_probe: copies memory over AXI4 and breaks bus rules on request, to test the simulator.
//
// One run copies `bursts` bursts of `beats` beats from `src` to `dst` (mode 0), or reads and, at
// once, writes the bursts' numbers (mode 1), or only reads (2), or only writes (3).
// Legal: DataWidth 32..1024, a power of two. Registers, 32 bits each:
//   000 identity      004 scratch           008 write: go; read: busy, irq, errors seen
//   00c/010 src       014/018 dst           01c bursts (1..64)   020 beats (1..16)
//   024 mode          028 mask of read IDs; bit 6: control traffic     02c what to break (Break*)
//   030 clear irq     034 clocks with a read and a write beat    038 bursts that overtook
//   03c clocks of the run                   040 clocks since reset
//   400+4i clocks from read address i to its first beat; 800+4i from last write data to response

module sim_probe #(
    parameter int unsigned DataWidth = 512
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    output logic                     irq_o,
    input  logic                     s_axil_awvalid,
    output logic                     s_axil_awready,
    input  logic [             11:0] s_axil_awaddr,
    input  logic [              2:0] s_axil_awprot,
    input  logic                     s_axil_wvalid,
    output logic                     s_axil_wready,
    input  logic [             31:0] s_axil_wdata,
    input  logic [              3:0] s_axil_wstrb,
    output logic                     s_axil_bvalid,
    input  logic                     s_axil_bready,
    output logic [              1:0] s_axil_bresp,
    input  logic                     s_axil_arvalid,
    output logic                     s_axil_arready,
    input  logic [             11:0] s_axil_araddr,
    input  logic [              2:0] s_axil_arprot,
    output logic                     s_axil_rvalid,
    input  logic                     s_axil_rready,
    output logic [             31:0] s_axil_rdata,
    output logic [              1:0] s_axil_rresp,
    output logic                     m_axi_arvalid,
    input  logic                     m_axi_arready,
    output logic [             63:0] m_axi_araddr,
    output logic [              6:0] m_axi_arid,
    output logic [              7:0] m_axi_arlen,
    output logic [              2:0] m_axi_arsize,
    output logic [              1:0] m_axi_arburst,
    input  logic                     m_axi_rvalid,
    output logic                     m_axi_rready,
    input  logic [              6:0] m_axi_rid,
    input  logic [    DataWidth-1:0] m_axi_rdata,
    input  logic [              1:0] m_axi_rresp,
    input  logic                     m_axi_rlast,
    output logic                     m_axi_awvalid,
    input  logic                     m_axi_awready,
    output logic [             63:0] m_axi_awaddr,
    output logic [              6:0] m_axi_awid,
    output logic [              7:0] m_axi_awlen,
    output logic [              2:0] m_axi_awsize,
    output logic [              1:0] m_axi_awburst,
    output logic                     m_axi_wvalid,
    input  logic                     m_axi_wready,
    output logic [    DataWidth-1:0] m_axi_wdata,
    output logic [(DataWidth/8)-1:0] m_axi_wstrb,
    output logic                     m_axi_wlast,
    input  logic                     m_axi_bvalid,
    output logic                     m_axi_bready,
    input  logic [              6:0] m_axi_bid,
    input  logic [              1:0] m_axi_bresp
);

  localparam int unsigned Bursts = 64;
  localparam int unsigned Beats = 16;
  localparam int unsigned Bytes = DataWidth / 8;

  localparam logic [3:0] BreakArStable = 1;  // the address changes before it is taken
  localparam logic [3:0] BreakWlast = 2;  // no WLAST
  localparam logic [3:0] BreakPage = 3;  // bursts start in the middle of a page's last beats
  localparam logic [3:0] BreakAssert = 4;  // an assertion fails
  localparam logic [3:0] BreakFinish = 5;  // $finish
  localparam logic [3:0] BreakMute = 6;  // registers stop answering
  localparam logic [3:0] BreakWstable = 7;  // write data changes before it is taken
  localparam logic [3:0] BreakNoAddress = 8;  // write data without its address

  typedef logic [6:0] index_t;  // 0..64

  logic [31:0] scratch_q, clocks_q, run_clocks_q, both_q, overtook_q;
  logic [63:0] src_q, dst_q;
  index_t bursts_q, id_mask_q;
  logic [4:0] beats_q;
  logic [1:0] mode_q;
  logic [3:0] break_q;
  logic busy_q, irq_q;
  logic [3:0] error_q;  // read SLVERR, DECERR, write SLVERR, DECERR

  // Registers.
  logic aw_q, w_q, go;
  logic [11:0] aw_addr_q;
  logic [31:0] w_data_q;
  logic write, mute;
  assign mute = break_q == BreakMute;
  assign s_axil_awready = !aw_q && !mute;
  assign s_axil_wready = !w_q && !mute;
  assign write = aw_q && w_q && !s_axil_bvalid;
  assign s_axil_arready = !s_axil_rvalid && !mute;
  assign go = write && aw_addr_q == 12'h008;

  logic [31:0] read_clocks_q [Bursts];
  logic [31:0] write_clocks_q[Bursts];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_q, w_q, s_axil_bvalid, s_axil_rvalid} <= '0;
      {aw_addr_q, w_data_q, s_axil_bresp, s_axil_rresp, s_axil_rdata} <= '0;
      {scratch_q, src_q, dst_q, mode_q, break_q, clocks_q} <= '0;
      id_mask_q <= 7'h3f;
      bursts_q <= 7'd1;
      beats_q <= 5'd1;
    end else begin
      clocks_q <= clocks_q + 1;
      if (s_axil_awvalid && s_axil_awready) {aw_q, aw_addr_q} <= {1'b1, s_axil_awaddr};
      if (s_axil_wvalid && s_axil_wready) {w_q, w_data_q} <= {1'b1, s_axil_wdata};
      if (s_axil_bvalid && s_axil_bready) s_axil_bvalid <= 1'b0;
      if (write) begin
        {aw_q, w_q, s_axil_bvalid, s_axil_bresp} <= {2'b00, 1'b1, 2'b00};
        case (aw_addr_q)
          12'h004: scratch_q <= w_data_q;
          12'h008, 12'h030: ;
          12'h00c: src_q[31:0] <= w_data_q;
          12'h010: src_q[63:32] <= w_data_q;
          12'h014: dst_q[31:0] <= w_data_q;
          12'h018: dst_q[63:32] <= w_data_q;
          12'h01c: bursts_q <= w_data_q[6:0];
          12'h020: beats_q <= w_data_q[4:0];
          12'h024: mode_q <= w_data_q[1:0];
          12'h028: id_mask_q <= w_data_q[6:0];
          12'h02c: break_q <= w_data_q[3:0];
          default: s_axil_bresp <= 2'b10;
        endcase
      end
      if (s_axil_rvalid && s_axil_rready) s_axil_rvalid <= 1'b0;
      if (s_axil_arvalid && s_axil_arready) begin
        {s_axil_rvalid, s_axil_rresp} <= {1'b1, 2'b00};
        case (s_axil_araddr)
          12'h000: s_axil_rdata <= 32'h50524f42;
          12'h004: s_axil_rdata <= scratch_q;
          12'h008: s_axil_rdata <= {26'b0, error_q, irq_q, busy_q};
          12'h034: s_axil_rdata <= both_q;
          12'h038: s_axil_rdata <= overtook_q;
          12'h03c: s_axil_rdata <= run_clocks_q;
          12'h040: s_axil_rdata <= clocks_q;
          default:
          if (s_axil_araddr[11:8] == 4'h4) s_axil_rdata <= read_clocks_q[s_axil_araddr[7:2]];
          else if (s_axil_araddr[11:8] == 4'h8) s_axil_rdata <= write_clocks_q[s_axil_araddr[7:2]];
          else {s_axil_rdata, s_axil_rresp} <= {32'b0, 2'b10};
        endcase
      end
    end
  end
  assign irq_o = irq_q;

  // Reads: burst i has ID i & id_mask; answers of one ID come in order.
  logic reads, writes, waits_for_data;
  assign reads = mode_q != 2'd3;
  assign writes = mode_q != 2'd2;
  assign waits_for_data = mode_q == 2'd0;

  logic [DataWidth-1:0] data_q[Bursts*Beats];
  logic [Bursts-1:0] read_done_q;
  index_t ar_next_q, reads_done_q;
  index_t burst_of_id_q[Bursts];  // the burst that the ID's next beat belongs to
  logic [4:0] beat_of_id_q[Bursts];
  logic [31:0] ar_clock_q[Bursts];
  index_t r_burst;
  logic [4:0] r_beat;
  logic r_taken;
  logic [63:0] stride;
  assign stride = 64'(beats_q) * Bytes;
  assign r_burst = burst_of_id_q[m_axi_rid[5:0]];
  assign r_beat = beat_of_id_q[m_axi_rid[5:0]];
  assign r_taken = m_axi_rvalid && m_axi_rready;

  assign m_axi_arvalid = busy_q && reads && ar_next_q != bursts_q;
  assign m_axi_araddr = src_q + 64'(ar_next_q) * stride
      + (break_q == BreakPage ? 64'(4096 - Bytes) : '0)
      + (break_q == BreakArStable ? 64'(clocks_q[0]) << 12 : '0);
  assign m_axi_arid = {id_mask_q[6], ar_next_q[5:0] & id_mask_q[5:0]};
  assign m_axi_arlen = 8'(beats_q - 1'b1);
  assign m_axi_arsize = 3'($clog2(Bytes));
  assign m_axi_arburst = 2'b01;
  assign m_axi_rready = 1'b1;

  logic older_open;  // a burst before r_burst is not read
  always_comb begin
    older_open = 1'b0;
    for (int unsigned i = 0; i < Bursts; i++)
    if (index_t'(i) < r_burst && !read_done_q[i]) older_open = 1'b1;
  end

  // Writes in order, as soon as their data is there.
  index_t aw_next_q, w_next_q, b_done_q;
  logic [4:0] w_beat_q;
  logic w_taken;
  logic [31:0] w_clock_q[Bursts];
  assign w_taken = m_axi_wvalid && m_axi_wready;
  assign m_axi_awvalid = busy_q && writes && aw_next_q != bursts_q && break_q != BreakNoAddress
      && (!waits_for_data || read_done_q[aw_next_q[5:0]]);
  assign m_axi_awaddr = dst_q + 64'(aw_next_q) * stride;
  assign m_axi_awid = aw_next_q;
  assign m_axi_awlen = 8'(beats_q - 1'b1);
  assign m_axi_awsize = 3'($clog2(Bytes));
  assign m_axi_awburst = 2'b01;
  assign m_axi_wvalid = busy_q && writes && w_next_q != bursts_q
      && (break_q == BreakNoAddress || w_next_q < aw_next_q);
  assign m_axi_wdata = (reads && !waits_for_data ? DataWidth'(w_next_q)
                                                 : data_q[{w_next_q[5:0], w_beat_q[3:0]}])
      ^ (break_q == BreakWstable ? DataWidth'(clocks_q[0]) : '0);
  assign m_axi_wstrb = '1;
  assign m_axi_wlast = w_beat_q == beats_q - 1'b1 && break_q != BreakWlast;
  assign m_axi_bready = 1'b1;

  logic done;
  assign done = busy_q && (!reads || reads_done_q == bursts_q) && (!writes || b_done_q == bursts_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {busy_q, irq_q, error_q, run_clocks_q, both_q, overtook_q} <= '0;
      {ar_next_q, reads_done_q, read_done_q, aw_next_q, w_next_q, w_beat_q, b_done_q} <= '0;
    end else if (go) begin
      busy_q <= 1'b1;
      {irq_q, error_q, run_clocks_q, both_q, overtook_q} <= '0;
      {ar_next_q, reads_done_q, read_done_q, aw_next_q, w_next_q, w_beat_q, b_done_q} <= '0;
      for (int unsigned i = 0; i < Bursts; i++) begin
        burst_of_id_q[i] <= index_t'(i);
        beat_of_id_q[i]  <= '0;
      end
    end else begin
      if (write && aw_addr_q == 12'h030) irq_q <= 1'b0;
      if (done) {busy_q, irq_q} <= 2'b01;
      if (busy_q) run_clocks_q <= run_clocks_q + 1;
      if (m_axi_arvalid && m_axi_arready) begin
        ar_next_q <= ar_next_q + 1'b1;
        ar_clock_q[ar_next_q[5:0]] <= clocks_q;
      end
      if (r_taken) begin
        data_q[{r_burst[5:0], r_beat[3:0]}] <= m_axi_rdata;
        if (r_beat == '0) read_clocks_q[r_burst[5:0]] <= clocks_q - ar_clock_q[r_burst[5:0]];
        error_q[1:0] <= error_q[1:0] | {m_axi_rresp == 2'b11, m_axi_rresp == 2'b10};
        beat_of_id_q[m_axi_rid[5:0]] <= r_beat + 1'b1;
        if (m_axi_rlast) begin
          beat_of_id_q[m_axi_rid[5:0]] <= '0;
          burst_of_id_q[m_axi_rid[5:0]] <= r_burst + index_t'(id_mask_q[5:0]) + 1'b1;
          read_done_q[r_burst[5:0]] <= 1'b1;
          reads_done_q <= reads_done_q + 1'b1;
          overtook_q <= overtook_q + 32'(older_open);
        end
      end
      if (m_axi_awvalid && m_axi_awready) aw_next_q <= aw_next_q + 1'b1;
      if (w_taken) begin
        both_q   <= both_q + 32'(r_taken);
        w_beat_q <= w_beat_q + 1'b1;
        if (w_beat_q == beats_q - 1'b1) begin
          w_beat_q <= '0;
          w_next_q <= w_next_q + 1'b1;
          w_clock_q[w_next_q[5:0]] <= clocks_q;
        end
      end
      if (m_axi_bvalid) begin
        b_done_q <= b_done_q + 1'b1;
        write_clocks_q[m_axi_bid[5:0]] <= clocks_q - w_clock_q[m_axi_bid[5:0]];
        error_q[3:2] <= error_q[3:2] | {m_axi_bresp == 2'b11, m_axi_bresp == 2'b10};
      end
    end
  end

  // Sampled as an ordinary signal, so that reset is not used both ways.
  logic running_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) running_q <= 1'b0;
    else running_q <= 1'b1;

  always_ff @(posedge clk_i) begin
    if (running_q && break_q == BreakFinish) $finish;
    if (running_q)
      a_told_to_fail :
      assert (break_q != BreakAssert)
      else $error("%m: told to fail");
    if (running_q && r_taken) a_last : assert (m_axi_rlast == (r_beat == beats_q - 1'b1));
  end

  logic unused;
  assign unused = ^{m_axi_rid[6], m_axi_bid[6], s_axil_awprot, s_axil_arprot, s_axil_wstrb};

endmodule
