// SPDX-License-Identifier: Apache-2.0
#include "cpu.h"

#include <algorithm>
#include <cstring>

namespace mae {

uint64_t bound_of(const Region &region, bool out_of_turn, uint64_t before) {
    const uint64_t r = region.nr;
    uint64_t bound = 24;
    if (out_of_turn) {
        bound += (kDepth + 2) * r;
        if (region.mode == MAE_XTS) bound += r + 22 + region.rows / 128;
    } else {
        uint64_t step = region.key_rows != 0 ? r + 5 : r;
        if (region.mode == MAE_GCM) step = std::max<uint64_t>(r, 9);
        if (region.mode == MAE_CCM) step = 2 * r;
        if (region.mode == MAE_CMAC) step = r + 5;
        bound += (before + 3) * step;
        if (!is_plain(region.mode)) bound += 2 * r + 10;
    }
    if (region.decrypt && is_plain(region.mode)) bound += r;  // it may be the first with its key
    if (region.verdict) bound += region.rows;
    return bound;
}

// Drives the random CPU's next memory access once the last one and a pause are over.
const Cpu::Port &Cpu::drive(uint64_t clock) {
    if (port_.valid) return port_;
    if (wait_ != 0) {
        --wait_;
        return port_;
    }
    if (frozen) return port_;
    if (queue_.empty()) plan();
    const Port next = queue_.front();
    queue_.pop_front();
    const uint32_t row = next.address / 16;
    if (stores_ != 0) {
        --stores_;
    } else if (avoid != nullptr && avoid->touches(row)) {
        return port_;
    }
    port_ = next;
    port_.valid = true;
    issued_ = clock;
    free_ = true;
    bool inside = false, edges = false;
    const auto edge = [row](uint32_t first, uint32_t rows) {
        return row + 1 == first || row == first + rows;
    };
    for (Track &track : tracks_) {
        const Region &region = track.region;
        track.was_active = track.active;
        track.front_at_issue = track.front;
        free_ = free_ && free_now(track, port_, clock);
        if (!track.active) continue;
        if (next.strobes != 0 && region.touches(row)) track.clean = false;
        inside = inside || region.touches(row);
        edges = edges || edge(region.source, region.rows) ||
                (region.moves && edge(region.destination, region.rows));
    }
    counts.inside += inside;
    counts.edges += edges;
    return port_;
}

// Returns true if no job of a peripheral is a reason not to grant a CPU access at once.
bool Cpu::free_now(const Track &track, const Port &port, uint64_t clock) const {
    if (!track.active) return true;
    const Region &region = track.region;
    const uint32_t row = port.address / 16;
    const bool source = port.strobes != 0 && region.in_source(row);
    const bool keys = port.strobes != 0 && region.in_keys(row);
    if (!region.in_destination(row)) return !source && !keys;
    if (keys || region.verdict || region.overlaps() || !track.clean) return false;
    const uint64_t at = track.written_at[row - region.destination];
    return at != 0 && at + 2 <= clock;
}

void Cpu::collect(uint64_t clock, bool ready, uint32_t data, const uint8_t *ram) {
    if (!ready) {
        if (port_.valid && free_ && clock > issued_) {
            throw Failure("held without need: " + describe(clock));
        }
        if (port_.valid && clock > issued_ + 200000)
            throw Failure("never ends: " + describe(clock));
        return;
    }
    if (!port_.valid || clock == issued_) throw Failure("ready without an access");
    const uint32_t word = port_.address & ~3u, row = port_.address / 16;
    if (port_.strobes != 0) {
        for (uint32_t i = 0; i < 4; ++i) {
            if ((port_.strobes >> i & 1) != 0) memory[word + i] = uint8_t(port_.data >> 8 * i);
        }
        ++counts.writes;
    } else {
        uint32_t want, there;
        std::memcpy(&want, &memory[word], 4);
        std::memcpy(&there, ram + word, 4);
        bool undefined = false;
        for (const Track &track : tracks_) {
            undefined = undefined || (track.dropped && track.region.in_destination(row));
        }
        if (data != want && !(undefined && data == there)) {
            char text[120];
            std::snprintf(text, sizeof text, "read %08x, must be %08x: ", data, want);
            throw Failure(text + describe(clock));
        }
    }
    ++counts.accesses;
    const uint64_t held = clock - issued_ - 1;
    if (std::any_of(tracks_.begin(), tracks_.end(), [row](const Track &track) {
            return track.active && track.region.touches(row);
        })) {
        char text[80];
        std::snprintf(text, sizeof text, "%llu+%llu %s %u.%u",
                      static_cast<unsigned long long>(issued_),
                      static_cast<unsigned long long>(held), port_.strobes != 0 ? "write" : "read",
                      row, port_.address / 4 % 4);
        past_.push_back(text);
        if (past_.size() > 12) past_.pop_front();
    }
    if (held != 0) {
        ++counts.held;
        note_hold(clock, held);
    }
    port_.valid = false;
    wait_ = gap_ == 0 ? 0 : random_.below(gap_ + 1);
}

// Returns true if the arbiter can process the block of a waiting access out of order.
bool Cpu::out_of_turn(const Region &region, uint32_t row) const {
    if (!region.express) return false;
    if (port_.strobes == 0) return true;
    const bool apart = !region.in_place() && !region.overlaps();
    // What the next job's chain value is made from stays as it is.
    return apart || (region.in_place() && !region.looks_back && region.in_destination(row));
}

// Returns the longest time for which a job may hold the CPU's access, and where to count it.
uint64_t Cpu::note_hold_of(const Track &track, Hold *&hold) {
    const Region &region = track.region;
    const uint32_t row = port_.address / 16;
    Kind kind = kReadDestination;
    uint32_t block = row - region.destination;
    if (port_.strobes != 0) {
        kind = kWriteDestination;
        if (!region.in_destination(row)) {
            kind = region.in_source(row) ? kWriteSource : kWriteKeys;
            block = kind == kWriteSource ? row - region.source : 0;
        }
    }
    if (port_.strobes != 0 && region.in_keys(row)) {  // it may be of the source, too
        block = std::max(block, (row - region.keys) * region.rows / region.key_rows);
    }
    if (region.verdict && region.in_destination(row)) block = region.rows;
    const bool express = out_of_turn(region, row);
    const uint64_t before = block > track.front_at_issue ? block - track.front_at_issue : 0;
    hold = &holds[2 * region.mode + region.decrypt][express][kind];
    uint64_t bound = bound_of(region, express, before);
    for (const Track &other : tracks_) {
        if (&other == &track || !other.was_active) continue;
        bound += 12 + (region.verdict ? region.rows : 0);  // memory by turns
        if (other.started < track.started && (region.meets(other.region))) {
            bound += bound_of(other.region, false, other.region.rows - other.front_at_issue) + 12 +
                     (other.region.verdict ? other.region.rows : 0) + other.walk();
        }
    }
    return bound + track.walk();
}

void Cpu::note_hold(uint64_t clock, uint64_t held) {
    const uint32_t row = port_.address / 16;
    uint64_t bound = 0;
    std::vector<Hold *> noted;
    bool walk = false;  // the marks were still being cleared
    for (const Track &track : tracks_) {
        if (track.dropped) return;
        if (!track.was_active) continue;
        walk = walk || track.started < track.walk_until;
        if (!track.region.touches(row)) continue;
        noted.emplace_back();
        bound += note_hold_of(track, noted.back());
    }
    if (noted.empty()) return;
    counts.twice += noted.size() > 1;
    if (held + 1 > bound) {
        throw Failure("held for " + std::to_string(held + 1) + " clocks, at most " +
                      std::to_string(bound) + ": " + describe(clock));
    }
    for (Hold *hold : noted) {
        ++hold->count;
        if (walk) continue;
        hold->longest = std::max(hold->longest, held + 1);
        hold->spare = std::min(hold->spare, int64_t(bound) - int64_t(held) - 1);
    }
}

void Cpu::start(unsigned job, const Region &region, uint64_t clock, uint64_t walk_until) {
    Track &track = tracks_[job];
    track.region = region;
    track.active = track.clean = true;
    track.started = clock;
    past_.clear();
    if (port_.valid && issued_ == clock) free_ = false;  // the clock of the start is lost
    track.walk_until = walk_until;
    track.front = 0;
    track.written_at.assign(region.rows, 0);
    queue_.clear();
    new_habits();
}

void Cpu::drop(unsigned job) {
    tracks_[job].active = false;
    tracks_[job].dropped = true;
    frozen = true;
    queue_.clear();
    stores_ = 0;
}

void Cpu::reset(const uint8_t *ram) {
    if (port_.valid && port_.strobes != 0) {  // all of it was done, or nothing
        const uint32_t word = port_.address & ~3u;
        Bytes after(memory.begin() + word, memory.begin() + word + 4);
        for (uint32_t i = 0; i < 4; ++i) {
            if ((port_.strobes >> i & 1) != 0) after[i] = uint8_t(port_.data >> 8 * i);
        }
        if (std::memcmp(after.data(), ram + word, 4) == 0) {
            std::copy(after.begin(), after.end(), memory.begin() + word);
        }
    }
    port_.valid = false;
    for (unsigned job = 0; job < jobs; ++job) drop(job);
}

void Cpu::resync(unsigned job, const uint8_t *ram) {
    const Region &region = tracks_[job].region;
    for (uint32_t i = 0; region.moves && i < region.rows; ++i) {
        const uint32_t at = 16 * (region.destination + i);
        std::memcpy(&memory[at], ram + at, 16);
    }
    tracks_[job].dropped = frozen = false;
    compare(ram, "after a job was dropped");
}

void Cpu::written(unsigned job, uint32_t row, uint16_t strobes, uint64_t clock) {
    Track &track = tracks_[job];
    if (!track.active || !track.region.in_destination(row) || strobes == 0) return;
    track.written_at[row - track.region.destination] = clock;
}

void Cpu::store(uint32_t row, const Bytes &bytes) {
    queue_.clear();
    for (uint32_t i = 0; i < bytes.size(); i += 4) {
        Port port{true, 16 * row + i, 0, 15};
        std::memcpy(&port.data, &bytes[i], std::min<size_t>(4, bytes.size() - i));
        queue_.push_back(port);
    }
    stores_ = queue_.size();
}

void Cpu::compare(const uint8_t *ram, const char *when) const {
    for (uint32_t i = 0; i < memory.size(); ++i) {
        bool own = port_.valid && port_.address / 16 == i / 16;  // may be done already
        for (const Track &track : tracks_) {
            const bool unsure = track.active || track.dropped;
            own = own || (unsure && track.region.in_destination(i / 16));
        }
        if (memory[i] != ram[i] && !own) {
            char text[120];
            std::snprintf(text, sizeof text, "memory at %x is %02x, must be %02x, ", i, ram[i],
                          memory[i]);
            throw Failure(std::string(text) + when + "; " + describe(0));
        }
    }
}

void Cpu::add(int64_t row, bool write) {
    static const uint8_t kStrobes[] = {15, 15, 15, 3, 12, 1, 2, 4, 8, 0};
    Port port;
    port.address = uint32_t(row % int64_t(rows_) + int64_t(rows_)) % rows_ * 16 + random_.below(16);
    port.data = uint32_t(random_.next() >> 16);
    if (write) {
        port.strobes = kStrobes[random_.below(10)];
        if (port.strobes == 0) port.strobes = uint8_t(1 + random_.below(15));
    }
    queue_.push_back(port);
}

void Cpu::new_habits() {
    static const uint32_t kGaps[] = {0, 0, 0, 1, 1, 2, 4, 12, 40, 150};
    static const uint32_t kWrites[] = {0, 30, 128, 128, 200, 256};
    pattern_ = random_.below(16);
    gap_ = kGaps[random_.below(10)];
    writes_ = kWrites[random_.below(6)];
    left_ = 1 + random_.below(random_.below(4) == 0 ? 200 : 20);
    at_ = 0;
}

// Plans the random CPU's next accesses, mostly near the rows of the running job.
void Cpu::plan() {
    if (left_ == 0) new_habits();
    --left_;
    const Track &track = tracks_[jobs == 1 ? 0 : random_.below(jobs)];
    const Region &r = track.region;
    const bool write = random_.below(256) < writes_;
    const int64_t s = r.source, d = r.destination, n = std::max(1u, r.rows);
    const int64_t next = int64_t(track.front) + random_.below(7) - 1;
    const int64_t any = random_.below(uint32_t(n));
    switch (pattern_) {
        case 0:  // anywhere
            return add(random_.below(rows_), write);
        case 1:  // in the regions and around them
            return add((random_.below(2) != 0 ? s : d) + random_.below(uint32_t(n) + 4) - 2, write);
        case 2:  // the next blocks
            return add(d + next, write);
        case 3:
            return add(s + next, true);
        case 4:  // the ends
            return add((random_.below(2) != 0 ? s : d) + (random_.below(2) != 0 ? n - 1 : 0),
                       write);
        case 5:  // around the ends
            return add((random_.below(2) != 0 ? s : d) + (random_.below(2) != 0 ? n : 0) +
                           random_.below(3) - 2 + 1,
                       write);
        case 6:  // an input, then what comes of it
            add(s + any, true);
            return add(d + any + random_.below(3) - 1, write);
        case 7: {  // an input and those beside it
            for (int i = 0; i < 3; ++i) add(s + any + random_.below(3) - 1, true);
            return add(d + any + random_.below(4) - 1, false);
        }
        case 8:  // one row again and again
            if (at_ == 0) at_ = uint32_t(1 + (random_.below(3) == 0 ? s : d) + any);
            return add(at_ - 1, write);
        case 9:  // two rows by turns
            if (at_ == 0) at_ = uint32_t(1 + any);
            add(d + at_ - 1, write);
            return add((random_.below(2) != 0 ? s : d) + at_ - 1 + 1, write);
        case 10:  // downwards
            if (at_ == 0) at_ = uint32_t(n);
            add(d + --at_, write);
            return add(s + at_, write && random_.below(2) != 0);
        case 11:  // upwards
            if (at_ >= n) at_ = 0;
            return add((writes_ > 128 ? s : d) + at_++, write);
        case 12:  // results thrown away, in part
            for (int i = 0; i < 3; ++i) add(d + random_.below(uint32_t(n)), true);
            return add(d + any, false);
        case 13:  // keys
            add(r.keys + random_.below(r.key_rows + 1), true);
            return add(d + next, write);
        case 14:  // far ahead
            add(d + n - 1 - random_.below(uint32_t(std::min<int64_t>(n, 4))), write);
            return add(s + n - 1 - random_.below(uint32_t(std::min<int64_t>(n, 4))), write);
        default:  // nearly idle
            gap_ = 300;
            add(random_.below(2) != 0 ? d + any : int64_t(random_.below(rows_)), write);
    }
}

std::string Cpu::describe(uint64_t clock) const {
    char text[400];
    std::snprintf(
        text, sizeof text, "%s row %u (address %x, strobes %x), issued in clock %llu, now %llu",
        port_.strobes != 0 ? "write" : "read", port_.address / 16, port_.address, port_.strobes,
        static_cast<unsigned long long>(issued_), static_cast<unsigned long long>(clock));
    std::string out = text;
    for (unsigned job = 0; job < jobs; ++job) {
        const Track &track = tracks_[job];
        const Region &region = track.region;
        std::snprintf(text, sizeof text,
                      "; job of mode %u %s, source row %u, destination row %u, %u rows, keys %u "
                      "(%u), %s, front %u, began in clock %llu",
                      region.mode, region.decrypt ? "decrypt" : "encrypt", region.source,
                      region.destination, region.rows, region.keys, region.key_rows,
                      track.active    ? "running"
                      : track.dropped ? "dropped"
                                      : "over",
                      track.front, static_cast<unsigned long long>(track.started));
        out += text;
    }
    if (!past_.empty()) out += "; since the last start";
    for (const std::string &one : past_) out += ", " + one;
    return out;
}

}  // namespace mae
