// SPDX-License-Identifier: Apache-2.0
//
// Runs one random memory job of the arbiter's torture test, with disturbances, and checks it.
#include "torture.h"

namespace mae {

void Torture::write_block(uint32_t address, const Block &value) {
    for (uint32_t i = 0; i < 4; ++i) {
        uint32_t word;
        std::memcpy(&word, &value[4 * i], 4);
        port_.write(address + 4 * i, word);
    }
}

void Torture::load_key(unsigned slot, size_t size) {
    keys_[slot] = bytes_of(size);
    for (uint32_t i = 0; i < size / 4; ++i) {
        uint32_t word;
        std::memcpy(&word, &keys_[slot][4 * i], 4);
        port_.write(kKey + 4 * i, word);
    }
    port_.write(kKeyCmd, kStart | slot | uint32_t(size - 16) / 8 << 8);
    while ((port_.read(kKeyStatus) & 1) != 0) {
    }
    if (port_.read(kKeyStatus) >> 8 != 0) throw Failure("a key was refused");
}

// Loads random AES keys into empty key slots of the peripheral, and sometimes into full ones.
void Torture::some_keys() {
    for (unsigned slot = 0; slot < kSlots; ++slot) {
        if (keys_[slot].empty() || chance(3)) load_key(slot, 16 + 8 * below(3));
    }
}

uint32_t Torture::some_length(bool any) {
    static const uint32_t kLimits[] = {2, 4, 4, 8, 8, 8, 20, 20, 60, 200};
    const uint32_t rows = 1 + below(kLimits[below(10)]);
    return 16 * rows - (any && chance(50) ? below(16) : 0);
}

// Chooses random legal addresses for a job's source, destination and keys.
void Torture::place(Job &job) {
    const uint32_t n = std::max(1u, job.rows());
    const uint32_t key_rows = job.key_each ? n * job.stride() / 16 : 0;
    const auto somewhere = [this](uint32_t rows) {
        if (chance(15)) return chance(50) ? 0 : kRows - rows;
        return below(kRows - rows + 1);
    };
    const auto apart = [](uint32_t a, uint32_t an, uint32_t b, uint32_t bn) {
        return a + an <= b || b + bn <= a;
    };
    for (;;) {
        uint32_t source = somewhere(n), destination = somewhere(n);
        uint32_t keys = somewhere(std::max(1u, key_rows));
        const uint32_t how = below(10);
        if (how < 3) {
            destination = source;
        } else if (how < 5) {
            if (n < 2 || source == 0) continue;
            const uint32_t most = std::min(source, n - 1);
            destination = source - 1 - (chance(40) ? 0 : below(most));
        } else if (how < 7) {
            destination = chance(50) ? source + n : source - n;  // side by side
        }
        if (other().active && chance(60)) {  // where the other peripheral's job is
            const Region &theirs = other().region;
            const uint32_t there = chance(50) ? theirs.destination : theirs.source;
            const uint32_t at = there + below(5) - (chance(50) ? below(n) : 2);
            (chance(50) ? source : chance(80) ? destination : keys) = at;
            if (how < 3) destination = source;
        }
        if (source > kRows - n) continue;
        if (destination > kRows - n || keys > kRows - key_rows) continue;
        if (destination != source && destination > source && destination < source + n) continue;
        if (key_rows != 0 && !apart(destination, n, keys, key_rows)) continue;
        job.source = 16 * source;
        job.destination = 16 * destination;
        job.keys = 16 * keys;
        break;
    }
    if (!job.moves()) job.destination = uint32_t(random_.next());
    if (!job.key_each) job.keys = uint32_t(random_.next());
}

// Makes one of a job's addresses illegal, so that the peripheral must refuse the job.
void Torture::misplace(Job &job) {
    const uint32_t n = job.rows(), end = 16 * kRows;
    const uint32_t past = chance(50)   ? end - 16 * n + 16 * (1 + below(n + 2))
                          : chance(50) ? uint32_t(0) - 16 * (1 + below(2 * n))
                                       : end + 16 * below(1u << 20);
    switch (below(job.key_each ? 8 : 5)) {
        case 0:
            job.source += 1 + below(15);
            break;
        case 1:
            job.destination += 1 + below(15);
            break;
        case 2:
            job.source = past;
            break;
        case 3:
            job.destination = past;
            break;
        case 4:  // above and overlapping
            if (n < 2) {
                job.source = past;
            } else {
                job.source = 16 * below(kRows - 2 * n + 2);
                job.destination = job.source + 16 * (1 + (chance(50) ? n - 2 : below(n - 1)));
            }
            break;
        case 5:
            job.keys += 1 + below(15);
            break;
        case 6: {
            const uint32_t rows = n * job.stride() / 16;
            job.keys = end - 16 * rows + 16 * (1 + below(rows + 2));
            break;
        }
        default:  // keys in the destination
            job.keys = job.destination + 16 * below(n);
            if (job.keys + n * job.stride() > end) job.keys = job.destination + 1;
    }
    job.error = kBadAddress;
}

Region Torture::region(const Job &job) const {
    Region out;
    out.source = job.source / 16;
    out.destination = job.destination / 16;
    out.keys = job.keys / 16;
    out.rows = job.rows();
    out.key_rows = job.key_each ? out.rows * job.stride() / 16 : 0;
    out.moves = job.moves();
    out.verdict = out.moves && !is_plain(job.mode) && job.decrypt;
    out.mode = job.mode;
    out.decrypt = job.decrypt;
    const Bytes &key = keys_[job.slot];
    out.nr = uint8_t(6 + (job.key_each ? job.keys_bytes : key.size()) / 4);
    if (job.mode == MAE_XTS) out.nr = std::max(out.nr, uint8_t(6 + keys_[job.tweak].size() / 4));
    out.looks_back = job.mode == MAE_CBC || job.mode == MAE_CFB;
    if (!job.key_each) {
        out.express = job.mode == MAE_ECB || (out.looks_back && job.decrypt) ||
                      (job.mode == MAE_CTR && job.init) ||
                      (job.mode == MAE_XTS && job.init && job.length % 16 == 0);
    }
    return out;
}

// Lets the simulation run until the CPU has no access in progress.
void Torture::settle() {
    machine_.cpu.frozen = true;
    while (!machine_.cpu.idle()) port_.tick();
    machine_.cpu.frozen = false;
}

void Torture::take_floor() {
    while (floor_ != kNobody && floor_ != me_) port_.tick();
    floor_ = me_;
}

// Keeps the CPU off the job's memory rows until the job has started. The order of an access and the
// start is undefined.
void Torture::avoid(const Job &job) {
    take_floor();
    settle();
    avoided_ = region(job);
    machine_.cpu.avoid = &avoided_;
}

void Torture::check_error(Error want, const char *what) {
    const uint32_t status = port_.read(kStatus), found = status >> 16 & 0xff;
    const bool noted = (port_.read(kIrqStatus) & 8) != 0;
    if (found != want || noted != (want != kNone)) {
        throw Failure(std::string(what) + ": error " + std::to_string(found) + ", must be " +
                      std::to_string(want));
    }
    if (noted) port_.write(kIrqStatus, 8);
}

// Brings the test's expectation in line with the peripheral after a wipe or reset. Memory keeps its
// content, but for the job's destination.
void Torture::dropped() {
    machine_.cpu.frozen = true;
    const int most = other().active ? 40000 : 300;  // the other peripheral's job may hold it
    for (int i = 0; i < most && !machine_.cpu.idle(); ++i) port_.tick();
    if (!machine_.cpu.idle()) throw Failure("held by a job that was dropped");
    port_.ticks(6);
    if (machine_.cpu.track(me_).dropped) machine_.cpu.resync(me_, machine_.ram());
    machine_.cpu.frozen = false;
    machine_.cpu.avoid = nullptr;
    for (Bytes &key : keys_) key.clear();
    port_.write(kIrqStatus, 9);
    if (chance(20)) {  // refused while it is being erased
        const bool wiping = (port_.read(kStatus) & 8) != 0;
        port_.write(kCtrl, kStart);
        const uint32_t found = port_.read(kStatus) >> 16 & 0xff;
        if (found != kBusy && (found == kNone || wiping)) {
            if (!(wiping && (port_.read(kStatus) & 8) == 0)) {
                throw Failure("a start while all is erased: error " + std::to_string(found));
            }
        }
        port_.write(kIrqStatus, 9);
    }
    while ((port_.read(kStatus) & 8) != 0) {
    }
    port_.write(kIrqStatus, 9);
    floor_ = kNobody;
}

// Disturbs a running job by a wipe, reset or register access; returns true if that ended the job.
bool Torture::disturb(const Job &job) {
    event_at_ = ~uint64_t{0};
    const uint32_t what = below(100);
    const bool alone = machine_.cpu.jobs == 1;
    if (what < 12) {
        take_floor();
        // What the other peripheral's job reads or writes is defined only beside a whole job.
        if (other().active && (other().region.meets(avoided_) || avoided_.meets(other().region))) {
            floor_ = kNobody;
            return false;
        }
        ++counts_.wipes;
        port_.write(kCtrl, kWipe);
        dropped();
        return true;
    }
    if (what < 20 && alone) {
        ++counts_.resets;
        machine_.reset(1 + below(4));
        dropped();
        return true;
    }
    const bool auth = !is_plain(job.mode);
    if (what < 60) {
        if (job.error != kNone) return false;
        ++counts_.busy;
        const Track &track = machine_.cpu.track(me_);
        const bool far = track.active && track.front + 8 < job.rows();
        port_.write(kCtrl, kStart | (far ? job.ctrl() : 31));
        const uint32_t found = port_.read(kStatus) >> 16 & 0xff;
        if (found != kBusy && (found != kBadOp || machine_.cpu.active(me_))) {
            throw Failure("a second job while one runs: error " + std::to_string(found));
        }
        port_.write(kIrqStatus, 8);
    } else if (what < 68) {  // a key that the job has nothing to do with
        unsigned slot = below(kSlots);
        while (slot == job.slot || slot == job.tweak) slot = (slot + 1) % kSlots;
        ++counts_.loaded;
        load_key(slot, 16 + 8 * below(3));
    } else if (what < 76) {  // the registers for data are not for it
        if (job.error != kNone) return false;
        ++counts_.scribbles;
        if (chance(50)) {
            write_block(kDataIn, block());
        } else {
            port_.read(kDataOut + 12);
        }
        port_.write(kIrqStatus, 8);
    } else {
        ++counts_.scribbles;
        port_.write(kSource, uint32_t(random_.next()));
        port_.write(kDestination, uint32_t(random_.next()));
        port_.write(kKeys, uint32_t(random_.next()));
        port_.write(kKeysLen, below(4));
        port_.write(kLength, uint32_t(random_.next()));
        if (!auth) port_.write(kIv + 4 * below(4), uint32_t(random_.next()));
        port_.write(kCtrl, uint32_t(random_.next()) & ~(kStart | kWipe));
    }
    if (chance(50)) event_at_ = machine_.clock + below(400);
    return false;
}

// Runs the simulation until a memory job ends; returns true if it completed.
bool Torture::wait_for_end(const Job &job) {
    const bool polls = chance(50);
    const uint64_t began = machine_.clock;
    for (;;) {
        if (machine_.clock >= event_at_ && disturb(job)) return false;
        if (machine_.clock - began > 400000) {
            throw Failure("the job does not end: status " + std::to_string(port_.read(kStatus)) +
                          "; " + machine_.cpu.describe(machine_.clock));
        }
        if (polls) {
            if ((port_.read(kStatus) & 4) == 0) break;
            port_.ticks(below(30));
        } else {
            port_.tick();
            if (port_.irq()) break;
        }
    }
    return true;
}

// Writes a memory job's registers, starts the job, waits for its end and checks memory. Returns
// false if it was dropped or refused.
bool Torture::carry_out(Job &job, bool leave_alone) {
    if (leave_alone) avoid(job);
    const auto set = [this](uint32_t address, uint32_t value) { port_.write(address, value); };
    set(kLength, job.length);
    set(kSource, job.source);
    set(kDestination, job.destination);
    set(kKeys, job.keys);
    set(kKeysLen, (job.keys_bytes - 16) / 8);
    if (job.init || is_plain(job.mode)) write_block(kIv, job.iv);
    set(kTagBytes, job.tag_bytes);
    if (!is_plain(job.mode) && job.decrypt) write_block(kTag, job.tag);
    set(kIrqEnable, 1);
    set(kIrqStatus, 9);
    settle();
    const bool at_once = chance(60);
    bool began = false;
    machine_.on_start[me_] = [&] {
        began = true;
        if (other().active) {
            const Region &theirs = other().region;
            ++counts_.beside;
            counts_.reads_of += avoided_.reads_of(theirs);
            counts_.writes_over += avoided_.writes_over(theirs);
            counts_.writes_with += avoided_.writes_with(theirs);
        }
        std::copy(job.result.begin(), job.result.end(),
                  machine_.cpu.memory.begin() + (job.result.empty() ? 0 : job.destination));
        if (machine_.cpu.idle() || !avoided_.touches(machine_.cpu.address() / 16)) {
            const uint64_t walk_until = machine_.cleared_at[me_] + kRows + 80;
            machine_.cpu.start(me_, avoided_, machine_.clock, walk_until);
        } else {
            throw Failure("the test itself began an access too early");
        }
        if (at_once) machine_.cpu.avoid = nullptr;
    };
    const bool ok = job.error == kNone || job.error == kBadTag;
    event_at_ = ok && chance(40) ? machine_.clock + 4 + below(job.rows() * 30 + 60) : ~uint64_t{0};
    port_.write(kCtrl, kStart | job.ctrl());
    machine_.on_start[me_] = nullptr;
    machine_.cpu.avoid = nullptr;
    floor_ = kNobody;
    if (!ok) {
        if (began) throw Failure("a job was not refused: " + std::to_string(job.error));
        ++counts_.refused;
        check_error(job.error, "refused");
        if ((port_.read(kStatus) & 4) != 0) throw Failure("busy with a refused job");
        return false;
    }
    if (!began) {
        const uint32_t found = port_.read(kStatus) >> 16 & 0xff;
        throw Failure("a job did not begin: error " + std::to_string(found) + ", mode " +
                      std::to_string(job.mode));
    }
    ++counts_.jobs[2 * job.mode + job.decrypt];
    counts_.blocks += job.rows();
    counts_.keyed += job.key_each;
    counts_.in_place += avoided_.in_place();
    counts_.overlapping += avoided_.overlaps();
    if (!wait_for_end(job)) return false;
    if (machine_.cpu.active(me_)) throw Failure("an end without one inside");
    machine_.cpu.compare(machine_.ram(), "at the end of a job");
    check_error(job.error, "at the end");
    if (port_.read(kIrqStatus) != 1) throw Failure("done is not noted");
    port_.write(kIrqStatus, 1);
    if (job.error == kBadTag) ++counts_.bad_tags;
    return true;
}

}  // namespace mae
