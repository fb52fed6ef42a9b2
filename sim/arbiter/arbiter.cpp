// SPDX-License-Identifier: Apache-2.0
//
// Runs the memory arbiter's torture test and reports its counts as the library's C function.
#include "mae_sim_arbiter.h"
#include "torture.h"

namespace mae {
namespace {

const char *const kNames[] = {"ECB", "CBC", "PCBC", "CFB", "OFB", "CTR",
                              "XTS", "",    "GCM",  "CCM", "CMAC"};

}  // namespace

void Torture::run(uint64_t accesses) {
    while ((machine_.read(kStatus) & 8) != 0) {
    }
    while (machine_.cpu.counts.accesses < accesses) {
        some_keys();
        const uint32_t what = below(100);
        if (what < 66) {
            plain();
        } else if (what < 76) {
            gcm();
        } else if (what < 84) {
            ccm();
        } else if (what < 88) {
            cmac();
        } else {
            refused();
        }
        if (chance(30)) machine_.ticks(below(200));
    }
    settle();
    machine_.cpu.compare(machine_.ram(), "at the end");
}

std::string Torture::report() const {
    std::string out;
    const auto add = [&out](const char *name, uint64_t value) {
        out += std::string("\"") + name + "\": " + std::to_string(value) + ", ";
    };
    const Cpu &cpu = machine_.cpu;
    add("accesses", cpu.counts.accesses);
    add("writes", cpu.counts.writes);
    add("held", cpu.counts.held);
    add("inside", cpu.counts.inside);
    add("edges", cpu.counts.edges);
    add("clocks", machine_.clock);
    add("blocks", blocks_);
    add("resets", resets_);
    add("wipes", wipes_);
    add("busy", busy_);
    add("refused", refused_);
    add("scribbles", scribbles_);
    add("loaded", loaded_);
    add("bad_tags", bad_tags_);
    add("key_each", keyed_);
    add("in_place", in_place_);
    add("overlapping", overlapping_);
    add("continued", continued_);
    add("repeated", repeated_);
    out += "\"jobs\": {";
    for (unsigned i = 0; i < 22; ++i) {
        if (jobs_[i] == 0) continue;
        const std::string name =
            std::string(kNames[i / 2]) + (i % 2 != 0 ? " decrypt" : " encrypt");
        out += "\"" + name + "\": " + std::to_string(jobs_[i]) + ", ";
    }
    if (out.back() == ' ') out.resize(out.size() - 2);
    out += "}, \"holds\": [";
    static const char *const kKindNames[] = {"read destination", "write destination",
                                             "write source", "write keys"};
    for (unsigned i = 0; i < 22; ++i) {
        for (unsigned express = 0; express < 2; ++express) {
            for (unsigned kind = 0; kind < kKinds; ++kind) {
                const Hold &hold = cpu.holds[i][express][kind];
                if (hold.count == 0) continue;
                out += std::string("[\"") + kNames[i / 2] + "\", " +
                       (i % 2 != 0 ? "true" : "false") + ", " + (express != 0 ? "true" : "false") +
                       ", \"" + kKindNames[kind] + "\", " + std::to_string(hold.count) + ", " +
                       std::to_string(hold.longest) + ", " + std::to_string(hold.spare) + "], ";
            }
        }
    }
    if (out.back() == ' ') out.resize(out.size() - 2);
    return "{" + out + "]}";
}

}  // namespace mae

int mae_sim_arbiter_torture(uint64_t seed, uint64_t accesses, char *report, size_t size) {
    std::string text;
    int result = 0;
    uint64_t clock = 0;
    try {
        mae::Torture torture(seed);
        try {
            torture.run(accesses);
        } catch (const mae::Failure &) {
            clock = torture.clock();
            throw;
        }
        text = torture.report();
    } catch (const std::exception &error) {
        text = std::string("{\"error\": \"") + error.what() +
               "\", \"clock\": " + std::to_string(clock) + "}";
        for (char &c : text) {
            if (c == '\n') c = ' ';
        }
        result = -1;
    }
    std::snprintf(report, size, "%s", text.c_str());
    return result;
}
