// SPDX-License-Identifier: Apache-2.0
//
// Queues AXI bursts that wait for their responses, each with a latency, in order within an ID. A
// burst is due after its latency, and then ready unless an older burst with its ID is still
// unanswered. With one key for all IDs every answer comes in the order of the requests. Every step
// takes constant time.
#pragma once

#include <cstdint>
#include <vector>

#include "random.h"

namespace mae {

class AnswerQueue {
   public:
    static constexpr uint32_t kNone = ~0u;

    // Creates a queue of AXI bursts for `slots` bursts in flight, which the caller numbers from 0.
    AnswerQueue(uint32_t slots, uint32_t keys, uint32_t latency_max)
        : next_(slots),
          key_(slots),
          sequence_(slots),
          ripe_(slots),
          head_(keys, kNone),
          tail_(keys, kNone),
          wheel_next_(slots, kNone) {
        uint32_t size = 2;
        while (size < latency_max + 2) size *= 2;
        wheel_.resize(size, kNone);
        size = 2;
        while (size < 2 * slots) size *= 2;
        started_.resize(size, 0);
        ready_.reserve(slots);
    }

    bool empty() const { return waiting_ == 0; }
    bool ready() const { return !ready_.empty(); }
    uint64_t overtakes() const { return overtakes_; }
    void clear_overtakes() { overtakes_ = 0; }

    // Adds a burst to the queue, to be answered from clock `due` on. That is later than now by 1 …
    // latency_max.
    void add(uint32_t slot, uint32_t key, uint64_t due) {
        next_[slot] = kNone;
        key_[slot] = key;
        ripe_[slot] = 0;
        (head_[key] == kNone ? head_[key] : next_[tail_[key]]) = slot;
        tail_[key] = slot;
        uint32_t &bucket = wheel_[due & (wheel_.size() - 1)];
        wheel_next_[slot] = bucket;
        bucket = slot;
        // The ring of flags covers the oldest unstarted burst and all younger ones.
        sequence_[slot] = sequence_end_++;
        if (sequence_end_ - oldest_ > started_.size()) grow();
        waiting_++;
    }

    // Makes the bursts whose latency has passed ready for a response, once in every clock.
    void tick(uint64_t now) {
        uint32_t slot = wheel_[now & (wheel_.size() - 1)];
        wheel_[now & (wheel_.size() - 1)] = kNone;
        while (slot != kNone) {
            const uint32_t later = wheel_next_[slot];
            ripe_[slot] = 1;
            if (head_[key_[slot]] == slot) ready_.push_back(slot);
            slot = later;
        }
    }

    // Picks one of the ready bursts at random, where ready() is true.
    uint32_t pick(Random &random) {
        picked_ = ready_.size() == 1 ? 0 : random.below(uint32_t(ready_.size()));
        return ready_[picked_];
    }

    // Begins the response of a picked burst, and counts it if it overtakes an older burst.
    void start(uint32_t slot) {
        const uint64_t mask = started_.size() - 1;
        if (sequence_[slot] != oldest_) {
            overtakes_++;
            started_[sequence_[slot] & mask] = 1;
            return;
        }
        for (oldest_++; oldest_ != sequence_end_ && started_[oldest_ & mask]; oldest_++) {
            started_[oldest_ & mask] = 0;
        }
    }

    // Ends the response of a burst, so that the next burst with its ID may follow.
    void finish(uint32_t slot) {
        ready_[picked_] = ready_.back();
        ready_.pop_back();
        const uint32_t later = next_[slot];
        head_[key_[slot]] = later;
        if (later != kNone && ripe_[later]) ready_.push_back(later);
        waiting_--;
    }

   private:
    void grow() {
        std::vector<uint8_t> larger(started_.size() * 2, 0);
        for (uint64_t s = oldest_; s + 1 < sequence_end_; s++) {
            larger[s & (larger.size() - 1)] = started_[s & (started_.size() - 1)];
        }
        started_.swap(larger);
    }

    std::vector<uint32_t> next_;  // of the same key
    std::vector<uint32_t> key_;
    std::vector<uint64_t> sequence_;
    std::vector<uint8_t> ripe_;
    std::vector<uint32_t> head_;
    std::vector<uint32_t> tail_;
    std::vector<uint32_t> wheel_next_;
    std::vector<uint32_t> wheel_;  // bursts by the clock in which they fall due
    std::vector<uint32_t> ready_;
    std::vector<uint8_t> started_;  // by sequence number
    uint64_t oldest_ = 0;           // oldest burst whose answer has not begun
    uint64_t sequence_end_ = 0;
    uint64_t overtakes_ = 0;
    uint32_t waiting_ = 0;
    size_t picked_ = 0;
};

}  // namespace mae
