// SPDX-License-Identifier: Apache-2.0
//
// Runs messages of every mode in the memory arbiter's torture test, and illegal jobs.
#include "torture.h"

namespace mae {

void Torture::check_tag(const Block &tag, unsigned bytes) {
    for (uint32_t i = 0; i < bytes; ++i) {
        if (uint8_t(port_.read(kTag + i / 4 * 4) >> 8 * (i % 4)) != tag[i]) {
            throw Failure("another tag");
        }
    }
}

// Computes the expected result of an ECB, CBC, CTR or like job, before the CPU changes memory.
void Torture::result_of_plain(Job &job, Block &chain) {
    std::vector<Bytes> keys;
    for (uint32_t i = 0; job.key_each && i < job.rows(); ++i) {
        keys.push_back(memory(job.keys + i * job.stride(), job.keys_bytes));
    }
    if (!job.key_each) keys.push_back(keys_[job.slot]);
    const Bytes data = memory(job.source, job.length);
    if (job.init) chain = job.mode == MAE_XTS ? encrypt_block(keys_[job.tweak], job.iv) : job.iv;
    job.result = plain_mode(job.mode, job.decrypt, keys, data, chain);
    if (job.init && !job.key_each) {
        const Bytes &tweak_key = keys_[job.tweak];
        const Bytes same =
            native_mode(job.mode, job.decrypt, keys_[job.slot], tweak_key, job.iv, data);
        if (!same.empty() && same != job.result) throw Failure("the model is not OpenSSL's");
    }
    if (job.key_each) {  // they stay
        const size_t n = keys.size();
        keys_[(n - 1) % 2 == 0 ? job.slot : job.tweak] = keys[n - 1];
        if (n > 1) keys_[n % 2 == 0 ? job.slot : job.tweak] = keys[n - 2];
    }
}

// Returns a random mode whose messages are whole blocks.
Mode Torture::whole_blocks_mode() {
    std::vector<Mode> modes;
    for (const block_mode &one : block_modes) {
        if (!one.any_length) modes.push_back(one.mode);
    }
    return modes[below(uint32_t(modes.size()))];
}

// Runs an ECB, CBC, CTR or like message in one or more memory jobs, or one job repeatedly.
void Torture::plain() {
    Job job;
    job.mode = block_modes[below(BLOCK_MODES)].mode;
    job.decrypt = chance(50);
    job.slot = below(kSlots);
    job.tweak = (job.slot + 1 + below(kSlots - 1)) % kSlots;
    job.key_each = job.mode != MAE_XTS && chance(20);
    job.keys_bytes = 16 + 8 * below(3);
    const bool again = chance(15);
    Block chain{};
    for (unsigned part = 0;; ++part) {
        const bool any = block_mode_of(job.mode)->any_length;
        job.iv = block();
        if (part == 0 || !again) {
            job.length = some_length(any);
            if (job.mode == MAE_XTS) job.length = std::max(16u, job.length);
            if (job.key_each) job.length = std::min(job.length, 16u * 80);
            place(job);
        } else {
            ++counts_.repeated;
        }
        avoid(job);
        result_of_plain(job, chain);
        if (!carry_out(job, false) || chance(50) || part == 5) return;
        if (again) continue;
        if (job.length % 16 != 0 || job.key_each) return;
        job.init = false;
        ++counts_.continued;
    }
}

// Feeds AAD of a message through the peripheral's data register instead of memory.
bool Torture::aad_by_registers(Job job, const Bytes &data) {
    port_.write(kLength, uint32_t(data.size()));
    if (job.init) write_block(kIv, job.iv);
    job.memory = false;
    port_.write(kIrqStatus, 9);
    port_.write(kCtrl, kStart | job.ctrl());
    for (size_t at = 0; at < data.size(); at += 16) {
        while ((port_.read(kStatus) & 1) == 0) {
        }
        Block in{};
        std::memcpy(in.data(), &data[at], std::min<size_t>(16, data.size() - at));
        write_block(kDataIn, in);
    }
    while ((port_.read(kStatus) & 4) != 0) {
    }
    check_error(kNone, "AAD");
    return true;
}

void Torture::gcm() {
    Job job;
    job.mode = MAE_GCM;
    job.decrypt = chance(50);
    job.slot = below(kSlots);
    Bytes iv, aad;
    const auto from_memory = [&](unsigned phase, uint32_t length, Bytes &into) {
        job.phase = phase;
        job.length = length;
        place(job);
        avoid(job);
        const Bytes data = memory(job.source, length);
        into.insert(into.end(), data.begin(), data.end());
        job.result.clear();
        const bool good = carry_out(job, false);
        job.init = false;
        return good;
    };
    if (chance(70)) {
        iv = bytes_of(12);
        std::copy(iv.begin(), iv.end(), job.iv.begin());
        std::fill(job.iv.begin() + 12, job.iv.end(), uint8_t{0});
        job.iv[15] = 1;
    } else if (!from_memory(2, chance(50) ? 1 + below(11) : 13 + below(60), iv)) {
        return;
    }
    if (chance(30)) {
        job.phase = 1;
        const Bytes data = bytes_of(16 * (1 + below(3)));
        aad_by_registers(job, data);
        aad.insert(aad.end(), data.begin(), data.end());
        job.init = false;
    }
    while (chance(40) && aad.size() % 16 == 0) {
        if (!from_memory(1, some_length(true), aad)) return;
    }
    Bytes data;
    job.phase = 0;
    do {
        job.final = job.decrypt || chance(60);
        job.length = chance(5) && job.final ? 0 : some_length(job.final);
        place(job);
        avoid(job);
        const Bytes more = memory(job.source, job.length);
        const size_t before = data.size();
        data.insert(data.end(), more.begin(), more.end());
        job.tag_bytes = job.decrypt ? 4 + below(13) : 16;
        const Sealed sealed = seal(MAE_GCM, job.decrypt, keys_[job.slot], iv, aad, data, 16);
        job.result.assign(sealed.text.begin() + long(before), sealed.text.end());
        job.tag = sealed.tag;
        job.error = kNone;
        if (job.decrypt && chance(40)) {
            job.tag[below(job.tag_bytes)] ^= uint8_t(1u << below(8));
            job.error = kBadTag;
            job.result.assign(job.length, 0);
        }
        if (!carry_out(job, false)) return;
        if (job.final && !job.decrypt) check_tag(sealed.tag, 16);
        job.init = false;
    } while (!job.final);
}

void Torture::ccm() {
    Job job;
    job.mode = MAE_CCM;
    job.decrypt = chance(50);
    job.slot = below(kSlots);
    const Bytes nonce = bytes_of(7 + below(7));
    const unsigned q = 15 - unsigned(nonce.size()), tag_bytes = 4 + 2 * below(7);
    const uint32_t length = chance(5) ? 0 : some_length(true);
    const Bytes aad = chance(60) ? bytes_of(1 + below(60)) : Bytes{};
    Bytes head(1, uint8_t(64 * !aad.empty() + 8 * ((tag_bytes - 2) / 2) + q - 1));
    head.insert(head.end(), nonce.begin(), nonce.end());
    for (unsigned i = q; i-- != 0;) head.push_back(i < 4 ? uint8_t(length >> 8 * i) : 0);
    if (!aad.empty()) head.push_back(uint8_t(aad.size() >> 8));
    if (!aad.empty()) head.push_back(uint8_t(aad.size()));
    head.insert(head.end(), aad.begin(), aad.end());
    job.iv.fill(0);
    job.iv[0] = uint8_t(q - 1);
    std::copy(nonce.begin(), nonce.end(), job.iv.begin() + 1);
    job.phase = 1;
    if (chance(30)) {
        aad_by_registers(job, head);
    } else {
        job.length = uint32_t(head.size());
        place(job);
        avoid(job);
        machine_.cpu.store(job.source / 16, head);
        while (machine_.cpu.storing() || !machine_.cpu.idle()) port_.tick();
        if (!carry_out(job, false)) return;
    }
    job.init = false;
    job.phase = 0;
    job.final = true;
    job.length = length;
    job.tag_bytes = tag_bytes;
    place(job);
    avoid(job);
    const Bytes data = memory(job.source, job.length);
    const Sealed sealed = seal(MAE_CCM, job.decrypt, keys_[job.slot], nonce, aad, data, tag_bytes);
    job.result = sealed.text;
    job.tag = sealed.tag;
    if (job.decrypt && chance(40)) {
        job.tag[below(job.tag_bytes)] ^= uint8_t(1u << below(8));
        job.error = kBadTag;
        job.result.assign(job.length, 0);
    }
    if (!carry_out(job, false)) return;
    if (!job.decrypt) check_tag(sealed.tag, tag_bytes);
}

void Torture::cmac() {
    Job job;
    job.mode = MAE_CMAC;
    job.decrypt = chance(50);
    job.slot = below(kSlots);
    Bytes data;
    do {
        job.final = chance(60);
        job.length = some_length(job.final);
        place(job);
        avoid(job);
        const Bytes more = memory(job.source, job.length);
        data.insert(data.end(), more.begin(), more.end());
        const Sealed sealed = seal(MAE_CMAC, false, keys_[job.slot], {}, {}, data, 16);
        job.tag_bytes = 1 + below(16);
        job.tag = sealed.tag;
        if (job.decrypt && job.final && chance(40)) {
            job.tag[below(job.tag_bytes)] ^= uint8_t(1u << below(8));
            job.error = kBadTag;
        }
        if (!carry_out(job, false)) return;
        if (job.final && !job.decrypt) check_tag(sealed.tag, 16);
        job.init = false;
    } while (!job.final);
}

// Starts a memory job with an illegal parameter, which the peripheral must refuse.
void Torture::refused() {
    Job job;
    job.slot = below(kSlots);
    job.tweak = (job.slot + 1) % kSlots;
    job.decrypt = chance(50);
    job.mode = block_modes[below(BLOCK_MODES)].mode;
    job.key_each = chance(30);
    job.keys_bytes = 16 + 8 * below(3);
    job.length = std::min(some_length(false), 60u * 16);
    job.iv = block();
    const uint32_t what = below(8);
    if (what == 0) {
        job.mode = chance(50) ? MAE_GCM : MAE_CCM;
        job.decrypt = true;  // without final
        job.key_each = false;
        job.error = kBadOp;
    } else if (what == 1) {
        job.mode = chance(40) ? MAE_XTS : chance(50) ? MAE_GCM : MAE_CCM;  // with key_each
        job.final = true;
        job.key_each = true;
        job.error = kBadOp;
    } else if (what == 2) {
        job.mode = whole_blocks_mode();
        job.length -= 1 + below(15);
        job.error = kBadLength;
    } else if (job.mode == MAE_XTS) {
        job.key_each = false;
    }
    place(job);
    if (job.error == kNone) misplace(job);
    carry_out(job);
}

}  // namespace mae
