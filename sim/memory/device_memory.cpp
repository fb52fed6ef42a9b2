// SPDX-License-Identifier: Apache-2.0
#include "device_memory.h"

#include <sys/mman.h>

#include <stdexcept>

namespace mae {
namespace {

constexpr uint32_t kLatest = 1 << 15;    // clocks to an answer, at most
constexpr uint32_t kOutstanding = 1024;  // bursts of each direction
constexpr uint32_t kIdBits = 8;          // at most, of the port

Options of_memory(const Options &machine) {
    Options options;
    options.latency_max = kLatest;
    options.outstanding = kOutstanding;
    options.shuffled = true;
    options.stall = machine.stall;
    options.seed = machine.seed ^ 0x6472616d;
    options.error_read = machine.error_memory_read;
    options.error_write = machine.error_memory_write;
    return options;
}

DramTiming timing(const Options &machine) {
    DramTiming timing;
    timing.delay = machine.dram_delay;
    return timing;
}

}  // namespace

DeviceMemory::DeviceMemory(const Options &options, uint32_t data_bytes, uint8_t *r_data)
    : dram_(timing(options)), memory_(of_memory(options), data_bytes, kIdBits, r_data, &dram_) {
    bytes_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes_ == MAP_FAILED) throw std::runtime_error("no address space for 4 GiB of DRAM");
    memory_.map().map(0, bytes_, kBytes, true);
}

DeviceMemory::~DeviceMemory() { munmap(bytes_, kBytes); }

}  // namespace mae
