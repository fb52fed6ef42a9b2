// SPDX-License-Identifier: Apache-2.0
//
// mae_toy_peripheral: takes the peripheral's place at the memory arbiter, with a toy cipher: a
// rotation and a key. It has all modes. Each step takes as long as it is let (go_i, row_first_i); an
// answer takes 2 clocks or more. A job is taken in the clock of start_i.

module mae_toy_peripheral
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_auth_pkg::*;
  import mae_device_pkg::*;
  import mae_memory_job_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input logic        start_i,
    input memory_job_t job_i,
    input logic        bad_tag_i,

    input  logic go_i,         // the toy does a step
    input  logic row_first_i,  // before a single block, where it has both
    output logic both_o,

    output memory_job_t job_o,
    input  error_e      job_error_i,
    output memory_out_t core_o,
    input  memory_in_t  memory_i
);

  localparam block_t Iv = 128'h00112233_44556677_8899aabb_ccddeeff;
  localparam block_t Keys[2] = '{
      128'hc0c1c2c3_c4c5c6c7_c8c9cacb_cccdcecf,
      128'h50515253_54555657_58595a5b_5c5d5e5f
  };

  function automatic block_t toy(input dir_e dir, input block_t key, input block_t in);
    block_t turned;
    turned = in ^ key;
    return (dir == Encrypt) ? {in[118:0], in[127:119]} ^ key : {turned[8:0], turned[127:9]};
  endfunction

  memory_out_t core;
  memory_in_t  memory;

  assign job_o  = job_i;
  assign core_o = core;
  assign memory = memory_i;

  // The job as the toy knows it.
  typedef enum logic [1:0] {
    Free,
    Row,
    Single,
    Tag
  } step_e;

  step_e step_q;
  logic busy_q, part_q, moves_q, plain_q, bad_tag_q, key_each_q, full_q, start;
  mode_cfg_t cfg_q;
  block_t chain_q, single_q;
  block_t key_q[2];
  auth_row_t wait_q, row_q;

  assign start  = start_i && !busy_q && job_error_i == ErrNone;
  assign both_o = step_q == Free && full_q && memory.single_valid;

  dir_e cipher_dir;
  block_t key, out;
  logic take_single, take_row, ends;

  assign cipher_dir = mode_cipher_dir(cfg_q.mode, cfg_q.dir);
  assign key = key_q[cfg_q.key_slot[0]];
  assign out = toy(
      cipher_dir, key, mode_pre(cfg_q.mode, cfg_q.dir, chain_q, row_q.data)
  ) ^ mode_mask(
      cfg_q.mode, cfg_q.dir, chain_q, row_q.data
  );
  assign take_single = go_i && step_q == Free && memory.single_valid && !(full_q && row_first_i);
  assign take_row = go_i && step_q == Free && full_q && !take_single;
  assign ends = go_i && (step_q == Tag || (step_q == Row && row_q.last && plain_q));

  always_comb begin
    core = '0;
    core.start = start;
    core.clear = clear_i;
    core.part_ready = busy_q && !part_q;
    core.key_ready = 1'b1;
    core.in_ready = busy_q && !full_q && (!key_each_q || part_q);
    core.out_valid = go_i && step_q == Row && moves_q;
    core.out_row = '{last: row_q.last, bytes: row_q.bytes, data: out & auth_mask(row_q.bytes)};
    core.ended = ends;
    core.bad_tag = ends && bad_tag_q;
    core.single_taken = take_single;
    core.single_done = go_i && step_q == Single;
    core.single = single_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= Free;
      {busy_q, part_q, moves_q, plain_q, bad_tag_q, key_each_q, full_q} <= '0;
      cfg_q <= '0;
      {chain_q, single_q, wait_q, row_q} <= '0;
      key_q <= Keys;
    end else if (clear_i || memory.done) begin
      step_q <= Free;
      {busy_q, part_q, moves_q, plain_q, bad_tag_q, key_each_q, full_q} <= '0;
      cfg_q <= '0;
      {chain_q, single_q, wait_q, row_q} <= '0;
      key_q <= Keys;
    end else if (start) begin
      busy_q <= 1'b1;
      moves_q <= job_i.moves;
      plain_q <= job_i.plain;
      bad_tag_q <= bad_tag_i;
      key_each_q <= job_i.key_each;
      cfg_q <= job_i.cfg;
      chain_q <= (job_i.cfg.mode == Xts) ? toy(Encrypt, Keys[1], Iv) : Iv;
    end else begin
      if (memory.part_valid && core.part_ready) begin
        part_q <= 1'b1;
        cfg_q  <= memory.part;
        if (memory.part.init) chain_q <= memory.part.iv;
      end
      if (memory.key_valid) key_q[memory.key.slot[0]] <= memory.key.key[255:128];
      if (memory.in_valid && core.in_ready) begin
        full_q <= 1'b1;
        wait_q <= memory.in_row;
      end
      if (take_row) begin
        step_q <= Row;
        full_q <= 1'b0;
        row_q  <= wait_q;
        wait_q <= '0;
      end
      if (take_single) begin
        step_q   <= Single;
        single_q <= toy(memory.single.dir, key_q[memory.single.slot[0]], memory.single.data);
      end
      if (go_i && step_q == Row) begin
        step_q  <= (row_q.last && !plain_q) ? Tag : Free;
        chain_q <= mode_next(cfg_q.mode, cfg_q.dir, chain_q, row_q.data, out);
        row_q   <= '0;
        if (row_q.last) part_q <= 1'b0;
      end
      if (go_i && step_q == Single) begin
        step_q   <= Free;
        single_q <= '0;
      end
      if (go_i && step_q == Tag) step_q <= Free;
    end
  end

  // A key is not changed under the block that needs it.
  always_ff @(posedge clk_i) begin
    if (rst_ni && memory.key_valid && part_q) begin
      assert (memory.key.slot != cfg_q.key_slot)
      else $error("the key in use is replaced");
    end
  end

endmodule
