// Graphs and calibrations that are damaged, missing, interrupted or copied.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "segment/derived_fixture.hpp"
#include "store/faulty_directory.hpp"

namespace braid::testing {
namespace {

TEST_F(Derived, SurvivesRestartsAndServesReaders) {
    fill();
    const auto names = names_of("graph-");
    for (const bool read_only : {false, true}) {
        open(read_only);
        EXPECT_EQ(names_of("graph-"), names);
        ASSERT_TRUE(dense_stats().has_value());
        EXPECT_EQ(dense_stats()->in_graphs, kRows);
        EXPECT_EQ(dense_stats()->calibrated, kRows);
        EXPECT_GE(recall(), 0.9);
    }
}

TEST_F(Derived, DamagedOrMissingIsDoneWithoutReportedAndBuiltAnew) {
    fill();
    const std::string graph = names_of("graph-").front();
    const std::size_t size = must(files()->open(graph))->bytes().size();
    make_scans_look_bad();
    for (const std::size_t at : {std::size_t{3}, size / 2, size - 20}) {
        SCOPED_TRACE(::testing::Message() << "byte " << at);
        change_byte(graph, at);
        open(true);
        EXPECT_GE(recall(std::nullopt, 10, kCentres, 5), 0.9);
        const CheckReport report = must(backend_->check({}));
        EXPECT_TRUE(report.clean());
        ASSERT_EQ(report.notes.size(), 1U);
        EXPECT_NE(report.notes.front().find(graph), std::string::npos);
        open();
        EXPECT_GE(recall(std::nullopt, 10, kCentres, 5), 0.9);
        compact();  // it has found out by now
        EXPECT_EQ(must(backend_->check({})).notes, std::vector<std::string>());
        EXPECT_EQ(dense_stats()->in_graphs, kRows);
    }
    must(files()->remove(graph));
    change_byte("calibration", 9);
    open();
    EXPECT_EQ(dense_stats()->in_graphs, 0U);
    EXPECT_EQ(dense_stats()->calibrated, 0U);
    local().run_due_compactions();
    EXPECT_EQ(dense_stats()->in_graphs, kRows);
    EXPECT_EQ(dense_stats()->calibrated, kRows);
}

TEST_F(Derived, OfAnotherSegmentIsNotUsed) {
    fill();
    const std::string old_name = names_of("graph-").front();
    const auto old = must(files()->open(old_name));
    put(0, 600);  // other vectors
    compact();
    const std::string name = names_of("graph-").front();
    ASSERT_NE(name, old_name);
    EXPECT_EQ(names_of("graph-").size(), 1U) << "the other one went with its segment";
    backend_.reset();
    must(files()->replace(name, old->bytes()));
    open();
    EXPECT_EQ(dense_stats()->in_graphs, 0U);
    EXPECT_GE(recall(std::nullopt, 10, kCentres, 5), 0.9);
    local().run_due_compactions();
    EXPECT_EQ(dense_stats()->in_graphs, kRows);
}

TEST_F(Derived, ASnapshotGoesOnAsItBegan) {
    create();
    options_.graph_vectors = kRows + 1;  // none yet
    open();
    put(0, kRows);
    compact();
    options_.graph_vectors = 4096;
    open();
    const std::vector<std::string> names{"c"};
    const ReaderPtr before = must(backend_->snapshot(names, {}));
    std::vector<Leg> legs;
    std::vector<LegResult> answers;
    for (int i = 0; i < 40; ++i) {
        Leg leg = vector_leg(scope_of("c"), vector_near(rng_, rng_() % kCentres), 10);
        leg.recall = 0.9;
        legs.push_back(leg);
        answers.push_back(must(before->search_leg(leg)));
        EXPECT_NE(answers.back().method, "graph");
    }
    // Half of it is written anew, merged, and gets a graph and a calibration that has it walked.
    put(0, kRows / 2);
    compact();
    EXPECT_EQ(dense_stats()->in_graphs, kRows);
    for (std::size_t i = 0; i < legs.size(); ++i) {
        const LegResult again = must(before->search_leg(legs[i]));
        EXPECT_EQ(again.hits, answers[i].hits);
        EXPECT_EQ(again.method, answers[i].method);
        EXPECT_EQ(again.matched, answers[i].matched);
    }
}

TEST_F(Derived, ABuildIsGivenUpWhenTheDatabaseCloses) {
    fill();
    backend_.reset();
    must(files()->remove(names_of("graph-").front()));
    options_.graph_vectors = 4096;
    options_.compaction.background = true;
    for (int i = 0; i < 5; ++i) {
        open();
        backend_.reset();
        for (const std::string& name : names_of("graph-")) EXPECT_EQ(name.size(), 12U) << name;
    }
    options_.compaction.background = false;
    open();
    local().run_due_compactions();
    EXPECT_EQ(dense_stats()->in_graphs, kRows);
    EXPECT_GE(recall(), 0.9);
}

/// Something goes wrong while a graph and a calibration are written: what the disk holds then
/// opens, is whole, and answers; what was begun is made again.
TEST_F(Derived, ADiskThatFailsWhileTheyAreWrittenLeavesTheRightAnswers) {
    using store::testing::FaultKind;
    fill();
    backend_.reset();
    const auto whole = std::move(root_);
    const auto prepare = [&](store::testing::FaultyDisk& disk) {
        root_ = disk.root();
        for (const auto& entry : must(files(*whole)->list())) {
            if (entry.name.starts_with("graph-") || entry.name == "calibration") continue;
            must(files()->create(entry.name, must(files(*whole)->open(entry.name))->bytes()));
        }
        open();
    };
    const auto try_to_derive = [&] { return must(backend_->compaction("c"))->finish(); };
    store::testing::FaultyDisk reference;
    prepare(reference);
    const std::uint64_t before = reference.plan().operations();
    must(try_to_derive());
    const std::uint64_t operations = reference.plan().operations() - before;
    EXPECT_GT(operations, 5U);
#ifdef __SANITIZE_ADDRESS__
    constexpr std::uint64_t points = 3;
#else
    constexpr std::uint64_t points = 8;
#endif
    const std::uint64_t stride = std::max<std::uint64_t>(1, operations / points);
    for (const FaultKind kind : {FaultKind::Crash, FaultKind::IoError, FaultKind::NoSpace}) {
        for (std::uint64_t at = 1; at <= operations; at += stride) {
            SCOPED_TRACE(::testing::Message()
                         << "kind " << static_cast<int>(kind) << ", operation " << at);
            store::testing::FaultyDisk disk;
            prepare(disk);
            disk.plan().fail_at(at, kind);
            (void)try_to_derive();
            if (kind != FaultKind::Crash) {  // it goes on as it is
                EXPECT_GE(recall(std::nullopt, 10, kCentres, 2), 0.8);
            }
            backend_.reset();
            store::testing::FaultyDisk after = disk.crash_state(
                at, store::testing::kCrashModes[at % std::size(store::testing::kCrashModes)]);
            root_ = after.root();
            open();
            EXPECT_GE(recall(std::nullopt, 10, kCentres, 2), 0.8);
            EXPECT_TRUE(must(backend_->check({})).clean());
            backend_.reset();
        }
    }
    root_ = store::make_memory_directory();
}

TEST_F(Derived, CopiesHaveItToo) {
    fill();
    const auto copy = store::make_memory_directory();
    must(local().copy_to(*must(copy->subdirectory("db")), {}));
    const auto opened = must(local::open_local_backend(must(copy->subdirectory("db")), options_));
    const std::vector<std::string> names{"c"};
    const auto stats = must(must(opened.backend->snapshot(names, {}))->stats(scope_of("c")));
    ASSERT_TRUE(stats.dense.has_value());
    EXPECT_EQ(stats.dense->in_graphs, kRows);
}

}  // namespace
}  // namespace braid::testing
