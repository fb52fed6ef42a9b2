// SPDX-License-Identifier: Apache-2.0
#include "address_map.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mae {

int AddressMap::map(uint64_t iova, void *host, uint64_t bytes, bool writable) {
    if (host == nullptr || bytes == 0 || iova + (bytes - 1) < iova) return -EINVAL;
    const Region region{iova, iova + (bytes - 1), static_cast<uint8_t *>(host), writable};
    const Region *after = next(region.first);
    if (after != nullptr && after->first <= region.last) return -EEXIST;
    const size_t at = after == nullptr ? regions_.size() : size_t(after - regions_.data());
    regions_.insert(regions_.begin() + ptrdiff_t(at), region);
    generation_++;
    return 0;
}

int AddressMap::unmap(uint64_t iova, uint64_t bytes) {
    const Region *region = find(iova);
    if (region == nullptr || bytes == 0 || region->first != iova ||
        region->last != iova + (bytes - 1)) {
        return -ENOENT;
    }
    regions_.erase(regions_.begin() + (region - regions_.data()));
    last_hit_ = 0;
    generation_++;
    return 0;
}

const AddressMap::Region *AddressMap::next(uint64_t address) const {
    const auto found =
        std::lower_bound(regions_.begin(), regions_.end(), address,
                         [](const Region &r, uint64_t value) { return r.last < value; });
    return found == regions_.end() ? nullptr : &*found;
}

const AddressMap::Region *AddressMap::find(uint64_t address) const {
    if (last_hit_ < regions_.size()) {
        const Region &hit = regions_[last_hit_];
        if (hit.first <= address && address <= hit.last) return &hit;
    }
    const Region *region = next(address);
    if (region == nullptr || region->first > address) return nullptr;
    last_hit_ = size_t(region - regions_.data());
    return region;
}

uint8_t *AddressMap::span(uint64_t first, uint64_t last, bool to_write) const {
    const Region *region = find(first);
    if (region == nullptr || region->last < last || (to_write && !region->writable)) return nullptr;
    return region->at(first);
}

bool AddressMap::any(uint64_t first, uint64_t last) const {
    const Region *region = next(first);
    return region != nullptr && region->first <= last;
}

size_t AddressMap::read(uint64_t address, uint8_t *to, size_t bytes) const {
    size_t mapped = 0;
    std::memset(to, 0xa5, bytes);
    for (size_t i = 0; i < bytes;) {
        const Region *region = find(address + i);
        if (region == nullptr) {
            i++;
            continue;
        }
        const size_t run =
            size_t(std::min<uint64_t>(bytes - i - 1, region->last - address - i)) + 1;
        std::memcpy(to + i, region->at(address + i), run);
        mapped += run;
        i += run;
    }
    return mapped;
}

bool AddressMap::write(uint64_t address, const uint8_t *from, size_t bytes,
                       const uint8_t *strobe) const {
    bool all = true;
    for (size_t i = 0; i < bytes; i++) {
        if (strobe != nullptr && !(strobe[i / 8] >> (i % 8) & 1)) continue;
        const Region *region = find(address + i);
        if (region == nullptr || !region->writable) {
            all = false;
        } else {
            *region->at(address + i) = from[i];
        }
    }
    return all;
}

bool AddressMap::covers(uint64_t address, uint64_t bytes) const {
    if (address + (bytes - 1) < address) return bytes == 0;
    while (bytes != 0) {
        const Region *region = find(address);
        if (region == nullptr) return false;
        const uint64_t beyond = region->last - address;
        if (beyond >= bytes - 1) return true;
        address += beyond + 1;
        bytes -= beyond + 1;
    }
    return true;
}

void AddressMap::copy(uint64_t dst, uint64_t src, size_t bytes) const {
    while (bytes != 0) {
        const Region *from = find(src);
        const Region to = *find(dst);
        const size_t run =
            size_t(std::min({uint64_t(bytes - 1), from->last - src, to.last - dst})) + 1;
        std::memmove(to.at(dst), from->at(src), run);
        dst += run;
        src += run;
        bytes -= run;
    }
}

}  // namespace mae
