// SPDX-License-Identifier: Apache-2.0
//
// Serves a simulated card as a PCI function to a vfio-user client, such as QEMU's vfio-user-pci.
//
//   vfio_user SOCKET LIBRARY [OPTIONS] [msi|msix]
//
// LIBRARY is that of a simulated device, OPTIONS are those of mae_sim_create(); `msix`: the
// function has no MSI. Serves one client, then prints what the card did. The card's clock runs
// while it works, and slowly while it is idle. SIGUSR1 removes the card. SIGUSR2 writes its whole
// state to SOCKET.state1, .state2, ... in turn. SIGHUP tells a protected card the secret and the
// session's number in SOCKET.secret (32 and 16 bytes), as its provisioning port would.
#include <signal.h>
#include <sys/prctl.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>

#include "function.h"

namespace {

constexpr uint64_t kSlice = 64;       // clocks between two looks at the socket
constexpr int kIdleMilliseconds = 2;  // between two slices of an idle card

constexpr size_t kSecretBytes = 32, kSessionBytes = 16;

volatile sig_atomic_t removals_asked, states_asked, secrets_asked;

// What the signals asked for, and what of it was done.
struct Orders {
    int removals = 0, states = 0, secrets = 0;

    bool waiting() const {
        return removals < removals_asked || states < states_asked || secrets < secrets_asked;
    }
};

// Tells the card the secret in a file.
void provision(mae::vfio_user::Card &card, const std::string &file) {
    uint8_t bytes[kSecretBytes + kSessionBytes];
    std::FILE *in = std::fopen(file.c_str(), "rb");
    if (in != nullptr) std::setvbuf(in, nullptr, _IONBF, 0);
    const bool there = in != nullptr && std::fread(bytes, sizeof bytes, 1, in) == 1;
    if (in != nullptr) std::fclose(in);
    const bool taken = there && card.install(bytes, bytes + kSecretBytes);
    explicit_bzero(bytes, sizeof bytes);
    std::fprintf(stderr, "vfio-user: the card took %s secret\n", taken ? "a" : "no");
}

int serve(const char *path, const char *library, const char *options, bool msi) {
    mae::vfio_user::Function function(library, options, msi);
    mae::vfio_user::Channel channel(path);
    mae::vfio_user::Message message;
    bool there = true;
    Orders done;
    while (there) {
        const bool busy = function.card().busy();
        while (there && channel.readable(busy ? 0 : kIdleMilliseconds)) {
            there = channel.receive(message) && function.answer(channel, message);
            // A client that asks without a pause must not keep an order waiting.
            if (busy || function.card().busy() || done.waiting()) break;
        }
        for (; done.removals < removals_asked; done.removals++) function.remove();
        while (done.states < states_asked) {
            const std::string file = std::string(path) + ".state" + std::to_string(++done.states);
            if (!function.card().save(file))
                std::fprintf(stderr, "%s: not written\n", file.c_str());
        }
        for (; done.secrets < secrets_asked; done.secrets++) {
            provision(function.card(), std::string(path) + ".secret");
        }
        function.card().run(kSlice);
    }
    const mae::vfio_user::Counts counts = function.card().counts();
    std::printf("clocks %" PRIu64 ", bytes read %" PRIu64 ", bytes written %" PRIu64
                ", interrupts %" PRIu64 ", resets %" PRIu64 ", accesses refused %" PRIu64 "\n",
                counts.clocks, counts.read_bytes, counts.write_bytes, function.interrupts(),
                counts.resets, counts.faults);
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 3 || argc > 5) {
        std::fprintf(stderr, "usage: vfio_user SOCKET LIBRARY [OPTIONS] [msi|msix]\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    struct sigaction action = {};
    action.sa_handler = [](int) { removals_asked = removals_asked + 1; };
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
    action.sa_handler = [](int) { states_asked = states_asked + 1; };
    sigaction(SIGUSR2, &action, nullptr);
    action.sa_handler = [](int) { secrets_asked = secrets_asked + 1; };
    sigaction(SIGHUP, &action, nullptr);
    try {
        return serve(argv[1], argv[2], argc > 3 ? argv[3] : "",
                     argc < 5 || std::string(argv[4]) != "msix");
    } catch (const std::exception &error) {
        std::fprintf(stderr, "vfio_user: %s\n", error.what());
        return 1;
    }
}
