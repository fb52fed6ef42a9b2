// SPDX-License-Identifier: Apache-2.0
//
// mae_peripheral_small_core: encrypts and decrypts blocks in ECB, CBC and CTR under one key in the
// smallest area, controlled by registers behind AXI4-Lite; with Duplex = 1 two jobs at once.
//
// Registers: regs/mae_peripheral_small.rdl, at the offsets of mae_peripheral's. Duplex = 0: one job
// (mae_peripheral_window) on mae_cipher_min_area. Duplex = 1: two jobs, the second one's registers
// 0x100 above, on the duplex form of mae_cipher_iter: one unit encrypts while the other decrypts,
// both from one key memory. Each job may use either unit; of two requests for one unit the first
// job's goes first, and it cannot have another block ready when that one ends. A key command is
// refused with ErrBusy while a job runs, so that a job's key never changes. While a command waits
// for the cipher (key_status.busy), writes of the key registers are ignored: they hold its key.
// ctrl.wipe erases key, chain values and data in one clock, whatever the core is doing, except for
// the word that R offers.
// Latency: 10, 12 or 14 clocks a block in the cipher; the first decryption after a key as many more.
// Throughput: through registers a block takes four writes and four reads. Each direction one block
// in 10, 12 or 14 clocks.
// Parameters: Chain = 0: ECB only. Legal: Duplex 0, or 1 with Dirs = DirsBoth; Chain 0 or 1; Dirs any
// of dirs_e; MaxKeyLen any of key_len_e; Sbox any of sbox_impl_e.
// Security: constant-time: all clock counts depend on mode, key length and bus only; no masking.
// Source: Kale et al., sections 2 and 3. Tested by tests/device/peripheral/test_peripheral_small.py.

