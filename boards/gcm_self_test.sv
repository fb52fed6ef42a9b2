// SPDX-License-Identifier: Apache-2.0
//
// gcm_self_test: runs published vectors through the GCM engine gcm1_fpga_ram, and reports over a
// serial line (8N1).
//
// For each vector: encrypts it and compares ciphertext and tag; decrypts it and compares plaintext
// and verdict; decrypts it with one bit of the tag flipped, which must be refused. Each of these
// is a line, `1 encrypt ok`; the last line is `ok` or `failed`, as is ok_o from done_o on. A case
// without a verdict after 4,096 clocks has failed. Keys and data are erased after each case. The
// test begins with the end of rst_ni.
// Source: CAVP, gcmEncryptExtIV128.rsp of CAVS 14.0, IVlen 96, Taglen 128, Count 0 of PTlen 408
// with AADlen 160, of PTlen 256 with AADlen 0, of PTlen 0 with AADlen 128.

module gcm_self_test
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
#(
    parameter int unsigned ClockHz = 25_000_000,
    parameter int unsigned Baud = 115_200
) (
    input  logic clk_i,
    input  logic rst_ni,  // asynchronous
    output logic tx_o,
    output logic done_o,
    output logic ok_o
);

  typedef struct packed {
    block_t       key;
    logic [95:0]  iv;
    logic [5:0]   aad_bytes;
    logic [5:0]   data_bytes;
    block_t [1:0] aad;         // first block on top, as in those below
    block_t [3:0] plain;
    block_t [3:0] cipher;
    block_t       tag;
  } vector_t;

  localparam int unsigned Count = 3;
  localparam vector_t Vectors[Count] = '{
      '{
          key: 128'hfe47fcce5fc32665d2ae399e4eec72ba,
          iv: 96'h5adb9609dbaeb58cbd6e7275,
          aad_bytes: 6'd20,
          data_bytes: 6'd51,
          aad: {128'h88319d6e1d3ffa5f987199166c8a9b56, 32'hc2aeba5a, 96'd0},
          plain: {
            128'h7c0e88c88899a779228465074797cd4c,
            128'h2e1498d259b54390b85e3eef1c02df60,
            128'he743f1b840382c4bccaf3bafb4ca8429,
            24'hbea063,
            104'd0
          },
          cipher: {
            128'h98f4826f05a265e6dd2be82db241c0fb,
            128'hbbf9ffb1c173aa83964b7cf539304373,
            128'h6365253ddbc5db8778371495da76d269,
            24'he5db3e,
            104'd0
          },
          tag: 128'h291ef1982e4defedaa2249f898556b47
      },
      '{
          key: 128'h9971071059abc009e4f2bd69869db338,
          iv: 96'h07a9a95ea3821e9c13c63251,
          aad_bytes: 6'd0,
          data_bytes: 6'd32,
          aad: '0,
          plain: {
            128'hf54bc3501fed4f6f6dfb5ea80106df0b, 128'hd836e6826225b75c0222f6e859b35983, 256'd0
          },
          cipher: {
            128'h0556c159f84ef36cb1602b4526b12009, 128'hc775611bffb64dc0d9ca9297cd2c6a01, 256'd0
          },
          tag: 128'h7870d9117f54811a346970f1de090c41
      },
      '{
          key: 128'h77be63708971c4e240d1cb79e8d77feb,
          iv: 96'he0e00f19fed7ba0136a797f3,
          aad_bytes: 6'd16,
          data_bytes: 6'd0,
          aad: {128'h7a43ec1d9c0a5a78a0b16533a6213cab, 128'd0},
          plain: '0,
          cipher: '0,
          tag: 128'h209fcc8d3675ed938e9c7166709dd946
      }
  };

  typedef enum logic [1:0] {
    Encryption,
    Decryption,
    Forgery
  } kind_e;

  typedef enum logic [2:0] {
    Key,
    Message,
    Beats,
    Erase,
    Say,
    Done
  } state_e;

  function automatic logic [4:0] beat_bytes(input logic [5:0] left);
    return (left > 6'd16) ? 5'd16 : left[4:0];
  endfunction

  function automatic logic [55:0] kind_text(input kind_e kind);
    unique case (kind)
      Encryption: return "encrypt";
      Decryption: return "decrypt";
      default:    return "refuse";
    endcase
  endfunction

  function automatic logic [47:0] result_text(input logic right);
    if (right) return {32'd0, "ok"};
    return "failed";
  endfunction

  logic rst_n;
  mae_reset_sync u_reset (
      .clk_i,
      .rst_ni,
      .test_mode_i(1'b0),
      .rst_no(rst_n)
  );

  // ---- The case, and how far it is.
  state_e state_q;
  kind_e kind_q;
  logic [1:0] number_q;
  logic [11:0] clocks_q;
  logic right_q, all_right_q, closing_q;
  logic [5:0] aad_left_q, data_left_q, out_left_q;  // in bytes
  logic aad_at_q;
  logic [1:0] data_at_q, out_at_q;
  vector_t vector;
  logic decrypts, is_aad;
  assign vector   = Vectors[number_q];
  assign decrypts = kind_q != Encryption;
  assign is_aad   = aad_left_q != '0;

  // ---- The engine.
  cipher_key_t key;
  gcm_msg_t msg;
  gcm_verdict_t verdict;
  block_t in_data, out_data, out_wanted;
  logic [4:0] in_bytes, out_bytes;
  logic key_ready, msg_ready, in_valid, in_ready, in_last, out_valid, out_last, tag_valid;
  logic out_right, tag_right;

  always_comb begin
    key            = '0;
    key.len        = Aes128;
    key.key        = {vector.key, 128'd0};
    msg            = '0;
    msg.dir        = decrypts ? Decrypt : Encrypt;
    msg.iv         = vector.iv;
    msg.iv_bytes   = gcm_length_t'(12);
    msg.aad_bytes  = gcm_length_t'(vector.aad_bytes);
    msg.data_bytes = gcm_length_t'(vector.data_bytes);
    msg.tag_bytes  = 5'd16;
    msg.tag        = vector.tag ^ block_t'(kind_q == Forgery);
  end

  assign in_valid = state_q == Beats && (is_aad || data_left_q != '0);
  assign in_bytes = beat_bytes(is_aad ? aad_left_q : data_left_q);
  assign in_last  = is_aad ? aad_left_q <= 6'd16 && data_left_q == '0 : data_left_q <= 6'd16;

  always_comb begin
    in_data = decrypts ? vector.cipher[~data_at_q] : vector.plain[~data_at_q];
    if (is_aad) in_data = vector.aad[~aad_at_q];
  end

  assign out_wanted = decrypts ? vector.plain[~out_at_q] : vector.cipher[~out_at_q];
  assign out_right = out_left_q != '0 && out_data == out_wanted && out_bytes == beat_bytes(
      out_left_q
  ) && out_last == (out_left_q <= 6'd16);
  assign tag_right = out_left_q == '0 && verdict.ok == (kind_q != Forgery) &&
      verdict.tag == (decrypts ? '0 : vector.tag);

  mae_gcm_stream #(
      .Lanes       (1),
      .KeyBanks    (1),
      .MaxKeyLen   (Aes128),
      .Sbox        (SboxTable),
      .RegsPerRound(2),
      .Small       (1'b1),
      .RomSboxes   (1'b1),
      .OneMul      (1'b1),
      .MsgDepth    (32)
  ) u_gcm (
      .clk_i,
      .rst_ni     (rst_n),
      .clear_i    (state_q == Erase),
      .abort_i    (1'b0),
      .key_valid_i(state_q == Key),
      .key_ready_o(key_ready),
      .key_i      (key),
      .msg_valid_i(state_q == Message),
      .msg_ready_o(msg_ready),
      .msg_i      (msg),
      .in_valid_i (in_valid),
      .in_ready_o (in_ready),
      .in_data_i  (in_data),
      .in_bytes_i (in_bytes),
      .in_last_i  (in_last),
      .out_valid_o(out_valid),
      .out_ready_i(1'b1),
      .out_data_o (out_data),
      .out_bytes_o(out_bytes),
      .out_last_o (out_last),
      .tag_valid_o(tag_valid),
      .tag_ready_i(1'b1),
      .tag_o      (verdict)
  );

  // ---- The line to send, first byte on top; bytes of 0 are not sent.
  logic [17:0][7:0] line_q;
  logic tx_ready, next_byte;
  assign next_byte = state_q == Say && (tx_ready || line_q[17] == '0);

  uart_tx #(
      .CLOCK_HZ(ClockHz),
      .BAUD    (Baud)
  ) u_tx (
      .clk_i,
      .rst_ni (rst_n),
      .valid_i(state_q == Say && line_q[17] != '0),
      .ready_o(tx_ready),
      .byte_i (line_q[17]),
      .tx_o
  );

  // ---- One case after another.
  assign done_o = state_q == Done;
  assign ok_o   = done_o && all_right_q;

  always_ff @(posedge clk_i or negedge rst_n) begin
    if (!rst_n) begin
      state_q                               <= Key;
      kind_q                                <= Encryption;
      {number_q, clocks_q, closing_q}       <= '0;
      {right_q, all_right_q}                <= '1;
      {aad_left_q, data_left_q, out_left_q} <= '0;
      {aad_at_q, data_at_q, out_at_q}       <= '0;
      line_q                                <= '0;
    end else begin
      clocks_q <= clocks_q + 12'd1;
      if (out_valid) begin
        out_left_q <= out_left_q - 6'(beat_bytes(out_left_q));
        out_at_q   <= out_at_q + 2'd1;
        if (!out_right) right_q <= 1'b0;
      end
      unique case (state_q)
        Key: begin
          {aad_left_q, data_left_q} <= {vector.aad_bytes, vector.data_bytes};
          out_left_q                <= vector.data_bytes;
          {aad_at_q, data_at_q}     <= '0;
          out_at_q                  <= '0;
          if (key_ready) state_q <= Message;
        end
        Message: if (msg_ready) state_q <= Beats;
        Beats: begin
          if (in_valid && in_ready) begin
            if (is_aad) begin
              aad_left_q <= aad_left_q - 6'(in_bytes);
              aad_at_q   <= 1'b1;
            end else begin
              data_left_q <= data_left_q - 6'(in_bytes);
              data_at_q   <= data_at_q + 2'd1;
            end
          end
          if (tag_valid) begin
            if (!tag_right) right_q <= 1'b0;
            state_q <= Erase;
          end
        end
        Erase: begin
          line_q <= {"1" + 8'(number_q), " ", kind_text(kind_q), " ", result_text(right_q), "\r\n"};
          all_right_q <= all_right_q && right_q;
          state_q <= Say;
        end
        Say: begin
          clocks_q <= '0;
          right_q  <= 1'b1;
          if (next_byte) line_q <= {line_q[16:0], 8'd0};
          if (line_q == '0 && tx_ready) begin
            state_q <= Key;
            if (closing_q) state_q <= Done;
            else if (kind_q != Forgery) kind_q <= kind_e'(kind_q + 2'd1);
            else if (32'(number_q) != Count - 1) begin
              kind_q   <= Encryption;
              number_q <= number_q + 2'd1;
            end else begin
              closing_q <= 1'b1;
              line_q    <= {80'd0, result_text(all_right_q), "\r\n"};
              state_q   <= Say;
            end
          end
        end
        default: ;
      endcase
      if (clocks_q == '1 && state_q inside {Key, Message, Beats}) begin
        right_q <= 1'b0;
        state_q <= Erase;
      end
    end
  end

endmodule
