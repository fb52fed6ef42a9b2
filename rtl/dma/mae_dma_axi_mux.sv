// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_axi_mux: multiplexes control traffic and data bursts of the DMA engines onto one AXI4
// manager. The control traffic is descriptors, lists and completions.
//
// The top bit of an ID distinguishes control (1) from data. Addresses pass one register in each
// direction, control before data: control is rare and limited by its tags. Write data follow in the
// order of the write addresses, whole bursts, and pass combinationally. Responses are routed by
// their ID, combinationally; their receivers are always ready.
//
// halt_i abandons all bursts: from the next clock on, in which the engines must be in reset, read
// data and responses are dropped, and the missing beats of write data have no meaning. Offered
// addresses stay. draining_o is high from that clock until halt_i is low and no burst is outstanding;
// the engines must offer nothing meanwhile. w_ready_i must be high when halt_i rises, so that no
// offered beat changes (mae_axi_w_purge).
// Latency: 1 clock for addresses, 0 for data and responses.
// Throughput: one beat and one address a clock in each direction.
// Parameters: BeatWidth is the width of control reads, min(DataWidth, 512). Legal: DataWidth 128,
// 256, 512, 1024; IdWidth >= 8.

`include "mae_assert.svh"

module mae_dma_axi_mux
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
  localparam logic [2:0] FullSize = 3'($clog2(DataWidth / 8));
  localparam logic [2:0] BlockSize = 3'($clog2(BeatWidth / 8));
  localparam int unsigned EntryWidth = (8 * CompletionBytes < DataWidth) ? 8 * CompletionBytes :
      DataWidth;
  localparam logic [2:0] EntrySize = 3'($clog2(EntryWidth / 8));
  localparam logic [7:0] EntryLen = 8'(8 * CompletionBytes / EntryWidth - 1);
  localparam int unsigned BlockBeats = 8 * BlockBytes / BeatWidth;
  `MAE_PARAM(DataWidthLegal, DataWidth inside {128, 256, 512, 1024})
  `MAE_PARAM(IdWidthLegal, IdWidth > ControlIdBits)

  typedef struct packed {
    logic [IdWidth-1:0] id;
    addr_t              addr;
    logic [7:0]         len;
    logic [2:0]         size;
  } address_t;

  function automatic logic [IdWidth-1:0] control_id(input logic [ControlIdBits-1:0] tag);
    logic [IdWidth-1:0] id = IdWidth'(tag);
    id[IdWidth-1] = 1'b1;
    return id;
  endfunction

  // Bursts that the engines no longer want. Those of one ID are ended before the next one begins, so
  // each direction has at most 2^IdWidth.
  localparam int unsigned CountWidth = IdWidth + 1;
  logic drain_q, ar_in_valid, ar_in_ready, aw_in_valid, aw_in_ready;
  logic [CountWidth-1:0] reads_q, writes_q;

  assign draining_o = drain_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      drain_q  <= 1'b0;
      reads_q  <= '0;
      writes_q <= '0;
    end else begin
      drain_q <= halt_i || (drain_q && {reads_q, writes_q} != '0);
      reads_q  <= reads_q + CountWidth'(ar_in_valid && ar_in_ready) -
          CountWidth'(r_valid_i && r_last_i);
      writes_q <= writes_q + CountWidth'(aw_in_valid && aw_in_ready) - CountWidth'(b_valid_i);
    end
  end

  // Read addresses: lists first, then descriptors, then data.
  address_t ar_in, ar_out;
  logic [1:0] reader;
  reader_e reader_id;
  control_ar_t ctl_ar;
  logic ctl_ar_any;

  assign ctl_ar_any = ctl_ar_valid_i != '0;
  assign reader = ctl_ar_valid_i[2] ? 2'd2 : (ctl_ar_valid_i[1] ? 2'd1 : 2'd0);
  assign ctl_ar = ctl_ar_i[reader];
  assign reader_id = ctl_ar.tag[5] ? ReaderRingHigh : reader_e'(reader);
  assign ar_in_valid = ctl_ar_any || mov_ar_valid_i;

  always_comb begin
    ar_in = '{id: mov_ar_id_i, addr: mov_ar_addr_i, len: mov_ar_len_i, size: FullSize};
    if (ctl_ar_any) begin
      ar_in.id   = control_id({reader_id, ctl_ar.tag[4:0]});
      ar_in.addr = {ctl_ar.block, 6'd0};
      ar_in.len  = 8'(BlockBeats - 1);
      ar_in.size = BlockSize;
    end
    ctl_ar_ready_o         = '0;
    ctl_ar_ready_o[reader] = ar_in_ready;
    mov_ar_ready_o         = ar_in_ready && !ctl_ar_any;
  end

  mae_stream_reg #(
      .Width($bits(address_t))
  ) u_ar (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (ar_in_valid),
      .in_ready_o (ar_in_ready),
      .in_data_i  (ar_in),
      .out_valid_o(ar_valid_o),
      .out_ready_i(ar_ready_i),
      .out_data_o (ar_out)
  );
  assign {ar_id_o, ar_addr_o, ar_len_o, ar_size_o} = ar_out;

  // Responses. Control blocks may interleave, so each block counts its own beats.
  logic r_control;
  logic [ControlIdBits-1:0] r_control_id;
  assign r_control     = r_id_i[IdWidth-1];
  assign r_control_id  = r_id_i[ControlIdBits-1:0];
  assign mov_r_valid_o = r_valid_i && !r_control && !drain_q;
  assign ctl_r_tag_o   = {reader_e'(r_control_id[6:5]) == ReaderRingHigh, r_control_id[4:0]};
  assign ctl_r_error_o = r_error_i;
  assign ctl_r_last_o  = r_last_i;
  always_comb begin
    ctl_r_valid_o = '0;
    for (int unsigned i = 0; i < 3; i++) begin
      ctl_r_valid_o[i] = r_valid_i && !drain_q && r_control && r_control_id[6:5] == 2'(i);
    end
    if (ctl_r_tag_o[5]) ctl_r_valid_o[ReaderRing] = r_valid_i && !drain_q && r_control;
  end

  if (BlockBeats == 1) begin : gen_beat
    assign ctl_r_beat_o = '0;
  end else begin : gen_beats
    logic [1:0] beat_q[2**ControlIdBits];
    assign ctl_r_beat_o = beat_q[r_control_id];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) beat_q <= '{default: '0};
      else if (r_valid_i && r_control)
        beat_q[r_control_id] <= r_last_i ? '0 : beat_q[r_control_id] + 1'b1;
    end
  end

  if (DataWidth <= BeatWidth) begin : gen_whole
    assign ctl_r_data_o = r_data_i;
  end else begin : gen_half
    // The address of the block tells which half of the bus holds it.
    logic [2**ControlIdBits-1:0] upper_q;
    assign ctl_r_data_o = upper_q[r_control_id] ? r_data_i[DataWidth-1-:BeatWidth] :
        r_data_i[BeatWidth-1:0];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) upper_q <= '0;
      else if (ctl_ar_any && ar_in_ready) upper_q[{reader_id, ctl_ar.tag[4:0]}] <= ctl_ar.block[0];
    end
  end

  // Write addresses, and the order of their data.
  address_t aw_in, aw_out;
  logic [3:0] orders;
  logic aw_reg_ready, order_ready, order_valid, order_control, order_pop;
  logic [7:0] order_len, beat_q;

  assign aw_in_valid = (ctl_aw_valid_i || mov_aw_valid_i) && order_ready;
  assign aw_in_ready = aw_reg_ready && order_ready;
  assign ctl_aw_ready_o = aw_in_ready;
  assign mov_aw_ready_o = aw_in_ready && !ctl_aw_valid_i;
  always_comb begin
    aw_in = '{id: mov_aw_id_i, addr: mov_aw_addr_i, len: mov_aw_len_i, size: FullSize};
    if (ctl_aw_valid_i) begin
      aw_in = '{
          id: control_id(ctl_aw_tag_i),
          addr: ctl_aw_addr_i,
          len: EntryLen,
          size: EntrySize
      };
    end
  end

  mae_stream_reg #(
      .Width($bits(address_t))
  ) u_aw (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (aw_in_valid),
      .in_ready_o (aw_reg_ready),
      .in_data_i  (aw_in),
      .out_valid_o(aw_valid_o),
      .out_ready_i(aw_ready_i),
      .out_data_o (aw_out)
  );
  assign {aw_id_o, aw_addr_o, aw_len_o, aw_size_o} = aw_out;

  mae_fifo #(
      .Width(1 + 8),
      .Depth(8)
  ) u_order (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (aw_in_valid && aw_reg_ready),
      .in_ready_o (order_ready),
      .in_data_i  ({ctl_aw_valid_i, aw_in.len}),
      .out_valid_o(order_valid),
      .out_ready_i(order_pop),
      .out_data_o ({order_control, order_len}),
      .count_o    (orders)
  );

  always_comb begin
    w_valid_o = order_valid && (order_control ? ctl_w_valid_i : mov_w_valid_i);
    w_data_o  = order_control ? ctl_w_data_i : mov_w_data_i;
    w_strb_o  = order_control ? ctl_w_strb_i : mov_w_strb_i;
    w_last_o  = order_control ? ctl_w_last_i : mov_w_last_i;
    if (drain_q) begin
      w_valid_o = order_valid;
      w_last_o  = beat_q == order_len;
    end
  end
  assign ctl_w_ready_o = order_valid && order_control && w_ready_i;
  assign mov_w_ready_o = order_valid && !order_control && w_ready_i;
  assign order_pop = w_valid_o && w_ready_i && w_last_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_q <= '0;  // beats of the burst that are sent
    else if (w_valid_o && w_ready_i) beat_q <= w_last_o ? '0 : beat_q + 1'b1;
  end

  assign mov_b_valid_o = b_valid_i && !drain_q && !b_id_i[IdWidth-1];
  assign ctl_b_valid_o = b_valid_i && !drain_q && b_id_i[IdWidth-1];
  assign ctl_b_tag_o   = b_id_i[ControlIdBits-1:0];
  assign ctl_b_error_o = b_error_i;

  `MAE_ASSERT(
      MoverIdsAreData,
      !(mov_ar_valid_i && mov_ar_id_i[IdWidth-1]) && !(mov_aw_valid_i && mov_aw_id_i[IdWidth-1]))
  `MAE_ASSERT(DataHasAnAddress, !w_valid_o || orders != '0)
  `MAE_STREAM_HOLDS(ArHolds, ar_valid_o, ar_ready_i, ar_addr_o)
  `MAE_STREAM_HOLDS(AwHolds, aw_valid_o, aw_ready_i, aw_addr_o)
  `MAE_STREAM_HOLDS(WHolds, w_valid_o, w_ready_i, w_data_o)
  `MAE_ASSERT(LastOfBurst, !w_valid_o || w_last_o == (beat_q == order_len))
  `MAE_ASSERT(NoNewBurst, !drain_q || !(ar_in_valid || aw_in_valid))
  `MAE_ASSERT(ReadsCounted, !(r_valid_i && r_last_i) || reads_q != '0)
  `MAE_ASSERT(WritesCounted, !b_valid_i || writes_q != '0)

endmodule
