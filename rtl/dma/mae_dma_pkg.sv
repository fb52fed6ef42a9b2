// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_pkg: defines descriptors, completions and the internal types of the DMA engine.
//
// Host memory is little-endian: byte 0 of a structure is in bits 7:0.
// driver/include/maeslant_ring.h defines the two ring formats in C; a test compares both.

package mae_dma_pkg;

  typedef logic [63:0] addr_t;
  typedef logic [7:0] dma_ctx_t;  // contexts are numbered from 0, at most 256

  // A submission descriptor, 64 bytes, 64-byte aligned. First member = highest address.
  typedef struct packed {
    logic [127:0] iv;           // 0x30 as in memory, byte 0 first (bits 7:0); GCM: expected tag
    logic [95:0]  nonce;        // 0x24 GCM: the IV where it has 12 bytes
    logic [15:0]  dst_entries;  // 0x22 entries of the list when flags.dst_list
    logic [15:0]  src_entries;  // 0x20 entries of the list when flags.src_list
    logic [63:0]  dst;          // 0x18 address of the destination, or of its list
    logic [63:0]  src;          // 0x10 address of the source, or of its list
    logic [7:0]   record_high;  // 0x0f flags.record: bits 15:8 of the record's number; else 0
    logic [7:0]   tag_bytes;    // 0x0e GCM: number of bytes of the expected tag
    logic [7:0]   phase;        // 0x0d GCM: phase_e of mae_mode_pkg
    logic [7:0]   tweak_slot;   // 0x0c key slot of XTS's second key
    logic [31:0]  length;       // 0x08 bytes; 0 only where the client allows it
    logic [7:0]   key_slot;     // 0x07 flags.record: bits 7:0 of the record's number
    logic [7:0]   context_id;   // 0x06 the context whose chain value is used and kept
    logic [7:0]   flags;        // 0x05 see the Flag* bit numbers
    logic [7:0]   op;           // 0x04 client's operation; AES: mode_e of mae_mode_pkg
    logic [31:0]  cookie;       // 0x00 returned in the completion
  } desc_t;

  localparam int unsigned FlagDecrypt = 0;  // client: decrypt
  localparam int unsigned FlagInit = 1;  // client: begin a message with iv, otherwise continue it
  localparam int unsigned FlagSrcList = 2;  // src points to src_entries list entries
  localparam int unsigned FlagDstList = 3;  // dst points to dst_entries list entries
  localparam int unsigned FlagIrq = 4;  // raise the interrupt when completed
  localparam int unsigned FlagFinal = 5;  // client: end a message, compute or check its tag

  localparam int unsigned FlagRecord = 6;  // the key is in a record of the key table

  // A key record in host memory, 64 bytes, 64-byte aligned. Bytes of the key beyond key_bytes are 0.
  typedef struct packed {
    logic [191:0] reserved;   // 0x28 zero
    logic [31:0]  key_bytes;  // 0x24 16, 24 or 32
    logic [31:0]  valid;      // 0x20 KeyRecordValid
    logic [255:0] key;        // 0x00 byte 0 in bits 7:0
  } key_record_t;
  localparam logic [31:0] KeyRecordValid = 32'h5945_4b4d;  // the letters MKEY in memory

  // The table of key records, from the device's registers.
  typedef struct packed {
    logic [57:0] base;          // its address / 64
    logic [16:0] count;         // of records in it
    logic        forget;        // pulse: erase one record's slot, or all
    logic        forget_all;
    logic [15:0] forget_index;
  } key_table_t;

  // A write of a key record to a key slot of the client.
  typedef struct packed {
    logic [5:0]   slot;
    logic         erase;  // key and len are ignored
    logic [1:0]   len;    // 16, 24 or 32 bytes
    logic [255:0] key;    // byte 0 in bits 7:0
  } record_write_t;

  // A list entry, 16 bytes, 16-byte aligned. Lengths are added; entries of 0 bytes are legal.
  typedef struct packed {
    logic [31:0] reserved;  // 0x0c zero
    logic [31:0] length;    // 0x08
    logic [63:0] addr;      // 0x00
  } sg_entry_t;

  // A completion, 32 bytes, 32-byte aligned, written in one burst after all write responses have
  // arrived; the phase is in its last beat.
  typedef struct packed {
    logic [31:0]  phase;       // 0x1c bit 0 toggles in each round of the ring, 1 in the first
    logic [31:0]  bytes;       // 0x18 bytes written
    logic [15:0]  index;       // 0x16 the descriptor's submission index, modulo 2^16
    logic [7:0]   context_id;  // 0x15
    logic [7:0]   status;      // 0x14 status_e
    logic [31:0]  cookie;      // 0x10
    logic [127:0] tag;         // 0x00 of a completely encrypted message, else 0
  } completion_t;
  localparam int unsigned CompletionBytes = 32;

  // Answer of the client when it accepts a job.
  typedef struct packed {
    logic reports;  // it will give one report_t for the job
    logic sinks;    // its rows are dropped: nothing is written
  } accept_t;

  // Result of a job, from its client.
  typedef struct packed {
    dma_ctx_t     ctx;
    logic [7:0]   status;  // status_e; StatusBadTag: the destination must be overwritten
    logic [127:0] tag;     // as in the completion
  } report_t;

  typedef enum logic [7:0] {
    StatusOk          = 8'd0,
    StatusDescFetch   = 8'd1,   // the descriptor could not be read (cookie is then 0)
    StatusBadOp       = 8'd2,   // unknown op or flag, or a reserved field not zero
    StatusBadContext  = 8'd3,   // no such context
    StatusBadLength   = 8'd4,   // 0, or not allowed by the op, or unequal to the lists' sum
    StatusBadKey      = 8'd5,   // key slot empty or out of range
    StatusListFetch   = 8'd6,   // a list could not be read
    StatusReadSlverr  = 8'd7,
    StatusReadDecerr  = 8'd8,
    StatusWriteSlverr = 8'd9,
    StatusWriteDecerr = 8'd10,
    StatusAborted     = 8'd11,  // an abort came before or during the transfer
    StatusBadTag      = 8'd12,  // the tag of an authenticated decryption is wrong
    StatusKeyRecord   = 8'd13   // the key record could not be read, is not valid, or is not there
  } status_e;

  // Settings in the device's registers. Ring indices count freely modulo 2^16: entry i is at base +
  // size * (i mod 2^log2), and the difference of two indices tells full from empty. Bases and sizes
  // are read while enabled: change them only when disabled and not busy.
  typedef struct packed {
    logic        enable;      // rising: both rings start at index 0; low: no new descriptors
    // Waiver: abort is a function in C++, so the simulator renames the member there.
    /* verilator lint_off SYMRSVDWORD */
    logic        abort;       // one-clock pulse
    /* verilator lint_on SYMRSVDWORD */
    logic        irq_enable;
    addr_t       sub_base;    // 64-byte aligned (lower bits are ignored)
    logic [3:0]  sub_log2;    // descriptors in the ring, 2^0..2^15
    logic [15:0] sub_tail;    // doorbell: index after the last descriptor written
    addr_t       comp_base;   // 64-byte aligned (lower bits are ignored)
    logic [3:0]  comp_log2;   // completions in the ring, 2^0..2^15
    logic [15:0] comp_head;   // index of the first completion that the host has not read
  } dma_ctrl_t;

  // Status for the device's registers.
  typedef struct packed {
    logic [15:0] sub_head;  // descriptors before it have been read: their entries are free
    logic [15:0] comp_tail;  // completions before it are in host memory
    logic [8:0] jobs;  // transfers in flight
    logic busy;  // anything is in flight: descriptors, transfers or completions
    logic halted;  // after an abort, all its completions are written: disable to continue
    logic ring_error;  // a completion could not be written; no new descriptors until disabled
    logic irq_pending;  // independent of irq_enable
  } dma_status_t;

  // One direction of a job, from the ring manager to a walker.
  typedef struct packed {
    logic        keeps;    // an abort does not end it
    logic        list;     // addr is the address of a list with `entries` entries
    logic [15:0] entries;
    addr_t       addr;
    logic [31:0] length;   // bytes of the whole job; 0: no list is read and no segment made
  } walk_job_t;

  // Control traffic (descriptors, lists) reads aligned blocks of 64 bytes: one beat, or a burst on
  // a narrower bus. The top bit of an AXI ID distinguishes it from data bursts.
  localparam int unsigned BlockBytes = 64;
  localparam int unsigned ControlIdBits = 7;  // below the top bit: reader, then bits 4:0 of its tag
  typedef enum logic [1:0] {
    ReaderRing    = 2'd0,
    ReaderSrcList = 2'd1,
    ReaderDstList = 2'd2,
    ReaderRingHigh = 2'd3  // the ring again, tags from 32 on: descriptors or key records
  } reader_e;
  typedef logic [5:0] control_tag_t;  // below 32 for lists
  typedef logic [ControlIdBits-1:0] completion_tag_t;  // of outstanding completions

  typedef struct packed {
    control_tag_t tag;
    logic [57:0]  block;  // address / 64
  } control_ar_t;

endpackage
