// SPDX-License-Identifier: Apache-2.0
//
// Maps bus addresses to the simulator caller's memory, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mae {

class AddressMap {
   public:
    // Maps memory of the caller at a bus address; returns 0, -EINVAL or -EEXIST.
    int map(uint64_t iova, void *host, uint64_t bytes, bool writable);
    // Removes a mapping of memory from the bus; returns 0, or -ENOENT if there is none of this
    // range.
    int unmap(uint64_t iova, uint64_t bytes);

    // Returns a pointer to the mapped memory of bus addresses first...last; else nullptr.
    uint8_t *span(uint64_t first, uint64_t last, bool to_write) const;
    // Returns true if any of the bus addresses first...last is mapped.
    bool any(uint64_t first, uint64_t last) const;
    // Returns true if every byte of a bus address range is mapped.
    bool covers(uint64_t address, uint64_t bytes) const;
    // Copies bytes between bus addresses as the host's CPU does, to read-only mappings too. Both
    // ranges must be covered.
    void copy(uint64_t dst, uint64_t src, size_t bytes) const;
    // Returns a number that changes whenever memory is mapped or unmapped.
    uint64_t generation() const { return generation_; }

    // Copies mapped bytes from bus addresses, 0xa5 for unmapped ones; returns how many were mapped.
    size_t read(uint64_t address, uint8_t *to, size_t bytes) const;
    // Writes the strobed bytes to bus addresses where they are mapped; returns false if one was
    // not. `strobe`: a bit for each byte, null: all. Read-only mappings are not written.
    bool write(uint64_t address, const uint8_t *from, size_t bytes, const uint8_t *strobe) const;

   private:
    struct Region {
        uint64_t first;
        uint64_t last;  // inclusive, so that a region may end at the top of the address space
        uint8_t *host;
        bool writable;
        uint8_t *at(uint64_t address) const { return host + (address - first); }
    };

    // Returns the mapping that contains a bus address, nullptr if there is none.
    const Region *find(uint64_t address) const;
    // Returns the first mapping that ends at or after a bus address, nullptr if there is none.
    const Region *next(uint64_t address) const;

    std::vector<Region> regions_;  // by address
    mutable size_t last_hit_ = 0;
    uint64_t generation_ = 1;
};

}  // namespace mae
