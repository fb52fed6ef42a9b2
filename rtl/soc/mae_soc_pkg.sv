// SPDX-License-Identifier: Apache-2.0
//
// mae_soc_pkg: defines the types and functions that the parts of mae_memory_arbiter share.
//
// A row is one block of memory, 16 bytes. Rows are numbered from the start of the memory, blocks
// from the start of a job.

package mae_soc_pkg;
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_device_pkg::*;
  import mae_memory_job_pkg::*;

  localparam int unsigned RowWidth = 28;  // number of a row in 4 GiB
  typedef logic [RowWidth-1:0] row_t;

  // A memory request; read data come in the clock after it was accepted.
  typedef struct packed {
    logic        valid;
    logic        write;
    row_t        row;
    logic [15:0] strb;        // bytes of data to write, bit i for byte i
    block_t      data;
    logic        mark_write;  // writes the mark of mark_row; otherwise reads it
    logic        mark;
    row_t        mark_row;
  } memory_ask_t;

  // Relation of a job's source and destination.
  typedef struct packed {
    error_e error;
    logic   same;   // the same address
    logic   apart;  // no common byte
  } memory_place_t;

  // Progress of a job.
  typedef struct packed {
    logic        open;      // a job is running
    memory_job_t job;
    logic        same;
    logic        apart;
    row_t        blocks;    // of the whole job
    row_t        front;     // blocks before it have been read
    row_t        done;      // blocks before it are in the destination
    row_t        key_rows;  // rows of `keys` that have been read
  } memory_progress_t;

  function automatic logic [RowWidth:0] blocks_of(input logic [31:0] length);
    return (RowWidth + 1)'((33'(length) + 33'd15) >> 4);
  endfunction

  // Rows of the list of keys.
  function automatic logic [RowWidth+1:0] key_rows_of(input logic [31:0] length,
                                                      input key_len_e key_len);
    return (key_len == Aes128) ? {1'b0, blocks_of(length)} : {blocks_of(length), 1'b0};
  endfunction

  // Ones for the first n bytes.
  function automatic logic [15:0] strb_of(input logic [4:0] n);
    logic [15:0] strb;
    for (int unsigned i = 0; i < 16; i++) strb[i] = 5'(i) < n;
    return strb;
  endfunction

  // Bytes of a job's last block.
  function automatic logic [4:0] last_bytes(input logic [31:0] length);
    return (length[3:0] == '0) ? 5'd16 : {1'b0, length[3:0]};
  endfunction

  // Two ranges of rows have a common row.
  function automatic logic rows_meet(input row_t a, input logic [RowWidth+1:0] a_rows,
                                     input row_t b, input logic [RowWidth+1:0] b_rows);
    return {2'b00, a} < {2'b00, b} + b_rows && {2'b00, b} < {2'b00, a} + a_rows;
  endfunction

  // Checks the addresses of a job in a memory of 2^row_bits rows. A destination that begins above
  // its source and overlaps it is an error: it would overwrite blocks that are not read yet.
  function automatic memory_place_t place_of(input memory_job_t job, input int unsigned row_bits);
    memory_place_t place;
    row_t source, destination, keys;
    logic [RowWidth+1:0] rows, key_rows, limit;
    logic bad;
    source = job.source[31:4];
    destination = job.destination[31:4];
    keys = job.keys[31:4];
    rows = {1'b0, blocks_of(job.length)};
    key_rows = key_rows_of(job.length, job.key_len);
    limit = (RowWidth + 2)'(1) << row_bits;
    bad = job.source[3:0] != '0 || {2'b00, source} + rows > limit;
    place.same = source == destination;
    place.apart = !rows_meet(source, rows, destination, rows);
    if (job.moves) begin
      bad |= job.destination[3:0] != '0 || {2'b00, destination} + rows > limit;
      bad |= destination > source && !place.apart;
    end
    if (job.key_each) begin
      bad |= job.keys[3:0] != '0 || {2'b00, keys} + key_rows > limit;
      bad |= rows_meet(keys, key_rows, destination, rows);
    end
    place.error = bad ? ErrBadAddress : ErrNone;
    return place;
  endfunction

  // The mode's chain value is its previous input block.
  function automatic logic mode_looks_back(input mode_e mode);
    return mode inside {Cbc, Cfb};
  endfunction

  // Any block of the job can be computed without the blocks before it.
  function automatic logic job_any_order(input memory_job_t job);
    if (!job.plain || job.key_each) return 1'b0;
    unique case (job.cfg.mode)
      Ecb:      return 1'b1;
      Cbc, Cfb: return job.cfg.dir == Decrypt;
      Ctr:      return job.cfg.init;  // otherwise only the engine knows the counter
      Xts:      return job.cfg.init && job.length[3:0] == '0;  // no ciphertext stealing
      default:  return 1'b0;
    endcase
  endfunction

  // XTS tweak 128 blocks later: alpha^128 = alpha^7 + alpha^2 + alpha + 1 (IEEE 1619 §5.2).
  function automatic block_t xts_128_on(input block_t tweak);
    logic [127:0] number;
    logic [134:0] product;
    logic [ 13:0] high;
    number = mae_bytes_pkg::swap_block(tweak);
    product = {number, 7'h0} ^ {5'h0, number, 2'h0} ^ {6'h0, number, 1'h0} ^ {7'h0, number};
    high = 14'(product[134:128]);
    high = (high << 7) ^ (high << 2) ^ (high << 1) ^ high;
    return mae_bytes_pkg::swap_block(product[127:0] ^ 128'(high));
  endfunction

endpackage
