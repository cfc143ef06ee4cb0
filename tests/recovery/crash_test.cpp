#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/dump.hpp"
#include "backend/helpers.hpp"
#include "braid/local/backend.hpp"
#include "braid/local/local_backend.hpp"
#include "recovery/workload.hpp"
#include "store/faulty_directory.hpp"

namespace braid::testing {
namespace {

using store::testing::CrashMode;
using store::testing::FaultKind;
using store::testing::FaultyDisk;

constexpr std::uint64_t kSeeds = 4;

/// How many rows are in memory when they are flushed: all of them in the log, or most in segments.
constexpr std::uint64_t kNever = 1'000'000;
constexpr std::uint64_t kOften = 2;

std::unique_ptr<Backend> open(FaultyDisk& disk, std::uint64_t flush_rows) {
    local::LocalOptions options;
    options.flush_rows = flush_rows;
    options.flush_on_close_rows = flush_rows;
    options.compaction.background = false;
    auto opened = local::open_local_backend(disk.root(), options);
    return opened ? std::move(opened->backend) : nullptr;
}

/// Flushes and merges what is due.
void settle(Backend& backend) {
    dynamic_cast<local::LocalBackend&>(backend).run_due_compactions();
}

/// What the database shows after each acknowledged step of an undisturbed run, from before the
/// first; and how many operations of the disk the run took.
struct Reference {
    std::vector<std::string> states;
    std::uint64_t operations = 0;

    explicit Reference(std::uint64_t flush_rows) {
        FaultyDisk disk;
        {
            const auto backend = open(disk, flush_rows);
            states.push_back(state_of(*backend, ShownVersions::Named));
            for (const Step& step : workload()) {
                const Result<> done = step.run(*backend);
                EXPECT_TRUE(done.has_value()) << step.name << ": " << done.error().message;
                settle(*backend);
                states.push_back(state_of(*backend, ShownVersions::Named));
            }
        }
        operations = disk.plan().operations();
    }

