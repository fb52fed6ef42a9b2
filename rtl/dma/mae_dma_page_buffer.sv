// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_page_buffer: stores the data of a DMA engine in pages of rows, with reads and writes at
// any byte position.
//
// A row is DataWidth bits, byte 0 in bits 7:0. Each access is a window of one row's width that
// begins at byte `offset` of row `row` and continues in the next row. This realigns data without
// any state: the position of a beat follows from its address, so beats may arrive in any order,
// for any context (docs/adr/0005). A window lies in at most two pages, which the user names:
// rows 0 .. PageRows - 1 are those of pages[0], the next PageRows rows those of pages[1]; row 0
// follows the last one. Rows alternate between two memories, so that the two rows of a window
// are never in the same one. Write data are rotated before the memory, read data after it. There
// is no handshake: the DMA engines keep track of the rows.
// Latency: data written in one clock can be read in the next; read data are valid one clock
// after rd_enable_i and hold until the next one.
// Throughput: one write and one read a clock.
// Reset and clear: the rows keep their data until they are overwritten or erased. clear_i, given
// when no row is in use, erases them in Pages * PageRows / 2 + 1 clocks; clearing_o is high from
// the next clock to the end of that. Reset does not erase the rows, and stops an erasure.
// Parameters: ByteWrites = 0: only whole aligned rows are written (wr_offset_i and wr_strobe_i
// are not used). Legal: DataWidth 128, 256, 512, 1024; Pages >= 2; PageRows a power of 2, >= 2;
// ByteWrites 0 or 1.
// Source: docs/adr/0005, docs/adr/0021.

