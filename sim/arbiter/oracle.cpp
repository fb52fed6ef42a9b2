// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <cstring>
#include <map>

namespace mae {
namespace {

using crypto::library;

struct Freed {
    void operator()(crypto::CipherContext *context) const { library().free(context); }
    void operator()(crypto::CmacContext *context) const { library().cmac_free(context); }
};
using Context = std::unique_ptr<crypto::CipherContext, Freed>;

void must(bool holds, const char *what) {
    if (!holds) throw std::runtime_error(std::string("OpenSSL: ") + what);
}

const crypto::Cipher *cipher(size_t key_bytes, const char *mode) {
    static std::map<std::string, const crypto::Cipher *> known;
    const std::string name = "AES-" + std::to_string(8 * key_bytes) + "-" + mode;
    auto [at, fresh] = known.try_emplace(name, nullptr);
    if (fresh) at->second = library().by_name(name.c_str());
    return at->second;
}

Bytes run(crypto::CipherContext *context, const Bytes &data) {
    Bytes out(data.size() + 16);
    int count = 0;
    const uint8_t *from = data.empty() ? out.data() : data.data();  // a null pointer means more
    must(library().update(context, out.data(), &count, from, int(data.size())) == 1, "data");
    out.resize(size_t(count));
    return out;
}

Block xored(const Block &a, const uint8_t *b) {
    Block out = a;
    for (int i = 0; i < 16; ++i) out[i] ^= b[i];
    return out;
}

// Encrypts and decrypts blocks by AES under one key, by OpenSSL.
class Aes {
   public:
    Block operator()(const Bytes &key, bool decrypt, const Block &in) {
        Context &context = contexts_[decrypt][key];
        if (!context) {
            context.reset(library().make());
            must(library().init(context.get(), cipher(key.size(), "ECB"), nullptr, key.data(),
                                nullptr, decrypt ? 0 : 1) == 1,
                 "key");
            library().padding(context.get(), 0);
        }
        Block out;
        int count = 0;
        must(library().update(context.get(), out.data(), &count, in.data(), 16) == 1 && count == 16,
             "block");
        return out;
    }

