// SPDX-License-Identifier: Apache-2.0
// Simulates a netlist from tables that maeslant/synth/netlist/gates.py writes.
//
// Verilog calls it by DPI. A clock's edge moves flip-flops and memories; then all gates settle in
// the order of their outputs' numbers, and what is set, cleared or open follows, until nothing
// moves. A net takes a byte, a pin four, a flip-flop thirty; no compiler sees the netlist.

#include <svdpi.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kChanging = 8;       // added to a group's count
constexpr int kMostRounds = 1000;  // of latches that open one behind another

// Gates of one function at one depth; their outputs have numbers in a row.
struct Group {
    uint64_t table;  // bit i: the output where the inputs are the number i
    int32_t count;   // of inputs; kChanging more if each gate has the table of a memory
    int32_t size;    // gates
};

// Kind: 1 for a latch; 2 or 4 more if it begins with 0 or 1.
struct State {
    int32_t q, data, clock, set, clear, kind;

    bool latch() const { return kind & 1; }
};

// At a clock's edge it takes a bit, where `to` says, or at the lowest place and moves the others.
struct Memory {
    uint64_t table;
    int32_t clock, enable, data;
    int32_t count;  // of nets of `to`; 0: it shifts
    int32_t to[6];
};

enum Size {
    Nets,
    Inputs,
    Outputs,
    Clocks,
    States,
    ControlGroups,
    FarGroups,
    Groups,
    Memories,
    Pins,
    ClockIsData,
    Sizes
};

