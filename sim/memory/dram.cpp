// SPDX-License-Identifier: Apache-2.0
#include "dram.h"

#include <algorithm>

namespace mae {

Dram::Dram(const DramTiming &timing)
    : timing_(timing), banks_(timing.banks), refresh_(timing.interval) {}

// Refreshes as often as is due up to the clock `until`.
void Dram::refresh(uint64_t until) {
    if (until < refresh_) return;
    const uint64_t missed = (until - refresh_) / timing_.interval;
    const uint64_t end = refresh_ + missed * timing_.interval + timing_.refresh;
    refresh_ += (missed + 1) * timing_.interval;
    for (Bank &bank : banks_) bank = {~0ull, 0, end};
}

// Moves a granule over the data bus, not before the clock `from`; returns the clock.
uint64_t Dram::transfer(uint64_t address, uint64_t from, bool is_write) {
    refresh(std::max(bus_, from));
    const uint64_t row = address / timing_.row_bytes / timing_.banks;
    // Rows that follow each other in a bank lie in other banks of the address: no two streams that
    // are a power of two apart meet in one bank all the time.
    const uint64_t index = (address / timing_.row_bytes ^ row) & (timing_.banks - 1);
    Bank &bank = banks_[index];
    if (bank.row != row) {
        uint64_t open = std::max(from, bank.close);
        if (bank.row != ~0ull) open += timing_.precharge;
        bank = {row, open + timing_.row, open + timing_.active};
    }
    if (bus_wrote_ != is_write) bus_ += timing_.turnaround;
    bus_wrote_ = is_write;
    const uint64_t at = std::max({bus_, from, bank.command}) + timing_.column;
    bus_ = at - timing_.column + 1;
    bank.close = std::max(bank.close, at + 1);
    return at;
}

uint64_t Dram::read(uint64_t address, uint64_t bytes, uint64_t now) {
    const uint64_t from = now + timing_.delay / 2;
    const uint64_t first = address / kGranule, last = (address + bytes - 1) / kGranule;
    uint64_t at = 0;
    for (uint64_t granule = first; granule <= last; granule++) {
        at = transfer(granule * kGranule, from, false);
    }
    return at - (last - first) + timing_.delay - timing_.delay / 2;
}

uint64_t Dram::write(uint64_t address, uint64_t bytes, uint64_t now) {
    const uint64_t from = now + timing_.delay / 2;
    const uint64_t before = written_;  // a batch is taken while the one before it is written
    for (uint64_t granule = address / kGranule; granule <= (address + bytes - 1) / kGranule;
         granule++) {
        writes_.push_back(granule * kGranule);
    }
    if (writes_.size() >= timing_.batch) {
        for (uint64_t granule : writes_) written_ = transfer(granule, from, true);
        writes_.clear();
    }
    return std::max(from, before) + timing_.delay - timing_.delay / 2;
}

}  // namespace mae
