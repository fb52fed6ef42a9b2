// SPDX-License-Identifier: Apache-2.0
//
// Maps bus addresses (IOVAs) to the caller's memory, in an interval map with byte granularity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mae {

class AddressMap {
   public:
    // Maps caller memory at a bus address; returns 0, -EINVAL or -EEXIST.
    int map(uint64_t iova, void *host, uint64_t bytes, bool writable);
    // Removes a mapping; returns 0, or -ENOENT when no mapping is exactly this one.
    int unmap(uint64_t iova, uint64_t bytes);

    // Returns the memory of first…last in one piece, else nullptr.
    uint8_t *span(uint64_t first, uint64_t last, bool to_write) const;
    // Returns true if every byte of address…address+bytes-1 is mapped.
    bool covers(uint64_t address, uint64_t bytes) const;
    // Copies as the host's processor does, to read-only mappings too; both ranges must be covered.
    void copy(uint64_t dst, uint64_t src, size_t bytes) const;
    // Returns a number that changes with every map and unmap.
    uint64_t generation() const { return generation_; }

    // Copies the mapped bytes of address…address+bytes-1, 0xa5 for the rest; returns how many were
    // mapped.
    size_t read(uint64_t address, uint8_t *to, size_t bytes) const;
    // Writes the bytes whose bit in `strobe` is set (null: all) where they are mapped and writable;
    // returns false when one was not.
    bool write(uint64_t address, const uint8_t *from, size_t bytes, const uint8_t *strobe) const;

   private:
    struct Region {
        uint64_t first;
        uint64_t last;  // inclusive, so that a region may end at the top of the address space
        uint8_t *host;
        bool writable;
        uint8_t *at(uint64_t address) const { return host + (address - first); }
    };

    // Returns the region that holds the address, else nullptr.
    const Region *find(uint64_t address) const;
    // Returns the first region that ends at or after the address, else nullptr.
    const Region *next(uint64_t address) const;

    std::vector<Region> regions_;  // by address
    mutable size_t last_hit_ = 0;
    uint64_t generation_ = 1;
};

}  // namespace mae