template <int Count>
void settle(const Group &group, const int32_t *pins, const uint8_t *value, uint8_t *output,
            const Memory *memories) {
    for (int32_t i = 0; i < group.size; i++) {
        unsigned place = 0;
        for (int k = 0; k < Count; k++) place |= unsigned{value[pins[k * group.size + i]]} << k;
        output[i] = (memories ? memories[i].table : group.table) >> place & 1;
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
        far_groups_ = size[FarGroups];
        clock_is_data_ = size[ClockIsData];
        read(tables, inputs_, size[Inputs]);
        read(tables, outputs_, size[Outputs]);
        read(tables, clocks_, size[Clocks]);
        read(tables, states_, size[States]);
        read(tables, groups_, size[Groups]);
        read(tables, memories_, size[Memories]);
        read(tables, pins_, size[Pins]);
        std::fclose(tables);
        value_.assign(size[Nets], 0);
        value_[1] = 1;
        int32_t first = size[Nets];  // that is a gate's output
        for (const Group &group : groups_) first -= group.size;
        std::mt19937 random(start);
        for (const State &state : states_) {
            value_[state.q] = state.kind >> 1 ? state.kind >> 2 : start ? random() & 1 : 0;
            const int32_t open = state.latch() ? state.clock : 0;
            if (state.set || state.clear || open) {
                by_level_[{state.set, state.clear, open}].push_back(&state - states_.data());
            }
        }
        sampled_.resize(states_.size());
        last_.resize((inputs_.size() + 31) / 32);
        writes_.resize(memories_.size());
        std::map<int32_t, size_t> places;
        const auto place = [&](int32_t clock) {
            const auto [at, added] = places.try_emplace(clock, moving_.size());
            if (added) moving_.push_back(clock);
            return at->second;
        };
        for (size_t i = 0; i < states_.size(); i++)
            states_of_[place(states_[i].clock)].push_back(i);
        for (size_t i = 0; i < memories_.size(); i++)
            memories_of_[place(memories_[i].clock)].push_back(i);
        const int32_t *pins = pins_.data();
        const Memory *memory = memories_.data();
        uint8_t *output = value_.data() + first;
        for (const Group &group : groups_) {
            const bool changing = group.count >= kChanging;
            places_.push_back({pins, output, changing ? memory : nullptr});
            pins += size_t(group.count % kChanging) * group.size;
            output += group.size;
            if (changing) memory += group.size;
        }
        run(0, groups_.size());
        for (int32_t clock : moving_) high_.push_back(value_[clock]);
        sample();
        rest(false);
    }

    // Returns how often an edge moved something, or may have where a clock is data, too. What it
    // moves takes the values that stood when all was at rest, also where two clocks have an edge
    // at once.
    int clock(int which, bool level) {
        value_[clocks_[which]] = level;
        run(0, control_groups_);
        if (!started_) {  // no edge
            for (size_t k = 0; k < moving_.size(); k++) high_[k] = value_[moving_[k]];
            rest(false);
            return 0;
        }
        if (move(true) || clock_is_data_) {
            moves_++;
            moved_ = true;
        }
        return moves_;
    }

    void apply(const svBitVecVal *inputs, svBitVecVal *outputs) {
        started_ = true;
        bool changed = moved_;
        for (size_t word = 0; word < last_.size(); word++) {
            uint32_t other = inputs[word] ^ last_[word];
            changed |= other != 0;
            last_[word] = inputs[word];
            for (; other; other &= other - 1) {
                value_[inputs_[32 * word + std::countr_zero(other)]] ^= 1;
            }
        }
        if (changed) rest(!moved_);
        moved_ = false;
        for (size_t i = 0; i < outputs_.size(); i += 32) {
            uint32_t word = 0;
            for (size_t k = i; k < outputs_.size() && k < i + 32; k++) {
                word |= uint32_t{value_[outputs_[k]]} << (k - i);
            }
            outputs[i / 32] = word;
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

    void run(size_t from, size_t to) {
        static constexpr decltype(&settle<0>) kBy[] = {settle<0>, settle<1>, settle<2>, settle<3>,
                                                       settle<4>, settle<5>, settle<6>};
        for (size_t i = from; i < to; i++) {
            const auto [pins, output, memories] = places_[i];
            const Group &group = groups_[i];
            kBy[group.count % kChanging](group, pins, value_.data(), output, memories);
        }
    }

    void sample() {
        for (size_t i = 0; i < states_.size(); i++) sampled_[i] = value_[states_[i].data];
        for (const auto &[controls, states] : by_level_) {
            const auto [set, clear, open] = controls;
            if (!value_[set] && !value_[clear]) continue;
            for (size_t i : states) sampled_[i] = !value_[clear];
        }
        for (size_t i = 0; i < memories_.size(); i++) writes_[i] = written(memories_[i]);
    }

    // Returns the table that a memory has after an edge.
    uint64_t written(const Memory &memory) const {
        if (!value_[memory.enable]) return memory.table;
        const uint64_t bit = value_[memory.data];
        if (!memory.count) return memory.table << 1 | bit;
        unsigned place = 0;
        for (int k = 0; k < memory.count; k++) place |= unsigned{value_[memory.to[k]]} << k;
        return (memory.table & ~(uint64_t{1} << place)) | bit << place;
    }

    // Gives flip-flops and memories whose clock rises what was sampled, and what is set, cleared
    // or open its level; returns whether something changed.
    bool move(bool edge) {
        bool changed = false;
        for (size_t k = 0; k < moving_.size(); k++) {
            const bool before = high_[k];
            high_[k] = value_[moving_[k]];
            if (before || !high_[k]) continue;
            for (size_t i : states_of_[k]) {
                if (states_[i].latch()) continue;
                uint8_t &q = value_[states_[i].q];
                changed |= q != sampled_[i];
                q = sampled_[i];
            }
            for (size_t i : memories_of_[k]) {
                changed |= memories_[i].table != writes_[i];
                memories_[i].table = writes_[i];
            }
        }
        return level(edge) || changed;
    }

    bool level(bool edge) {
        bool changed = false;
        for (const auto &[controls, states] : by_level_) {
            const auto [set, clear, open] = controls;
            if (!value_[set] && !value_[clear] && !value_[open]) continue;
            for (size_t i : states) {
                const State &state = states_[i];
                uint8_t next = value_[state.q];
                if (value_[open]) next = edge ? sampled_[i] : value_[state.data];
                if (value_[set]) next = 1;
                if (value_[clear]) next = 0;
                changed |= next != value_[state.q];
                value_[state.q] = next;
            }
        }
        return changed;
    }

    // Settles all gates, and what moves by their outputs, until nothing does. `near`: at first
    // those alone that depend on an input in the same clock.
    void rest(bool near) {
        for (int round = 0; round < kMostRounds; round++, near = false) {
            if (near) run(0, control_groups_);
            run(near ? far_groups_ : 0, groups_.size());
            if (!move(false)) {
                sample();
                return;
            }
        }
        throw std::runtime_error("the netlist does not come to rest");
    }

    struct Place {
        const int32_t *pins;
        uint8_t *output;
        const Memory *memories;
    };

    size_t control_groups_, far_groups_;
    bool clock_is_data_;
    std::vector<int32_t> inputs_, outputs_, clocks_, pins_;
    std::vector<State> states_;
    std::map<std::array<int32_t, 3>, std::vector<size_t>> by_level_;
    std::vector<Group> groups_;
    std::vector<Place> places_;     // of the groups
    std::vector<Memory> memories_;  // in the order of the gates that read them
    std::vector<uint8_t> value_, sampled_;
    std::vector<uint64_t> writes_;
    std::vector<uint32_t> last_;   // words of inputs
    std::vector<int32_t> moving_;  // clocks of states and memories, each once
    std::vector<uint8_t> high_;    // their values
    std::map<size_t, std::vector<size_t>> states_of_, memories_of_;
    int moves_ = 0;
    bool started_ = false;
    bool moved_ = false;  // and the gates have not followed
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
