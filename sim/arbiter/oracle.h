// SPDX-License-Identifier: Apache-2.0
//
// Computes the expected results of the torture test's jobs by OpenSSL.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "../modes/block_modes.h"
#include "libcrypto.h"

namespace mae {

using Bytes = std::vector<uint8_t>;
using Block = std::array<uint8_t, 16>;

using Mode = mae_mode_t;
constexpr unsigned kModeCodes = 32;  // of the register field

inline bool is_plain(Mode mode) { return block_mode_of(mode) != nullptr; }

// Computes the result of an ECB, CBC, CTR or like job by block_modes.h from AES blocks of OpenSSL.
// `chain` is the chain value before the first block (of XTS: the encrypted tweak), and then the one
// after the last. `keys`: one for each block, or one.
Bytes plain_mode(Mode mode, bool decrypt, const std::vector<Bytes> &keys, const Bytes &data,
                 Block &chain);

// Computes the result of a job by OpenSSL's own implementation of its mode, to check plain_mode.
// Empty where OpenSSL has none.
Bytes native_mode(Mode mode, bool decrypt, const Bytes &key, const Bytes &tweak_key,
                  const Block &iv, const Bytes &data);

Block encrypt_block(const Bytes &key, const Block &block);

struct Sealed {
    Bytes text;  // what comes out, also when the tag is wrong
    Block tag;
};

// Computes the result and tag of a whole GCM, CCM or CMAC message by OpenSSL. The tag is OpenSSL's.
Sealed seal(Mode mode, bool decrypt, const Bytes &key, const Bytes &iv, const Bytes &aad,
            const Bytes &data, unsigned tag_bytes);

}  // namespace mae
