// SPDX-License-Identifier: Apache-2.0
//
// mae_ghosh_registers: executes accesses to protected registers whose AES-GCM tag is right, as
// Ghosh et al. describe, and seals what is read.
//
// It is a part of mae_ghosh_card; registers: regs/mae_ghosh_card.rdl. The tag of a request is
// computed over its value and its offset, with the IV that the host wrote. A write that fails does
// nothing; a read that fails returns ones. verdict has bit 0 set if a write has passed since verdict
// was read. The paper does not say what makes an IV fresh: here nothing does, and nothing is
// remembered of a request, so that an old one passes again.
// Latency: a protected write takes 16 clocks more than a plain one, a protected read 33, a refused
// read 17.
// Throughput: one protected access at a time.
// Reset: erases the key and all registers.
// Security: follows a protocol that mae_guard does not: replay and forgery succeed (`maeslant
// attack --ghosh`).
// Source: Ghosh et al., sections 3.1 and 4.2.

module mae_ghosh_registers
  import mae_aes_pkg::*;
  import mae_bytes_pkg::*;
  import mae_gcm_single_pkg::*;
  import mae_device_pkg::*;
  import mae_ghosh_card_regs_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input key_t key_i,

    input  logic                    write_valid_i,
    output logic                    write_done_o,
    input  logic [RegAddrWidth-1:0] write_addr_i,
    input  logic [            31:0] write_data_i,
    input  logic [             3:0] write_strb_i,
    input  logic                    read_valid_i,
    output logic                    read_done_o,
    input  logic [RegAddrWidth-1:0] read_addr_i,
    output logic [            31:0] read_data_o,
    output logic [           127:0] answer_tag_o,   // byte 0 in bits 7:0

    // protected registers
    output logic [63:0] target_o,
    output logic        start_valid_o,  // pulse
    output logic [63:0] start_o         // byte 0 in bits 7:0
);
  localparam logic [RegAddrWidth-4:0] TargetWord = Target[RegAddrWidth-1:3];
  localparam logic [RegAddrWidth-4:0] StartWord = Start[RegAddrWidth-1:3];
  localparam logic [RegAddrWidth-4:0] VerdictWord = Verdict[RegAddrWidth-1:3];

  typedef enum logic [2:0] {
    Idle,
    CheckWrite,
    CheckRead,
    Seal,
    Answer
  } state_e;
  state_e state_q;

  logic [95:0] iv_q;
  logic [127:0] tag_q, answer_tag_q;
  logic [63:0] target_q, sealed_q;
  logic [31:0] low_q;
  logic verdict_q;
  logic whole, write_check, read_check, seal, passed;
  logic [63:0] value;

  assign whole = write_valid_i && write_strb_i == '1;
  assign write_check = whole && write_addr_i[11] && write_addr_i[2];
  assign read_check = read_valid_i && read_addr_i[11] && !read_addr_i[2];

  // ---- The engine.
  logic req_valid, rsp_valid;
  gcm_beat_key_t key;
  gcm_beat_msg_t msg;
  gcm_beat_rsp_t rsp;
  logic [RegAddrWidth-1:0] offset;

  assign seal = state_q == CheckRead && passed;
  assign req_valid = (state_q == Idle && (write_check || read_check)) || seal;
  assign offset = (state_q == Idle && write_check) ? {write_addr_i[RegAddrWidth-1:3], 3'b0} :
      {read_addr_i[RegAddrWidth-1:3], 3'b0};
  always_comb begin
    key     = '0;
    key.dir = seal ? Encrypt : Decrypt;
    key.len = Aes128;
    key.key = key_i;
    key.iv  = block_96(iv_q) ^ (seal ? 96'd1 << 95 : '0);
  end
  always_comb begin
    msg            = '0;
    msg.aad_bytes  = 6'd4;
    msg.aad        = {32'(offset), 224'b0};
    msg.data_bytes = (seal || write_check) ? 5'd8 : 5'd0;
    msg.data       = swap_block({64'b0, seal ? value : {write_data_i, low_q}});
    msg.tag_bytes  = 5'd16;
    msg.tag        = swap_block(tag_q);
  end

  // Converts an IV with byte 0 in bits 7:0 to one with byte 0 at the top.
  function automatic logic [95:0] block_96(input logic [95:0] iv);
    for (int unsigned i = 0; i < 12; i++) block_96[8*i+:8] = iv[8*(11-i)+:8];
  endfunction

  mae_gcm_single #(
      .MaxKeyLen(Aes128)
  ) u_engine (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .req_valid_i(req_valid),
      .key_i      (key),
      .msg_i      (msg),
      .rsp_valid_o(rsp_valid),
      .rsp_o      (rsp)
  );

  // ---- Accesses.
  logic [63:0] opened;
  assign opened = 64'(swap_block(rsp.data));
  assign passed = rsp_valid && rsp.ok;
  assign value = (read_addr_i[RegAddrWidth-1:3] == VerdictWord) ? 64'(verdict_q) :
      (read_addr_i[RegAddrWidth-1:3] == TargetWord) ? target_q : '0;

  assign write_done_o = !write_check || (state_q == CheckWrite && rsp_valid);
  assign read_done_o = !read_check || state_q == Answer;
  assign read_data_o = read_addr_i[2] ? sealed_q[63:32] : sealed_q[31:0];
  assign target_o = target_q;
  assign start_o = opened;
  assign start_valid_o = state_q == CheckWrite && passed &&
      write_addr_i[RegAddrWidth-1:3] == StartWord;
  assign answer_tag_o = answer_tag_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      {iv_q, tag_q, answer_tag_q, target_q, sealed_q, low_q, verdict_q} <= '0;
    end else begin
      if (whole && write_addr_i[11:4] == RequestIv[11:4] && write_addr_i[3:2] != 2'd3)
        iv_q[32*write_addr_i[3:2]+:32] <= write_data_i;
      if (whole && write_addr_i[11:4] == RequestTag[11:4])
        tag_q[32*write_addr_i[3:2]+:32] <= write_data_i;
      if (whole && write_addr_i[11] && !write_addr_i[2]) low_q <= write_data_i;
      unique case (state_q)
        Idle:    if (write_check) state_q <= CheckWrite;
 else if (read_check) state_q <= CheckRead;
        CheckWrite:
        if (rsp_valid) begin
          state_q   <= Idle;
          verdict_q <= passed;
          if (passed) begin
            answer_tag_q <= tag_q;
            if (write_addr_i[RegAddrWidth-1:3] == TargetWord) target_q <= opened;
          end
        end
        CheckRead:
        if (rsp_valid) begin
          state_q  <= passed ? Seal : Answer;
          sealed_q <= '1;
        end
        Seal:
        if (rsp_valid) begin
          state_q      <= Answer;
          sealed_q     <= 64'(swap_block(rsp.data));
          answer_tag_q <= swap_block(rsp.tag);
          if (read_addr_i[RegAddrWidth-1:3] == VerdictWord) verdict_q <= 1'b0;
        end
        default: state_q <= Idle;
      endcase
    end
  end

  logic unused;
  assign unused = ^{write_addr_i[1:0], read_addr_i[1:0], rsp.ctx};

endmodule
