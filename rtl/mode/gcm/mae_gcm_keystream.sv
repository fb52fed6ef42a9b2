// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_keystream: computes the keystream and tag mask E(K, J0) of announced GCM messages ahead
// of their use. It also computes H of each key.
//
// Masks and H have a pipeline of their own. With Small = 1 they use the pipelines of the rows,
// before the rows of their message. Rows and masks wait in FIFOs of RowDepth and MaskDepth entries;
// no block is started that would not fit. key_ready_o and msg_ready_o are combinational. Offer a key
// only when no message of its bank is in progress. h_pending_o[b]: H of bank b is still to come.
// Latency: a message offered in clock t gives its first row and its mask in clock t + Nr *
// RegsPerRound + 2; with a hashed IV, one clock more, counted from j0_valid_i. A key accepted in
// clock t gives h_valid_o in clock t + Nr * RegsPerRound + 2. With Deep = 1 a register before the
// pipelines and one behind the FIFO of the rows add 1 clock, for rows 2; with RomSboxes = 1 and
// RegsPerRound = 2 the former alone, as block RAMs have slow addresses.
// Throughput: one row a clock; one message of at most one row a clock. With Small = 1 each
// message and each key takes the place of one row, and the first row comes one clock after its
// mask. For one row a clock, RowDepth must be at least the latency of the first row plus 1.
// Reset and clear: abort_i drops all messages by the next clock and keeps the keys; clear_i and
// reset also erase the keys. Deep or Small: data leave the pipelines as in mae_pipe_rounds with
// Flush = 1; Small: and the FIFOs as in mae_gcm_fifo.
// Parameters: OneKeyLen = 1: all keys have MaxKeyLen. RomSboxes = 1 takes mae_pipe_rounds_rom, for
// block RAM; Sbox is then that of the key expansion. Legal: Lanes 1..16; KeyBanks 1..4; MaxKeyLen
// any of key_len_e; OneKeyLen 0 or 1; Sbox any of sbox_impl_e; RegsPerRound 1..3; Deep and Small 0
// or 1, not both 1; RomSboxes 0, or 1 with Small = 1 and RegsPerRound 1 or 2.
// Security: constant-time; no masking.
// Source: SP 800-38D §6.5, §7.1; Ghosh et al., section 4.1; Dong et al..

