// SPDX-License-Identifier: Apache-2.0
//
// mae_delay_line_proof: compares the memory of mae_delay_line with a chain of registers, and
// asserts that a clear or a reset erases it. Legal: Clocks >= 1.

module mae_delay_line_proof #(
    parameter int unsigned Clocks = 3,
    parameter int unsigned Width  = 2
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             clear_i,
    input logic             valid_i,
    input logic [Width-1:0] data_i
);
  logic valid;
  logic [Width-1:0] data;

  mae_delay_line #(
      .Width (Width),
      .Clocks(Clocks)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .clear_i,
      .valid_i,
      .data_i,
      .valid_o(valid),
      .data_o (data)
  );

  // Word 0 is the newest one; a clear turns all into zeros.
  logic [Clocks-1:0][Width-1:0] words_q;
  logic [Clocks-1:0] valid_q;
  // Clocks since a clear or a reset, at most Clocks; no_word_q: no word has come since.
  int unsigned since_q;
  logic no_word_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      words_q   <= '0;
      valid_q   <= '0;
      since_q   <= 0;
      no_word_q <= 1'b1;
    end else begin
      words_q <= clear_i ? '0 : (Clocks * Width)'({words_q, data_i});
      valid_q <= Clocks'({valid_q, valid_i});
      if (clear_i) {since_q, no_word_q} <= {32'd0, 1'b1};
      else begin
        if (since_q < Clocks) since_q <= since_q + 1;
        if (valid_i) no_word_q <= 1'b0;
      end
    end
  end

  always_comb begin
    if (rst_ni) begin
      Valid : assert (valid == valid_q[Clocks-1]);
      Data : assert (!valid || data == words_q[Clocks-1]);
      for (int unsigned i = 0; i < Clocks; i++) begin
        if (since_q == Clocks && no_word_q) assert (u_dut.words_q[i] == '0);
      end
    end
  end

  // Where the words are, and how far the erasure is: invariants, which let the induction close.
  always_comb begin
    if (rst_ni) begin
      Counted : assert (since_q <= Clocks && 32'(u_dut.old_q) == Clocks - since_q);
      Place : assert (32'(u_dut.place_q) < Clocks && u_dut.valid_q == valid_q);
      for (int unsigned age = 0; age < Clocks; age++) begin
        // A word from before a clear is still in the memory until the erasure comes to it.
        if (age >= since_q)
          assert (!valid_q[age] || words_q[age] == '0);
          else begin
            assert (!valid_q[age] ||
                  u_dut.words_q[(32'(u_dut.place_q)+Clocks-1-age)%Clocks] == words_q[age]);
            assert (!no_word_q || u_dut.words_q[(32'(u_dut.place_q)+Clocks-1-age)%Clocks] == '0);
          end
      end
    end
  end

endmodule
