// SPDX-License-Identifier: Apache-2.0
//
// Declares the configuration space of the simulated PCI function: header, PCI Express capability
// with function-level reset, MSI and MSI-X.
#pragma once

#include <array>
#include <cstdint>

namespace mae::vfio_user {

// Names a kind of card: its PCI device number and class, and the bytes of its registers.
struct Identity {
    uint16_t device;
    uint32_t class_code;
    uint32_t register_bytes;
};

// Returns the identity of a card by its register 0, a magic number or the protected card's state.
Identity identity_of(uint32_t first);

class ConfigSpace {
   public:
    static constexpr uint32_t kBytes = 256;

    // Fills the space in as after a reset. `msi`: the function has MSI beside MSI-X.
    ConfigSpace(const Identity &identity, bool msi);

    // Returns the byte at an offset; zero beyond the end.
    uint8_t read(uint64_t offset) const;
    // Writes the writable bits of a byte.
    void write(uint64_t offset, uint8_t value);
    // Resets all writable bits, as a function-level reset does.
    void reset();

    // Returns true if the function may access memory.
    bool bus_master() const;
    // Returns true once after a function-level reset was asked for.
    bool take_reset_request();

   private:
    void set(uint32_t offset, uint64_t value, unsigned bytes);
    void allow(uint32_t offset, uint64_t mask, unsigned bytes);

    std::array<uint8_t, kBytes> bytes_ = {};
    std::array<uint8_t, kBytes> writable_ = {};
    std::array<uint8_t, kBytes> initial_ = {};
    bool reset_requested_ = false;
};

}  // namespace mae::vfio_user
