// SPDX-License-Identifier: Apache-2.0
//
// aes_uart: encrypts AES-128 blocks that come over a serial line (8N1), after a self-test.
//
//   from the host      answer
//   k and 16 bytes     k: the key is loaded
//   e and 16 bytes     e and the 16 bytes encrypted; ? without a key
//   t                  y if the self-test was right, otherwise n
//   x                  x: the key is erased
//   any other byte     ?
//
// The self-test after reset encrypts the example of FIPS 197 appendix C.1, then erases its key;
// ok_o: it was right. A command whose next byte does not come within 2^IDLE_BITS clocks is dropped.
// The core is plain Verilog, written by `maeslant files`; its struct ports are vectors here, first
// field on top: key {bank[1:0], len[1:0], key[255:0]}, request {ctx[7:0], bank[1:0], dir,
// block[127:0]}, answer {ctx[7:0], block[127:0]}.

module aes_uart #(
    parameter CLOCK_HZ = 25000000,
    parameter BAUD = 115200,
    parameter IDLE_BITS = 22
) (
    input  clk_i,
    input  rst_ni,  // asynchronous
    input  rx_i,
    output tx_o,
    output ok_o
);
  localparam [127:0] KEY = 128'h000102030405060708090a0b0c0d0e0f;
  localparam [127:0] PLAIN = 128'h00112233445566778899aabbccddeeff;
  localparam [127:0] CIPHER = 128'h69c4e0d86a7b0430d8cdb78070b4c55a;
  localparam [15:0] BIT = CLOCK_HZ / BAUD - 1;

  reg [2:0] rst_q = 0;
  wire rst_n = rst_q[2];

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) rst_q <= 0;
    else rst_q <= {rst_q[1:0], 1'b1};

  // The receiver samples in the middle of a bit.
  reg [2:0] rx_q;
  reg [15:0] rx_wait;
  reg [3:0] rx_bits;  // to come, the stop bit included
  reg [7:0] rx_byte;
  reg rx_valid;

  always @(posedge clk_i or negedge rst_n)
    if (!rst_n) begin
      rx_q <= 7;
      rx_wait <= 0;
      rx_bits <= 0;
      rx_byte <= 0;
      rx_valid <= 0;
    end else begin
      rx_q <= {rx_q[1:0], rx_i};
      rx_valid <= 0;
      if (rx_bits == 0) begin
        rx_wait <= BIT + BIT / 2;
        if (rx_q[2:1] == 2'b10) rx_bits <= 9;
      end else if (rx_wait != 0) rx_wait <= rx_wait - 1;
      else begin
        rx_wait <= BIT;
        rx_bits <= rx_bits - 1;
        if (rx_bits != 1) rx_byte <= {rx_q[2], rx_byte[7:1]};
        else rx_valid <= rx_q[2];
      end
    end

  // The sender gets up to 17 bytes, first one on top.
  reg [4:0] send_bytes;
  reg [135:0] send;
  wire tx_ready;

  uart_tx #(
      .CLOCK_HZ(CLOCK_HZ),
      .BAUD    (BAUD)
  ) u_tx (
      .clk_i  (clk_i),
      .rst_ni (rst_n),
      .valid_i(send_bytes != 0),
      .ready_o(tx_ready),
      .byte_i (send[135:128]),
      .tx_o   (tx_o)
  );

  // Commands and the core.
  localparam [2:0] SELF_KEY = 0, SELF_ASK = 1, SELF_WAIT = 2, ERASE = 3, COMMAND = 4, BYTES = 5,
                   LOAD = 6, ASK = 7;
  reg [2:0] state;
  reg waits, keyed, right;
  reg [7:0] command;
  reg [3:0] got;
  reg [127:0] bytes;
  reg [IDLE_BITS:0] idle;
  wire self = state == SELF_KEY || state == SELF_ASK;
  wire key_ready, req_ready, rsp_valid;
  wire [135:0] rsp;
  assign ok_o = right;

  mae_cipher_min_area u_cipher (
      .clk_i      (clk_i),
      .rst_ni     (rst_n),
      .clear_i    (state == ERASE),
      .key_valid_i(state == SELF_KEY || state == LOAD),
      .key_ready_o(key_ready),
      .key_i      ({4'd0, self ? KEY : bytes, 128'd0}),
      .req_valid_i((state == SELF_ASK || state == ASK) && !waits),
      .req_ready_o(req_ready),
      .req_i      ({11'd0, self ? PLAIN : bytes}),
      .rsp_valid_o(rsp_valid),
      .rsp_o      (rsp)
  );

  always @(posedge clk_i or negedge rst_n)
    if (!rst_n) begin
      state <= SELF_KEY;
      {waits, keyed, right} <= 0;
      command <= 0;
      got <= 0;
      bytes <= 0;
      idle <= 0;
      send <= 0;
      send_bytes <= 0;
    end else begin
      if (tx_ready && send_bytes != 0) begin
        send <= {send[127:0], 8'd0};
        send_bytes <= send_bytes - 1;
      end

      case (state)
        SELF_KEY: if (key_ready) state <= SELF_ASK;
        SELF_ASK: if (req_ready) state <= SELF_WAIT;
        SELF_WAIT:
        if (rsp_valid) begin
          right <= rsp[127:0] == CIPHER;
          state <= ERASE;
        end
        ERASE: begin
          keyed <= 0;
          state <= COMMAND;
        end
        COMMAND:
        if (rx_valid && tx_ready && send_bytes == 0) begin
          command <= rx_byte;
          got <= 0;
          idle <= 0;
          send <= {"?", 128'd0};
          send_bytes <= 1;
          case (rx_byte)
            "k", "e":
            if (rx_byte == "k" || keyed) begin
              send_bytes <= 0;
              state <= BYTES;
            end
            "t": send[135:128] <= right ? "y" : "n";
            "x": begin
              send[135:128] <= "x";
              state <= ERASE;
            end
            default: ;
          endcase
        end
        BYTES: begin
          idle <= idle + 1;
          if (rx_valid) begin
            bytes <= {bytes[119:0], rx_byte};
            got <= got + 1;
            idle <= 0;
            if (got == 15) state <= (command == "k") ? LOAD : ASK;
          end else if (idle[IDLE_BITS]) begin
            bytes <= 0;
            state <= COMMAND;
          end
        end
        LOAD:
        if (key_ready) begin
          keyed <= 1;
          bytes <= 0;
          send <= {"k", 128'd0};
          send_bytes <= 1;
          state <= COMMAND;
        end
        ASK: begin
          if (req_ready) waits <= 1;
          if (rsp_valid) begin
            waits <= 0;
            bytes <= 0;
            send <= {"e", rsp[127:0]};
            send_bytes <= 17;
            state <= COMMAND;
          end
        end
      endcase
    end
endmodule
