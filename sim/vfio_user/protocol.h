// SPDX-License-Identifier: Apache-2.0
//
// Declares the messages of the vfio-user protocol 0.1 that a PCI function without migration needs,
// as QEMU's page vfio-user.rst specifies them. All numbers are little-endian.
#pragma once

#include <cstdint>

namespace mae::vfio_user {

enum Command : uint16_t {
    kVersion = 1,
    kDmaMap = 2,
    kDmaUnmap = 3,
    kDeviceGetInfo = 4,
    kDeviceGetRegionInfo = 5,
    kDeviceGetIrqInfo = 7,
    kDeviceSetIrqs = 8,
    kRegionRead = 9,
    kRegionWrite = 10,
    kDeviceReset = 13,
};

// Bits of Header::flags.
constexpr uint32_t kTypeMask = 0xf, kTypeReply = 1, kNoReply = 0x10, kFailed = 0x20;

struct Header {
    uint16_t id;
    uint16_t command;
    uint32_t size;  // of the whole message
    uint32_t flags;
    uint32_t error;  // an errno, with kFailed
};

constexpr uint32_t kMaxTransfer = 65536;  // bytes of a region access
constexpr uint32_t kMaxMessage = sizeof(Header) + 16 + kMaxTransfer;
constexpr uint32_t kMaxFiles = 8;  // that one message may carry

struct Version {
    uint16_t major_number;
    uint16_t minor_number;
};

constexpr uint32_t kDmaRead = 1, kDmaWrite = 2;
struct DmaMap {
    uint32_t argsz;
    uint32_t flags;
    uint64_t offset;  // in the file that comes with the message
    uint64_t address;
    uint64_t size;
};

constexpr uint32_t kUnmapAll = 2;
struct DmaUnmap {
    uint32_t argsz;
    uint32_t flags;
    uint64_t address;
    uint64_t size;
};

constexpr uint32_t kDeviceCanReset = 1, kDeviceIsPci = 2;
struct DeviceInfo {
    uint32_t argsz;
    uint32_t flags;
    uint32_t regions;
    uint32_t irqs;
};

// VFIO's numbers of a PCI function's regions and kinds of interrupt.
enum Region : uint32_t { kBar0 = 0, kBar2 = 2, kConfiguration = 7, kRegions = 9 };
enum Irq : uint32_t { kIntx = 0, kMsi = 1, kMsix = 2, kIrqs = 5 };

constexpr uint32_t kRegionReadable = 1, kRegionWritable = 2;
struct RegionInfo {
    uint32_t argsz;
    uint32_t flags;
    uint32_t index;
    uint32_t cap_offset;
    uint64_t size;
    uint64_t offset;
};

constexpr uint32_t kIrqEventfd = 1, kIrqNoResize = 8;
struct IrqInfo {
    uint32_t argsz;
    uint32_t flags;
    uint32_t index;
    uint32_t count;
};

constexpr uint32_t kSetNone = 1, kSetEventfd = 4, kSetTrigger = 32;
struct SetIrqs {
    uint32_t argsz;
    uint32_t flags;
    uint32_t index;
    uint32_t start;
    uint32_t count;
};

struct RegionAccess {
    uint64_t offset;
    uint32_t region;
    uint32_t count;
};

}  // namespace mae::vfio_user
