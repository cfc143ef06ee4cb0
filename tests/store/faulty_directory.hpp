#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "braid/store/directory.hpp"

namespace braid::store::testing {

enum class FaultKind {
    IoError,     // the operation fails; a write may have written a part, a sync loses what it had
    NoSpace,     // a write or a creation fails with "no space left"; other operations: IoError
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
    /// From now on every operation that needs space fails.
    void fill_disk(bool full);
    /// Forgets all faults to come, and the counts.
    void reset();
    /// How long each sync of a file takes.
    void set_sync_delay(std::chrono::microseconds delay);

    std::uint64_t operations() const;
    std::uint64_t file_syncs() const;
    bool crashed() const;

private:
    friend class FaultGate;

    mutable std::mutex mutex_;
    std::uint64_t operations_ = 0;
    std::uint64_t file_syncs_ = 0;
    std::uint64_t fault_operation_ = 0;  // 0: none
    std::uint64_t fault_sync_ = 0;
    FaultKind fault_kind_ = FaultKind::IoError;
    bool full_ = false;
    bool crashed_ = false;
    std::chrono::microseconds sync_delay_{0};
};

/// What a power cut leaves of everything that was not synced.
enum class CrashMode {
    DropAll,        // nothing
    KeepAll,        // everything
    TornPrefix,     // of each file a prefix, torn at 512-byte sectors or anywhere; of the name
                    // changes in each directory the first few
    Reordered512,   // any 512-byte sectors, zeros in place of the others; any name changes
    Reordered4096,  // the same with 4 KiB sectors
};
inline constexpr CrashMode kCrashModes[] = {CrashMode::DropAll, CrashMode::KeepAll,
                                            CrashMode::TornPrefix, CrashMode::Reordered512,
                                            CrashMode::Reordered4096};

/// A disk in memory that knows what is durable and what only a cache holds, for both the content
/// of files and the names in directories. The production code for create, replace and the like
/// runs on it, so that a crash can come between any two of its steps.
class FaultyDisk {
public:
    struct Tree;

    FaultyDisk();
    explicit FaultyDisk(std::shared_ptr<Tree> tree);

    /// The root; may be asked for many times, all see the same files.
    std::unique_ptr<Directory> root();
    FaultPlan& plan() noexcept { return *plan_; }

    /// A new disk without faults that holds what a power cut at this moment could have left, the
    /// same for the same seed.
    FaultyDisk crash_state(std::uint64_t seed, CrashMode mode) const;

    /// All that is on the disk becomes durable.
    void sync_all();

private:
    std::shared_ptr<FaultPlan> plan_;
    std::shared_ptr<Tree> tree_;
};

}  // namespace braid::store::testing
