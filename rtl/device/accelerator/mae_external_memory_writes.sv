// SPDX-License-Identifier: Apache-2.0
//
// mae_external_memory_writes: turns writes of granules into AXI4 bursts, and knows which have
// responses.
//
// It is a part of mae_external_memory. All writes have one ID, so they take effect in their order.
// A burst is sent when all reads of the kernel are answered that had been accepted before it was
// complete: so a read never sees a later write. hit_o[i]: a write to block_i[i] was accepted and
// has no response yet: so a read that waits for it sees every earlier write. settled_o: every write
// of the kernel (kernel_i) has its response. error_o pulses with an error response. ready_o is
// combinational in the requests, and low after a clear until the bus has taken all beats of the
// rows before it. valid_i must be low while clear_i is high.
// Latency: from a write to AW 4 clocks, 3 + Wait if nothing follows it.
// Throughput: one granule a clock.
// Reset and clear: reset drops everything. clear_i erases all rows in one clock, whatever the bus
// does: their bursts go out as zeros without strobes. Only a beat on the bus that is not taken
// keeps its data until it is (IHI 0022 A3.2.1).
// Parameters: Writes is the number of bursts that wait or lack a response, Rows that of granules
// that wait; GranuleWidth and Beats as mae_axi_burst_merge. Legal: Writes a power of two from 2 on;
// Rows >= Beats.
// Security: timing does not depend on data.
// Source: ARM IHI 0022, A5.2.2 (write data in the order of addresses), A5.3.

