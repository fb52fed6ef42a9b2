// SPDX-License-Identifier: Apache-2.0
#include "fibers.h"

#include <cstdint>

namespace mae {

// The context of a fiber's start takes int arguments only.
void Fibers::enter(unsigned high, unsigned low) {
    auto *self = reinterpret_cast<Fibers *>(uintptr_t(uint64_t{high} << 32 | low));
    Fiber &fiber = *self->fibers_[self->now_];
    try {
        fiber.program();
        fiber.ended = true;
        if (--self->live_ != 0) self->pass_if_all();
    } catch (...) {
        self->failure_ = std::current_exception();
    }
    if (self->failure_ != nullptr || self->live_ == 0) setcontext(&self->caller_);
    self->next();  // never comes back
}

// Continues the next program that has not ended.
void Fibers::next() {
    Fiber &from = *fibers_[now_];
    do {
        now_ = (now_ + 1) % fibers_.size();
    } while (fibers_[now_]->ended);
    if (fibers_[now_].get() != &from) swapcontext(&from.context, &fibers_[now_]->context);
}

void Fibers::pass_if_all() {
    if (arrived_ < live_) return;
    arrived_ = 0;
    clock_();
}

void Fibers::tick() {
    if (++arrived_ < live_) {
        next();
    } else {
        pass_if_all();
    }
}

void Fibers::run(std::vector<std::function<void()>> programs) {
    const auto self = uint64_t(reinterpret_cast<uintptr_t>(this));
    for (std::function<void()> &program : programs) {
        fibers_.push_back(std::make_unique<Fiber>());
        Fiber &fiber = *fibers_.back();
        fiber.program = std::move(program);
        fiber.stack = std::make_unique<char[]>(kStack);
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = kStack;
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, reinterpret_cast<void (*)()>(enter), 2, unsigned(self >> 32),
                    unsigned(self));
    }
    live_ = fibers_.size();
    swapcontext(&caller_, &fibers_[0]->context);
    if (failure_ != nullptr) std::rethrow_exception(failure_);
}

}  // namespace mae