   private:
    std::map<Bytes, Context> contexts_[2];
};

void times_alpha(Block &tweak) {  // IEEE 1619 §5.2
    unsigned carry = 0;
    for (uint8_t &byte : tweak) {
        const unsigned next = byte >> 7;
        byte = uint8_t(byte << 1 | carry);
        carry = next;
    }
    if (carry != 0) tweak[0] ^= 0x87;
}

Bytes xts(bool decrypt, const Bytes &key, const Bytes &data, Block &tweak) {
    Aes aes;
    Bytes out(data.size());
    const size_t whole = data.size() / 16, rest = data.size() % 16;
    const auto one = [&](const uint8_t *in, const Block &t) {
        return xored(aes(key, decrypt, xored(t, in)), t.data());
    };
    for (size_t i = 0; i < whole; ++i) {
        Block used = tweak;
        times_alpha(tweak);
        const bool steals = rest != 0 && i + 1 == whole;
        if (steals && decrypt) std::swap(used, tweak);
        const Block block = one(&data[16 * i], used);
        std::memcpy(&out[16 * i], block.data(), 16);
        if (steals) {
            Block last = block;
            std::memcpy(last.data(), &data[16 * whole], rest);
            std::memcpy(&out[16 * whole], block.data(), rest);
            const Block first = one(last.data(), tweak);
            std::memcpy(&out[16 * i], first.data(), 16);
        }
    }
    return out;
}

}  // namespace

Block encrypt_block(const Bytes &key, const Block &block) { return Aes()(key, false, block); }

Bytes plain_mode(Mode mode, bool decrypt, const std::vector<Bytes> &keys, const Bytes &data,
                 Block &chain) {
    if (mode == kXts) return xts(decrypt, keys[0], data, chain);
    Aes aes;
    Bytes out(data.size());
    for (size_t at = 0; at < data.size(); at += 16) {
        const Bytes &key = keys[at / 16 % keys.size()];
        const size_t bytes = std::min<size_t>(16, data.size() - at);
        Block in{}, result{};
        std::memcpy(in.data(), &data[at], bytes);
        switch (mode) {
            case kEcb:
                result = aes(key, decrypt, in);
                break;
            case kCbc:
            case kPcbc:
                result = decrypt ? xored(aes(key, true, in), chain.data())
                                 : aes(key, false, xored(in, chain.data()));
                chain = mode == kPcbc ? xored(in, result.data()) : decrypt ? in : result;
                break;
            case kCfb:
                result = xored(aes(key, false, chain), in.data());
                chain = decrypt ? in : result;
                break;
            case kOfb:
                chain = aes(key, false, chain);
                result = xored(chain, in.data());
                break;
            default:
                result = xored(aes(key, false, chain), in.data());
                for (int i = 15; i >= 0 && ++chain[i] == 0; --i) {
                }
        }
        std::memcpy(&out[at], result.data(), bytes);
    }
    return out;
}

Bytes native_mode(Mode mode, bool decrypt, const Bytes &key, const Bytes &tweak_key,
                  const Block &iv, const Bytes &data) {
    static const char *const kNames[] = {"ECB", "CBC", nullptr, "CFB", "OFB", "CTR", "XTS"};
    if (kNames[mode] == nullptr) return {};
    if (mode == kXts && (key.size() == 24 || key.size() != tweak_key.size() || key == tweak_key))
        return {};
    Bytes both = key;
    if (mode == kXts) both.insert(both.end(), tweak_key.begin(), tweak_key.end());
    const Context context(library().make());
    must(library().init(context.get(), cipher(key.size(), kNames[mode]), nullptr, both.data(),
                        iv.data(), decrypt ? 0 : 1) == 1,
         "key");
    library().padding(context.get(), 0);
    return run(context.get(), data);
}

Sealed seal(Mode mode, bool decrypt, const Bytes &key, const Bytes &iv, const Bytes &aad,
            const Bytes &data, unsigned tag_bytes) {
    Sealed out{};
    if (mode == kCmac) {
        const std::unique_ptr<crypto::CmacContext, Freed> context(library().cmac_make());
        size_t size = 16;
        must(library().cmac_init(context.get(), key.data(), key.size(), cipher(key.size(), "CBC"),
                                 nullptr) == 1,
             "CMAC");
        library().cmac_update(context.get(), data.data(), data.size());
        library().cmac_final(context.get(), out.tag.data(), &size);
        return out;
    }
    // To know the right tag of what is to be decrypted, encrypt again what comes out: in GCM and
    // CCM the text does not depend on the tag.
    Bytes plain = data;
    if (decrypt) {
        Block counter{};
        if (mode == kCcm) {
            counter[0] = uint8_t(14 - iv.size());
            std::memcpy(&counter[1], iv.data(), iv.size());
            counter[15] = 1;
            plain = native_mode(kCtr, false, key, {}, counter, data);
        } else {
            const Context context(library().make());
            const crypto::Cipher *gcm = cipher(key.size(), "GCM");
            must(library().init(context.get(), gcm, nullptr, nullptr, nullptr, 0) == 1, "GCM");
            library().control(context.get(), crypto::kSetIvBytes, int(iv.size()), nullptr);
            must(library().init(context.get(), nullptr, nullptr, key.data(), iv.data(), 0) == 1,
                 "IV");
            plain = run(context.get(), data);
        }
    }
    const Context context(library().make());
    const crypto::Cipher *sealing = cipher(key.size(), mode == kGcm ? "GCM" : "CCM");
    must(library().init(context.get(), sealing, nullptr, nullptr, nullptr, 1) == 1, "AEAD");
    library().control(context.get(), crypto::kSetIvBytes, int(iv.size()), nullptr);
    if (mode == kCcm) library().control(context.get(), crypto::kSetTag, int(tag_bytes), nullptr);
    must(library().init(context.get(), nullptr, nullptr, key.data(), iv.data(), 1) == 1, "IV");
    int count = 0;
    uint8_t none[16];
    if (mode == kCcm) library().update(context.get(), nullptr, &count, nullptr, int(plain.size()));
    if (!aad.empty()) {
        must(library().update(context.get(), nullptr, &count, aad.data(), int(aad.size())) == 1,
             "AAD");
    }
    out.text = run(context.get(), plain);
    library().final(context.get(), none, &count);
    library().control(context.get(), crypto::kGetTag, int(mode == kCcm ? tag_bytes : 16),
                      out.tag.data());
    if (decrypt) out.text = plain;
    return out;
}

}  // namespace mae
