// SPDX-License-Identifier: Apache-2.0
//
// mae_fifo_async_proof: asserts the properties of a queue for mae_fifo_async, between two clocks
// that tick at any time, alone or together. Any word is followed: the one that is taken as number
// pick_i, a constant. Invariants of the pointers let the induction close. A synchronizer's first
// register takes the old or the new value of the one bit that changes: the clocks' free order has
// both.
// Source: Cummings, SNUG 2002.

module mae_fifo_async_proof #(
    parameter int unsigned LogDepth = 2,
    parameter int unsigned Width = 2,
    parameter bit Zero = 1'b1
) (
    input logic             in_clk_i,
    input logic             out_clk_i,
    input logic             rst_ni,
    input logic             in_valid_i,
    input logic [Width-1:0] in_data_i,
    input logic             out_ready_i
);
  typedef logic [LogDepth:0] pointer_t;
  localparam pointer_t Depth = pointer_t'(2 ** LogDepth);

  logic in_ready, out_valid;
  logic [Width-1:0] out_data;
  mae_fifo_async #(
      .Width   (Width),
      .LogDepth(LogDepth),
      .Zero    (Zero)
  ) u_dut (
      .in_clk_i,
      .in_rst_ni  (rst_ni),
      .in_valid_i,
      .in_ready_o (in_ready),
      .in_data_i,
      .out_clk_i,
      .out_rst_ni (rst_ni),
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o (out_data)
  );

  logic [Width-1:0] store[2**LogDepth];
  for (genvar i = 0; i < 2 ** LogDepth; i++) begin : gen_store
    if (Zero) begin : gen_zero
      assign store[i] = u_dut.gen_zero.store_q[i];
    end else begin : gen_keep
      assign store[i] = u_dut.gen_keep.u_store.words_q[i];
    end
  end

  // The words by number, as they were taken in.
  logic [2**LogDepth-1:0][Width-1:0] words_q;
  always_ff @(posedge in_clk_i or negedge rst_ni) begin
    if (!rst_ni) words_q <= '0;
    else if (in_valid_i && in_ready) words_q[u_dut.write_q[LogDepth-1:0]] <= in_data_i;
  end

  function automatic pointer_t gray(input pointer_t binary);
    return binary ^ (binary >> 1);
  endfunction
  function automatic pointer_t number(input pointer_t code);
    pointer_t binary;
    for (int unsigned i = 0; i <= LogDepth; i++) binary[i] = ^(code >> i);
    return binary;
  endfunction

  // Each pointer follows the one before it, and the last is at most Depth behind the first.
  pointer_t used, seen0, seen1, taken, told0, told1, freed;
  assign used  = u_dut.write_q - u_dut.free_q;
  assign seen0 = number(u_dut.u_write_sync.first_q) - u_dut.free_q;
  assign seen1 = number(u_dut.u_write_sync.second_q) - u_dut.free_q;
  assign taken = u_dut.read_q - u_dut.free_q;
  assign told0 = number(u_dut.u_read_sync.first_q) - u_dut.free_q;
  assign told1 = number(u_dut.u_read_sync.second_q) - u_dut.free_q;
  assign freed = '0;

  always_comb begin
    if (rst_ni) begin
      Room : assert (used <= Depth);
      Order :
      assert (freed <= told1 && told1 <= told0 && told0 <= taken && taken <= seen1 &&
                      seen1 <= seen0 && seen0 <= used);
      Codes :
      assert (u_dut.write_gray_q == gray(u_dut.write_q) && u_dut.read_gray_q == gray(u_dut.read_q));
      ReadyIfRoom : assert (!in_ready || used < Depth);
      ValidIfAny : assert (!out_valid || taken < used);
      InOrder : assert (!out_valid || out_data == words_q[u_dut.read_q[LogDepth-1:0]]);
      for (int unsigned i = 0; i < 2 ** LogDepth; i++) begin
        if (pointer_t'(i) >= taken && pointer_t'(i) < used) begin
          assert (store[LogDepth'(u_dut.free_q+pointer_t'(i))] ==
                  words_q[LogDepth'(u_dut.free_q+pointer_t'(i))]);
        end
        // With Zero, what has left is gone.
        if (Zero && pointer_t'(i) >= used) begin
          assert (store[LogDepth'(u_dut.free_q+pointer_t'(i))] == '0);
        end
      end
    end
  end

endmodule