`include "mae_assert.svh"

module mae_peripheral_small_core
  import mae_aes_pkg::*;
  import mae_axi_pkg::*;
  import mae_device_pkg::*;
#(
    parameter bit Duplex = 1'b0,
    parameter bit Chain = 1'b1,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxLut
) (
    input logic clk_i,
    input logic rst_ni,

    input  axil_req_t axil_i,
    output axil_rsp_t axil_o,

    output logic irq_o
);
  `MAE_PARAM(DuplexLegal, !Duplex || Dirs == DirsBoth)

  localparam int unsigned Jobs = Duplex ? 2 : 1;
  typedef logic [Jobs-1:0] jobs_t;

  // Accesses: block 0 has the registers of identity and key, the others each those of a job.
  logic req, req_is_wr;
  logic [11:0] reg_addr;
  logic [31:0] wr_data, wr_biten, rd_data;
  logic [Jobs:0] block_req, rd_ack, rd_err, wr_ack, wr_err;
  logic [Jobs:0][31:0] block_data;
  logic [7:0] offset;

  mae_axil_regblock_adapter u_axil (
      .clk_i,
      .rst_ni,
      .req_o      (req),
      .req_is_wr_o(req_is_wr),
      .addr_o     (reg_addr),
      .wr_data_o  (wr_data),
      .wr_biten_o (wr_biten),
      .rd_ack_i   (rd_ack != '0),
      .rd_err_i   ((rd_ack & rd_err) != '0),
      .rd_data_i  (rd_data),
      .wr_ack_i   (wr_ack != '0),
      .wr_err_i   ((wr_ack & wr_err) != '0),
      .*
  );

  assign offset = reg_addr[7:0];

  always_comb begin
    block_req = '0;
    for (int unsigned i = 0; i < Jobs; i++) begin
      block_req[i+1] = req && reg_addr[11:8] == 4'(i) &&
          (offset inside {[8'h20 : 8'h3c], [8'h70 : 8'h9c]});
    end
    block_req[0] = req && block_req[Jobs:1] == '0;
    rd_data = '0;
    for (int unsigned i = 0; i <= Jobs; i++) if (rd_ack[i]) rd_data |= block_data[i];
  end

  mae_peripheral_small_regs_pkg::mae_peripheral_small__in_t from_hw;
  mae_peripheral_small_regs_pkg::mae_peripheral_small__out_t from_sw;
  logic [1:0] unused_stall;

  mae_peripheral_small_regs u_regs (
      .clk                 (clk_i),
      .arst_n              (rst_ni),
      .s_cpuif_req         (block_req[0]),
      .s_cpuif_req_is_wr   (req_is_wr),
      .s_cpuif_addr        (reg_addr),
      .s_cpuif_wr_data     (wr_data),
      .s_cpuif_wr_biten    (wr_biten),
      .s_cpuif_req_stall_wr(unused_stall[0]),  // one request at a time
      .s_cpuif_req_stall_rd(unused_stall[1]),
      .s_cpuif_rd_ack      (rd_ack[0]),
      .s_cpuif_rd_err      (rd_err[0]),
      .s_cpuif_rd_data     (block_data[0]),
      .s_cpuif_wr_ack      (wr_ack[0]),
      .s_cpuif_wr_err      (wr_err[0]),
      .hwif_in             (from_hw),
      .hwif_out            (from_sw)
  );

  // The key: a command is checked, then carried out when the cipher takes it.
  logic clear, go, pending_q, erase_q, accept, erase, ended, loaded_q, key_ready;
  jobs_t wipe, locked;
  logic [7:0][31:0] key_words;
  cipher_key_t key;
  key_len_e len_q;
  error_e key_verdict, key_error_q;

  assign clear  = wipe != '0;
  assign go     = from_sw.key_cmd.go.value;
  assign accept = pending_q && !erase_q && !clear;
  assign erase  = pending_q && erase_q;
  assign ended  = erase || (accept && key_ready);

  always_comb begin
    for (int unsigned i = 0; i < 8; i++) key_words[i] = from_sw.key[i].word.value;
    key = '{bank: '0, len: len_q, key: key_of_words(key_words)};
    key_verdict = ErrNone;
    if (pending_q || locked != '0 || clear) key_verdict = ErrBusy;
    else if (from_sw.key_cmd.slot.value != '0) key_verdict = ErrBadKey;
    else if (!from_sw.key_cmd.op.value && from_sw.key_cmd.len.value > MaxKeyLen) begin
      key_verdict = ErrBadKey;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q   <= 1'b0;
      erase_q     <= 1'b0;
      len_q       <= Aes128;
      loaded_q    <= 1'b0;
      key_error_q <= ErrNone;
    end else begin
      if (ended) begin
        pending_q <= 1'b0;
        loaded_q  <= !erase_q;
      end
      if (go) begin
        key_error_q <= key_verdict;
        if (key_verdict == ErrNone) begin
          pending_q <= 1'b1;
          loaded_q  <= 1'b0;
          erase_q   <= from_sw.key_cmd.op.value;
          len_q     <= key_len_e'(from_sw.key_cmd.len.value);
        end
      end
      if (clear) begin
        pending_q <= 1'b0;
        loaded_q  <= 1'b0;
      end
    end
  end

  // The jobs.
  jobs_t irq, job_valid, job_ready, job_rsp;
  dir_e [Jobs-1:0] job_dir;
  block_t [Jobs-1:0] job_block, rsp_block;

  for (genvar i = 0; i < Jobs; i++) begin : gen_job
    mae_peripheral_window #(
        .Chain(Chain),
        .Dirs (Dirs)
    ) u_window (
        .clk_i,
        .rst_ni,
        .clear_i    (clear),
        .req_i      (block_req[i+1]),
        .req_is_wr_i(req_is_wr),
        .addr_i     ({4'h0, offset}),
        .wr_data_i  (wr_data),
        .wr_biten_i (wr_biten),
        .rd_ack_o   (rd_ack[i+1]),
        .rd_err_o   (rd_err[i+1]),
        .rd_data_o  (block_data[i+1]),
        .wr_ack_o   (wr_ack[i+1]),
        .wr_err_o   (wr_err[i+1]),
        .loaded_i   (loaded_q),
        .wipe_o     (wipe[i]),
        .locked_o   (locked[i]),
        .irq_o      (irq[i]),
        .req_valid_o(job_valid[i]),
        .req_ready_i(job_ready[i]),
        .req_dir_o  (job_dir[i]),
        .req_block_o(job_block[i]),
        .rsp_valid_i(job_rsp[i]),
        .rsp_block_i(rsp_block[i])
    );
  end

  assign irq_o = irq != '0;

  if (Duplex) begin : gen_duplex
    // Unit 0 encrypts, unit 1 decrypts; a request's context is its job.
    logic [1:0] pick, req_valid, req_ready, rsp_valid;
    cipher_req_t [1:0] cipher_req;
    cipher_rsp_t [1:0] cipher_rsp;

    always_comb begin
      for (int unsigned u = 0; u < 2; u++) begin
        pick[u] = !(job_valid[0] && job_dir[0] == dir_e'(u));
        req_valid[u] = job_valid[pick[u]] && job_dir[pick[u]] == dir_e'(u);
        cipher_req[u] = '{
            ctx: ctx_t'(pick[u]),
            dir: dir_e'(u),
            bank: '0,
            block: job_block[pick[u]]
        };
      end
    end

    always_comb begin
      job_ready = '0;
      for (int unsigned u = 0; u < 2; u++) begin
        if (req_valid[u] && req_ready[u]) job_ready[pick[u]] = 1'b1;
      end
    end

    always_comb begin
      job_rsp   = '0;
      rsp_block = '0;
      for (int unsigned u = 0; u < 2; u++) begin
        for (int unsigned i = 0; i < 2; i++) begin
          if (rsp_valid[u] && cipher_rsp[u].ctx == ctx_t'(i)) begin
            job_rsp[i]   = 1'b1;
            rsp_block[i] = rsp_block[i] | cipher_rsp[u].block;
          end
        end
      end
    end

    mae_cipher_iter #(
        .Units    (2),
        .KeyBanks (1),
        .Dirs     (Dirs),
        .MaxKeyLen(MaxKeyLen),
        .Sbox     (Sbox),
        .Duplex   (1'b1)
    ) u_cipher (
        .clk_i,
        .rst_ni,
        .clear_i    (clear || erase),
        .key_valid_i(accept),
        .key_ready_o(key_ready),
        .key_i      (key),
        .req_valid_i(req_valid),
        .req_ready_o(req_ready),
        .req_i      (cipher_req),
        .rsp_valid_o(rsp_valid),
        .rsp_o      (cipher_rsp)
    );
  end else begin : gen_one
    cipher_req_t [0:0] cipher_req;
    cipher_rsp_t [0:0] cipher_rsp;

    assign cipher_req[0] = '{ctx: '0, dir: job_dir[0], bank: '0, block: job_block[0]};
    assign rsp_block[0]  = cipher_rsp[0].block;

    mae_cipher_min_area #(
        .Dirs     (Dirs),
        .MaxKeyLen(MaxKeyLen),
        .Sbox     (Sbox)
    ) u_cipher (
        .clk_i,
        .rst_ni,
        .clear_i    (clear || erase),
        .key_valid_i(accept),
        .key_ready_o(key_ready),
        .key_i      (key),
        .req_valid_i(job_valid),
        .req_ready_o(job_ready),
        .req_i      (cipher_req),
        .rsp_valid_o(job_rsp),
        .rsp_o      (cipher_rsp)
    );

    logic unused;
    assign unused = ^cipher_rsp[0].ctx;
  end

  // Values that the host reads.
  always_comb begin
    from_hw.caps.lanes.next = '0;
    from_hw.caps.key_slots.next = 8'd1;
    from_hw.caps.contexts.next = 9'(Jobs);
    from_hw.caps.key_banks.next = 3'd1;
    from_hw.features.aes128.next = 1'b1;
    from_hw.features.aes192.next = MaxKeyLen != Aes128;
    from_hw.features.aes256.next = MaxKeyLen == Aes256;
    from_hw.features.encrypt.next = Dirs[0];
    from_hw.features.decrypt.next = Dirs[1];
    from_hw.features.sbox.next = 4'(Sbox);
    from_hw.features.regs_per_round.next = '0;
    from_hw.features.memory.next = 1'b0;
    from_hw.modes.mask.next = modes_mask(Dirs) & (Chain ? 32'h23 : 32'h1);
    from_hw.key_status.busy.next = pending_q || go;
    from_hw.key_status.error.next = key_error_q;
    from_hw.key_valid[0].mask.next = 32'(loaded_q);
    from_hw.key_valid[1].mask.next = '0;
    for (int unsigned i = 0; i < 8; i++) begin
      // The key of a command stays in these registers until the cipher takes it.
      from_hw.key[i].word.swwe  = !pending_q && !go;
      from_hw.key[i].word.hwclr = clear || ended || (go && !pending_q && key_verdict != ErrNone);
    end
  end

  logic unused_in;
  assign unused_in = ^unused_stall;

  `MAE_ASSERT(KeyOutsideJobs, !pending_q || locked == '0 || !loaded_q)

endmodule
