// SPDX-License-Identifier: Apache-2.0
//
// mae_block_pkg: defines requests, completion codes and internal types of the block card.
//
// Host memory is little-endian: byte 0 of a structure is in bits 7:0. Completions have the format
// of mae_dma_pkg (completion_t), with tag and context_id 0.

package mae_block_pkg;
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_dma_pkg::*;

  localparam int unsigned SectorLog2 = 9;  // a sector has 512 bytes
  localparam int unsigned UnitMaxLog2 = 12;  // the largest data unit has 4,096 bytes

  // A request, 64 bytes, 64-byte aligned. First member = highest address.
  typedef struct packed {
    logic [127:0] reserved_high;  // 0x30 zero
    logic [127:0] unit;           // 0x20 number of the first data unit; plain: 0
    addr_t        addr;           // 0x18 of the data in host memory, a multiple of 64
    logic [63:0]  sector;         // 0x10 first sector of the media
    logic [31:0]  reserved_low;   // 0x0c zero
    logic [31:0]  sectors;        // 0x08 1..65536, a multiple of the data unit
    logic [7:0]   unit_log2;      // 0x07 bytes of a data unit: 9..12; plain: 0
    logic [7:0]   key_slot;       // 0x06 slot of the media encryption key; plain: 0
    logic [7:0]   flags;          // 0x05 see FlagPlain and FlagIrq
    logic [7:0]   op;             // 0x04 block_op_e
    logic [31:0]  cookie;         // 0x00 returned in the completion
  } block_request_t;

  localparam int unsigned FlagPlain = 0;  // move the data as they are; FlagIrq is mae_dma_pkg's

  typedef enum logic [7:0] {
    BlockRead  = 8'd0,  // media to host memory, decrypting
    BlockWrite = 8'd1,  // host memory to media, encrypting
    BlockFlush = 8'd2   // completes after all writes that were accepted before it
  } block_op_e;

  // Codes beside those of status_e (mae_dma_pkg) that a completion may have.
  localparam logic [7:0] BlockBadAddress = 8'd32;  // addr is not a multiple of 64, or wraps
  localparam logic [7:0] BlockBadRange = 8'd33;  // sectors beyond the end of the media

  // A checked request, to the channel of its direction.
  typedef struct packed {
    logic [1:0]   pair;
    logic [31:0]  cookie;
    logic [15:0]  index;
    logic         irq;
    logic         plain;
    logic [4:0]   slot;
    logic [1:0]   unit_code;  // bytes of a data unit: 512 << unit_code; plain: 3
    logic [16:0]  sectors;
    addr_t        host;       // address of the first byte in host memory
    addr_t        media;      // ... and in the media
    logic [127:0] unit;
  } block_job_t;

  // A result, to the completion ring of its queue.
  typedef struct packed {
    logic [1:0]  pair;
    logic [31:0] cookie;
    logic [15:0] index;
    logic        irq;
    logic [7:0]  status;
    logic [31:0] bytes;
  } block_result_t;

  // A part of a request, at most one data unit, to the data path.
  typedef struct packed {
    dma_ctx_t     ctx;
    addr_t        src;
    addr_t        dst;
    logic [12:0]  bytes;
    logic         plain;
    logic [4:0]   slot;
    logic [127:0] unit;
  } block_part_t;

  // Registers of a queue, from and to mae_block_card_registers.
  typedef struct packed {
    logic [57:0] sub_base;   // address / 64
    logic [3:0]  sub_log2;
    logic [15:0] sub_tail;
    logic [57:0] comp_base;  // address / 64
    logic [3:0]  comp_log2;
    logic [15:0] comp_head;
  } block_queue_ctrl_t;

  typedef struct packed {
    logic [15:0] sub_head;
    logic [15:0] comp_tail;
    logic        irq;        // pulse
  } block_queue_status_t;

  // Key slot of the cipher that holds the data key (0) or the tweak key (1) of a media key.
  function automatic key_slot_t cipher_slot(input logic [4:0] slot, input logic tweak);
    return {slot, tweak};
  endfunction

endpackage