`include "mae_assert.svh"

module mae_gcm_keystream
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned KeyBanks = 2,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter bit OneKeyLen = 1'b0,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    parameter bit Deep = 1'b0,
    parameter bit Small = 1'b0,
    parameter bit RomSboxes = 1'b0,
    parameter int unsigned RowDepth = (10 + 2 * int'(MaxKeyLen)) * RegsPerRound + 6,
    parameter int unsigned MaskDepth = 32
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        clear_i,
    input  logic                        abort_i,
    input  logic                        key_valid_i,
    output logic                        key_ready_o,
    input  cipher_key_t                 key_i,
    output logic                        h_valid_o,
    input  logic                        h_ready_i,
    output bank_t                       h_bank_o,
    output block_t                      h_o,
    output logic         [KeyBanks-1:0] h_pending_o,
    input  logic                        msg_valid_i,
    output logic                        msg_ready_o,
    input  gcm_counter_t                msg_i,
    input  logic                        j0_valid_i,    // of the next message with a hashed IV
    input  block_t                      j0_i,
    output logic                        row_valid_o,
    input  logic                        row_ready_i,
    output block_t       [   Lanes-1:0] row_o,
    output logic                        mask_valid_o,
    input  logic                        mask_ready_i,
    output block_t                      mask_o
);

  `MAE_PARAM(LanesLegal, Lanes inside {[1 : 16]})
  `MAE_PARAM(SmallLegal, !(Small && Deep))
  `MAE_PARAM(RomSboxesLegal, !RomSboxes || (Small && RegsPerRound < 3))

  localparam int unsigned Rounds = 10 + 2 * int'(MaxKeyLen);
  localparam bit MaskPipe = !Small;
  localparam bit RequestReg = Deep || (RomSboxes && RegsPerRound > 1);
  localparam int unsigned Pipes = Lanes + 32'(MaskPipe);
  localparam int unsigned Masks = MaskPipe ? Lanes : 0;  // the pipeline of masks and H
  localparam gcm_length_t RowBytes = gcm_length_t'(16 * Lanes);

  logic flush;
  assign flush = clear_i || abort_i;

  // ---- Keys and pipelines. A flush clears the pipelines but not the key memory.
  logic [KeyBanks-1:0] enc_ready, unused_dec_ready, used;
  logic     [KeyBanks-1:0] pipe_used[   Pipes];
  key_len_e                key_len  [KeyBanks];
  key_len_e                len      [KeyBanks];
  block_t                  keys     [KeyBanks] [Rounds+1];
  block_t                  enc_keys [KeyBanks] [  Rounds];
  logic [Pipes-1:0] req_valid, req_ready, pipe_valid, pipe_ready, rsp_valid;
  cipher_req_t [Pipes-1:0] req, pipe_req;
  cipher_rsp_t [Pipes-1:0] rsp;

  always_comb begin
    used = '0;
    for (int unsigned i = 0; i < Pipes; i++) used |= pipe_used[i];
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      len[b] = OneKeyLen ? MaxKeyLen : key_len[b];
      for (int unsigned r = 0; r < Rounds; r++) begin
        enc_keys[b][r] = '0;
        case (len[b])
          Aes128:  if (r <= 10) enc_keys[b][r] = keys[b][10-r];
          Aes192:  if (r <= 12 && Rounds >= 12) enc_keys[b][r] = keys[b][12-r];
          default: if (Rounds >= 14) enc_keys[b][r] = keys[b][14-r];
        endcase
      end
    end
  end

  mae_round_key_mem #(
      .KeyBanks   (KeyBanks),
      .MaxKeyLen  (MaxKeyLen),
      .RoundClocks(RegsPerRound),
      .StepClocks (Deep ? RegsPerRound : 1),
      .Sbox       (Sbox)
  ) u_keys (
      .clk_i,
      .rst_ni,
      .clear_i,
      .key_valid_i,
      .key_ready_o,
      .key_i,
      .used_i     (used),
      .enc_ready_o(enc_ready),
      .dec_ready_o(unused_dec_ready),
      .len_o      (key_len),
      .keys_o     (keys)
  );

  for (genvar i = 0; i < Pipes; i++) begin : gen_pipe
    if (RomSboxes) begin : gen_rom
      block_t first_key[KeyBanks];
      always_comb for (int unsigned b = 0; b < KeyBanks; b++) first_key[b] = keys[b][0];
      mae_pipe_rounds_rom #(
          .KeyBanks    (KeyBanks),
          .MaxKeyLen   (MaxKeyLen),
          .RegsPerRound(RegsPerRound),
          .CtxBits     (MaskPipe ? 1 : 2)
      ) u_rounds (
          .clk_i,
          .rst_ni,
          .clear_i    (flush),
          .enc_ready_i(enc_ready),
          .len_i      (len),
          .first_key_i(first_key),
          .enc_keys_i (enc_keys),
          .used_o     (pipe_used[i]),
          .req_valid_i(pipe_valid[i]),
          .req_ready_o(pipe_ready[i]),
          .req_i      (pipe_req[i]),
          .rsp_valid_o(rsp_valid[i]),
          .rsp_o      (rsp[i])
      );
    end else begin : gen_logic
      mae_pipe_rounds #(
          .KeyBanks    (KeyBanks),
          .Dirs        (DirsEncrypt),
          .MaxKeyLen   (MaxKeyLen),
          .Sbox        (Sbox),
          .RegsPerRound(RegsPerRound),
          .Flush       (Deep || Small),
          .CtxBits     (MaskPipe ? 1 : 2)
      ) u_rounds (
          .clk_i,
          .rst_ni,
          .clear_i    (flush),
          .enc_ready_i(enc_ready),
          .dec_ready_i('0),
          .len_i      (len),
          .keys_i     (keys),
          .enc_keys_i (enc_keys),
          .used_o     (pipe_used[i]),
          .req_valid_i(pipe_valid[i]),
          .req_ready_o(pipe_ready[i]),
          .req_i      (pipe_req[i]),
          .rsp_valid_o(rsp_valid[i]),
          .rsp_o      (rsp[i])
      );
    end
  end

  // Requests enter the pipelines directly or through registers.
  for (genvar i = 0; i < Pipes; i++) begin : gen_request
    mae_stream_reg_opt #(
        .Width($bits(cipher_req_t)),
        .Cut  (RequestReg)
    ) u_cut (
        .clk_i,
        .rst_ni,
        .clear_i    (flush),
        .in_valid_i (req_valid[i]),
        .in_ready_o (req_ready[i]),
        .in_data_i  (req[i]),
        .out_valid_o(pipe_valid[i]),
        .out_ready_i(pipe_ready[i]),
        .out_data_o (pipe_req[i])
    );
  end

  // ---- H of a new key, before any other block in its pipeline. ctx identifies the result: 0 a
  // row, 1 H, 2 a mask; in a pipeline without rows, a mask has 0.
  logic [KeyBanks-1:0] h_wanted_q;
  logic h_open_q, h_want, h_go;
  bank_t h_bank_q, h_bank;
  always_comb begin
    h_bank = '0;
    for (int unsigned b = KeyBanks; b > 0; b--) if (h_wanted_q[b-1]) h_bank = bank_t'(b - 1);
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      h_pending_o[b] = h_wanted_q[b] || (h_open_q && h_bank_q == bank_t'(b));
    end
  end
  assign h_want    = h_wanted_q != '0 && !h_open_q && h_ready_i;
  assign h_go      = h_want && req_ready[Masks] && !flush;
  assign h_valid_o = rsp_valid[Masks] && rsp[Masks].ctx[0];
  assign h_bank_o  = h_bank_q;
  assign h_o       = rsp[Masks].block;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      h_wanted_q <= '0;
      h_open_q   <= 1'b0;
      h_bank_q   <= '0;
    end else if (clear_i) begin
      h_wanted_q <= '0;
      h_open_q   <= 1'b0;
      h_bank_q   <= '0;
    end else begin
      if (h_go) begin
        h_open_q <= 1'b1;
        h_bank_q <= h_bank;
      end else if (h_valid_o || abort_i) begin
        h_open_q <= 1'b0;
      end
      for (int unsigned b = 0; b < KeyBanks; b++) begin
        if (h_go && h_bank == bank_t'(b)) h_wanted_q[b] <= 1'b0;
        if (abort_i && h_open_q && !h_valid_o && h_bank_q == bank_t'(b)) h_wanted_q[b] <= 1'b1;
        if (key_valid_i && key_ready_o && key_i.bank == bank_t'(b)) h_wanted_q[b] <= 1'b1;
      end
    end
  end

  // ---- The message at the port: its rows and its mask are requested independently. Blocks that
  // start in a clock of flush go to registers that flush empties, so that flush is in none of these
  // paths.
  logic begun_q, rows_done_q, mask_done_q, j0_valid_q, last_q;
  logic [31:0] count_q, count;  // the last counter value that was used
  gcm_length_t left_q, left;
  block_t j0_q, j0;
  logic j0_known, no_rows, row_want, row_go, row_last, mask_want, mask_go, row_room, mask_room;
  logic [ $clog2(RowDepth+1)-1:0] rows_q;
  logic [$clog2(MaskDepth+1)-1:0] masks_q;

  assign j0_known = !msg_i.iv_hashed || j0_valid_q;
  assign j0 = msg_i.iv_hashed ? j0_q : {msg_i.iv, 32'd1};
  assign left = begun_q ? left_q : msg_i.data_bytes;
  assign count = begun_q ? count_q : j0[31:0];
  assign row_last = begun_q ? last_q : msg_i.one_row;
  assign no_rows = !begun_q && msg_i.no_rows;
  assign row_room = 32'(rows_q) != RowDepth;
  assign mask_room = 32'(masks_q) != MaskDepth;
  assign row_want = msg_valid_i && j0_known && !rows_done_q && !no_rows && row_room;
  assign row_go = row_want && req_ready[0] && (MaskPipe || !(h_want || mask_want));
  assign mask_want = msg_valid_i && j0_known && !mask_done_q && mask_room && !h_want;
  assign mask_go = mask_want && req_ready[Masks];
  assign msg_ready_o = (rows_done_q || no_rows || (row_go && row_last)) &&
      (mask_done_q || mask_go) && j0_known;

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      req_valid[i] = row_want;
      req[i] = '{
          ctx: '0,
          bank: msg_i.bank,
          dir: Encrypt,
          block: {j0[127:32], count + 32'(i + 1)}
      };
    end
    // Where lanes share theirs with masks, all take the block, so that they stay in step.
    for (int unsigned i = Masks; i < Pipes; i++) begin
      if (MaskPipe || h_want || mask_want) begin
        req_valid[i] = h_want || mask_want;
        req[i] = '{
            ctx: h_want ? ctx_t'(1) : ctx_t'(2),
            bank: h_want ? h_bank : msg_i.bank,
            dir: Encrypt,
            block: h_want ? '0 : j0
        };
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {begun_q, rows_done_q, mask_done_q, j0_valid_q, last_q} <= '0;
      count_q                                                 <= '0;
      left_q                                                  <= '0;
      j0_q                                                    <= '0;
      rows_q                                                  <= '0;
      masks_q                                                 <= '0;
    end else if (flush) begin
      {begun_q, rows_done_q, mask_done_q, j0_valid_q, last_q} <= '0;
      count_q                                                 <= '0;
      left_q                                                  <= '0;
      j0_q                                                    <= '0;
      rows_q                                                  <= '0;
      masks_q                                                 <= '0;
    end else begin
      if (row_go) begin
        begun_q     <= 1'b1;
        rows_done_q <= row_last;
        count_q     <= count + 32'(Lanes);
        left_q      <= left - RowBytes;
        last_q      <= left <= RowBytes << 1;
      end
      if (mask_go) mask_done_q <= 1'b1;
      if (msg_valid_i && msg_ready_o) begin
        {begun_q, rows_done_q, mask_done_q, last_q} <= '0;
        count_q <= '0;
        left_q <= '0;
        if (msg_i.iv_hashed) begin
          j0_valid_q <= 1'b0;
          j0_q       <= '0;
        end
      end
      if (j0_valid_i) begin
        j0_valid_q <= 1'b1;
        j0_q       <= j0_i;
      end
      rows_q <= rows_q + $bits(rows_q)'(row_go) - $bits(rows_q)'(row_valid_o && row_ready_i);
      masks_q <= masks_q + $bits(masks_q)'(mask_go) - $bits(masks_q)'(mask_valid_o && mask_ready_i);
    end
  end

  // ---- Results, in order.
  block_t [Lanes-1:0] row;
  logic row_came, mask_came;
  assign row_came  = rsp_valid[0] && (MaskPipe || rsp[0].ctx == '0);
  assign mask_came = rsp_valid[Masks] && !rsp[Masks].ctx[0] && (MaskPipe || rsp[Masks].ctx[1]);
  logic unused_row_ready, unused_mask_ready;
  always_comb for (int unsigned i = 0; i < Lanes; i++) row[i] = rsp[i].block;

  mae_gcm_fifo #(
      .Width(128 * Lanes),
      .Depth(RowDepth - (Deep ? 2 : 0)),
      .Cut  (Deep),
      .Small(Small)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .clear_i    (flush),
      .in_valid_i (row_came),
      .in_ready_o (unused_row_ready),
      .in_data_i  (row),
      .out_valid_o(row_valid_o),
      .out_ready_i(row_ready_i),
      .out_data_o (row_o)
  );

  mae_gcm_fifo #(
      .Width(128),
      .Depth(MaskDepth),
      .Small(Small)
  ) u_masks (
      .clk_i,
      .rst_ni,
      .clear_i    (flush),
      .in_valid_i (mask_came),
      .in_ready_o (unused_mask_ready),
      .in_data_i  (rsp[Masks].block),
      .out_valid_o(mask_valid_o),
      .out_ready_i(mask_ready_i),
      .out_data_o (mask_o)
  );

  `MAE_ASSERT(LanesTogether, req_ready[Lanes-1:0] == '0 || &req_ready[Lanes-1:0] || !row_want)
  `MAE_ASSERT(AnswersTogether, rsp_valid[Lanes-1:0] == '0 || &rsp_valid[Lanes-1:0])
  `MAE_ASSERT(RowHasPlace, !row_came || unused_row_ready)
  `MAE_ASSERT(KeyLength, !key_valid_i || !OneKeyLen || key_i.len == MaxKeyLen)
  `MAE_ASSERT(OneJ0, !j0_valid_i || !j0_valid_q)

endmodule
