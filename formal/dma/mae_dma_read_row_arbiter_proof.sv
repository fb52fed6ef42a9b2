// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_read_row_arbiter_proof: asserts that mae_dma_read_row_arbiter outputs the rows of each
// context in order, each once and none before it is committed, marks the last row of a job and no
// other, and lets no committed row wait without asking for its turn.
//
// Jobs begin at a page, so that after a last row the next page's first row is expected.

module mae_dma_read_row_arbiter_proof
  import mae_dma_pkg::*;
#(
    localparam int unsigned DataWidth  = 128,
    localparam int unsigned Contexts   = 2,
    localparam int unsigned PageRows   = 2,
    localparam int unsigned RowWidth   = 4,
    localparam int unsigned BytesWidth = $clog2(DataWidth / 8 + 1)
) (
    input logic                                clk_i,
    input logic                                rst_ni,
    input logic [  Contexts-1:0]               room_i,
    input logic                                look_ctx_i,
    // the memory's side: rows that are committed now, that there may be some, and a job whose last row
    // becomes known
    input logic [  Contexts-1:0][RowWidth-1:0] commits_i,
    input logic [  Contexts-1:0]               wakes_i,
    input logic                                final_valid_i,
    input logic                                final_ctx_i,
    input logic [  RowWidth-1:0]               final_row_i,
    input logic [BytesWidth-1:0]               final_bytes_i,
    input logic [ DataWidth-1:0]               rd_data_i,
    input logic                                row_ready_i
);
  typedef logic [RowWidth-1:0] row_t;
  typedef struct packed {
    logic                  ctx;
    row_t                  row;
    logic [BytesWidth-1:0] bytes;
    logic                  aborted;
    logic                  zero;
  } final_t;

  logic look_ended, pick_ctx, rd_enable, rd_row, rd_empties, row_valid, row_last;
  logic finish_valid, finish_ctx;
  logic [Contexts-1:0] wake, waits;
  logic [BytesWidth-1:0] row_bytes;
  logic [DataWidth-1:0] row_data;
  dma_ctx_t row_ctx;
  final_t final_row;
  assign final_row = '{final_ctx_i, final_row_i, final_bytes_i, 1'b0, 1'b0};

  // What is expected: first row that is not committed, next row, last row of a job if it is known.
  row_t [Contexts-1:0] commit_q, next_q, final_q;
  logic [Contexts-1:0][BytesWidth-1:0] bytes_q;
  logic [Contexts-1:0] ended_q;

  function automatic row_t after(input row_t row, input logic last);
    return (last || row[0]) ? {row[RowWidth-1:1] + 1'b1, 1'b0} : row + 1'b1;
  endfunction

  mae_dma_read_row_arbiter #(
      .DataWidth(DataWidth),
      .Contexts (Contexts),
      .PageRows (PageRows),
      .RowWidth (RowWidth),
      .final_t  (final_t)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .final_valid_i,
      .final_i       (final_row),
      .look_ctx_i,
      .look_ended_o  (look_ended),
      .wake_i        (wake),
      .room_i,
      .waits_o       (waits),
      .pick_ctx_o    (pick_ctx),
      .commit_row_i  (commit_q[pick_ctx]),
      .rd_enable_o   (rd_enable),
      .rd_row_o      (rd_row),
      .rd_empties_o  (rd_empties),
      .rd_data_i,
      .row_valid_o   (row_valid),
      .row_ready_i,
      .row_ctx_o     (row_ctx),
      .row_data_o    (row_data),
      .row_bytes_o   (row_bytes),
      .row_last_o    (row_last),
      .finish_valid_o(finish_valid),
      .finish_ctx_o  (finish_ctx)
  );

  logic last;
  assign last = ended_q[pick_ctx] && next_q[pick_ctx] == final_q[pick_ctx];

  // The row that was read, and whether it waits.
  logic read_q, held_q, read_ctx_q, read_last_q;
  logic [BytesWidth-1:0] read_bytes_q;
  logic [ DataWidth-1:0] data_q;

  // The buffer holds what it has read.
  always_ff @(posedge clk_i) data_q <= rd_data_i;
  always_comb if (rst_ni) assume (!held_q || rd_data_i == data_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {commit_q, next_q, final_q, bytes_q, ended_q} <= '0;
      {read_q, held_q, read_ctx_q, read_last_q, read_bytes_q} <= '0;
    end else begin
      for (int unsigned c = 0; c < Contexts; c++) commit_q[c] <= commit_q[c] + commits_i[c];
      if (final_valid_i) begin
        final_q[final_ctx_i] <= final_row_i;
        bytes_q[final_ctx_i] <= final_bytes_i;
        ended_q[final_ctx_i] <= 1'b1;
      end
      if (rd_enable) begin
        next_q[pick_ctx] <= after(next_q[pick_ctx], last);
        if (last) ended_q[pick_ctx] <= 1'b0;
        {read_ctx_q, read_last_q} <= {pick_ctx, last};
        read_bytes_q <= last ? bytes_q[pick_ctx] : BytesWidth'(DataWidth / 8);
      end
      read_q <= rd_enable || (read_q && !row_ready_i);
      held_q <= row_valid && !row_ready_i;
    end
  end

  // A job's last row is told once, before it is committed; a commit passes it to the next page.
  // At most half of the rows that can be counted were not output.
  logic [Contexts-1:0] known;
  row_t [Contexts-1:0] end_row, ahead, to_end;
  always_comb begin
    for (int unsigned c = 0; c < Contexts; c++) begin
      wake[c]    = wakes_i[c] || commits_i[c] != '0;
      known[c]   = ended_q[c] || (final_valid_i && final_ctx_i == 1'(c));
      end_row[c] = ended_q[c] ? final_q[c] : final_row_i;
      ahead[c]   = commit_q[c] - next_q[c];
      to_end[c]  = end_row[c] - next_q[c];
      if (rst_ni) begin
        assume (ahead[c] + commits_i[c] >= ahead[c] && ahead[c] + commits_i[c] <= row_t'(8));
        assume (!known[c] || commits_i[c] == '0 || ahead[c] + commits_i[c] <= to_end[c] ||
                commit_q[c] + commits_i[c] == after(
            end_row[c], 1'b1
        ));
      end
    end
    if (rst_ni && final_valid_i) begin
      assume (!ended_q[final_ctx_i]);
      assume (row_t'(final_row_i - next_q[final_ctx_i]) >= ahead[final_ctx_i] &&
              row_t'(final_row_i - next_q[final_ctx_i]) <= row_t'(6));
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      Ended : assert (look_ended == ended_q[look_ctx_i]);
      if (rd_enable) begin
        InOrder : assert (rd_row == next_q[pick_ctx][0]);
        Committed : assert (next_q[pick_ctx] != commit_q[pick_ctx]);
        PageLeft : assert (rd_empties == (last || next_q[pick_ctx][0]));
        NotOvertaken : assert (!held_q || row_ready_i);
        HasRoom : assert (room_i[pick_ctx]);
      end
      RowFollows : assert (row_valid == read_q);
      if (row_valid) begin
        RowAsRead : assert ({row_ctx, row_last} == {dma_ctx_t'(read_ctx_q), read_last_q});
        BytesAsRead : assert (row_bytes == read_bytes_q && row_data == rd_data_i);
      end
      Finishes : assert (finish_valid == (row_valid && row_ready_i && row_last));
      FinishesItsOwn : assert (!finish_valid || finish_ctx == read_ctx_q);
      for (int unsigned c = 0; c < Contexts; c++) assert (ahead[c] == '0 || waits[c]);
    end
  end

  // Invariants, which let the induction close.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      for (int unsigned c = 0; c < Contexts; c++) begin
        assert (u_dut.row_q[c] == next_q[c] && u_dut.ended_q[c] == ended_q[c]);
        assert (!u_dut.aborted_q[c] && ahead[c] <= row_t'(8));
        assert (!ended_q[c] || u_dut.final_q[c] == {1'(c), final_q[c], bytes_q[c], 2'b00});
        assert (!ended_q[c] || to_end[c] <= row_t'(6) &&
                (ahead[c] <= to_end[c] || commit_q[c] == after(
            final_q[c], 1'b1
        )));
      end
      NoZeros : assert (!u_dut.zero_q);
    end
  end

endmodule