`include "mae_assert.svh"

module mae_external_memory_writes #(
    parameter  int unsigned GranuleWidth = 21,
    parameter  int unsigned Beats        = 8,
    parameter  int unsigned Writes       = 64,
    parameter  int unsigned Rows         = 64,
    localparam int unsigned LowBits      = $clog2(Beats),
    localparam int unsigned BlockWidth   = GranuleWidth - LowBits
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic settled_o,
    output logic quiet_o,
    output logic error_o,

    input  logic                    valid_i,
    output logic                    ready_o,
    input  logic                    kernel_i,
    input  logic [GranuleWidth-1:0] granule_i,
    input  logic [            63:0] strb_i,
    input  logic [           511:0] data_i,

    input  logic [ 1:0][BlockWidth-1:0] block_i,
    output logic [ 1:0]                 hit_o,
    input  logic [19:0]                 asked_i,    // the kernel's reads: accepted,
    input  logic [19:0]                 answered_i, // answered

    output logic                    aw_valid_o,
    input  logic                    aw_ready_i,
    output logic [GranuleWidth-1:0] aw_granule_o,
    output logic [     LowBits-1:0] aw_len_o,
    output logic                    w_valid_o,
    input  logic                    w_ready_i,
    output logic [           511:0] w_data_o,
    output logic [            63:0] w_strb_o,
    output logic                    w_last_o,
    input  logic                    b_valid_i,
    input  logic                    b_error_i      // SLVERR or DECERR
);
  `MAE_PARAM(WritesLegal, Writes >= 2 && (Writes & (Writes - 1)) == 0)
  `MAE_PARAM(RowsLegal, Rows >= Beats)

  localparam int unsigned PlaceBits = $clog2(Writes);
  localparam int unsigned OwedBits = $clog2(Rows + 1);
  localparam int unsigned KernelBits = $clog2(Writes * Beats + Rows + 2 * Beats);

  // Bursts from the merge on until their responses, in a ring.
  typedef struct packed {
    logic [BlockWidth-1:0] block;
    logic [LowBits-1:0]    low;
    logic [LowBits-1:0]    last;
    logic                  kernel;
    logic [19:0]           asked;   // reads that it follows
  } burst_t;

  burst_t burst_q[Writes];
  // verilator lint_off UNUSEDSIGNAL  // each stage of a burst uses some fields, of ahead the sign
  burst_t made, next, sent, done;
  logic [19:0] ahead;  // negative while one of a burst's earlier reads is not answered
  // verilator lint_on UNUSEDSIGNAL
  logic [Writes-1:0] waits_q;  // bursts without a response
  logic [PlaceBits-1:0] tail_q, next_q, send_q, head_q;
  logic [PlaceBits:0] unissued_q, unsent_q;
  logic [KernelBits-1:0] kernel_q;
  logic merge_valid, merge_ready, merge_empty, push, made_valid, issue, finish, row_room, row_valid;
  logic aw_valid_q;
  logic [GranuleWidth-1:0] aw_granule_q;
  logic [LowBits-1:0] aw_len_q, beat_q;
  logic [1:0] merge_hit;
  // Rows of before a clear, which u_rows no longer holds: the first may be on the bus, held_*_q.
  logic [OwedBits-1:0] count, owed_q;
  logic room, sends;
  logic [511:0] held_data_q, row_data;
  logic [63:0] held_strb_q, row_strb;

  assign room = row_room && owed_q == '0;
  assign ready_o = room && merge_ready;
  assign merge_valid = valid_i && room;
  assign made.asked = asked_i;
  assign push = made_valid && !waits_q[tail_q];

  mae_axi_burst_merge #(
      .GranuleWidth(GranuleWidth),
      .Beats       (Beats),
      .Checks      (2)
  ) u_merge (
      .clk_i,
      .rst_ni,
      .in_valid_i   (merge_valid),
      .in_ready_o   (merge_ready),
      .in_granule_i (granule_i),
      .in_source_i  (kernel_i),
      .out_valid_o  (made_valid),
      .out_ready_i  (!waits_q[tail_q]),
      .out_granule_o({made.block, made.low}),
      .out_last_o   (made.last),
      .out_source_o (made.kernel),
      .block_i,
      .hit_o        (merge_hit),
      .empty_o      (merge_empty)
  );

  mae_fifo #(
      .Width(512 + 64),
      .Depth(Rows)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (valid_i && ready_o),
      .in_ready_o (row_room),
      .in_data_i  ({strb_i, data_i}),
      .out_valid_o(row_valid),
      .out_ready_i(sends && owed_q == '0),
      .out_data_o ({row_strb, row_data}),
      .count_o    (count)
  );

  assign next = burst_q[next_q];
  assign sent = burst_q[send_q];
  assign done = burst_q[head_q];
  assign ahead = answered_i - next.asked;
  assign issue = unissued_q != '0 && !ahead[19] && (!aw_valid_q || aw_ready_i);
  assign w_valid_o = (row_valid || owed_q != '0) && unsent_q != '0;
  assign w_last_o = beat_q == sent.last;
  assign sends = w_valid_o && w_ready_i;
  assign finish = sends && w_last_o;
  assign aw_valid_o = aw_valid_q;
  assign aw_granule_o = aw_granule_q;
  assign aw_len_o = aw_len_q;

  always_comb begin
    {w_strb_o, w_data_o} = {row_strb, row_data};
    if (owed_q != '0) {w_strb_o, w_data_o} = {held_strb_q, held_data_q};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {owed_q, held_strb_q, held_data_q} <= '0;
    else begin
      if (clear_i) owed_q <= owed_q + count - OwedBits'(sends);  // one of the two is zero
      else if (owed_q != '0) owed_q <= owed_q - OwedBits'(sends);
      if (sends) {held_strb_q, held_data_q} <= '0;
      else if (clear_i && w_valid_o) {held_strb_q, held_data_q} <= {w_strb_o, w_data_o};
    end
  end

  always_ff @(posedge clk_i) if (push) burst_q[tail_q] <= made;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {waits_q, tail_q, next_q, send_q, head_q, unissued_q, unsent_q, kernel_q} <= '0;
      {aw_valid_q, aw_granule_q, aw_len_q, beat_q, error_o} <= '0;
    end else begin
      if (push) begin
        waits_q[tail_q] <= 1'b1;
        tail_q <= tail_q + 1'b1;
      end
      if (issue) begin
        next_q <= next_q + 1'b1;
        aw_granule_q <= {next.block, next.low};
        aw_len_q <= next.last;
      end
      if (issue || aw_ready_i) aw_valid_q <= issue;
      unissued_q <= unissued_q + (PlaceBits + 1)'(push) - (PlaceBits + 1)'(issue);
      unsent_q <= unsent_q + (PlaceBits + 1)'(aw_valid_q && aw_ready_i) - (PlaceBits + 1)'(finish);
      if (sends) beat_q <= w_last_o ? '0 : beat_q + 1'b1;
      if (finish) send_q <= send_q + 1'b1;
      if (b_valid_i) begin
        waits_q[head_q] <= 1'b0;
        head_q <= head_q + 1'b1;
      end
      error_o <= b_valid_i && b_error_i;
      kernel_q <= kernel_q + KernelBits'(valid_i && ready_o && kernel_i) -
          ((b_valid_i && done.kernel) ? KernelBits'(done.last) + 1'b1 : '0);
    end
  end

  always_comb begin
    hit_o = merge_hit;
    for (int unsigned i = 0; i < Writes; i++) begin
      for (int unsigned k = 0; k < 2; k++) begin
        if (waits_q[i] && burst_q[i].block == block_i[k]) hit_o[k] = 1'b1;
      end
    end
  end
  assign settled_o = kernel_q == '0 && !error_o;
  assign quiet_o   = merge_empty && waits_q == '0 && !error_o;

  `MAE_ASSERT(ResponseExpected, !b_valid_i || waits_q[head_q])
  `MAE_ASSERT(DataThere, unsent_q == '0 || row_valid || owed_q != '0)
  `MAE_ASSERT(ClearTakesNothing, !(clear_i && valid_i))

endmodule
