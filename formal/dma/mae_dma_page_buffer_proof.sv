// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_page_buffer_proof: follows one byte of mae_dma_page_buffer, any one. A window over its
// place reads what the last window over it wrote, and zero after an erasure, which takes no longer
// than its header says. Legal: as mae_dma_page_buffer.

module mae_dma_page_buffer_proof #(
    parameter bit ByteWrites = 1'b1,
    parameter int unsigned Pages = 2,
    parameter int unsigned PageRows = 2,
    localparam int unsigned Bytes = 16,  // of a row
    localparam int unsigned Depth = Pages * PageRows / 2,
    localparam int unsigned Total = Pages * PageRows * Bytes,
    localparam int unsigned AddrWidth = $clog2(Depth),
    localparam int unsigned PageWidth = $clog2(Pages),
    localparam int unsigned RowWidth = $clog2(2 * PageRows)
) (
    input logic                                    clk_i,
    input logic                                    rst_ni,
    input logic                                    clear_i,
    input logic [$clog2(Total)-1:0]                pick_i,       // number of the byte, a constant
    input logic                                    wr_valid_i,
    input logic [              1:0][PageWidth-1:0] wr_pages_i,
    input logic [     RowWidth-1:0]                wr_row_i,
    input logic [              3:0]                wr_offset_i,
    input logic [        Bytes-1:0]                wr_strobe_i,
    input logic [        Bytes-1:0][          7:0] wr_data_i,
    input logic                                    rd_enable_i,
    input logic [              1:0][PageWidth-1:0] rd_pages_i,
    input logic [     RowWidth-1:0]                rd_row_i,
    input logic [              3:0]                rd_offset_i
);
  logic clearing;
  logic [Bytes-1:0][7:0] read;

  mae_dma_page_buffer #(
      .DataWidth (8 * Bytes),
      .Pages     (Pages),
      .PageRows  (PageRows),
      .ByteWrites(ByteWrites)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .clear_i,
      .clearing_o(clearing),
      .wr_valid_i,
      .wr_pages_i,
      .wr_row_i,
      .wr_offset_i,
      .wr_strobe_i,
      .wr_data_i,
      .rd_enable_i,
      .rd_pages_i,
      .rd_row_i,
      .rd_offset_i,
      .rd_data_o (read)
  );

  // The number of byte `lane` of a window: page, row of the page, byte of the row.
  function automatic int unsigned place(input logic [1:0][PageWidth-1:0] pages,
                                        input logic [RowWidth-1:0] row, input int unsigned lane);
    int unsigned at;
    at = (32'(row) * Bytes + lane) % (2 * PageRows * Bytes);
    return 32'(pages[at/(PageRows*Bytes)]) * PageRows * Bytes + at % (PageRows * Bytes);
  endfunction

  // The byte, if it is known: an erased one is zero, others once written.
  logic [$clog2(Total)-1:0] pick_q;
  logic [7:0] byte_q;
  logic known_q;
  // The lane of the window read last that holds it, and its value then.
  logic [Bytes-1:0] lane_q;
  logic [7:0] read_q;
  logic zero_q;  // an erasure leaves a window of zeros
  int unsigned clocks_q;  // of an erasure

  int unsigned offset;
  assign offset = ByteWrites ? 32'(wr_offset_i) : 0;

  always_ff @(posedge clk_i) pick_q <= pick_i;
  always_comb if (rst_ni) assume (pick_i == pick_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      byte_q  <= '0;
      known_q <= 1'b0;
    end else if (clear_i) begin
      byte_q  <= '0;
      known_q <= 1'b1;
    end else if (wr_valid_i) begin
      for (int unsigned i = 0; i < Bytes; i++) begin
        if ((wr_strobe_i[i] || !ByteWrites) && 32'(pick_i) == place(
                wr_pages_i, wr_row_i, i + offset
            )) begin
          byte_q  <= wr_data_i[i];
          known_q <= 1'b1;
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {lane_q, read_q, zero_q} <= '0;
    else if (clearing) {lane_q, read_q, zero_q} <= {{Bytes{1'b0}}, 8'd0, 1'b1};
    else if (rd_enable_i) begin
      read_q <= byte_q;
      zero_q <= 1'b0;
      for (int unsigned i = 0; i < Bytes; i++) begin
        lane_q[i] <= known_q && 32'(pick_i) == place(rd_pages_i, rd_row_i, i + 32'(rd_offset_i));
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) clocks_q <= 0;
    else if (clearing) clocks_q <= clocks_q + 1;
    else clocks_q <= 0;
  end

  // Its header's rule for clear_i.
  always_comb if (rst_ni) assume (!(clear_i || clearing) || !wr_valid_i);
  always_comb if (rst_ni) assume (!(clear_i && clearing));

  always_comb begin
    if (rst_ni) begin
      for (int unsigned i = 0; i < Bytes; i++) assert (!lane_q[i] || read[i] == read_q);
      Zero : assert (clearing || !zero_q || read == '0);
      Ends : assert (!clearing || clocks_q <= Depth);
    end
  end

  // What the banks hold, and how far an erasure is: invariants, which let the induction close.
  int unsigned row, lane;
  assign row  = 32'(pick_i) / Bytes;
  assign lane = 32'(pick_i) % Bytes;
  always_comb begin
    if (rst_ni) begin
      Counted :
      assert (u_dut.clear_last_q == (clearing && clocks_q == Depth) &&
              (!clearing || u_dut.clear_q == AddrWidth'(clocks_q)));
      FirstRowsZero :
      assert (!clearing || clocks_q < 1 || {u_dut.u_even.words_q[0], u_dut.u_odd.words_q[0]} == '0);
      ReadsZero : assert (!clearing || clocks_q < 2 || {u_dut.rd_even, u_dut.rd_odd} == '0);
      Erased : assert (!clearing || (known_q && byte_q == '0));
      // A row that an erasure has still to come to may hold anything.
      Held :
      assert (!known_q || (clearing && row / 2 >= clocks_q) ||
              byte_q == (row % 2 == 0 ? u_dut.u_even.words_q[row/2][8*lane+:8] :
                                        u_dut.u_odd.words_q[row/2][8*lane+:8]));
    end
  end

endmodule
