// SPDX-License-Identifier: Apache-2.0
#include "card.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace mae::vfio_user {
namespace {

// The card is idle when it has moved no data, and no register was written, for so many clocks.
constexpr uint64_t kIdleAfter = 16384;
constexpr uint64_t kInstallClocks = 100000;

template <typename F>
void look_up(void *library, const char *name, F &function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    if (function == nullptr) throw std::runtime_error(std::string("no simulator: no ") + name);
}

// A reset makes a new machine, and no nonce may come twice.
void draw_nonce(void *, uint8_t *nonce) {
    if (getrandom(nonce, MAE_SIM_NONCE_BYTES, 0) != MAE_SIM_NONCE_BYTES) std::abort();
}

}  // namespace

Card::Card(const std::string &library, const std::string &options, std::function<void()> interrupt)
    : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)),
      options_(options),
      interrupt_(std::move(interrupt)) {
    if (library_ == nullptr) throw std::runtime_error(dlerror());
    look_up(library_, "mae_sim_create", create_);
    look_up(library_, "mae_sim_destroy", destroy_);
    look_up(library_, "mae_sim_read32", read32_);
    look_up(library_, "mae_sim_write32", write32_);
    look_up(library_, "mae_sim_map", map_);
    look_up(library_, "mae_sim_unmap", unmap_);
    look_up(library_, "mae_sim_wait", wait_);
    look_up(library_, "mae_sim_run", run_);
    look_up(library_, "mae_sim_stats", stats_);
    look_up(library_, "mae_sim_detail", detail_);
    look_up(library_, "mae_sim_message", message_);
    look_up(library_, "mae_sim_signal", signal_);
    look_up(library_, "mae_sim_install", install_);
    look_up(library_, "mae_sim_set_nonces", set_nonces_);
    create();
}

Card::~Card() {
    if (machine_ != nullptr) destroy_(machine_);
    dlclose(library_);
}

void Card::create() {
    char error[256] = "";
    machine_ = create_(options_.c_str(), error, sizeof error);
    if (machine_ == nullptr) throw std::runtime_error(error);
    const int failure = set_nonces_(machine_, draw_nonce, nullptr);
    if (failure != 0 && failure != -ENOSYS)  // others than the protected card have no nonces
        throw std::runtime_error("the card takes no random nonces");
    master_ = line_ = false;
    busy_until_ = beats_ = 0;
}

void Card::reset() {
    if (removed()) return;
    const bool was_busy = busy();
    before_ = counts();
    before_.resets++;
    std::fprintf(stderr, "vfio-user: reset of %s card, %" PRIu64 " bytes written so far\n",
                 was_busy ? "a busy" : "an idle", before_.write_bytes);
    destroy_(machine_);
    machine_ = nullptr;
    create();
}

void Card::remove() {
    if (removed()) return;
    before_ = counts();
    destroy_(machine_);
    machine_ = nullptr;
}

// Reports that the simulated device broke its bus protocol or failed an assertion, and removes it.
void Card::failed(const char *what) {
    std::fprintf(stderr, "vfio-user: %s: %s; the card is gone\n", what, message_(machine_));
    remove();
}

void Card::connect(uint64_t address, const Mapping &mapping) {
    if (mapping.host == nullptr) return;
    if (map_(machine_, address, mapping.host, mapping.size, mapping.writable) != 0) {
        failed("mapping the guest's memory");
    }
}

void Card::set_bus_master(bool on) {
    if (removed() || on == master_) return;
    master_ = on;
    if (on) {
        for (const auto &[address, mapping] : mappings_) {
            if (!removed()) connect(address, mapping);
        }
        return;
    }
    for (auto each = mappings_.rbegin(); each != mappings_.rend(); ++each) {
        if (each->second.host != nullptr) unmap_(machine_, each->first, each->second.size);
    }
}

// ---- registers and time ----

uint32_t Card::read(uint32_t offset) {
    uint32_t value = UINT32_MAX;
    if (removed()) return value;
    const int error = read32_(machine_, offset, &value);
    if (error == -EPROTO || error == -ETIMEDOUT) {
        failed("reading a register");
        return UINT32_MAX;
    }
    look_at_line(false);
    return error == 0 ? value : UINT32_MAX;
}

void Card::write(uint32_t offset, uint32_t value) {
    if (removed()) return;
    const int error = write32_(machine_, offset, value);
    if (error == -EPROTO || error == -ETIMEDOUT) {
        failed("writing a register");
        return;
    }
    busy_until_ = clocks() + kIdleAfter;
    look_at_line(true);
}

bool Card::install(const uint8_t *secret, const uint8_t *session_id) {
    if (removed()) return false;
    const bool taken = install_(machine_, secret, session_id, kInstallClocks) == 1;
    busy_until_ = clocks() + kIdleAfter;
    return taken;
}

// Signals an interrupt if the device's line rose during a register access. After a write that
// leaves it high, too: the line may have fallen and risen again within the access.
void Card::look_at_line(bool written) {
    const bool high = wait_(machine_, 0) == 1;
    if (high && (!line_ || written)) interrupt_();
    line_ = high;
}

