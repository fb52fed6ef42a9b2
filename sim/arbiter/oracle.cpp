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

// Holds the keys of a job, of which block_modes.h takes one after the other.
struct Keys {
    Aes aes;
    const std::vector<Bytes> &keys;
    size_t blocks = 0;
};

void crypt_block(void *context, bool decrypt, const uint8_t *in, uint8_t *out) {
    Keys &keys = *static_cast<Keys *>(context);
    Block block;
    std::memcpy(block.data(), in, 16);
    block = keys.aes(keys.keys[keys.blocks++ % keys.keys.size()], decrypt, block);
    std::memcpy(out, block.data(), 16);
}

}  // namespace

Block encrypt_block(const Bytes &key, const Block &block) { return Aes()(key, false, block); }

Bytes plain_mode(Mode mode, bool decrypt, const std::vector<Bytes> &keys, const Bytes &data,
                 Block &chain) {
    Keys context{{}, keys};
    Bytes out(data.size());
    block_mode_run(mode, decrypt, crypt_block, &context, chain.data(), data.data(), out.data(),
                   data.size());
    return out;
}

Bytes native_mode(Mode mode, bool decrypt, const Bytes &key, const Bytes &tweak_key,
                  const Block &iv, const Bytes &data) {
    const block_mode *plain = block_mode_of(mode);
    if (!plain->in_openssl) return {};
    if (mode == MAE_XTS && (key.size() == 24 || key.size() != tweak_key.size() || key == tweak_key))
        return {};
    Bytes both = key;
    if (mode == MAE_XTS) both.insert(both.end(), tweak_key.begin(), tweak_key.end());
    const Context context(library().make());
    must(library().init(context.get(), cipher(key.size(), plain->name), nullptr, both.data(),
                        iv.data(), decrypt ? 0 : 1) == 1,
         "key");
    library().padding(context.get(), 0);
    return run(context.get(), data);
}

Sealed seal(Mode mode, bool decrypt, const Bytes &key, const Bytes &iv, const Bytes &aad,
            const Bytes &data, unsigned tag_bytes) {
    Sealed out{};
    if (mode == MAE_CMAC) {
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
        if (mode == MAE_CCM) {
            counter[0] = uint8_t(14 - iv.size());
            std::memcpy(&counter[1], iv.data(), iv.size());
            counter[15] = 1;
            plain = native_mode(MAE_CTR, false, key, {}, counter, data);
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
    const crypto::Cipher *sealing = cipher(key.size(), mode == MAE_GCM ? "GCM" : "CCM");
    must(library().init(context.get(), sealing, nullptr, nullptr, nullptr, 1) == 1, "AEAD");
    library().control(context.get(), crypto::kSetIvBytes, int(iv.size()), nullptr);
    if (mode == MAE_CCM) library().control(context.get(), crypto::kSetTag, int(tag_bytes), nullptr);
    must(library().init(context.get(), nullptr, nullptr, key.data(), iv.data(), 1) == 1, "IV");
    int count = 0;
    uint8_t none[16];
    if (mode == MAE_CCM)
        library().update(context.get(), nullptr, &count, nullptr, int(plain.size()));
    if (!aad.empty()) {
        must(library().update(context.get(), nullptr, &count, aad.data(), int(aad.size())) == 1,
             "AAD");
    }
    out.text = run(context.get(), plain);
    library().final(context.get(), none, &count);
    library().control(context.get(), crypto::kGetTag, int(mode == MAE_CCM ? tag_bytes : 16),
                      out.tag.data());
    if (decrypt) out.text = plain;
    return out;
}

}  // namespace mae
