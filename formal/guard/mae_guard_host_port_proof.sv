// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_host_port_proof: asserts the rules of AXI4 at the guard's port to host memory, whenever
// the guard is halted and whatever the host answers; and that while it is halted, no address is new
// and owed data are zeros.
//
// The engines behind the port ask for bursts that AXI4 allows, from multiples of 64 bytes, and those
// that answer hold what they ask for.

module mae_guard_host_port_proof (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         halt_i,
    input logic         mov_ar_valid_i,
    input logic [  7:0] mov_ar_id_i,
    input logic [ 63:0] mov_ar_addr_i,
    input logic [  7:0] mov_ar_len_i,
    input logic         mov_aw_valid_i,
    input logic [  7:0] mov_aw_id_i,
    input logic [ 63:0] mov_aw_addr_i,
    input logic [  7:0] mov_aw_len_i,
    input logic         mov_w_valid_i,
    input logic [511:0] mov_w_data_i,
    input logic [ 63:0] mov_w_strb_i,
    input logic         mov_w_last_i,
    input logic         ans_aw_valid_i,
    input logic [ 63:0] ans_aw_address_i,
    input logic [  3:0] ans_aw_beats_i,
    input logic         ans_w_valid_i,
    input logic [511:0] ans_w_data_i,
    input logic [ 63:0] ans_w_strb_i,
    input logic         ar_ready_i,
    input logic         r_valid_i,
    input logic [  7:0] r_id_i,
    input logic         r_last_i,
    input logic         aw_ready_i,
    input logic         w_ready_i,
    input logic         b_valid_i,
    input logic [  7:0] b_id_i,
    input logic [  1:0] b_resp_i
);
  logic ar_valid, r_ready, aw_valid, w_valid, w_last, b_ready, quiet, ans_aw_ready;
  logic [7:0] ar_id, ar_len, aw_id, aw_len;
  logic [63:0] ar_addr, aw_addr, w_strb;
  logic [511:0] w_data;

  mae_guard_host_port u_dut (
      .clk_i,
      .rst_ni,
      .halt_i,
      .quiet_o         (quiet),
      .beat_fault_o    (),
      .mov_ar_valid_i,
      .mov_ar_ready_o  (),
      .mov_ar_id_i,
      .mov_ar_addr_i,
      .mov_ar_len_i,
      .mov_r_valid_o   (),
      .mov_aw_valid_i,
      .mov_aw_ready_o  (),
      .mov_aw_id_i,
      .mov_aw_addr_i,
      .mov_aw_len_i,
      .mov_w_valid_i,
      .mov_w_ready_o   (),
      .mov_w_data_i,
      .mov_w_strb_i,
      .mov_w_last_i,
      .mov_b_valid_o   (),
      .ans_aw_valid_i,
      .ans_aw_ready_o  (ans_aw_ready),
      .ans_aw_address_i,
      .ans_aw_beats_i,
      .ans_w_valid_i,
      .ans_w_ready_o   (),
      .ans_w_data_i,
      .ans_w_strb_i,
      .ans_done_valid_o(),
      .ans_done_error_o(),
      .ar_valid_o      (ar_valid),
      .ar_ready_i,
      .ar_id_o         (ar_id),
      .ar_addr_o       (ar_addr),
      .ar_len_o        (ar_len),
      .r_valid_i,
      .r_ready_o       (r_ready),
      .r_id_i,
      .r_last_i,
      .aw_valid_o      (aw_valid),
      .aw_ready_i,
      .aw_id_o         (aw_id),
      .aw_addr_o       (aw_addr),
      .aw_len_o        (aw_len),
      .w_valid_o       (w_valid),
      .w_ready_i,
      .w_data_o        (w_data),
      .w_strb_o        (w_strb),
      .w_last_o        (w_last),
      .b_valid_i,
      .b_ready_o       (b_ready),
      .b_id_i,
      .b_resp_i
  );

  // Nothing is assumed of the host.
  mae_axi4_checker #(
      .LogBursts(4)
  ) u_check (
      .clk_i,
      .rst_ni,
      .awvalid(aw_valid),
      .awready(aw_ready_i),
      .awid   (aw_id),
      .awaddr (aw_addr),
      .awlen  (aw_len),
      .awsize (3'd6),
      .awburst(2'b01),
      .awlock (1'b0),
      .wvalid (w_valid),
      .wready (w_ready_i),
      .wdata  (w_data),
      .wstrb  (w_strb),
      .wlast  (w_last),
      .bvalid (b_valid_i),
      .bready (b_ready),
      .bid    (b_id_i),
      .bresp  (b_resp_i),
      .arvalid(ar_valid),
      .arready(ar_ready_i),
      .arid   (ar_id),
      .araddr (ar_addr),
      .arlen  (ar_len),
      .arsize (3'd6),
      .arburst(2'b01),
      .arlock (1'b0),
      .rvalid (r_valid_i),
      .rready (r_ready),
      .rid    (r_id_i),
      .rdata  (512'd0),
      .rresp  (2'd0),
      .rlast  (r_last_i)
  );

  function automatic logic within_4k(input logic [63:0] addr, input logic [7:0] len);
    return addr[5:0] == '0 && 32'(addr[11:6]) + 32'(len) < 32'd64;
  endfunction

  // A response write holds until it is taken or dropped: it is split here.
  logic ans_held_q;
  logic [67:0] ans_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {ans_held_q, ans_q} <= '0;
    else begin
      ans_held_q <= ans_aw_valid_i && !ans_aw_ready && !halt_i;
      ans_q <= {ans_aw_address_i, ans_aw_beats_i};
    end
  end

  always_comb begin
    if (rst_ni) begin
      assume (!ans_held_q || (ans_aw_valid_i && ans_q == {ans_aw_address_i, ans_aw_beats_i}));
      assume (!mov_ar_valid_i || (!mov_ar_id_i[7] && within_4k(mov_ar_addr_i, mov_ar_len_i)));
      assume (!mov_aw_valid_i || (!mov_aw_id_i[7] && within_4k(mov_aw_addr_i, mov_aw_len_i)));
      assume (!ans_aw_valid_i || (ans_aw_address_i[5:0] == '0 && ans_aw_beats_i inside {[1 : 9]}));
    end
  end

  // While it is halted, no address is new, and data that are new are zeros.
  logic halt_q, ar_held_q, aw_held_q, w_held_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {halt_q, ar_held_q, aw_held_q, w_held_q} <= '0;
    else begin
      halt_q    <= halt_i;
      ar_held_q <= ar_valid && !ar_ready_i;
      aw_held_q <= aw_valid && !aw_ready_i;
      w_held_q  <= w_valid && !w_ready_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      AnswersAreTaken : assert (r_ready && b_ready);
      NoNewRead : assert (!halt_q || !ar_valid || ar_held_q);
      NoNewWrite : assert (!halt_q || !aw_valid || aw_held_q);
      OwedAreZeros : assert (!halt_q || !w_valid || w_held_q || {w_data, w_strb} == '0);
      Quiet : assert (!quiet || !(ar_valid || aw_valid || w_valid));
    end
  end

endmodule
