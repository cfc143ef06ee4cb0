#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace braid::store::testing {

enum class FaultKind {
    IoError,     // the operation fails; a write leaves a part, a sync loses what it should write
    NoSpace,     // a write or a creation fails with "no space left"; other operations succeed
    ShortWrite,  // a write writes a part and says so; other operations succeed
    Crash,       // the power goes off: this operation and all later ones fail
};

/// Which operations of a FaultyDisk go wrong. An operation is one call into the file system, reads
/// included: `operations()` after a run without faults is the number of points to try. Safe for
/// concurrent use.
class FaultPlan {
public:
    /// The n-th operation from now on (1 = the next) goes wrong.
    void fail_at(std::uint64_t n, FaultKind kind);
    /// The n-th sync of a file from now on fails; syncs of directories do not count.
    void fail_sync_at(std::uint64_t n);
    /// From now on, operations that need space fail, or do so no more.
    void fill_disk(bool full);
    /// How long each sync of a file takes.
    void set_sync_delay(std::chrono::microseconds delay);
    /// Forgets all faults to come.
    void clear();

    /// Since the disk was made.
    std::uint64_t operations() const;
    std::uint64_t file_syncs() const;
    bool crashed() const;

    /// For FaultyDisk: counts an operation and says what becomes of it.
    enum class Operation { Read, Write, FileSync, Create, Other };
    enum class Verdict { Succeed, Short, IoError, NoSpace, CrashDuring, MachineIsOff };
    Verdict enter(Operation operation);

private:
    Verdict judge(Operation operation);

    mutable std::mutex mutex_;
    std::uint64_t operations_ = 0;
    std::uint64_t file_syncs_ = 0;
    std::uint64_t faulty_operation_ = 0;  // 0: none
    std::uint64_t faulty_sync_ = 0;
    FaultKind kind_ = FaultKind::IoError;
    bool full_ = false;
    bool crashed_ = false;
    std::chrono::microseconds sync_delay_{0};
};

}  // namespace braid::store::testing
