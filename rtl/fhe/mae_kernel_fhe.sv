// SPDX-License-Identifier: Apache-2.0
//
// mae_kernel_fhe: computes on CKKS ciphertexts from a list of instructions in device memory. The
// results equal Microsoft SEAL's byte by byte. Formats: mae_fhe_pkg.
//
// start_i with list_i runs the list from there; done_o is high for one clock when it is over, with
// fault_o if it was given up: the memory refused an access, an instruction is illegal (or list_i no
// multiple of 64), a coefficient is not below its prime, or an address passed the end of the 32-bit
// space. After a fault no request is made from the next clock on, and what was written before
// stays. start_i while busy_o is ignored. Slots, tables and constants stay from run to run. clear_i
// and reset erase them, N / Lanes clocks in which busy_o is high; nothing is asked for from the
// clock after clear_i on, and done_o does not come.
//
// Instructions begin in their order: transfers in mae_fhe_transfer, passes and transforms in the
// engines, both at once where they share no slot; a block of constants or a table waits for both.
// Memory port: mae_kernel_int8_nn's rules, 64 bytes an access.
//
// Clocks, without a stall: pass N / Lanes + butterfly_clocks + 6, transform LogN N / (2 Lanes) +
// butterfly_clocks + 6, transfer N / 8 + about 20; a list of one takes 20 more. Time depends on no
// data but the instructions. Legal: LogN 10...13; Width LogN + 2...62; Lanes 8, 16, 32;
// Slots, KeySlots 2...128.

