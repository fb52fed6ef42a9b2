// SPDX-License-Identifier: Apache-2.0
#include "function.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace mae::vfio_user {
namespace {

// Appends a structure to the body of an answer.
template <typename T>
void put(std::vector<uint8_t> &out, const T &value) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
}

}  // namespace

Function::Function(const std::string &library, const std::string &options, bool msi)
    : msi_(msi),
      card_(library, options, [this] { interrupt(); }),
      identity_(identity_of(card_.read(0))),
      config_(identity_, msi) {}

// Signals vector 0 of the kind of interrupt that the client has switched on.
void Function::interrupt() {
    const uint64_t one = 1;
    for (const File &event : events_) {
        if (event && ::write(event.number(), &one, sizeof one) == sizeof one) interrupts_++;
    }
}

void Function::reset() {
    config_.reset();
    card_.reset();
}

void Function::remove() { card_.remove(); }

bool Function::answer(Channel &channel, const Message &message) {
    if ((message.header.flags & kTypeMask) != 0) return true;  // an answer: we asked for nothing
    std::vector<uint8_t> out;
    const int error = perform(message, out);
    if (error == 0) return channel.reply(message, out);
    std::fprintf(stderr, "vfio-user: command %u refused: %s\n", message.header.command,
                 std::strerror(error));
    return channel.refuse(message, error);
}

int Function::perform(const Message &message, std::vector<uint8_t> &out) {
    DmaMap map;
    DmaUnmap unmap;
    switch (message.header.command) {
        case kVersion:
            return version(message, out);
        case kDmaMap:
            if (!message.take(map)) return EINVAL;
            return card_.map(map, message.files.empty() ? nullptr : &message.files[0]);
        case kDmaUnmap:
            if (!message.take(unmap)) return EINVAL;
            put(out, unmap);
            if (unmap.flags & kUnmapAll) return card_.unmap(0, UINT64_MAX);
            return card_.unmap(unmap.address, unmap.size);
        case kDeviceGetInfo:
            put(out,
                DeviceInfo{sizeof(DeviceInfo), kDeviceCanReset | kDeviceIsPci, kRegions, kIrqs});
            return 0;
        case kDeviceGetRegionInfo:
            return region_info(message, out);
        case kDeviceGetIrqInfo:
            return irq_info(message, out);
        case kDeviceSetIrqs:
            return set_irqs(message);
        case kRegionRead:
            return read(message, out);
        case kRegionWrite:
            return write(message, out);
        case kDeviceReset:
            reset();
            return 0;
        default:
            return ENOTSUP;
    }
}

int Function::version(const Message &message, std::vector<uint8_t> &out) {
    Version wanted;
    if (!message.take(wanted)) return EINVAL;
    if (wanted.major_number != 0) return ENOTSUP;
    put(out, Version{0, std::min<uint16_t>(wanted.minor_number, 1)});
    const std::string text = "{\"capabilities\":{\"max_msg_fds\":" + std::to_string(kMaxFiles) +
                             ",\"max_data_xfer_size\":" + std::to_string(kMaxTransfer) + "}}";
    out.insert(out.end(), text.c_str(), text.c_str() + text.size() + 1);
    return 0;
}

uint32_t Function::region_bytes(uint32_t region) const {
    if (region == kConfiguration) return ConfigSpace::kBytes;
    if (region == kBar0) return identity_.register_bytes;
    return region == kBar2 ? kTableBytes : 0;
}

int Function::region_info(const Message &message, std::vector<uint8_t> &out) const {
    RegionInfo asked;
    if (!message.take(asked) || asked.index >= kRegions) return EINVAL;
    const uint32_t size = region_bytes(asked.index);
    put(out, RegionInfo{sizeof asked, size ? kRegionReadable | kRegionWritable : 0, asked.index, 0,
                        size, 0});
    return 0;
}

uint32_t Function::irq_count(uint32_t irq) const {
    return irq == kMsix || (irq == kMsi && msi_) ? 1 : 0;
}

int Function::irq_info(const Message &message, std::vector<uint8_t> &out) const {
    IrqInfo asked;
    if (!message.take(asked) || asked.index >= kIrqs) return EINVAL;
    const uint32_t count = irq_count(asked.index);
    put(out, IrqInfo{sizeof asked, count ? kIrqEventfd | kIrqNoResize : 0, asked.index, count});
    return 0;
}

int Function::set_irqs(const Message &message) {
    SetIrqs set;
    if (!message.take(set) || set.index >= kIrqs) return EINVAL;
    if ((set.flags & kSetTrigger) == 0) return 0;  // masks: the client keeps them
    const uint32_t have = irq_count(set.index);
    if (set.start > have || set.count > have - set.start) return EINVAL;
    File &event = events_[set.index];
    if (set.count == 0) {  // switches this kind of interrupt off
        if (set.flags & kSetNone) event = File();
        return 0;
    }
    if (set.flags & kSetNone) {
        interrupt();
    } else if (set.flags & kSetEventfd) {
        event = message.files.empty() ? File() : File(dup(message.files[0].number()));
    }
    return 0;
}

int Function::read(const Message &message, std::vector<uint8_t> &out) {
    RegionAccess access;
    if (!message.take(access) || access.region >= kRegions || access.count > kMaxTransfer) {
        return EINVAL;
    }
    const uint32_t size = region_bytes(access.region);
    if (access.offset > size || access.count > size - access.offset) return EINVAL;
    put(out, access);
    uint32_t word = UINT32_MAX;
    uint64_t have = UINT64_MAX;  // offset of `word`
    for (uint32_t i = 0; i < access.count; i++) {
        const uint64_t at = access.offset + i;
        if (card_.removed()) {
            out.push_back(0xff);
        } else if (access.region == kConfiguration) {
            out.push_back(config_.read(at));
        } else if (access.region != kBar0) {
            out.push_back(0);
        } else {
            if (have != at / 4 * 4) {
                have = at / 4 * 4;
                word = card_.read(uint32_t(have));
            }
            out.push_back(uint8_t(word >> 8 * (at % 4)));
        }
    }
    return 0;
}

// Writes whole aligned words of the card's registers; it has no access of fewer bytes.
void Function::write_registers(uint64_t offset, const uint8_t *data, uint32_t count) {
    if (offset % 4 != 0 || count % 4 != 0) {
        std::fprintf(stderr, "vfio-user: a register write of %u bytes at 0x%lx is dropped\n", count,
                     (unsigned long)offset);
        return;
    }
    for (uint32_t i = 0; i < count; i += 4) {
        uint32_t word;
        std::memcpy(&word, data + i, sizeof word);
        card_.write(uint32_t(offset + i), word);
    }
}

int Function::write(const Message &message, std::vector<uint8_t> &out) {
    RegionAccess access;
    if (!message.take(access) || access.region >= kRegions ||
        access.count > message.body.size() - sizeof access) {
        return EINVAL;
    }
    const uint32_t size = region_bytes(access.region);
    if (access.offset > size || access.count > size - access.offset) return EINVAL;
    put(out, access);
    if (card_.removed()) return 0;
    const uint8_t *data = message.body.data() + sizeof access;
    if (access.region == kBar0) write_registers(access.offset, data, access.count);
    if (access.region != kConfiguration) return 0;
    for (uint32_t i = 0; i < access.count; i++) config_.write(access.offset + i, data[i]);
    if (config_.take_reset_request()) reset();
    card_.set_bus_master(config_.bus_master());
    return 0;
}

}  // namespace mae::vfio_user
