#include "braid/core/waiting.hpp"

#include <utility>

namespace braid::core {
namespace {

WaitObserver*& observer_here() noexcept {
    static thread_local WaitObserver* observer = nullptr;
    return observer;
}

}  // namespace

WaitObserver* observe_waits(WaitObserver* observer) noexcept {
    return std::exchange(observer_here(), observer);
}

Waiting::Waiting() noexcept : observer_(observer_here()) {
    if (observer_ == nullptr) return;
    observer_here() = nullptr;  // a wait within this one is the same wait
    observer_->wait_begins();
}

Waiting::~Waiting() {
    if (observer_ == nullptr) return;
    observer_->wait_ends();
    observer_here() = observer_;
}

}  // namespace braid::core