`include "mae_assert.svh"

module mae_kernel_fhe
  import mae_fhe_pkg::*;
#(
    parameter int unsigned LogN = 12,
    parameter int unsigned Width = 37,
    parameter int unsigned Lanes = 32,
    parameter int unsigned Slots = 32,  // of the engines of data primes
    parameter int unsigned KeySlots = 8  // of the special prime's
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic        start_i,
    input  logic [31:0] list_i,
    output logic        busy_o,
    output logic        done_o,
    output logic        fault_o,

    output logic            mem_valid_o,
    input  logic            mem_ready_i,
    output logic            mem_write_o,
    output logic     [31:0] mem_address_o,
    output granule_t        mem_data_o,
    input  logic            mem_rvalid_i,
    input  granule_t        mem_rdata_i,
    input  logic            mem_fault_i
);
  `MAE_PARAM(WidthLegal, Width >= LogN + 2 && Width <= 62)
  `MAE_PARAM(SlotsLegal, Slots >= 2 && Slots <= 128 && KeySlots >= 2 && KeySlots <= 128)

  localparam int unsigned LaneBits = $clog2(Lanes);
  localparam int unsigned WordBits = LogN - LaneBits;
  localparam int unsigned Outstanding = 16;
  localparam int unsigned CountWidth = $clog2(Outstanding + 1);

  typedef enum logic [2:0] {
    Erase,
    Idle,
    Run,
    Fence,   // read once more: then every write before has been answered for
    Settle,
    Drain    // answers that nobody wants
  } state_e;

  typedef logic [Lanes-1:0][Width-1:0] word_t;

  state_e state_q;
  logic told_q, done_q, fault_q;  // told: the drain ends with done_o
  logic [WordBits-1:0] erase_q;
  logic fault, erase, erasing;

  assign busy_o  = state_q != Idle;
  assign done_o  = done_q;
  assign fault_o = fault_q;
  assign erasing = state_q == Erase;

  // The list.
  logic [26:0] next_q;
  logic fetching_q, ended_q, fetch_valid, fetch_take, fetch_answer, room;
  logic head_valid, head_legal, head_take, illegal_q;
  instruction_t head, answer;
  logic [1:0] queued;

  function automatic logic [7:0] slots_of(logic [1:0] engine);
    return (engine == 2'd2) ? 8'(KeySlots) : 8'(Slots);
  endfunction

  function automatic logic operand_legal(logic [7:0] operand, logic [1:0] engine);
    return operand[7] ? operand[6:3] == '0 : operand < slots_of(engine);
  endfunction

  // verilator lint_off UNUSEDSIGNAL  // fields that a check or a use does not read
  function automatic logic part_legal(part_t part, logic [1:0] engine, logic transform);
    logic fine;
    fine = part.reserved == '0 && part.zero == '0 && part.none == '0 && part.from < 2'(Engines) &&
        operand_legal(part.u, engine) && operand_legal(part.v, engine) &&
        operand_legal(part.w, engine) && part.dst < slots_of(engine);
    if (transform && part.active) begin
      fine &= !part.u[7] && !part.v[7] && part.dst != part.u && !part.permute && !part.minus &&
          part.v != ((LogN % 2 == 0) ? part.u : part.dst);
    end
    return fine;
  endfunction

  // verilator lint_on UNUSEDSIGNAL

  function automatic logic legal(instruction_t instruction);
    logic [1:0] engine;
    logic fine;
    engine = instruction.galois[1:0];
    fine   = instruction.reserved == '0 && instruction.address[5:0] == '0;
    unique case (instruction.op)
      OpEnd: return fine;
      OpPass, OpTransform: begin
        for (int unsigned e = 0; e < Engines; e++) begin
          fine &= part_legal(instruction.part[e], 2'(e), instruction.op == OpTransform);
          fine &= !instruction.part[e].permute || instruction.galois[0];
        end
        return fine && (instruction.galois >> (LogN + 1)) == '0 && instruction.address == '0 &&
            !instruction.montgomery;
      end
      OpLoad, OpStore, OpConstants, OpTable:
      return fine && engine < 2'(Engines) && instruction.galois[7:2] == '0 &&
          instruction.galois[15:8] < slots_of(
          engine
      ) && instruction.part == '0 && (instruction.op == OpLoad || !instruction.montgomery);
      default: return 1'b0;
    endcase
  endfunction

  // The bits of a granule that are an instruction; the rest is zero.
  assign answer = instruction_t'(mem_rdata_i[$bits(instruction_t)-1:0]);
  assign fetch_valid = state_q == Run && !fetching_q && !ended_q && room && !next_q[26];

  mae_fifo #(
      .Width($bits(instruction_t)),
      .Depth(2)
  ) u_queue (
      .clk_i,
      .rst_ni,
      .clear_i(erase || state_q == Idle),
      .in_valid_i(fetch_answer && state_q == Run),
      .in_ready_o(room),
      .in_data_i(answer),
      .out_valid_o(head_valid),
      .out_ready_i(head_take),
      .out_data_o(head),
      .count_o(queued)
  );

  // Who is at work on which slots.
  logic pass_busy_q, control_busy, control_start_q, move_busy;
  // verilator lint_off UNUSEDSIGNAL  // fields that are judged at the head alone
  instruction_t pass_q, move_q;
  // verilator lint_on UNUSEDSIGNAL
  logic move_start_q, head_pass, head_move, head_fixed, move_fixed, pass_take, move_take, clash;
  logic move_working;

  // verilator lint_off UNUSEDSIGNAL
  function automatic logic uses(part_t part, logic [7:0] slot);
    return (part.active && part.dst == slot) || part.u == slot || part.v == slot || part.w == slot;
  endfunction

  // verilator lint_on UNUSEDSIGNAL

  assign head_pass = head.op inside {OpPass, OpTransform};
  assign head_move = head.op inside {OpLoad, OpStore, OpConstants, OpTable};
  assign head_fixed = head.op inside {OpConstants, OpTable};
  assign move_fixed = move_q.op inside {OpConstants, OpTable};
  assign move_working = move_start_q || move_busy;
  assign clash = head_pass ? move_working && (move_fixed || uses(
      head.part[move_q.galois[1:0]], move_q.galois[15:8]
  )) : pass_busy_q && (head_fixed || uses(
      pass_q.part[head.galois[1:0]], head.galois[15:8]
  ));
  assign head_legal = legal(head);
  assign pass_take = head_valid && head_legal && head_pass && !pass_busy_q && !clash;
  assign move_take = head_valid && head_legal && head_move && !move_working && !clash;
  assign head_take = state_q == Run && (pass_take || move_take);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {pass_busy_q, control_start_q, move_start_q} <= '0;
      {pass_q, move_q} <= '0;
    end else if (erase) begin
      {pass_busy_q, control_start_q, move_start_q} <= '0;
      {pass_q, move_q} <= '0;
    end else begin
      control_start_q <= head_take && pass_take;
      move_start_q <= head_take && move_take;
      if (pass_busy_q && !control_start_q && !control_busy) pass_busy_q <= 1'b0;
      if (head_take && pass_take) begin
        pass_busy_q <= 1'b1;
        pass_q <= head;
      end
      if (head_take && move_take) move_q <= head;
    end
  end

  // The run.
  logic bad, quiet, over;
  logic [CountWidth-1:0] waiting;
  logic slot_valid_q;

  assign quiet = waiting == '0 && !slot_valid_q;
  assign over = state_q == Run && head_valid && head_legal && head.op == OpEnd && !pass_busy_q &&
      !move_working;
  assign fault = state_q inside {Run, Fence, Settle} && (mem_fault_i || bad || illegal_q ||
      (head_valid && !head_legal) || (!ended_q && next_q[26]));
  assign erase = clear_i || fault || erasing;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Erase;
      {told_q, done_q, fault_q, erase_q} <= '0;
      {next_q, fetching_q, ended_q, illegal_q} <= '0;
    end else begin
      done_q  <= 1'b0;
      fault_q <= 1'b0;
      unique case (state_q)
        Erase: begin
          erase_q <= erase_q + 1'b1;
          if (erase_q == '1 && quiet) state_q <= Idle;
        end
        Idle:
        if (start_i) begin
          state_q <= (list_i[5:0] == '0) ? Run : Drain;
          told_q <= 1'b1;
          next_q <= {1'b0, list_i[31:6]};
          {fetching_q, ended_q, illegal_q} <= '0;
        end
        Run: begin
          if (fetch_take) begin
            fetching_q <= 1'b1;
            next_q <= next_q + 1'b1;
          end
          if (fetch_answer) begin
            fetching_q <= 1'b0;
            ended_q <= answer.op == OpEnd;
            illegal_q <= mem_rdata_i[511:$bits(instruction_t)] != '0;
          end
          if (over) state_q <= Fence;
        end
        Fence: if (fetch_take) state_q <= Settle;
        Settle:
        if (quiet) begin
          state_q <= Idle;
          done_q  <= 1'b1;
        end
        default:
        if (quiet) begin
          state_q <= Idle;
          done_q  <= told_q;
          fault_q <= told_q;
        end
      endcase
      if (fault) begin
        state_q <= Drain;
        done_q  <= 1'b0;
      end
      if (clear_i) begin
        state_q <= Erase;
        {told_q, done_q, fault_q, erase_q} <= '0;
        {next_q, fetching_q, ended_q, illegal_q} <= '0;
      end
    end
  end

  // Requests: the list goes before what is moved.
  logic move_read, move_write, move_read_take, move_write_take, free, room_to_ask, read_take;
  logic [25:0] move_read_granule, move_write_granule;
  granule_t move_data;
  logic slot_write_q, slot_fetch_q, tag_fetch, tag_valid, tag_ready, own_valid;
  logic [25:0] slot_granule_q;
  granule_t slot_data_q;

  assign own_valid = fetch_valid || state_q == Fence;
  assign free = !slot_valid_q || mem_ready_i;
  assign room_to_ask = waiting + CountWidth'(slot_valid_q) < CountWidth'(Outstanding);
  assign fetch_take = own_valid && free && room_to_ask;
  assign move_write_take = move_write && !own_valid && free;
  assign move_read_take = move_read && !own_valid && free && room_to_ask;
  assign read_take = fetch_take || move_read_take;
  assign mem_valid_o = slot_valid_q;
  assign mem_write_o = slot_write_q;
  assign mem_address_o = {slot_granule_q, 6'b0};
  assign mem_data_o = slot_data_q;
  assign fetch_answer = mem_rvalid_i && tag_fetch;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {slot_valid_q, slot_write_q, slot_fetch_q, slot_granule_q, slot_data_q} <= '0;
    end else if (erase) begin
      {slot_valid_q, slot_write_q, slot_fetch_q, slot_granule_q, slot_data_q} <= '0;
    end else if (free) begin
      slot_valid_q   <= read_take || move_write_take;
      slot_write_q   <= move_write_take;
      slot_fetch_q   <= fetch_take;
      slot_granule_q <= move_write_take ? move_write_granule : move_read_granule;
      if (fetch_take) slot_granule_q <= (state_q == Fence) ? next_q[25:0] - 1'b1 : next_q[25:0];
      slot_data_q <= move_write_take ? move_data : '0;
    end
  end

  mae_fifo #(
      .Width(1),
      .Depth(Outstanding),
      .Zero (1'b0)
  ) u_tags (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .in_valid_i(slot_valid_q && mem_ready_i && !slot_write_q),
      .in_ready_o(tag_ready),
      .in_data_i(slot_fetch_q),
      .out_valid_o(tag_valid),
      .out_ready_i(mem_rvalid_i),
      .out_data_o(tag_fetch),
      .count_o(waiting)
  );

  // The engines.
  logic [Engines-1:0][Constants-1:0][Width-1:0] constants;
  logic [Engines-1:0][Lanes-1:0][Width-1:0] words, fetched;
  logic [Engines-1:0] slot_write, table_write, constants_write, slot_read;
  logic [7:0] move_slot;
  logic [WordBits-1:0] move_word, source_word;
  word_t moved;
  logic [Constants-1:0][Width-1:0] moved_constants;
  logic [Lanes-1:0][LaneBits-1:0] lane;
  beat_t beat;

  mae_fhe_transfer #(
      .LogN (LogN),
      .Width(Width),
      .Lanes(Lanes)
  ) u_transfer (
      .clk_i,
      .rst_ni,
      .clear_i(erase),
      .start_i(move_start_q),
      .instruction_i(move_q),
      .busy_o(move_busy),
      .bad_o(bad),
      .read_valid_o(move_read),
      .read_ready_i(move_read_take),
      .read_granule_o(move_read_granule),
      .answer_valid_i(mem_rvalid_i && !tag_fetch),
      .answer_i(mem_rdata_i),
      .write_valid_o(move_write),
      .write_ready_i(move_write_take),
      .write_granule_o(move_write_granule),
      .write_data_o(move_data),
      .constants_i(constants),
      .fetched_i(fetched),
      .slot_write_o(slot_write),
      .table_write_o(table_write),
      .constants_write_o(constants_write),
      .read_o(slot_read),
      .slot_o(move_slot),
      .word_o(move_word),
      .data_o(moved),
      .constants_o(moved_constants)
  );

  mae_poly_control #(
      .LogN (LogN),
      .Width(Width),
      .Lanes(Lanes)
  ) u_control (
      .clk_i,
      .rst_ni,
      .clear_i(erase),
      .start_i(control_start_q),
      .transform_i(pass_q.op == OpTransform),
      .galois_i(pass_q.galois[LogN:0]),
      .busy_o(control_busy),
      .beat_o(beat),
      .source_word_o(source_word),
      .lane_o(lane)
  );

  for (genvar e = 0; e < Engines; e++) begin : gen_engine
    mae_poly_engine #(
        .LogN (LogN),
        .Width(Width),
        .Lanes(Lanes),
        .Slots((e == 2) ? KeySlots : Slots)
    ) u_engine (
        .clk_i,
        .clear_i(erasing),
        .clear_word_i(erase_q),
        .part_i(pass_q.part[e]),
        .beat_i(beat),
        .source_word_i(source_word),
        .lane_i(lane),
        .word_o(words[e]),
        .words_i(words),
        .transfer_slot_write_i(slot_write[e]),
        .transfer_table_write_i(table_write[e]),
        .transfer_constants_write_i(constants_write[e]),
        .transfer_read_i(slot_read[e]),
        .transfer_slot_i(move_slot),
        .transfer_word_i(move_word),
        .transfer_data_i(moved),
        .transfer_constants_i(moved_constants),
        .fetched_o(fetched[e]),
        .constants_o(constants[e])
    );
  end

  logic unused;
  assign unused = ^queued;

  `MAE_ASSERT(AnswerExpected, !mem_rvalid_i || tag_valid)
  `MAE_ASSERT(TagsFit, tag_ready || !(slot_valid_q && mem_ready_i && !slot_write_q))
  `MAE_STREAM_HOLDS(RequestHolds, mem_valid_o, mem_ready_i || erase, {mem_write_o, mem_address_o,
                                                                      mem_data_o})

endmodule
