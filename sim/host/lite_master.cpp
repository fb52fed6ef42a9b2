// SPDX-License-Identifier: Apache-2.0
#include "lite_master.h"

namespace mae {

void LiteMaster::drive() {
    if (state_ == State::kIdle) {
        to_.aw_valid = to_.w_valid = to_.ar_valid = to_.b_ready = to_.r_ready = false;
        return;
    }
    uint64_t dice = stall_limit_ == 0 ? ~0ull : random_.next();
    const auto go = [&] {
        const bool stall = (dice & 0xfff) < stall_limit_;
        dice >>= 12;
        return !stall;
    };
    const bool address = go(), data = go(), ready = go();
    if (state_ == State::kRead) {
        to_.ar_valid = !address_sent_ && (to_.ar_valid || address);
        to_.r_ready = ready;
    } else {
        to_.aw_valid = !address_sent_ && (to_.aw_valid || address);
        to_.w_valid = !data_sent_ && (to_.w_valid || data);
        to_.b_ready = ready;
    }
}

void LiteMaster::take(const LiteFromDevice &from) {
    const bool may_b = state_ == State::kWrite && address_sent_ && data_sent_;
    const bool may_r = state_ == State::kRead && address_sent_;
    if (breach_.empty()) {
        if (from.b_valid && !may_b) breach_ = "AXI4-Lite: a write response without a write";
        if (from.r_valid && !may_r) breach_ = "AXI4-Lite: read data without a read";
        if (b_waits_ && !(from.b_valid && from.b_resp == held_.b_resp)) {
            breach_ = "AXI4-Lite: B changed before it was taken";
        }
        if (r_waits_ &&
            !(from.r_valid && from.r_resp == held_.r_resp && from.r_data == held_.r_data)) {
            breach_ = "AXI4-Lite: R changed before it was taken";
        }
    }
    b_waits_ = from.b_valid && !to_.b_ready;
    r_waits_ = from.r_valid && !to_.r_ready;
    held_ = from;
    if (may_b && from.b_valid && to_.b_ready) {
        resp_ = from.b_resp;
        state_ = State::kIdle;
    }
    if (may_r && from.r_valid && to_.r_ready) {
        value_ = from.r_data;
        resp_ = from.r_resp;
        state_ = State::kIdle;
    }
    if ((to_.aw_valid && from.aw_ready) || (to_.ar_valid && from.ar_ready)) address_sent_ = true;
    if (to_.w_valid && from.w_ready) data_sent_ = true;
}

}  // namespace mae
