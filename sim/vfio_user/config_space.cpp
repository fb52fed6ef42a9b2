// SPDX-License-Identifier: Apache-2.0
#include "config_space.h"

#include <linux/pci_regs.h>

namespace mae::vfio_user {
namespace {

constexpr uint16_t kVendor = 0x1234;  // no vendor's number, for prototypes
// As driver/backend/pci/pci.h asks for: encryption controller, other.
constexpr Identity kAccelerator = {0xae50, 0x108000, 4096};
constexpr Identity kBlock = {0xae51, 0x018000, 4096};            // mass storage controller, other
constexpr Identity kProtected = {0xae52, 0x120000, 0x00100000};  // processing accelerator
constexpr uint32_t kBlockMagic = 0x4d414542;                     // of regs/mae_block_card.rdl
constexpr uint32_t kLastState = 6;                               // of docs/protocol.md
constexpr uint32_t kExpress = 0x40, kMsix = 0x80, kMsi = 0x90;
constexpr uint32_t kMsixBar = 2, kPendingAt = 0x800;

}  // namespace

Identity identity_of(uint32_t first) {
    if (first <= kLastState) return kProtected;
    return first == kBlockMagic ? kBlock : kAccelerator;
}

ConfigSpace::ConfigSpace(const Identity &identity, bool msi) {
    set(PCI_VENDOR_ID, kVendor, 2);
    set(PCI_DEVICE_ID, identity.device, 2);
    set(PCI_STATUS, PCI_STATUS_CAP_LIST, 2);
    set(PCI_CLASS_REVISION, identity.class_code << 8 | 1, 4);
    set(PCI_SUBSYSTEM_VENDOR_ID, kVendor, 2);
    set(PCI_SUBSYSTEM_ID, identity.device, 2);
    set(PCI_CAPABILITY_LIST, kExpress, 1);
    allow(PCI_COMMAND,
          PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | PCI_COMMAND_SERR |
              PCI_COMMAND_INTX_DISABLE,
          2);
    allow(PCI_CACHE_LINE_SIZE, 0xff, 1);
    allow(PCI_INTERRUPT_LINE, 0xff, 1);

    set(kExpress, PCI_CAP_ID_EXP, 1);
    set(kExpress + 1, kMsix, 1);
    set(kExpress + PCI_EXP_FLAGS, PCI_EXP_TYPE_ENDPOINT << 4 | 2, 2);
    set(kExpress + PCI_EXP_DEVCAP, PCI_EXP_DEVCAP_FLR | PCI_EXP_DEVCAP_RBER | 1, 4);
    set(kExpress + PCI_EXP_LNKCAP, PCI_EXP_LNKCAP_SLS_8_0GB | 4 << 4, 4);
    set(kExpress + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_CLS_8_0GB | 4 << 4, 2);
    set(kExpress + PCI_EXP_LNKCAP2, PCI_EXP_LNKCAP2_SLS_8_0GB, 4);
    allow(kExpress + PCI_EXP_DEVCTL, 0x7fff, 2);
    allow(kExpress + PCI_EXP_DEVCTL2, 0xffff, 2);

    set(kMsix, PCI_CAP_ID_MSIX, 1);
    set(kMsix + 1, msi ? kMsi : 0, 1);
    set(kMsix + PCI_MSIX_FLAGS, 0, 2);  // a table of one vector
    set(kMsix + PCI_MSIX_TABLE, kMsixBar, 4);
    set(kMsix + PCI_MSIX_PBA, kPendingAt | kMsixBar, 4);
    allow(kMsix + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL, 2);

    if (msi) {
        set(kMsi, PCI_CAP_ID_MSI, 1);
        set(kMsi + PCI_MSI_FLAGS, PCI_MSI_FLAGS_64BIT, 2);
        allow(kMsi + PCI_MSI_FLAGS, PCI_MSI_FLAGS_ENABLE, 2);
        allow(kMsi + PCI_MSI_ADDRESS_LO, 0xfffffffc, 4);
        allow(kMsi + PCI_MSI_ADDRESS_HI, 0xffffffff, 4);
        allow(kMsi + PCI_MSI_DATA_64, 0xffff, 2);
    }
    initial_ = bytes_;
}

void ConfigSpace::set(uint32_t offset, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) bytes_[offset + i] = uint8_t(value >> 8 * i);
}

void ConfigSpace::allow(uint32_t offset, uint64_t mask, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) writable_[offset + i] = uint8_t(mask >> 8 * i);
}

uint8_t ConfigSpace::read(uint64_t offset) const { return offset < kBytes ? bytes_[offset] : 0; }

void ConfigSpace::write(uint64_t offset, uint8_t value) {
    if (offset >= kBytes) return;
    if (offset == kExpress + PCI_EXP_DEVCTL + 1 && (value & PCI_EXP_DEVCTL_BCR_FLR >> 8)) {
        reset_requested_ = true;
    }
    const uint8_t mask = writable_[offset];
    bytes_[offset] = uint8_t((bytes_[offset] & ~mask) | (value & mask));
}

void ConfigSpace::reset() { bytes_ = initial_; }

bool ConfigSpace::bus_master() const { return bytes_[PCI_COMMAND] & PCI_COMMAND_MASTER; }

bool ConfigSpace::take_reset_request() {
    const bool requested = reset_requested_;
    reset_requested_ = false;
    return requested;
}

}  // namespace mae::vfio_user
