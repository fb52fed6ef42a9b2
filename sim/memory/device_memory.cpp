// SPDX-License-Identifier: Apache-2.0
#include "device_memory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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

// Opens and locks a file for the device's memory, and takes its room on the disk: a full one would
// end the process by a signal at a write. Sets its size.
int open_media(const std::string &name, uint64_t &size) {
    const int file = open(name.c_str(), O_RDWR | O_CLOEXEC);
    const char *why = nullptr;
    struct stat status = {};
    if (file < 0 || fstat(file, &status) != 0) {
        why = std::strerror(errno);
    } else if (!S_ISREG(status.st_mode) || status.st_size == 0) {
        why = "not a file with bytes";
    } else if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        why = "in use by another simulated card";
    } else if (fallocate(file, 0, 0, status.st_size) != 0 && errno != EOPNOTSUPP) {
        why = std::strerror(errno);
    }
    if (why == nullptr) {
        size = uint64_t(status.st_size);
        return file;
    }
    if (file >= 0) close(file);
    throw std::runtime_error("option media=" + name + ": " + why);
}

}  // namespace

DeviceMemory::DeviceMemory(const Options &options, uint32_t data_bytes, uint8_t *r_data)
    : dram_(timing(options)),
      memory_(of_memory(options), data_bytes, data_bytes, kIdBits, r_data, &dram_) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (!options.media.empty()) {
        file_ = open_media(options.media, size_);
        flags = MAP_SHARED;  // what is stored is in the file, whatever becomes of this process
    }
    bytes_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, flags, file_, 0);
    if (bytes_ == MAP_FAILED) {
        if (file_ >= 0) close(file_);
        throw std::runtime_error("no address space for the device's memory");
    }
    memory_.map().map(0, bytes_, size_, true);
}

DeviceMemory::~DeviceMemory() {
    munmap(bytes_, size_);
    if (file_ >= 0) close(file_);
}

bool DeviceMemory::flush() { return file_ < 0 || msync(bytes_, size_, MS_SYNC) == 0; }

}  // namespace mae
