// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_crc_client: returns every row unchanged and reports the CRC-32C of each job's bytes. The
// CRC is in bytes 0..3 of the completion's tag, least significant byte first; the others are 0.
//
// It shows that mae_dma carries a core that is no cipher. Jobs are checked as in
// mae_dma_copy_client. The CRC register advances by a whole row a clock; the bytes that are missing
// in a job's last row count as zeros and are taken back from the register after it.
// Latency: rows 1 clock; the report 3 + log2(DataWidth / 8) clocks after the last row was accepted.
// Throughput: one row a clock.
// Reset: erases the stored rows and all CRC registers; each is erased at the end of its job, too.
// Parameters: Legal: DataWidth and Contexts as in mae_dma; Op 0..255.
// Source: RFC 3720 §12.1.

`include "mae_assert.svh"

module mae_dma_crc_client
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
    output accept_t cfg_accept_o,
    output logic    report_valid_o,
    output report_t report_o,

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
  localparam int unsigned Bytes = DataWidth / 8;
  localparam int unsigned Steps = $clog2(Bytes);
  localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1;

  typedef logic [31:0] crc_t;
  typedef logic [31:0][31:0] matrix_t;  // row i: the bits whose sum is bit i of the result

  // The polynomial, bit 31 its lowest coefficient; bit 0 of data comes first.
  localparam crc_t Polynomial = 32'h82f6_3b78;

  // The CRC register after a zero bit, and before it.
  function automatic crc_t after_zero(input crc_t crc);
    return (crc >> 1) ^ (crc[0] ? Polynomial : 32'd0);
  endfunction
  function automatic crc_t before_zero(input crc_t crc);
    return crc[31] ? {crc[30:0] ^ Polynomial[30:0], 1'b1} : {crc[30:0], 1'b0};
  endfunction

  function automatic matrix_t zeros_matrix(input int unsigned bits, input logic back);
    matrix_t matrix;
    crc_t crc;
    for (int unsigned i = 0; i < 32; i++) begin
      crc = 32'd1 << i;
      for (int unsigned k = 0; k < bits; k++) crc = back ? before_zero(crc) : after_zero(crc);
      for (int unsigned j = 0; j < 32; j++) matrix[j][i] = crc[j];
    end
    return matrix;
  endfunction

  // Row i: the data bits whose sum is bit i of the CRC register after a row, begun with 0.
  function automatic logic [31:0][DataWidth-1:0] data_matrix();
    logic [31:0][DataWidth-1:0] matrix;
    crc_t crc;
    crc = Polynomial;
    for (int unsigned k = 0; k < DataWidth; k++) begin
      for (int unsigned j = 0; j < 32; j++) matrix[j][DataWidth-1-k] = crc[j];
      crc = after_zero(crc);
    end
    return matrix;
  endfunction

  function automatic crc_t product(input matrix_t matrix, input crc_t crc);
    crc_t result;
    for (int unsigned i = 0; i < 32; i++) result[i] = ^(matrix[i] & crc);
    return result;
  endfunction

  localparam matrix_t WholeRow = zeros_matrix(DataWidth, 1'b0);
  localparam logic [31:0][DataWidth-1:0] OfData = data_matrix();

  mae_dma_copy_client #(
      .DataWidth(DataWidth),
      .Contexts (Contexts),
      .Op       (Op)
  ) u_copy (
      .*
  );

  assign cfg_accept_o = '{reports: 1'b1, sinks: 1'b0};

  // ---- The row with zeros behind its bytes, and its own part of the CRC register.
  typedef struct packed {
    dma_ctx_t         ctx;
    logic             last;
    logic [Steps-1:0] missing;  // bytes
  } row_t;

  logic taken_q, summed_q;
  row_t taken_row_q, summed_row_q;
  logic [DataWidth-1:0] bytes, bytes_q;
  crc_t sum, sum_q;

  always_comb begin
    for (int unsigned i = 0; i < Bytes; i++)
    bytes[8*i+:8] = row_data_i[8*i+:8] & {8{i < 32'(row_bytes_i)}};
    for (int unsigned i = 0; i < 32; i++) sum[i] = ^(OfData[i] & bytes_q);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      taken_q      <= 1'b0;
      summed_q     <= 1'b0;
      taken_row_q  <= '0;
      summed_row_q <= '0;
      bytes_q      <= '0;
      sum_q        <= '0;
    end else begin
      taken_q <= row_valid_i && row_ready_o;
      summed_q <= taken_q;
      taken_row_q <= '{
          ctx: row_ctx_i,
          last: row_last_i,
          missing: Steps'(Bytes - 32'(row_bytes_i))
      };
      summed_row_q <= taken_row_q;
      bytes_q <= (row_valid_i && row_ready_o) ? bytes : '0;
      sum_q <= sum;
    end
  end

  // ---- A CRC register a context.
  crc_t crc_q[Contexts];
  crc_t crc;
  logic [CtxWidth-1:0] index;
  assign index = CtxWidth'(summed_row_q.ctx);
  assign crc   = product(WholeRow, crc_q[index]) ^ sum_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) crc_q <= '{default: '1};
    else if (summed_q) crc_q[index] <= summed_row_q.last ? '1 : crc;
  end

  // ---- Behind the last row: takes back the missing bytes, a power of two a clock.
  logic [Steps:0] end_q;
  dma_ctx_t end_ctx_q[Steps+1];
  logic [Steps-1:0] end_missing_q[Steps+1];
  crc_t end_crc_q[Steps+1];
  crc_t end_crc[Steps];

  for (genvar i = 0; i < int'(Steps); i++) begin : g_back
    localparam matrix_t Back = zeros_matrix(8 << i, 1'b1);
    assign end_crc[i] = end_missing_q[i][i] ? product(Back, end_crc_q[i]) : end_crc_q[i];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      end_q         <= '0;
      end_ctx_q     <= '{default: '0};
      end_missing_q <= '{default: '0};
      end_crc_q     <= '{default: '0};
    end else begin
      end_q            <= {end_q[Steps-1:0], summed_q && summed_row_q.last};
      end_ctx_q[0]     <= summed_row_q.ctx;
      end_missing_q[0] <= summed_row_q.missing;
      end_crc_q[0]     <= crc;
      for (int unsigned i = 0; i < Steps; i++) begin
        end_ctx_q[i+1]     <= end_ctx_q[i];
        end_missing_q[i+1] <= end_missing_q[i];
        end_crc_q[i+1]     <= end_crc[i];
      end
    end
  end

  assign report_valid_o = end_q[Steps];
  assign report_o = '{ctx: end_ctx_q[Steps], status: StatusOk, tag: {96'd0, ~end_crc_q[Steps]}};

  `MAE_ASSERT(OnlyTheLastIsPartial, !(taken_q && !taken_row_q.last) || taken_row_q.missing == '0)

endmodule