`include "mae_assert.svh"

module mae_dma_page_buffer #(
    parameter  int unsigned DataWidth  = 512,
    parameter  int unsigned Pages      = 256,
    parameter  int unsigned PageRows   = 8,
    parameter  bit          ByteWrites = 1'b1,
    localparam int unsigned PageWidth  = $clog2(Pages),
    localparam int unsigned RowWidth   = $clog2(2 * PageRows),
    localparam int unsigned LaneWidth  = $clog2(DataWidth / 8)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic clearing_o,

    input logic                                  wr_valid_i,
    input logic [            1:0][PageWidth-1:0] wr_pages_i,
    input logic [   RowWidth-1:0]                wr_row_i,
    input logic [  LaneWidth-1:0]                wr_offset_i,  // position of lane 0 in the row
    input logic [DataWidth/8-1:0]                wr_strobe_i,  // one bit for each lane of wr_data_i
    input logic [  DataWidth-1:0]                wr_data_i,

    input  logic                                rd_enable_i,
    input  logic [          1:0][PageWidth-1:0] rd_pages_i,
    input  logic [ RowWidth-1:0]                rd_row_i,
    input  logic [LaneWidth-1:0]                rd_offset_i,
    output logic [DataWidth-1:0]                rd_data_o
);
  `MAE_PARAM(DataWidthLegal, DataWidth inside {128, 256, 512, 1024})
  `MAE_PARAM(PagesLegal, Pages >= 2)
  `MAE_PARAM(RowsLegal, PageRows >= 2 && 2 ** RowWidth == 2 * PageRows)

  localparam int unsigned Bytes = DataWidth / 8;
  localparam int unsigned Depth = Pages * PageRows / 2;
  localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1;

  // Row r of a page is in bank r % 2 at page * PageRows / 2 + r / 2.
  function automatic logic [AddrWidth-1:0] place(input logic [1:0][PageWidth-1:0] pages,
                                                 input logic [RowWidth-1:0] row);
    return AddrWidth'({pages[row[RowWidth-1]], row[RowWidth-2:0]} >> 1);
  endfunction

  logic [RowWidth-1:0] wr_next;
  logic [RowWidth-1:0] rd_next;
  assign wr_next = wr_row_i + 1'b1;
  assign rd_next = rd_row_i + 1'b1;

  logic [AddrWidth-1:0] rd_even_addr;
  logic [AddrWidth-1:0] rd_odd_addr;
  logic [DataWidth-1:0] rd_even;
  logic [DataWidth-1:0] rd_odd;
  logic                 rd_odd_first_q;
  logic [LaneWidth-1:0] rd_offset_q;

  // Erasure of both memories, and one more clock to read a zero row.
  logic clearing_q, zero;
  logic [AddrWidth-1:0] clear_q;
  logic                 clear_last_q;

  assign clearing_o = clearing_q;
  assign zero       = clearing_q && !clear_last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clearing_q   <= 1'b0;
      clear_last_q <= 1'b0;
      clear_q      <= '0;
    end else if (clearing_q) begin
      clear_q      <= clear_q + 1'b1;
      clear_last_q <= 32'(clear_q) == Depth - 1;
      clearing_q   <= !clear_last_q;
    end else begin
      clearing_q <= clear_i;
      clear_q    <= '0;
    end
  end

  // What is written to each memory.
  localparam int unsigned WriteBits = ByteWrites ? 8 : DataWidth;
  localparam int unsigned Parts = DataWidth / WriteBits;
  logic [Parts-1:0] even_we;
  logic [Parts-1:0] odd_we;
  logic [AddrWidth-1:0] even_addr;
  logic [AddrWidth-1:0] odd_addr;
  logic [DataWidth-1:0] data;

  if (ByteWrites) begin : gen_bytes
    logic [Bytes-1:0] strobe;
    logic [Bytes-1:0] wrapped;  // the lanes in the next row

    assign data      = DataWidth'({wr_data_i, wr_data_i} >> {LaneWidth'(0) - wr_offset_i, 3'b000});
    assign strobe    = Bytes'({wr_strobe_i, wr_strobe_i} >> (LaneWidth'(0) - wr_offset_i));
    assign wrapped   = ~({Bytes{1'b1}} << wr_offset_i);
    assign even_we   = wr_valid_i ? strobe & (wr_row_i[0] ? wrapped : ~wrapped) : '0;
    assign odd_we    = wr_valid_i ? strobe & (wr_row_i[0] ? ~wrapped : wrapped) : '0;
    assign even_addr = place(wr_pages_i, wr_row_i[0] ? wr_next : wr_row_i);
    assign odd_addr  = place(wr_pages_i, wr_row_i[0] ? wr_row_i : wr_next);
  end else begin : gen_rows
    logic unused;

    assign data      = wr_data_i;
    assign even_we   = wr_valid_i && !wr_row_i[0];
    assign odd_we    = wr_valid_i && wr_row_i[0];
    assign even_addr = place(wr_pages_i, wr_row_i);
    assign odd_addr  = even_addr;
    assign unused    = ^{wr_offset_i, wr_strobe_i, wr_next};
  end

  assign rd_even_addr = place(rd_pages_i, rd_row_i[0] ? rd_next : rd_row_i);
  assign rd_odd_addr  = place(rd_pages_i, rd_row_i[0] ? rd_row_i : rd_next);

  mae_ram #(
      .Width    (DataWidth),
      .Depth    (Depth),
      .WriteBits(WriteBits),
      .ReadReg  (1'b1)
  ) u_even (
      .clk_i,
      .write_i     (even_we | {Parts{zero}}),
      .write_addr_i(zero ? clear_q : even_addr),
      .write_data_i(zero ? '0 : data),
      .read_i      (rd_enable_i || clearing_q),
      .clear_i     (1'b0),
      .read_addr_i (clearing_q ? '0 : rd_even_addr),
      .read_data_o (rd_even)
  );

  mae_ram #(
      .Width    (DataWidth),
      .Depth    (Depth),
      .WriteBits(WriteBits),
      .ReadReg  (1'b1)
  ) u_odd (
      .clk_i,
      .write_i     (odd_we | {Parts{zero}}),
      .write_addr_i(zero ? clear_q : odd_addr),
      .write_data_i(zero ? '0 : data),
      .read_i      (rd_enable_i || clearing_q),
      .clear_i     (1'b0),
      .read_addr_i (clearing_q ? '0 : rd_odd_addr),
      .read_data_o (rd_odd)
  );

  always_ff @(posedge clk_i) begin
    if (rd_enable_i || clearing_q) begin
      rd_odd_first_q <= rd_row_i[0];
      rd_offset_q    <= rd_offset_i;
    end
  end

  assign rd_data_o = DataWidth'((rd_odd_first_q ? {rd_even, rd_odd} : {rd_odd, rd_even})
                                >> {rd_offset_q, 3'b000});

  `MAE_ASSERT(ClearAtRest, !(clear_i || clearing_q) || !wr_valid_i)

endmodule
