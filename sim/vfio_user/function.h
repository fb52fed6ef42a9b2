// SPDX-License-Identifier: Apache-2.0
//
// Declares a PCI function that a vfio-user client drives, with a simulated card behind it. BAR 0
// holds the card's registers, BAR 2 the MSI-X table, which the client emulates.
#pragma once

#include <string>
#include <vector>

#include "card.h"
#include "channel.h"
#include "config_space.h"

namespace mae::vfio_user {

class Function {
   public:
    // Creates the function and its card. Throws std::runtime_error.
    Function(const std::string &library, const std::string &options, bool msi);

    // Answers a message of the client; false if the client has gone.
    bool answer(Channel &channel, const Message &message);
    // Removes the function, as if the card were pulled out: it reads as ones and moves no data.
    void remove();
    Card &card() { return card_; }
    uint64_t interrupts() const { return interrupts_; }

   private:
    static constexpr uint32_t kTableBytes = 4096;  // of BAR 2

    void interrupt();
    void reset();
    int perform(const Message &message, std::vector<uint8_t> &out);
    int version(const Message &message, std::vector<uint8_t> &out);
    int region_info(const Message &message, std::vector<uint8_t> &out) const;
    int irq_info(const Message &message, std::vector<uint8_t> &out) const;
    int set_irqs(const Message &message);
    int read(const Message &message, std::vector<uint8_t> &out);
    int write(const Message &message, std::vector<uint8_t> &out);
    uint32_t region_bytes(uint32_t region) const;
    uint32_t irq_count(uint32_t irq) const;
    void write_registers(uint64_t offset, const uint8_t *data, uint32_t count);

    const bool msi_;
    File events_[kIrqs];  // vector 0 of each kind of interrupt
    uint64_t interrupts_ = 0;
    Card card_;
    const Identity identity_;
    ConfigSpace config_;
};

}  // namespace mae::vfio_user
