#pragma once

#include <cstdint>
#include <memory>

#include "braid/store/directory.hpp"
#include "store/fault_plan.hpp"

namespace braid::store::testing {

/// What a power cut leaves of all that was not synced.
enum class CrashMode {
    DropAll,        // nothing
    KeepAll,        // everything
    TornPrefix,     // the beginning of what each file gained, torn at a 512-byte sector or in the
                    // middle of one; the first few of the name changes in each directory
    Reordered512,   // any of the 512-byte sectors, zeros for the others; any of the name changes
    Reordered4096,  // the same with 4 KiB sectors
};
inline constexpr CrashMode kCrashModes[] = {CrashMode::DropAll, CrashMode::KeepAll,
                                            CrashMode::TornPrefix, CrashMode::Reordered512,
                                            CrashMode::Reordered4096};

/// A disk in memory that knows what is durable and what only a cache holds, for the content of
/// files and for the names in directories. A sync that fails loses what it should have written,
/// although the cache still shows it, and later syncs succeed, as on real systems. The production
/// code for create, replace and the like runs on it, so that a crash can come between any two of
/// its steps. Safe for concurrent use.
class FaultyDisk {
public:
    struct Tree;

    FaultyDisk();

    /// The root directory. May be asked for many times; all see the same files, and keep them
    /// alive.
    std::unique_ptr<Directory> root();
    FaultPlan& plan() noexcept { return *plan_; }

    /// A new disk without faults or locks, holding what a power cut at this moment could leave: a
    /// function of the seed.
    FaultyDisk crash_state(std::uint64_t seed, CrashMode mode) const;

private:
    explicit FaultyDisk(std::shared_ptr<Tree> tree);

    std::shared_ptr<FaultPlan> plan_;
    std::shared_ptr<Tree> tree_;
};

}  // namespace braid::store::testing
