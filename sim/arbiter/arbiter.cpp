// SPDX-License-Identifier: Apache-2.0
//
// Runs the memory arbiter's torture test and reports its counts as the library's C function.
#include "mae_sim_arbiter.h"
#include "torture.h"

namespace mae {
namespace {

std::string name_of(unsigned mode) {
    const block_mode *plain = block_mode_of(Mode(mode));
    if (plain != nullptr) return plain->name;
    return mode == MAE_GCM ? "GCM" : mode == MAE_CCM ? "CCM" : "CMAC";
}

}  // namespace

void Torture::run(uint64_t accesses) {
    while ((port_.read(kStatus) & 8) != 0) {
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
        if (chance(30)) port_.ticks(below(200));
    }
}

namespace {

// Runs random jobs on each peripheral beside a random CPU; returns the counts as JSON.
std::string torture(uint64_t seed, uint64_t accesses, unsigned jobs, uint64_t &clock) {
    Random random(seed);
    Machine machine(random.next());
    Cpu &cpu = machine.cpu;
    Counts counts;
    unsigned floor = kNobody;
    for (uint8_t &byte : cpu.memory) byte = uint8_t(random.next() >> 20);
    machine.fill(cpu.memory);
    cpu.jobs = jobs;
    Fibers fibers([&machine] { machine.clock_once(); });
    std::vector<std::unique_ptr<Torture>> tortures;
    std::vector<std::function<void()>> programs;
    for (unsigned job = 0; job < jobs; ++job) {
        tortures.push_back(
            std::make_unique<Torture>(random.next(), machine, fibers, job, floor, counts));
        programs.push_back([one = tortures.back().get(), accesses] { one->run(accesses); });
    }
    try {
        fibers.run(std::move(programs));
        cpu.frozen = true;
        while (!cpu.idle()) machine.clock_once();
        cpu.compare(machine.ram(), "at the end");
    } catch (const Failure &) {
        clock = machine.clock;
        throw;
    }
    std::string out;
    const auto add = [&out](const char *name, uint64_t value) {
        out += std::string("\"") + name + "\": " + std::to_string(value) + ", ";
    };
    add("accesses", cpu.counts.accesses);
    add("writes", cpu.counts.writes);
    add("held", cpu.counts.held);
    add("inside", cpu.counts.inside);
    add("edges", cpu.counts.edges);
    add("clocks", machine.clock);
    add("blocks", counts.blocks);
    add("resets", counts.resets);
    add("wipes", counts.wipes);
    add("busy", counts.busy);
    add("refused", counts.refused);
    add("scribbles", counts.scribbles);
    add("loaded", counts.loaded);
    add("bad_tags", counts.bad_tags);
    add("key_each", counts.keyed);
    add("in_place", counts.in_place);
    add("overlapping", counts.overlapping);
    add("continued", counts.continued);
    add("repeated", counts.repeated);
    if (jobs > 1) {
        add("beside", counts.beside);
        add("reads_of_other", counts.reads_of);
        add("writes_over_other", counts.writes_over);
        add("writes_with_other", counts.writes_with);
        add("held_by_two", cpu.counts.twice);
    }
    out += "\"jobs\": {";
    for (unsigned i = 0; i < 2 * kModeCodes; ++i) {
        if (counts.jobs[i] == 0) continue;
        const std::string name = name_of(i / 2) + (i % 2 != 0 ? " decrypt" : " encrypt");
        out += "\"" + name + "\": " + std::to_string(counts.jobs[i]) + ", ";
    }
    if (out.back() == ' ') out.resize(out.size() - 2);
    out += "}, \"holds\": [";
    static const char *const kKindNames[] = {"read destination", "write destination",
                                             "write source", "write keys"};
    for (unsigned i = 0; i < 2 * kModeCodes; ++i) {
        for (unsigned express = 0; express < 2; ++express) {
            for (unsigned kind = 0; kind < kKinds; ++kind) {
                const Hold &hold = cpu.holds[i][express][kind];
                if (hold.count == 0) continue;
                out += "[\"" + name_of(i / 2) + "\", " + (i % 2 != 0 ? "true" : "false") + ", " +
                       (express != 0 ? "true" : "false") + ", \"" + kKindNames[kind] + "\", " +
                       std::to_string(hold.count) + ", " + std::to_string(hold.longest) + ", " +
                       std::to_string(hold.spare) + "], ";
            }
        }
    }
    if (out.back() == ' ') out.resize(out.size() - 2);
    return "{" + out + "]}";
}

}  // namespace
}  // namespace mae

int mae_sim_arbiter_torture(uint64_t seed, uint64_t accesses, unsigned jobs, char *report,
                            size_t size) {
    std::string text;
    int result = 0;
    uint64_t clock = 0;
    try {
        text = mae::torture(seed, accesses, jobs, clock);
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
