// SPDX-License-Identifier: Apache-2.0
// Simulates a netlist of standard cells from tables that maeslant/synth/netlist/gates.py writes.
//
// Verilog calls it by DPI. A clock's edge moves flip-flops; then all gates settle in the order of
// their outputs' numbers, and what is set, cleared or open follows, until nothing moves. It takes a
// byte a net and four a pin; no compiler sees the netlist.

#include <svdpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// Gates of one function at one depth; their outputs have numbers in a row.
struct Group {
    uint64_t table;  // bit i: the output where the inputs are the number i
    int32_t count;   // of inputs
    int32_t size;    // gates
};

struct State {
    int32_t q, data, clock, set, clear, latch;
};

enum Size { Nets, Inputs, Outputs, Clocks, States, ControlGroups, Groups, Pins, Sizes };

constexpr int kMostRounds = 1000;  // of latches that open one behind another

template <int Count>
void settle(const Group &group, const int32_t *pins, const uint8_t *value, uint8_t *output) {
    for (int32_t i = 0; i < group.size; i++) {
        unsigned place = 0;
        for (int k = 0; k < Count; k++) place |= unsigned{value[pins[k * group.size + i]]} << k;
        output[i] = group.table >> place & 1;
    }
}

class Netlist {
   public:
    Netlist(const std::string &file, uint32_t start) {
        std::FILE *tables = std::fopen(file.c_str(), "rb");
        if (!tables) throw std::runtime_error("cannot open " + file);
        std::vector<int32_t> size;
        read(tables, size, Sizes);
        control_groups_ = size[ControlGroups];
        read(tables, inputs_, size[Inputs]);
        read(tables, outputs_, size[Outputs]);
        read(tables, clocks_, size[Clocks]);
        read(tables, states_, size[States]);
        read(tables, groups_, size[Groups]);
        read(tables, pins_, size[Pins]);
        std::fclose(tables);
        value_.assign(size[Nets], 0);
        value_[1] = 1;
        first_ = size[Nets];
        for (const Group &group : groups_) first_ -= group.size;
        std::mt19937 random(start);
        for (const State &state : states_) {
            value_[state.q] = start ? random() & 1 : 0;
            if (state.set || state.clear || state.latch) by_level_.push_back(state);
        }
        sampled_.resize(states_.size());
        run(groups_.size());
        for (const State &state : states_) high_.push_back(value_[state.clock]);
        rest();
    }

    // Returns how often an edge moved something.
    int clock(int which, bool level) {
        sample();
        value_[clocks_[which]] = level;
        run(control_groups_);
        if (move()) {
            rest();
            moves_++;
        }
        return moves_;
    }

    void apply(const svBitVecVal *inputs, svBitVecVal *outputs) {
        bool changed = false;
        for (size_t i = 0; i < inputs_.size(); i++) {
            const uint8_t bit = inputs[i / 32] >> i % 32 & 1;
            changed |= value_[inputs_[i]] != bit;
            value_[inputs_[i]] = bit;
        }
        if (changed) rest();
        for (size_t i = 0; i < (outputs_.size() + 31) / 32; i++) outputs[i] = 0;
        for (size_t i = 0; i < outputs_.size(); i++) {
            outputs[i / 32] |= svBitVecVal{value_[outputs_[i]]} << i % 32;
        }
    }

   private:
    template <class T>
    static void read(std::FILE *tables, std::vector<T> &into, int32_t count) {
        into.resize(count);
        if (std::fread(into.data(), sizeof(T), into.size(), tables) != into.size()) {
            throw std::runtime_error("the tables of the netlist end too early");
        }
    }

    void run(size_t groups) {
        static constexpr decltype(&settle<0>) kBy[] = {settle<0>, settle<1>, settle<2>, settle<3>,
                                                       settle<4>, settle<5>, settle<6>};
        const int32_t *pins = pins_.data();
        uint8_t *output = &value_[first_];
        for (size_t i = 0; i < groups; i++) {
            const Group &group = groups_[i];
            kBy[group.count](group, pins, value_.data(), output);
            pins += size_t(group.count) * group.size;
            output += group.size;
        }
    }

    void sample() {
        for (size_t i = 0; i < states_.size(); i++) sampled_[i] = value_[states_[i].data];
    }

    // Gives flip-flops whose clock rises what was sampled, and those set, cleared or open their
    // level; returns whether one changed.
    bool move() {
        bool changed = false;
        for (size_t i = 0; i < states_.size(); i++) {
            const State &state = states_[i];
            const bool high = value_[state.clock];
            if (high && !high_[i] && !state.latch) {
                changed |= value_[state.q] != sampled_[i];
                value_[state.q] = sampled_[i];
            }
            high_[i] = high;
        }
        return level() || changed;
    }

    bool level() {
        bool changed = false;
        for (const State &state : by_level_) {
            uint8_t next = value_[state.q];
            if (state.latch && value_[state.clock]) next = value_[state.data];
            if (value_[state.set]) next = 1;
            if (value_[state.clear]) next = 0;
            changed |= next != value_[state.q];
            value_[state.q] = next;
        }
        return changed;
    }

    // Settles all gates, and what moves by their outputs, until nothing does.
    void rest() {
        for (int round = 0; round < kMostRounds; round++) {
            run(groups_.size());
            if (!move()) return;
            sample();
        }
        throw std::runtime_error("the netlist does not come to rest");
    }

    size_t control_groups_;
    int32_t first_;  // net that is a gate's output
    std::vector<int32_t> inputs_, outputs_, clocks_, pins_;
    std::vector<State> states_, by_level_;
    std::vector<Group> groups_;
    std::vector<uint8_t> value_, high_, sampled_;
    int moves_ = 0;
};

std::vector<std::unique_ptr<Netlist>> netlists;

// An exception does not pass through Verilog's code.
template <class Call>
auto guarded(Call call) {
    try {
        return call();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        std::exit(1);
    }
}

}  // namespace

extern "C" {

int maeslant_gates_open(const char *tables, int start) {
    return guarded([&] {
        netlists.push_back(std::make_unique<Netlist>(tables, start));
        return int(netlists.size()) - 1;
    });
}

int maeslant_gates_clock(int which, int clock, svBit level) {
    return guarded([&] { return netlists[which]->clock(clock, level); });
}

void maeslant_gates_settle(int which, int, const svBitVecVal *inputs, svBitVecVal *outputs) {
    guarded([&] { netlists[which]->apply(inputs, outputs); });
}
}
