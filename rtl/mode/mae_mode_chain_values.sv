// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_chain_values: stores the chain values of the messages (contexts) that use one cipher
// lane.
//
// Three writers (a new IV, the parallel path, the serial path) may write different slots in one
// clock. Each one has a memory with one write port; one mark a slot tells which memory holds the
// newest value. With one slot, the writers never write in the same clock and the memory is one
// register.
// Latency: reads are combinational; a value written in one clock is read in the next one.
// Throughput: one write of each writer and three reads a clock.
// Reset and clear: reset keeps the values; wipe_i erases slot wipe_slot_i in each clock.
// Parameters: Slots is the number of contexts. Legal: Slots >= 1; Parallel 0 or 1.

module mae_mode_chain_values
  import mae_aes_pkg::*;
#(
    parameter int unsigned Slots = 16,
    parameter bit Parallel = 1'b1,  // 0: the ports of the parallel path are not used
    localparam int unsigned SlotWidth = (Slots > 1) ? $clog2(Slots) : 1
) (
    input logic                 clk_i,
    input logic                 wipe_i,
    input logic [SlotWidth-1:0] wipe_slot_i,

    input logic                   iv_valid_i,
    input logic   [SlotWidth-1:0] iv_slot_i,
    input block_t                 iv_i,

    input  logic   [SlotWidth-1:0] par_slot_i,
    output block_t                 par_o,
    input  logic                   par_valid_i,
    input  block_t                 par_i,

    input  logic   [SlotWidth-1:0] answer_slot_i,
    output block_t                 answer_o,
    input  logic                   answer_valid_i,
    input  block_t                 answer_i,

    input  logic   [SlotWidth-1:0] ask_slot_i,
    output block_t                 ask_o
);

  if (Slots == 1) begin : gen_one
    block_t chain_q;

    always_ff @(posedge clk_i) begin
      if (wipe_i) chain_q <= '0;
      else if (iv_valid_i) chain_q <= iv_i;
      else if (Parallel && par_valid_i) chain_q <= par_i;
      else if (answer_valid_i) chain_q <= answer_i;
    end

    assign par_o = chain_q;
    assign answer_o = chain_q;
    assign ask_o = chain_q;

    logic unused;
    assign unused = ^{wipe_slot_i, iv_slot_i, par_slot_i, answer_slot_i, ask_slot_i, par_valid_i,
                      par_i};
  end else begin : gen_many
    typedef enum logic [1:0] {
      FromIv,
      FromParallel,
      FromSerial
    } from_e;

    block_t iv_q    [Slots];
    block_t serial_q[Slots];
    from_e  from_q  [Slots];

    always_ff @(posedge clk_i) begin
      if (wipe_i) iv_q[wipe_slot_i] <= '0;
      else if (iv_valid_i) iv_q[iv_slot_i] <= iv_i;
    end

    always_ff @(posedge clk_i) begin
      if (wipe_i) serial_q[wipe_slot_i] <= '0;
      else if (answer_valid_i) serial_q[answer_slot_i] <= answer_i;
    end

    always_ff @(posedge clk_i) begin
      if (wipe_i) from_q[wipe_slot_i] <= FromIv;
      else begin
        if (iv_valid_i) from_q[iv_slot_i] <= FromIv;
        if (Parallel && par_valid_i) from_q[par_slot_i] <= FromParallel;
        if (answer_valid_i) from_q[answer_slot_i] <= FromSerial;
      end
    end

    if (Parallel) begin : gen_parallel
      block_t parallel_q[Slots];

      always_ff @(posedge clk_i) begin
        if (wipe_i) parallel_q[wipe_slot_i] <= '0;
        else if (par_valid_i) parallel_q[par_slot_i] <= par_i;
      end

      function automatic block_t newest(input logic [SlotWidth-1:0] slot);
        case (from_q[slot])
          FromParallel: return parallel_q[slot];
          FromSerial:   return serial_q[slot];
          default:      return iv_q[slot];
        endcase
      endfunction

      always_comb par_o = newest(par_slot_i);
      always_comb answer_o = newest(answer_slot_i);
      always_comb ask_o = newest(ask_slot_i);
    end else begin : gen_serial
      assign par_o = '0;
      assign answer_o = (from_q[answer_slot_i] == FromSerial) ? serial_q[answer_slot_i] :
                                                               iv_q[answer_slot_i];
      assign ask_o = (from_q[ask_slot_i] == FromSerial) ? serial_q[ask_slot_i] : iv_q[ask_slot_i];

      logic unused;
      assign unused = ^{par_slot_i, par_valid_i, par_i};
    end
  end

endmodule
