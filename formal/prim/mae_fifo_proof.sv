// SPDX-License-Identifier: Apache-2.0
//
// mae_fifo_proof: asserts for mae_fifo, mae_stream_reg or mae_fifo_scrubbed that no word is lost,
// duplicated, changed or reordered, and that offered words stay. Any word is followed: ghost words
// tell how many are before it. Legal: Kind 0 (mae_fifo), 1 (mae_stream_reg, Depth 2) or 2
// (mae_fifo_scrubbed).

module mae_fifo_proof #(
    parameter int unsigned Kind = 0,
    parameter int unsigned Depth = 3,
    parameter int unsigned Width = 2,
    parameter bit Zero = 1'b1,
    localparam int unsigned CountWidth = $clog2(Depth + 1)
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             clear_i,
    input logic             in_valid_i,
    input logic [Width-1:0] in_data_i,
    input logic             out_ready_i
);
  logic in_ready, out_valid;
  logic [Width-1:0] out_data;
  logic [CountWidth-1:0] count_q;  // words in the queue, by the handshakes alone
  logic [Depth-1:0][Width-1:0] words_q;  // word 0 is the next one out
  logic [Depth-1:0][Width-1:0] words;
  logic [CountWidth-1:0] left;
  logic push, pop;

  if (Kind == 0) begin : gen_fifo
    logic [CountWidth-1:0] count;
    mae_fifo #(
        .Width(Width),
        .Depth(Depth),
        .Zero (Zero)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .clear_i,
        .in_valid_i,
        .in_ready_o (in_ready),
        .in_data_i,
        .out_valid_o(out_valid),
        .out_ready_i,
        .out_data_o (out_data),
        .count_o    (count)
    );
    always_ff @(posedge clk_i) if (rst_ni) CountIsExact : assert (count == count_q);
    // With Zero, a clear or a reset sets the stored words to zero.
    logic cleared_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) cleared_q <= 1'b1;
      else cleared_q <= clear_i;
    end
    always_ff @(posedge clk_i) begin
      for (int unsigned i = 0; i < Depth; i++) begin
        if (rst_ni && Zero && cleared_q) assert (u_dut.store_q[i] == '0);
      end
    end
    // The places of the words: an invariant, which lets the induction close.
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        PointersAgree :
        assert (32'(u_dut.read_q) < Depth &&
                32'(u_dut.write_q) == (32'(u_dut.read_q) + 32'(count_q)) % Depth);
        for (int unsigned i = 0; i < Depth; i++) begin
          if (i < 32'(count_q)) begin
            assert (u_dut.store_q[(32'(u_dut.read_q)+i)%Depth] == words_q[i]);
          end
        end
      end
    end
  end else if (Kind == 2) begin : gen_scrubbed
    mae_fifo_scrubbed #(
        .Width(Width),
        .Depth(Depth)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .clear_i,
        .in_valid_i,
        .in_ready_o (in_ready),
        .in_data_i,
        .out_valid_o(out_valid),
        .out_ready_i,
        .out_data_o (out_data)
    );
    // What is neither old nor pushed since the last clear is 0.
    logic [Depth-1:0] pushed_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) pushed_q <= '0;
      else if (clear_i) pushed_q <= '0;
      else if (push) pushed_q[u_dut.write_q] <= 1'b1;
      else if (u_dut.scrub) pushed_q[u_dut.scrub_q] <= 1'b0;
    end
    // Places, counted from behind the last old word on.
    int unsigned scrub_at, write_at, read_at, old;
    always_comb begin
      old      = 32'(u_dut.old_q);
      scrub_at = Depth - old;
      write_at = (32'(u_dut.write_q) + 2 * Depth - 32'(u_dut.scrub_q) - old) % Depth;
      read_at  = (32'(u_dut.read_q) + 2 * Depth - 32'(u_dut.scrub_q) - old) % Depth;
    end
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        for (int unsigned i = 0; i < Depth; i++) begin
          assert ((i + Depth - 32'(u_dut.scrub_q)) % Depth < old || pushed_q[i] ||
                  u_dut.u_store.words_q[i] == '0);
          if (i < 32'(count_q)) begin
            assert (u_dut.u_store.words_q[(32'(u_dut.read_q)+i)%Depth] == words_q[i]);
          end
        end
        PointersAgree :
        assert (32'(u_dut.read_q) < Depth && 32'(u_dut.scrub_q) < Depth && old <= Depth &&
                32'(u_dut.write_q) == (32'(u_dut.read_q) + 32'(count_q)) % Depth);
        CountIsExact : assert (u_dut.count_q == count_q);
        OldBehindNew :
        assert (old == 0 || (read_at <= write_at && write_at <= scrub_at && 32'(count_q) < Depth));
      end
    end
  end else begin : gen_reg
    mae_stream_reg #(
        .Width(Width)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .clear_i,
        .in_valid_i,
        .in_ready_o (in_ready),
        .in_data_i,
        .out_valid_o(out_valid),
        .out_ready_i,
        .out_data_o (out_data)
    );
    always_ff @(posedge clk_i) begin
      if (rst_ni) SkidAgrees : assert (!u_dut.skid_valid_q || u_dut.skid_data_q == words_q[1]);
      if (rst_ni) BothAgree : assert (u_dut.skid_valid_q == (count_q == CountWidth'(2)));
    end
  end

  assign push = in_valid_i && in_ready;
  assign pop  = out_valid && out_ready_i;
  assign left = count_q - CountWidth'(pop);

  always_comb begin
    words = words_q;
    if (pop) for (int unsigned i = 0; i + 1 < Depth; i++) words[i] = words_q[i+1];
    for (int unsigned i = 0; i < Depth; i++) if (push && i == 32'(left)) words[i] = in_data_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {count_q, words_q} <= '0;
    else if (clear_i) {count_q, words_q} <= '0;
    else begin
      count_q <= left + CountWidth'(push);
      words_q <= words;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      InRange : assert (32'(count_q) <= Depth);
      ValidIfAny : assert (out_valid == (count_q != '0));
      ReadyIfRoom : assert (in_ready == (32'(count_q) != Depth));
      InOrder : assert (!out_valid || out_data == words_q[0]);
    end
  end

endmodule
