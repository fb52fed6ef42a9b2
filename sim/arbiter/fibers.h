// SPDX-License-Identifier: Apache-2.0
//
// Runs programs that each drive one port of a simulated design, in turns, clock by clock.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace mae {

class Fibers {
   public:
    explicit Fibers(std::function<void()> clock) : clock_(std::move(clock)) {}
    // Runs all programs until each has ended; rethrows the first exception that one threw.
    void run(std::vector<std::function<void()>> programs);
    // To be called by a program that has set its signals for a clock. Returns after that clock,
    // which passes when every program has called it.
    void tick();

   private:
    static constexpr size_t kStack = 1 << 20;
    struct Fiber {
        std::function<void()> program;
        std::unique_ptr<char[]> stack;
        ucontext_t context;
        bool ended = false;
    };
    static void enter(unsigned high, unsigned low);
    void next();
    void pass_if_all();

    std::function<void()> clock_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    size_t now_ = 0, live_ = 0, arrived_ = 0;
    ucontext_t caller_;
    std::exception_ptr failure_;
};

}  // namespace mae
