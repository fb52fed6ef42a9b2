// SPDX-License-Identifier: Apache-2.0
//
// Loads OpenSSL's libcrypto at run time for the torture test, as its headers may be missing.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace mae::crypto {

struct Cipher;         // EVP_CIPHER
struct CipherContext;  // EVP_CIPHER_CTX
struct CmacContext;    // CMAC_CTX

enum : int { kSetIvBytes = 0x9, kGetTag = 0x10, kSetTag = 0x11 };  // EVP_CTRL_AEAD_*

struct Library {
    const Cipher *(*by_name)(const char *);
    CipherContext *(*make)();
    void (*free)(CipherContext *);
    int (*init)(CipherContext *, const Cipher *, void *, const unsigned char *,
                const unsigned char *, int);
    int (*control)(CipherContext *, int, int, void *);
    int (*padding)(CipherContext *, int);
    int (*update)(CipherContext *, unsigned char *, int *, const unsigned char *, int);
    int (*final)(CipherContext *, unsigned char *, int *);
    CmacContext *(*cmac_make)();
    void (*cmac_free)(CmacContext *);
    int (*cmac_init)(CmacContext *, const void *, size_t, const Cipher *, void *);
    int (*cmac_update)(CmacContext *, const void *, size_t);
    int (*cmac_final)(CmacContext *, unsigned char *, size_t *);

    Library() {
        void *handle = nullptr;
        for (const char *name : {"libcrypto.so.3", "libcrypto.so", "libcrypto.so.1.1"}) {
            if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        }
        if (handle == nullptr) throw std::runtime_error("no libcrypto: install OpenSSL");
        const auto find = [handle](auto &function, const char *name) {
            function =
                reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
            if (function == nullptr) throw std::runtime_error(std::string("no ") + name);
        };
        find(by_name, "EVP_get_cipherbyname");
        find(make, "EVP_CIPHER_CTX_new");
        find(free, "EVP_CIPHER_CTX_free");
        find(init, "EVP_CipherInit_ex");
        find(control, "EVP_CIPHER_CTX_ctrl");
        find(padding, "EVP_CIPHER_CTX_set_padding");
        find(update, "EVP_CipherUpdate");
        find(final, "EVP_CipherFinal_ex");
        find(cmac_make, "CMAC_CTX_new");
        find(cmac_free, "CMAC_CTX_free");
        find(cmac_init, "CMAC_Init");
        find(cmac_update, "CMAC_Update");
        find(cmac_final, "CMAC_Final");
    }
};

inline const Library &library() {
    static const Library found;
    return found;
}

}  // namespace mae::crypto
