// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_pkg: defines the AES modes of operation as one table of three functions, and the mode
// engine's types. The modes are those of SP 800-38A and SP 800-38E.
//
// Every mode computes out = Cipher(pre) ^ mask, and a next chain value:
//
//  mode           pre            mask    next chain
//  ECB            data           0       chain
//  CBC  encrypt   data ^ chain   0       out            SP 800-38A §6.2
//  CBC  decrypt   data           chain   data
//  PCBC encrypt   data ^ chain   0       data ^ out     (as in Kerberos v4)
//  PCBC decrypt   data           chain   data ^ out
//  CFB  encrypt   chain          data    out            SP 800-38A §6.3, s = 128
//  CFB  decrypt   chain          data    data
//  OFB            chain          data    data ^ out     SP 800-38A §6.4
//  CTR            chain          data    chain + 1      SP 800-38A §6.5, 128-bit counter
//  CTR32          chain          data    inc32(chain)   SP 800-38D §6.2: the counter of GCM
//  XTS            data ^ chain   chain   chain * alpha  IEEE 1619, SP 800-38E
//
// The first chain value is the IV, the first counter block or, for XTS, the encryption of the tweak
// under the second key. CFB, OFB, CTR and CTR32 use the forward cipher in both directions.

package mae_mode_pkg;
  import mae_aes_pkg::*;

  // The modes of this table have the codes of mae_mode_e (regs/mae_common.rdl), whose field has 5
  // bits. Each context stores as many bits as the table needs; a ninth mode takes ModeWidth = 4.
  // Ctr32 is used inside the hardware only.
  localparam int unsigned ModeWidth = 3;
  typedef enum logic [ModeWidth-1:0] {
    Ecb   = ModeWidth'(0),
    Cbc   = ModeWidth'(1),
    Pcbc  = ModeWidth'(2),
    Cfb   = ModeWidth'(3),
    Ofb   = ModeWidth'(4),
    Ctr   = ModeWidth'(5),
    Xts   = ModeWidth'(6),
    Ctr32 = ModeWidth'(7)
  } mode_e;

  localparam int unsigned KeySlotWidth = 6;
  typedef logic [KeySlotWidth-1:0] key_slot_t;

  // Configuration of a context, loaded before its first row. The chain value is kept from one
  // configuration of a context to the next, unless `init` is set.
  typedef struct packed {
    mode_e     mode;
    dir_e      dir;
    logic      init;        // begin a message: the chain value is computed from iv
    logic      serial;      // XTS only: ciphertext stealing, length not a multiple of 16
    key_slot_t key_slot;
    key_slot_t tweak_slot;  // XTS only: the second key
    block_t    iv;
  } mode_cfg_t;

  // State of the key cache, for the engine: the slot in each bank of the cipher, and whether the
  // bank can encrypt and decrypt; the slots that hold a key; a changed slot.
  localparam int unsigned MaxKeySlots = 2 ** KeySlotWidth;
  localparam int unsigned MaxKeyBanks = 2 ** BankWidth;

  typedef struct packed {
    logic      leaving;  // soon withdrawn: begin no new row
    logic      encrypt;
    logic      decrypt;
    key_slot_t slot;
  } key_bank_t;

  typedef struct packed {
    logic                        changed;       // for one clock: a slot is written or erased
    key_slot_t                   changed_slot;
    logic [MaxKeySlots-1:0]      slot_valid;
    key_bank_t [MaxKeyBanks-1:0] banks;
  } key_state_t;

  typedef struct packed {
    logic  hit;
    bank_t bank;
  } bank_hit_t;

  // Requests of the engine to the key cache: the slots for which rows wait, the slot for which the
  // parallel path waits, the slots that open jobs need, and the banks that were requested in this
  // clock.
  typedef struct packed {
    logic [MaxKeySlots-1:0] waits;
    logic                   urgent;
    key_slot_t              urgent_slot;
    logic [MaxKeySlots-1:0] want;
    logic [MaxKeyBanks-1:0] used;
  } key_demand_t;

  // A write to a key slot; `erase` empties the slot and ignores len and key.
  typedef struct packed {
    key_slot_t slot;
    logic      erase;
    key_len_e  len;
    key_t      key;
  } key_write_t;

  // The parts of an authenticated message.
  typedef enum logic [1:0] {
    PhaseData = 2'd0,
    PhaseAad  = 2'd1,
    PhaseIv   = 2'd2
  } phase_e;

  // A part of a GCM message, or the whole message, in one context.
  typedef struct packed {
    phase_e      phase;
    dir_e        dir;
    logic        init;       // begin a message
    logic        ends;       // end the message: compute its tag or check it
    key_slot_t   key_slot;
    logic [95:0] nonce;      // with init: the IV, unless a part contains it
    block_t      tag;        // expected tag
    logic [4:0]  tag_bytes;  // number of its bytes, from byte 0 on
    logic [31:0] length;     // bytes of this part
  } gcm_job_t;

  // Result of a job. tag is used only at the end of an encrypted message.
  typedef struct packed {
    logic   bad_tag;   // decryption: do not use the data
    logic   key_lost;  // the key was lost during the job
    block_t tag;
  } gcm_report_t;

  // Operations of mae_ghash_interleaved on a key slot or on a context.
  typedef enum logic [1:0] {
    OpSetH  = 2'd0,  // sets H of a slot
    OpPower = 2'd1,  // computes H^k of a slot from H^(k-1)
    OpBlock = 2'd2,  // hashes a block
    OpClear = 2'd3   // sets the hash to 0
  } ghash_op_e;

  function automatic block_t mode_pre(input mode_e mode, input dir_e dir, input block_t chain,
                                      input block_t data);
    unique case (mode)
      Cbc, Pcbc:            return (dir == Encrypt) ? data ^ chain : data;
      Cfb, Ofb, Ctr, Ctr32: return chain;
      Xts:                  return data ^ chain;
      default:              return data;
    endcase
  endfunction

  function automatic block_t mode_mask(input mode_e mode, input dir_e dir, input block_t chain,
                                       input block_t data);
    unique case (mode)
      Cbc, Pcbc:            return (dir == Encrypt) ? '0 : chain;
      Cfb, Ofb, Ctr, Ctr32: return data;
      Xts:                  return chain;
      default:              return '0;
    endcase
  endfunction

  function automatic block_t mode_next(input mode_e mode, input dir_e dir, input block_t chain,
                                       input block_t data, input block_t out);
    unique case (mode)
      Cbc, Cfb:  return (dir == Encrypt) ? out : data;
      Pcbc, Ofb: return data ^ out;
      Ctr:       return chain + 128'd1;
      Ctr32:     return inc32(chain, 1);
      Xts:       return xts_times_alpha(chain, 1);
      default:   return chain;
    endcase
  endfunction

  // Direction of the block cipher in a mode.
  function automatic dir_e mode_cipher_dir(input mode_e mode, input dir_e dir);
    return (mode inside {Cfb, Ofb, Ctr, Ctr32}) ? Encrypt : dir;
  endfunction

  // The next chain value depends on the cipher's result: such a mode cannot fill a pipeline.
  function automatic logic mode_chains(input mode_e mode, input dir_e dir);
    return (mode inside {Pcbc, Ofb}) || (mode inside {Cbc, Cfb} && dir == Encrypt);
  endfunction

  // A message may end with a partial block (XTS: by ciphertext stealing).
  function automatic logic mode_any_length(input mode_e mode);
    return mode inside {Cfb, Ofb, Ctr, Ctr32, Xts};
  endfunction

  // Increments the last 32 bits of a counter by n, SP 800-38D §6.2.
  function automatic block_t inc32(input block_t counter, input int unsigned n);
    return {counter[127:32], counter[31:0] + n};
  endfunction

  // Multiplies by alpha to the n-th, IEEE 1619 §5.2. Byte 0 is the least significant byte there.
  function automatic block_t xts_times_alpha(input block_t tweak, input int unsigned n);
    block_t number;
    number = mae_bytes_pkg::swap_block(tweak);
    for (int unsigned i = 0; i < n; i++) begin
      number = {number[126:0], 1'b0} ^ (number[127] ? 128'h87 : 128'h0);
    end
    return mae_bytes_pkg::swap_block(number);
  endfunction

  // Chain value n blocks later, in the modes where it does not depend on the cipher's result;
  // `previous` is the data block before that position.
  function automatic block_t mode_ahead(input mode_e mode, input block_t chain,
                                        input block_t previous, input int unsigned n);
    case (mode)
      Cbc, Cfb: return (n == 0) ? chain : previous;
      Ctr:      return chain + 128'(n);
      Ctr32:    return inc32(chain, n);
      Xts:      return xts_times_alpha(chain, n);
      default:  return chain;
    endcase
  endfunction

  // The bank that holds a key slot and can be requested in this direction.
  function automatic bank_hit_t bank_lookup(input key_bank_t [MaxKeyBanks-1:0] banks,
                                            input key_slot_t slot, input dir_e dir);
    bank_hit_t found;
    found = '0;
    for (int unsigned b = 0; b < MaxKeyBanks; b++) begin
      if (banks[b].slot == slot && (dir == Encrypt ? banks[b].encrypt : banks[b].decrypt)) begin
        found.hit  = 1'b1;
        found.bank = bank_t'(b);
      end
    end
    return found;
  endfunction

  // The bank, as in bank_lookup, is not leaving.
  function automatic logic bank_stays(input key_bank_t [MaxKeyBanks-1:0] banks,
                                      input key_slot_t slot, input dir_e dir);
    logic stays;
    stays = 1'b0;
    for (int unsigned b = 0; b < MaxKeyBanks; b++) begin
      stays |= banks[b].slot == slot && !banks[b].leaving &&
          (dir == Encrypt ? banks[b].encrypt : banks[b].decrypt);
    end
    return stays;
  endfunction

  // Ones in the first n bytes of a block.
  function automatic block_t first_bytes(input logic [3:0] n);
    return ~({128{1'b1}} >> {n, 3'b000});
  endfunction

endpackage