void Card::run(uint64_t count) {
    if (removed()) return;
    const uint64_t end = clocks() + count;
    for (uint64_t now = end - count; now < end; now = clocks()) {
        int result;
        if (line_) {
            result = run_(machine_, 1);
            line_ = result == 0 && wait_(machine_, 0) == 1;
        } else {
            result = wait_(machine_, end - now);
            line_ = result == 1;
            if (line_) interrupt_();
        }
        if (result < 0) {
            failed("running");
            return;
        }
    }
}

uint64_t Card::clocks() const {
    struct mae_sim_stats stats;
    stats_(machine_, &stats);
    return stats.bus_clocks;
}

bool Card::busy() {
    if (removed()) return false;
    struct mae_sim_stats stats;
    stats_(machine_, &stats);
    const uint64_t beats = stats.read_beats + stats.write_beats;
    if (beats != beats_) busy_until_ = stats.bus_clocks + kIdleAfter;
    beats_ = beats;
    return stats.bus_clocks < busy_until_;
}

Counts Card::counts() {
    Counts all = before_;
    if (removed()) return all;
    struct mae_sim_stats stats;
    struct mae_sim_detail detail;
    stats_(machine_, &stats);
    detail_(machine_, &detail);
    all.clocks += stats.bus_clocks;
    all.read_bytes += stats.read_bytes;
    all.write_bytes += stats.write_bytes;
    all.faults += detail.decode_errors;
    return all;
}

bool Card::save(const std::string &file) {
    const std::string part = file + ".part";
    std::ofstream out(part, std::ios::binary);
    const auto *resets = reinterpret_cast<const uint8_t *>(&before_.resets);
    struct mae_sim_signal signal = {"resets", resets, sizeof before_.resets};
    for (uint32_t i = 0;; i++) {
        out.write(signal.name, std::strlen(signal.name) + 1);
        out.write(reinterpret_cast<const char *>(&signal.bytes), sizeof signal.bytes);
        out.write(reinterpret_cast<const char *>(signal.data), signal.bytes);
        if (removed() || signal_(machine_, i, &signal) != 0) break;
    }
    out.close();
    return out.good() && std::rename(part.c_str(), file.c_str()) == 0;
}

// ---- the guest's memory ----

Card::Backing *Card::open_backing(const File &file) {
    struct stat status;
    if (fstat(file.number(), &status) != 0) return nullptr;
    for (Backing *known : backings_) {
        if (known->device == status.st_dev && known->inode == status.st_ino) {
            known->users++;
            return known;
        }
    }
    const auto size = uint64_t(status.st_size);
    void *base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
    if (base == MAP_FAILED) return nullptr;
    backings_.push_back(
        new Backing{status.st_dev, status.st_ino, static_cast<uint8_t *>(base), size, 1});
    return backings_.back();
}

void Card::close_backing(Backing *backing) {
    if (backing == nullptr || --backing->users > 0) return;
    munmap(backing->base, backing->size);
    backings_.erase(std::find(backings_.begin(), backings_.end(), backing));
    delete backing;
}

int Card::map(const DmaMap &map, const File *file) {
    const uint64_t last = map.address + (map.size - 1);
    if (map.size == 0 || last < map.address) return EINVAL;
    const auto above = mappings_.lower_bound(map.address);
    if (above != mappings_.end() && above->first <= last) return EEXIST;
    if (above != mappings_.begin()) {
        const auto below = std::prev(above);
        if (below->first + (below->second.size - 1) >= map.address) return EEXIST;
    }
    Mapping mapping = {map.size, nullptr, nullptr, (map.flags & kDmaWrite) != 0};
    if (file != nullptr) {
        Backing *backing = open_backing(*file);
        if (backing == nullptr) return errno;
        if (map.offset > backing->size || map.size > backing->size - map.offset) {
            close_backing(backing);
            return EINVAL;
        }
        mapping.backing = backing;
        if (map.flags & kDmaRead) mapping.host = backing->base + map.offset;
    }
    mappings_.emplace(map.address, mapping);
    if (master_ && !removed()) connect(map.address, mapping);
    return 0;
}

int Card::unmap(uint64_t address, uint64_t size) {
    const uint64_t last = address + (size - 1);
    if (size == 0 || last < address) return EINVAL;
    auto each = mappings_.lower_bound(address);
    if (each != mappings_.begin()) {
        const auto below = std::prev(each);
        if (below->first + (below->second.size - 1) >= address) return EINVAL;
    }
    while (each != mappings_.end() && each->first <= last) {
        if (each->second.size - 1 > last - each->first) return EINVAL;
        if (master_ && !removed() && each->second.host != nullptr) {
            unmap_(machine_, each->first, each->second.size);
        }
        close_backing(each->second.backing);
        each = mappings_.erase(each);
    }
    return 0;
}

}  // namespace mae::vfio_user
