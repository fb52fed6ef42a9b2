// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <stdexcept>
#include <utility>

namespace mae {
namespace {

[[noreturn]] void refuse(const std::string &name, const std::string &value, const char *wanted) {
    throw std::invalid_argument("option " + name + "=" + value + ": expected " + wanted);
}

class Value {
   public:
    Value(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}

    uint64_t number(uint64_t low, uint64_t high, const char *wanted) const {
        return number(text_, low, high, wanted);
    }

    // Parses "A-B" (or "A:B"); "A" alone means "A-A" where `single` allows it.
    std::pair<uint64_t, uint64_t> pair(char separator, bool single, uint64_t low, uint64_t high,
                                       const char *wanted) const {
        const size_t at = text_.find(separator);
        if (at == std::string::npos) {
            if (!single) refuse(name_, text_, wanted);
            const uint64_t both = number(text_, low, high, wanted);
            return {both, both};
        }
        return {number(text_.substr(0, at), low, high, wanted),
                number(text_.substr(at + 1), low, high, wanted)};
    }

    bool choice(const char *no, const char *yes, const char *wanted) const {
        if (text_ != no && text_ != yes) refuse(name_, text_, wanted);
        return text_ == yes;
    }

    const std::string &text() const { return text_; }

   private:
    uint64_t number(const std::string &text, uint64_t low, uint64_t high,
                    const char *wanted) const {
        size_t used = 0;
        uint64_t value = 0;
        try {
            if (!text.empty() && text[0] >= '0' && text[0] <= '9') {
                value = std::stoull(text, &used, 0);
            }
        } catch (const std::out_of_range &) {
            used = 0;
        }
        if (used == 0 || used != text.size() || value < low || value > high) {
            refuse(name_, text_, wanted);
        }
        return value;
    }

    std::string name_;
    std::string text_;
};

}  // namespace

Options Options::parse(const std::string &text) {
    Options o;
    size_t at = 0;
    while (at < text.size()) {
        size_t end = text.find('&', at);
        if (end == std::string::npos) end = text.size();
        const std::string item = text.substr(at, end - at);
        at = end + 1;
        if (item.empty()) continue;
        const size_t equals = item.find('=');
        if (equals == std::string::npos) {
            throw std::invalid_argument("option " + item + ": expected name=value");
        }
        const std::string name = item.substr(0, equals);
        const Value value(name, item.substr(equals + 1));
        if (name == "latency") {
            const char *wanted = "MIN-MAX clocks, 1 to 100000";
            const auto [low, high] = value.pair('-', true, 1, 100000, wanted);
            if (low > high) refuse(name, value.text(), wanted);
            o.latency_min = uint32_t(low);
            o.latency_max = uint32_t(high);
        } else if (name == "order") {
            o.shuffled = value.choice("in", "shuffled", "in or shuffled");
        } else if (name == "bus") {
            o.one_way = value.choice("two-way", "one-way", "one-way or two-way");
        } else if (name == "bandwidth") {
            o.bandwidth = uint32_t(value.number(1, 100, "1 to 100 percent"));
        } else if (name == "copy") {
            o.copy = uint32_t(value.number(1, 10000, "1 to 10000 percent"));
        } else if (name == "stall") {
            o.stall = uint32_t(value.number(0, 95, "0 to 95 percent"));
        } else if (name == "outstanding") {
            o.outstanding = uint32_t(value.number(1, 4096, "1 to 4096 bursts"));
        } else if (name == "ratio") {
            const auto [core, bus] = value.pair(':', false, 1, 1000, "CORE:BUS, 1 to 1000 each");
            o.ratio_core = uint32_t(core);
            o.ratio_bus = uint32_t(bus);
        } else if (name == "error_read") {
            o.error_read = uint32_t(value.number(0, 1000000, "0 to 1000000 per million bursts"));
        } else if (name == "error_write") {
            o.error_write = uint32_t(value.number(0, 1000000, "0 to 1000000 per million bursts"));
        } else if (name == "dram_delay") {
            o.dram_delay = uint32_t(value.number(2, 10000, "2 to 10000 clocks"));
        } else if (name == "error_memory_read") {
            o.error_memory_read =
                uint32_t(value.number(0, 1000000, "0 to 1000000 per million bursts"));
        } else if (name == "error_memory_write") {
            o.error_memory_write =
                uint32_t(value.number(0, 1000000, "0 to 1000000 per million bursts"));
        } else if (name == "error_at") {
            const char *wanted = "FIRST-LAST addresses";
            const auto [first, last] = value.pair('-', true, 0, UINT64_MAX, wanted);
            if (first > last) refuse(name, value.text(), wanted);
            o.has_error_range = true;
            o.error_first = first;
            o.error_last = last;
        } else if (name == "hang") {
            o.has_hang = true;
            o.hang = value.number(0, UINT64_MAX, "a number of bursts");
        } else if (name == "hang_on") {
            const std::string &on = value.text();
            if (on != "all" && on != "read" && on != "write" && on != "response") {
                refuse(name, on, "all, read, write or response");
            }
            o.hang_on = on;
        } else if (name == "timeout") {
            o.timeout = value.number(1, UINT64_MAX, "a number of clocks");
        } else if (name == "seed") {
            o.seed = value.number(0, UINT64_MAX, "a number");
        } else if (name == "media") {
            if (value.text().empty()) refuse(name, value.text(), "a file name");
            o.media = value.text();
        } else if (name == "wave") {
            if (value.text().empty()) refuse(name, value.text(), "a file name");
            o.wave = value.text();
        } else {
            throw std::invalid_argument("unknown option " + name);
        }
    }
    return o;
}

}  // namespace mae