    /// With `acknowledged` steps done, the state must be that, or the one in which the step that
    /// was under way is done too.
    bool legal(const std::string& state, std::size_t acknowledged) const {
        if (state == states[acknowledged]) return true;
        return acknowledged + 1 < states.size() && state == states[acknowledged + 1];
    }
    std::string complaint(const std::string& state, std::size_t acknowledged) const {
        return "after " + std::to_string(acknowledged) + " acknowledged steps, expected\n" +
               states[acknowledged] + "or the state one step on, got\n" + state;
    }
};

const Reference& reference(std::uint64_t flush_rows) {
    static std::map<std::uint64_t, Reference> references;
    return references.try_emplace(flush_rows, flush_rows).first->second;
}

/// Runs the workload until it fails; returns how many steps were acknowledged.
std::size_t run(Backend& backend) {
    std::size_t acknowledged = 0;
    for (const Step& step : workload()) {
        if (!step.run(backend)) break;
        ++acknowledged;
        settle(backend);
    }
    return acknowledged;
}

class Crash : public ::testing::TestWithParam<std::uint64_t> {
protected:
    /// Every operation is tried; of the long run with many flushes, under a sanitizer every fifth.
    static std::uint64_t stride() {
#ifdef __SANITIZE_ADDRESS__
        return GetParam() == kOften ? 5 : 1;
#else
        return 1;
#endif
    }
    static const Reference& reference() { return testing::reference(GetParam()); }
    static std::unique_ptr<Backend> open(FaultyDisk& disk) {
        return testing::open(disk, GetParam());
    }
    static void expect_legal(FaultyDisk& disk, std::size_t acknowledged);
    static void expect_usable(FaultyDisk& disk);
};

INSTANTIATE_TEST_SUITE_P(Flushed, Crash, ::testing::Values(kNever, kOften));

void Crash::expect_legal(FaultyDisk& disk, std::size_t acknowledged) {
    const auto backend = open(disk);
    ASSERT_NE(backend, nullptr) << "it cannot be opened any more";
    const std::string state = state_of(*backend, ShownVersions::Named);
    ASSERT_TRUE(reference().legal(state, acknowledged))
        << reference().complaint(state, acknowledged);
    expect_both_legs_agree(*backend);
    expect_check_is_clean(*backend);
}

/// The database takes writes again, and keeps them.
void Crash::expect_usable(FaultyDisk& disk) {
    {
        const auto backend = open(disk);
        ASSERT_NE(backend, nullptr);
        must(backend->create_collection("afterwards", vectors_schema(2)));
        for (const CollectionInfo& info : must(backend->collections({}))) {
            std::vector<float> vector(info.schema.vectors.dimension, 1.0F);
            if (info.schema.vectors.has_vectors() && vector.empty()) vector = {1, 1};
            must(backend->upsert(info.name, "default",
                                 {make_chunk("afterwards", "all", std::move(vector))}, {}));
        }
    }
    const auto backend = open(disk);
    ASSERT_NE(backend, nullptr);
    for (const CollectionInfo& info : must(backend->collections({}))) {
        if (!info.damage.empty()) continue;  // it was being filled
        const std::vector<std::string> names{info.name};
        const std::vector<std::string> ids{"afterwards"};
        const auto read =
            must(must(backend->snapshot(names, {}))->fetch(scope_of(info.name), ids, false));
        EXPECT_TRUE(read.at(0).has_value()) << info.name;
    }
    expect_both_legs_agree(*backend);
    expect_check_is_clean(*backend);
}

TEST_P(Crash, AtEveryOperationLeavesALegalState) {
    ASSERT_GT(reference().operations, 100U);
    for (std::uint64_t at = 1; at <= reference().operations; at += stride()) {
        FaultyDisk disk;
        disk.plan().fail_at(at, FaultKind::Crash);
        std::size_t acknowledged = 0;
        if (const auto backend = open(disk)) acknowledged = run(*backend);
        for (const CrashMode mode : store::testing::kCrashModes) {
            for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
                SCOPED_TRACE(::testing::Message() << "operation " << at << ", mode "
                                                  << static_cast<int>(mode) << ", seed " << seed);
                FaultyDisk after = disk.crash_state(seed, mode);
                expect_legal(after, acknowledged);
                if (at % 7 == 0) expect_usable(after);
                if (::testing::Test::HasFatalFailure()) return;
            }
        }
    }
}

/// Whoever has lost the manifest as well has its copy, at every moment.
void lose_manifests(FaultyDisk& disk) {
    const auto root = disk.root();
    const auto collections = root->open_subdirectory("collections");
    if (!collections) return;
    for (const store::DirectoryEntry& entry : must((*collections)->list())) {
        if (!entry.is_directory) continue;
        const auto files = must((*collections)->open_subdirectory(entry.name));
        if (!files->open("manifest-copy") || !files->open("manifest")) continue;
        must(files->replace("manifest", {}));
    }
    const RepairReport report = must(local::repair_database(*root));
    EXPECT_EQ(report.unrepairable, std::vector<std::string>());
}

TEST_P(Crash, AtEveryOperationAndTheManifestsLostLeavesALegalState) {
    for (std::uint64_t at = 1; at <= reference().operations; at += stride()) {
        FaultyDisk disk;
        disk.plan().fail_at(at, FaultKind::Crash);
        std::size_t acknowledged = 0;
        if (const auto backend = open(disk)) {
            for (const Step& step : workload()) {
                // One that a crash interrupts in what need not succeed is not acknowledged either.
                if (!step.run(*backend) || disk.plan().crashed()) break;
                ++acknowledged;
                settle(*backend);
            }
        }
        SCOPED_TRACE(::testing::Message() << "operation " << at);
        FaultyDisk after = disk.crash_state(
            at, store::testing::kCrashModes[at % std::size(store::testing::kCrashModes)]);
        lose_manifests(after);
        expect_legal(after, acknowledged);
        if (::testing::Test::HasFailure()) return;
    }
}

TEST_P(Crash, DuringTheRecoveryFromACrashLeavesALegalState) {
    for (std::uint64_t at = 5; at <= reference().operations; at += 11 * stride()) {
        FaultyDisk disk;
        disk.plan().fail_at(at, FaultKind::Crash);
        std::size_t acknowledged = 0;
        if (const auto backend = open(disk)) acknowledged = run(*backend);
        for (const CrashMode first : {CrashMode::TornPrefix, CrashMode::Reordered512}) {
            for (std::uint64_t second = 1;; ++second) {
                SCOPED_TRACE(::testing::Message() << "operation " << at << ", then " << second);
                FaultyDisk recovering = disk.crash_state(at, first);
                recovering.plan().fail_at(second, FaultKind::Crash);
                open(recovering);
                FaultyDisk after = recovering.crash_state(second, CrashMode::Reordered4096);
                expect_legal(after, acknowledged);
                if (::testing::Test::HasFatalFailure()) return;
                if (!recovering.plan().crashed()) break;
            }
        }
    }
}

TEST_P(Crash, AnErrorAtEveryOperationIsReportedAndLosesNothing) {
    for (const FaultKind kind : {FaultKind::IoError, FaultKind::NoSpace, FaultKind::ShortWrite}) {
        for (std::uint64_t at = 1; at <= reference().operations; at += stride()) {
            SCOPED_TRACE(::testing::Message()
                         << "operation " << at << ", kind " << static_cast<int>(kind));
            FaultyDisk disk;
            disk.plan().fail_at(at, kind);
            std::size_t acknowledged = 0;
            if (const auto backend = open(disk)) {
                acknowledged = run(*backend);
                const std::string shown = state_of(*backend, ShownVersions::Named);
                ASSERT_TRUE(reference().legal(shown, acknowledged))
                    << "reads: " << reference().complaint(shown, acknowledged);
                expect_both_legs_agree(*backend);
                disk.plan().clear();
                expect_check_is_clean(*backend);
            }
            if (kind == FaultKind::ShortWrite) {
                EXPECT_EQ(acknowledged + 1, reference().states.size()) << "no error at all";
            }
            disk.plan().clear();
            expect_legal(disk, acknowledged);
            FaultyDisk after = disk.crash_state(at, CrashMode::DropAll);
            expect_legal(after, acknowledged);
            if (at % 7 == 0) expect_usable(after);
            if (::testing::Test::HasFatalFailure()) return;
        }
    }
}

}  // namespace
}  // namespace braid::testing
