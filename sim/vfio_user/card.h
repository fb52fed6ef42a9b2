// SPDX-License-Identifier: Apache-2.0
//
// Declares a simulated card as a PCI function sees it: a simulator library, which a reset makes
// anew, and the guest's memory, which it reaches only while it is bus master.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../include/mae_sim.h"
#include "channel.h"

namespace mae::vfio_user {

// Counts what the card did, for the report at the end.
struct Counts {
    uint64_t clocks = 0;
    uint64_t read_bytes = 0;
    uint64_t write_bytes = 0;
    uint64_t faults = 0;  // beats and bursts that met unmapped memory
    uint64_t resets = 0;
};

class Card {
   public:
    // Loads a simulator library and creates its machine; `interrupt` is called when the device's
    // interrupt line rises. Throws std::runtime_error.
    Card(const std::string &library, const std::string &options, std::function<void()> interrupt);
    ~Card();
    Card(const Card &) = delete;
    Card &operator=(const Card &) = delete;

    // Resets the device: all of its state, but not the maps of the guest's memory.
    void reset();
    // Removes the card for ever: registers read as ones, no DMA.
    void remove();
    bool removed() const { return machine_ == nullptr; }
    // Connects the card to the guest's memory, or disconnects it.
    void set_bus_master(bool on);

    uint32_t read(uint32_t offset);
    void write(uint32_t offset, uint32_t value);
    // Runs the card for a number of clocks.
    void run(uint64_t clocks);
    // Returns true if a register was written or data moved in the last clocks.
    bool busy();

    // Tells a protected card a secret of 32 bytes and a session's number of 16, over its
    // provisioning port; false if it took none.
    bool install(const uint8_t *secret, const uint8_t *session_id);

    // Maps a part of a file, the guest's memory, at a bus address. 0 or an errno.
    int map(const DmaMap &map, const File *file);
    // Removes every map that lies in a range. 0, or EINVAL if one lies only partly in it.
    int unmap(uint64_t address, uint64_t size);

    Counts counts();
    // Writes all registers, memories and wires of the card to a file: for each its name, a zero
    // byte, its number of bytes (64 bits) and these. The first is the number of resets. The file is
    // whole or not there.
    bool save(const std::string &file);

   private:
    // Holds a whole file of guest memory, mapped once however many parts of it are in use.
    struct Backing {
        dev_t device;
        ino_t inode;
        uint8_t *base;
        uint64_t size;
        uint64_t users;
    };
    struct Mapping {
        uint64_t size;
        uint8_t *host;  // null: the client gave no file, the card cannot reach it
        Backing *backing;
        bool writable;
    };

    void create();
    void look_at_line(bool written);
    void failed(const char *what);
    void connect(uint64_t address, const Mapping &mapping);
    Backing *open_backing(const File &file);
    void close_backing(Backing *backing);
    uint64_t clocks() const;

    void *library_;
    std::string options_;
    std::function<void()> interrupt_;
    mae_sim_t *machine_ = nullptr;
    bool master_ = false;
    bool line_ = false;
    uint64_t busy_until_ = 0;
    uint64_t beats_ = 0;
    Counts before_;  // the last reset
    std::map<uint64_t, Mapping> mappings_;
    std::vector<Backing *> backings_;

    decltype(&mae_sim_create) create_;
    decltype(&mae_sim_destroy) destroy_;
    decltype(&mae_sim_read32) read32_;
    decltype(&mae_sim_write32) write32_;
    decltype(&mae_sim_map) map_;
    decltype(&mae_sim_unmap) unmap_;
    decltype(&mae_sim_wait) wait_;
    decltype(&mae_sim_run) run_;
    decltype(&mae_sim_stats) stats_;
    decltype(&mae_sim_detail) detail_;
    decltype(&mae_sim_message) message_;
    decltype(&mae_sim_signal) signal_;
    decltype(&mae_sim_install) install_;
    decltype(&mae_sim_set_nonces) set_nonces_;
};

}  // namespace mae::vfio_user
