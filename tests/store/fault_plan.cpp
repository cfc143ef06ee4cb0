#include "store/fault_plan.hpp"

#include <thread>

namespace braid::store::testing {

void FaultPlan::fail_at(std::uint64_t n, FaultKind kind) {
    const std::scoped_lock lock(mutex_);
    faulty_operation_ = operations_ + n;
    kind_ = kind;
}

void FaultPlan::fail_sync_at(std::uint64_t n) {
    const std::scoped_lock lock(mutex_);
    faulty_sync_ = file_syncs_ + n;
}

void FaultPlan::fill_disk(bool full) {
    const std::scoped_lock lock(mutex_);
    full_ = full;
}

void FaultPlan::set_sync_delay(std::chrono::microseconds delay) {
    const std::scoped_lock lock(mutex_);
    sync_delay_ = delay;
}

void FaultPlan::clear() {
    const std::scoped_lock lock(mutex_);
    faulty_operation_ = 0;
    faulty_sync_ = 0;
    full_ = false;
}

std::uint64_t FaultPlan::operations() const {
    const std::scoped_lock lock(mutex_);
    return operations_;
}

std::uint64_t FaultPlan::file_syncs() const {
    const std::scoped_lock lock(mutex_);
    return file_syncs_;
}

bool FaultPlan::crashed() const {
    const std::scoped_lock lock(mutex_);
    return crashed_;
}

FaultPlan::Verdict FaultPlan::enter(Operation operation) {
    std::unique_lock lock(mutex_);
    const Verdict verdict = judge(operation);
    const std::chrono::microseconds delay = sync_delay_;
    lock.unlock();
    if (operation == Operation::FileSync && delay.count() > 0) std::this_thread::sleep_for(delay);
    return verdict;
}

FaultPlan::Verdict FaultPlan::judge(Operation operation) {
    if (crashed_) return Verdict::MachineIsOff;
    ++operations_;
    if (operation == Operation::FileSync && ++file_syncs_ == faulty_sync_) return Verdict::IoError;
    const bool needs_space = operation == Operation::Write || operation == Operation::Create;
    if (full_ && needs_space) return Verdict::NoSpace;
    if (operations_ != faulty_operation_) return Verdict::Succeed;
    switch (kind_) {
        case FaultKind::IoError:
            return Verdict::IoError;
        case FaultKind::NoSpace:
            return needs_space ? Verdict::NoSpace : Verdict::Succeed;
        case FaultKind::ShortWrite:
            return operation == Operation::Write ? Verdict::Short : Verdict::Succeed;
        case FaultKind::Crash:
            crashed_ = true;
            return Verdict::CrashDuring;
    }
    return Verdict::Succeed;
}

}  // namespace braid::store::testing
