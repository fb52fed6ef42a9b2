// SPDX-License-Identifier: Apache-2.0
//
// mae_axi4_checker: watches one AXI4 port and asserts the rules of the side that owns it; drives
// nothing. Latency: none, a violation is reported at the clock edge at which it is seen.
//
// Subordinate: 1 if the port is a subordinate's. AssumeOther: in proofs, the rules of the other
// side are assumed. LogBursts: bursts of reads, and of writes, of one ID that are under way at
// once, and bursts that write addresses or data are ahead: fewer than 2^LogBursts.
// Source: ARM IHI 0022: A3.1.2 (reset), A3.2.1 (handshake), A3.3.1 (dependencies), A3.4.1 (bursts),
// A3.4.3 (strobes), A5.2.2 (AXI4: write data in the order of addresses), A5.3 (responses of an ID in
// the order of its addresses), A7.2.3, A7.2.4 (exclusive accesses).

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
    logic [IdWidth-1:0]  id;
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
          id: awid,
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
  `MAE_RULE(AxiWithinBursts, 1'b1, !full)

  // Of each ID, the responses come in the order of the addresses, one for each: kept of a read, how
  // many beats it has; of both, whether it is exclusive.
  if (Subordinate || AssumeOther) begin : gen_responses
    localparam int unsigned Ids = 2 ** IdWidth;
    localparam logic [1:0] ExOkay = 2'b01;
    typedef struct packed {
      logic [7:0] len;
      logic       lock;
    } read_t;
    read_t reads_q [Ids][Bursts];
    logic  writes_q[Ids][Bursts];  // exclusive
    index_t ar_index_q[Ids], r_index_q[Ids], aw_index_of_q[Ids], done_index_q[Ids], b_index_q[Ids];
    logic [7:0] r_beat_q[Ids];  // beats that the oldest read has had
    logic ar_taken, r_taken, b_taken, done, reading, writing;
    logic [IdWidth-1:0] done_id;
    read_t read;
    logic exclusive;

    assign ar_taken = arvalid && arready;
    assign r_taken = rvalid && rready;
    assign b_taken = bvalid && bready;
    assign reading = ar_index_q[rid] != r_index_q[rid];
    assign read = reads_q[rid][r_index_q[rid][LogBursts-1:0]];
    // A write has its address and all its data: a burst ends the later of both.
    assign done_id = has_address ? mine.id : awid;
    assign done = (has_address || ahead == '0) ?
        w_taken && wlast && (has_address || aw_taken) : aw_taken;
    assign writing = done_index_q[bid] != b_index_q[bid];
    assign exclusive = writes_q[bid][b_index_q[bid][LogBursts-1:0]];

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        for (int unsigned i = 0; i < Ids; i++) begin
          ar_index_q[i]    <= '0;
          r_index_q[i]     <= '0;
          r_beat_q[i]      <= '0;
          aw_index_of_q[i] <= '0;
          done_index_q[i]  <= '0;
          b_index_q[i]     <= '0;
        end
      end else begin
        if (ar_taken) ar_index_q[arid] <= ar_index_q[arid] + 1'b1;
        if (r_taken) r_beat_q[rid] <= rlast ? '0 : r_beat_q[rid] + 1'b1;
        if (r_taken && rlast) r_index_q[rid] <= r_index_q[rid] + 1'b1;
        if (aw_taken) aw_index_of_q[awid] <= aw_index_of_q[awid] + 1'b1;
        if (done) done_index_q[done_id] <= done_index_q[done_id] + 1'b1;
        if (b_taken) b_index_q[bid] <= b_index_q[bid] + 1'b1;
      end
    end
    always_ff @(posedge clk_i) begin
      if (ar_taken) reads_q[arid][ar_index_q[arid][LogBursts-1:0]] <= '{len: arlen, lock: arlock};
      if (aw_taken) writes_q[awid][aw_index_of_q[awid][LogBursts-1:0]] <= awlock;
    end

    // A3.3.1: a response follows its address, and that of a write all its data.
    `MAE_RULE(AxiRAnswers, Subordinate, !rvalid || reading)
    `MAE_RULE(AxiBAnswers, Subordinate, !bvalid || writing)
    // A3.4.1, A5.3: RLAST comes with the last beat of the oldest read and with no other.
    `MAE_RULE(AxiRLast, Subordinate, !rvalid || !reading || rlast == (r_beat_q[rid] == read.len))
    // A7.2.3: EXOKAY answers an exclusive access alone.
    `MAE_RULE(AxiRExOkay, Subordinate, !rvalid || !reading || rresp != ExOkay || read.lock)
    `MAE_RULE(AxiBExOkay, Subordinate, !bvalid || !writing || bresp != ExOkay || exclusive)
    // The order above is known.
    `MAE_RULE(AxiWithinReads, 1'b1,
              !ar_taken || ar_index_q[arid] - r_index_q[arid] != index_t'(Bursts - 1))
    `MAE_RULE(AxiWithinWrites, 1'b1,
              !aw_taken || aw_index_of_q[awid] - b_index_q[awid] != index_t'(Bursts - 1))
  end

endmodule
