// SPDX-License-Identifier: Apache-2.0
//
// mae_axi4_checker: watches one AXI4 port and asserts the rules of the side that owns it; drives
// nothing. Latency: none, a violation is reported at the clock edge at which it is seen.
//
// Subordinate: 1 if the port is a subordinate's. AssumeOther: in proofs, the rules of the other
// side are assumed. LogBursts: bursts of writes, and of reads of one ID, that are under way at
// once: fewer than 2^LogBursts.
// Source: ARM IHI 0022: A3.1.2 (reset), A3.2.1 (handshake), A3.4.1 (bursts), A3.4.3 (strobes),
// A5.2.2 (AXI4: write data in the order of addresses), A7.2.4 (exclusive accesses).

`include "mae_bus_rule.svh"

module mae_axi4_checker #(
    parameter bit Subordinate = 1'b0,
    parameter bit AssumeOther = 1'b0,
    parameter int unsigned AddrWidth = 64,
    parameter int unsigned DataWidth = 512,
    parameter int unsigned IdWidth = 8,
    parameter int unsigned LogBursts = 9,
    localparam int unsigned Bytes = DataWidth / 8,
    localparam int unsigned LaneBits = (Bytes > 1) ? $clog2(Bytes) : 1
) (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic                   awvalid,
    input logic                   awready,
    input logic [    IdWidth-1:0] awid,
    input logic [  AddrWidth-1:0] awaddr,
    input logic [            7:0] awlen,
    input logic [            2:0] awsize,
    input logic [            1:0] awburst,
    input logic                   awlock,
    input logic                   wvalid,
    input logic                   wready,
    input logic [  DataWidth-1:0] wdata,
    input logic [DataWidth/8-1:0] wstrb,
    input logic                   wlast,
    input logic                   bvalid,
    input logic                   bready,
    input logic [    IdWidth-1:0] bid,
    input logic [            1:0] bresp,
    input logic                   arvalid,
    input logic                   arready,
    input logic [    IdWidth-1:0] arid,
    input logic [  AddrWidth-1:0] araddr,
    input logic [            7:0] arlen,
    input logic [            2:0] arsize,
    input logic [            1:0] arburst,
    input logic                   arlock,
    input logic                   rvalid,
    input logic                   rready,
    input logic [    IdWidth-1:0] rid,
    input logic [  DataWidth-1:0] rdata,
    input logic [            1:0] rresp,
    input logic                   rlast
);
  localparam bit Manager = !Subordinate;
  typedef enum logic [1:0] {
    Fixed,
    Incr,
    Wrap,
    Reserved
  } burst_e;

  // A3.4.1: length, size, type and the 4 kB line of a burst.
  function automatic logic is_legal(input logic [11:0] addr, input logic [7:0] len,
                                    input logic [2:0] size, input logic [1:0] burst);
    logic [16:0] first, bytes;
    logic wraps, aligned;
    first   = 17'(addr) & ~((17'd1 << size) - 17'd1);
    bytes   = (17'(len) + 17'd1) << size;
    wraps   = len inside {8'd1, 8'd3, 8'd7, 8'd15};
    aligned = first == 17'(addr);
    case (burst_e'(burst))
      Fixed:   is_legal = len < 8'd16;
      Incr:    is_legal = first + bytes <= 17'd4096;
      Wrap:    is_legal = wraps && aligned;
      default: is_legal = 1'b0;
    endcase
    if ((32'd1 << size) > Bytes) is_legal = 1'b0;
  endfunction

  // A7.2.4: at most 16 beats and 128 bytes, a power of 2, aligned to the whole.
  function automatic logic is_exclusive(input logic [11:0] addr, input logic [7:0] len,
                                        input logic [2:0] size);
    logic [16:0] bytes;
    bytes = (17'(len) + 17'd1) << size;
    return len < 8'd16 && bytes <= 17'd128 && $onehot(bytes) && (17'(addr) & (bytes - 17'd1)) == '0;
  endfunction

  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end

  // A3.2.1: what is offered stays until it is taken.
  `MAE_RULE_HOLDS(AxiAwHolds, Manager, awvalid, awready, ({awid, awaddr, awlen, awsize, awburst,
                                                           awlock}))
  `MAE_RULE_HOLDS(AxiWHolds, Manager, wvalid, wready, ({wdata, wstrb, wlast}))
  `MAE_RULE_HOLDS(AxiArHolds, Manager, arvalid, arready, ({arid, araddr, arlen, arsize, arburst,
                                                           arlock}))
  `MAE_RULE_HOLDS(AxiBHolds, Subordinate, bvalid, bready, ({bid, bresp}))
  `MAE_RULE_HOLDS(AxiRHolds, Subordinate, rvalid, rready, ({rid, rdata, rresp, rlast}))
  // A3.1.2: valid is low until the first edge at which reset is high.
  `MAE_RULE(AxiResetManager, Manager, out_of_reset_q || !(awvalid || wvalid || arvalid))
  `MAE_RULE(AxiResetSubordinate, Subordinate, out_of_reset_q || !(bvalid || rvalid))
  `MAE_RULE(AxiAwLegal, Manager, !awvalid || is_legal(12'(awaddr), awlen, awsize, awburst))
  `MAE_RULE(AxiArLegal, Manager, !arvalid || is_legal(12'(araddr), arlen, arsize, arburst))
  `MAE_RULE(AxiAwExclusive, Manager, !awvalid || !awlock || is_exclusive(12'(awaddr), awlen, awsize
            ))
  `MAE_RULE(AxiArExclusive, Manager, !arvalid || !arlock || is_exclusive(12'(araddr), arlen, arsize
            ))

  // A5.2.2: the n-th burst of data belongs to the n-th address; either may come first. Kept of each
  // burst that one of them is ahead with: its address, or how many beats it had.
  localparam int unsigned Bursts = 2 ** LogBursts;
  typedef logic [LogBursts:0] index_t;
  typedef struct packed {
    logic [LaneBits-1:0] addr;
    logic [7:0]          len;
    logic [2:0]          size;
    logic                known;  // INCR: its strobes can be told
  } burst_t;
  burst_t [Bursts-1:0] aw_q;
  logic [Bursts-1:0][8:0] beats_q;  // of a burst that ended before its address came
  index_t aw_index_q, w_index_q;
  logic [8:0] beat_q;  // beats of the burst under way
  index_t ahead;
  logic aw_taken, w_taken, has_address;
  burst_t mine;

  assign aw_taken = awvalid && awready;
  assign w_taken = wvalid && wready;
  assign ahead = aw_index_q - w_index_q;  // negative: data is ahead
  assign has_address = ahead != '0 && !ahead[LogBursts];
  assign mine = aw_q[w_index_q[LogBursts-1:0]];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_index_q, w_index_q, beat_q} <= '0;
    end else begin
      if (aw_taken) aw_index_q <= aw_index_q + 1'b1;
      if (w_taken) beat_q <= wlast ? '0 : beat_q + 1'b1;
      if (w_taken && wlast) w_index_q <= w_index_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (aw_taken) begin
      aw_q[aw_index_q[LogBursts-1:0]] <= '{
          addr: LaneBits'(awaddr),
          len: awlen,
          size: awsize,
          known: awburst == Incr
      };
    end
    if (w_taken && wlast) beats_q[w_index_q[LogBursts-1:0]] <= beat_q;
  end

  // A3.4.3: bytes from the address, in the first beat, to the end of the beat's own lanes.
  function automatic logic [Bytes-1:0] lanes(input burst_t burst, input logic [8:0] beat);
    logic [LaneBits:0] low, start, bytes;
    logic [Bytes-1:0] found;
    bytes = (LaneBits + 1)'(1) << burst.size;
    low   = {1'b0, burst.addr & ~LaneBits'(bytes - 1'b1)};
    start = {1'b0, burst.addr};
    if (beat != '0) begin
      low   = {1'b0, LaneBits'(low + ((LaneBits + 1)'(beat) << burst.size))};
      start = low;
    end
    found = '1;
    found = (found >> (Bytes - 32'(bytes))) << low;
    return found & (found << (start - low));
  endfunction

  // A3.4.1: WLAST comes with the last beat and with no other.
  `MAE_RULE(AxiWLast, Manager, !wvalid || !has_address || wlast == (beat_q == {1'b0, mine.len}))
  `MAE_RULE(
      AxiWLastFirst, Manager,
      !awvalid || ahead == '0 || has_address || beats_q[aw_index_q[LogBursts-1:0]] == {1'b0, awlen})
  `MAE_RULE(AxiWUnderWay, Manager, !awvalid || ahead != '0 || beat_q <= {1'b0, awlen} + 9'd1)
  `MAE_RULE(AxiWStrobes, Manager, !wvalid || !has_address || !mine.known || (wstrb & ~lanes(
            mine, beat_q)) == '0)
  // The order above is known.
  logic full;
  assign full = (aw_taken && ahead == index_t'(Bursts - 1)) ||
      (w_taken && wlast && ahead == index_t'(Bursts + 1));
  `MAE_RULE(AxiWithinBursts, Manager, !full)

endmodule
