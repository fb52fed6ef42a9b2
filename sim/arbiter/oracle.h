// SPDX-License-Identifier: Apache-2.0
//
// Computes the expected results of the torture test's jobs by OpenSSL.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "libcrypto.h"

namespace mae {

using Bytes = std::vector<uint8_t>;
using Block = std::array<uint8_t, 16>;

enum Mode : uint8_t {
    kEcb = 0,
    kCbc = 1,
    kPcbc = 2,
    kCfb = 3,
    kOfb = 4,
    kCtr = 5,
    kXts = 6,
    kGcm = 8,
    kCcm = 9,
    kCmac = 10
};

// Computes the result of an ECB, CBC, CTR or like job from AES blocks of OpenSSL. `chain` is the
// chain value before the first block (of XTS: the encrypted tweak), and then the one after the
// last. `keys`: one for each block, or one.
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
