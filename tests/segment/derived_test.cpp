#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/local/backend.hpp"
#include "braid/segment/calibrations.hpp"
#include "braid/store/memory_directory.hpp"
#include "store/faulty_directory.hpp"

namespace braid::testing {
namespace {

constexpr std::size_t kDimension = 24;

/// Vectors about centres, of which neighbours in number are near each other.
std::vector<float> vector_near(std::mt19937& rng, std::size_t centre) {
    std::mt19937 of_centre(static_cast<unsigned>(centre));
    std::normal_distribution<float> place;
    std::normal_distribution<float> noise;
    std::vector<float> vector(kDimension);
    for (float& x : vector) x = place(of_centre) + noise(rng);
    return vector;
}

/// A database in memory whose collection "c" gets graphs from few vectors on.
class Derived : public ::testing::Test {
protected:
    static constexpr std::size_t kRows = 4500;
    static constexpr std::size_t kCentres = 30;

    Derived() {
        options_.flush_rows = 1000;
        options_.flush_on_close_rows = 1;
        options_.graph_vectors = 4096;
        options_.compaction = {.enabled = false, .background = false};
        open();
    }

    void create() { must(backend_->create_collection("c", vectors_schema(kDimension))); }
    /// A collection of kRows chunks, compacted: made once, and copied.
    void fill() {
        static std::unique_ptr<store::Directory> made;
        if (made == nullptr) {
            create();
            put(0, kRows);
            compact();
            backend_.reset();
            made = std::move(root_);
            root_ = store::make_memory_directory();
        }
        backend_.reset();
        const auto from = files(*made);
        const auto to = files(*root_);
        for (const auto& entry : must(from->list())) {
            must(to->create(entry.name, must(from->open(entry.name))->bytes()));
        }
        open();
    }

    void open(bool read_only = false) {
        backend_.reset();
        options_.read_only = read_only;
        auto opened = must(local::open_local_backend(must(root_->subdirectory("db")), options_));
        EXPECT_EQ(opened.notes, std::vector<std::string>());
        backend_ = std::move(opened.backend);
    }
    local::LocalBackend& local() { return dynamic_cast<local::LocalBackend&>(*backend_); }
    void compact() {
        const auto work = must(backend_->compaction("c"));
        must(work->finish());
    }
    static std::unique_ptr<store::Directory> files(store::Directory& root) {
        const auto home = must(root.subdirectory("db"));
        return must(must(home->subdirectory("collections"))->subdirectory("c"));
    }
    std::unique_ptr<store::Directory> files() const { return files(*root_); }
    std::vector<std::string> names_of(const std::string& kind) const {
        std::vector<std::string> names;
        for (const auto& entry : must(files()->list())) {
            if (entry.name.starts_with(kind)) names.push_back(entry.name);
        }
        return names;
    }
    void change_byte(const std::string& name, std::size_t at) const {
        const auto whole = must(files()->open(name));
        std::vector<std::byte> bytes(whole->bytes().begin(), whole->bytes().end());
        bytes[at % bytes.size()] ^= std::byte{0x10};
        must(files()->replace(name, bytes));
    }

    /// Has searches walk the graph, however few vectors there are: scans are said to find nothing.
    void make_scans_look_bad() {
        using dense::VectorMethod;
        segment::Calibrations made;
        made.set("default", {.rows = kRows,
                             .queries = 1024,
                             .asked = 1024,
                             .points = {{VectorMethod::Scan, 0.9, 0.1, 0.1, 0.1},
                                        {VectorMethod::Graph, 0.9, 0.9, 0.88, 1},
                                        {VectorMethod::Graph, 0.98, 0.98, 0.97, 1}}});
        backend_.reset();
        must(files()->replace("calibration", made.encode()));
        open();
        EXPECT_EQ(search(vector_near(rng_, 1), false).method, "graph");
    }
    static std::string id(std::size_t row) { return std::to_string(100'000 + row); }
    void put(std::size_t first, std::size_t end, std::size_t about = kCentres) {
        std::vector<Chunk> chunks;
        for (std::size_t i = first; i < end; ++i) {
            Chunk chunk = make_chunk(id(i), "text", vector_near(rng_, i % about));
            chunk.metadata.set("row", static_cast<std::int64_t>(i));
            chunk.metadata.set("centre", static_cast<std::int64_t>(i % about));
            chunks.push_back(std::move(chunk));
            if (chunks.size() < 500 && i + 1 < end) continue;
            must(backend_->upsert("c", "default", std::exchange(chunks, {}), {}));
            local().run_due_compactions();
        }
    }
    LegResult search(const std::vector<float>& query, bool exact, std::size_t depth = 10,
                     const std::optional<Filter>& filter = std::nullopt, double recall = 0.95) {
        const std::vector<std::string> names{"c"};
        Leg leg = vector_leg(scope_of("c", {}, filter), query, depth);
        leg.exact = exact;
        leg.recall = recall;
        return must(must(backend_->snapshot(names, {}))->search_leg(leg));
    }
    /// The share of the exact hits found by queries near any centre; every score is the exact one.
    double recall(const std::optional<Filter>& filter = std::nullopt, std::size_t depth = 10,
                  std::size_t centre = kCentres, int queries = 60) {
        double sum = 0;
        std::mt19937 rng(9);  // the same queries each time
        for (int i = 0; i < queries; ++i) {
            const auto query = vector_near(rng, centre < kCentres ? centre : rng() % kCentres);
            const LegResult truth = search(query, true, depth, filter);
            const LegResult found = search(query, false, depth, filter);
            EXPECT_EQ(found.hits.size(), truth.hits.size());
            EXPECT_EQ(found.matched, truth.matched);
            std::size_t same = 0;
            for (const LegHit& hit : found.hits) {
                same += static_cast<std::size_t>(std::ranges::count(truth.hits, hit));
            }
            sum += truth.hits.empty()
                       ? 1.0
                       : static_cast<double>(same) / static_cast<double>(truth.hits.size());
            scores_are_exact(query, found);
        }
        return sum / queries;
    }
    void scores_are_exact(const std::vector<float>& query, const LegResult& found) {
        const std::vector<std::string> names{"c"};
        std::vector<std::string> ids = ids_of(found);
        const Leg leg = vector_leg(scope_of("c"), query);
        const auto scores = must(must(backend_->snapshot(names, {}))->score(leg, ids));
        for (std::size_t i = 0; i < found.hits.size(); ++i) {
            EXPECT_EQ(found.hits[i].score, scores[i]) << found.hits[i].chunk_id;
        }
    }
    std::optional<DenseStats> dense_stats() {
        const std::vector<std::string> names{"c"};
        return must(must(backend_->snapshot(names, {}))->stats(scope_of("c"))).dense;
    }

    std::mt19937 rng_{77};
    std::unique_ptr<store::Directory> root_ = store::make_memory_directory();
    local::LocalOptions options_;
    std::unique_ptr<Backend> backend_;
};

TEST_F(Derived, AGraphComesWithManyVectorsAndLeadsToTheExactScores) {
    create();
    put(0, 1000);
    compact();
    EXPECT_TRUE(names_of("graph-").empty()) << "few vectors are scanned as fast";
    EXPECT_FALSE(dense_stats().has_value());
    put(1000, kRows);
    compact();
    ASSERT_EQ(names_of("graph-").size(), 1U);
    EXPECT_EQ(names_of("graph-").front().substr(5), names_of("segment-").front().substr(7));
    EXPECT_EQ(names_of("calibration").size(), 1U);
    const auto stats = dense_stats();
    ASSERT_TRUE(stats.has_value());
    EXPECT_EQ(stats->in_graphs, kRows);
    EXPECT_EQ(stats->calibrated, kRows);
    EXPECT_EQ(stats->asked, 0U);
    for (const DenseStats::Point& point : stats->points) {
        EXPECT_LE(point.low, point.found);
        EXPECT_LE(point.found, point.high);
    }
    EXPECT_GE(recall(), 0.9);
    make_scans_look_bad();
    EXPECT_GE(recall(), 0.9);
    EXPECT_TRUE(must(backend_->check({})).clean());
    EXPECT_EQ(must(backend_->check({})).notes, std::vector<std::string>());
}

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

TEST_F(Derived, FiltersOfEveryWidthFindWhatMatches) {
    fill();
    make_scans_look_bad();
    for (const std::size_t share : {2UL, 10UL, 100UL, 1000UL, 4500UL}) {
        SCOPED_TRACE(::testing::Message() << "one of " << share);
        const auto filter =
            Filter::compare(Filter::Op::Lt, "row", Value(static_cast<std::int64_t>(kRows / share)));
        EXPECT_GE(recall(filter), 0.95);
        EXPECT_EQ(search(vector_near(rng_, 1), false, 10, filter).hits.size(),
                  std::min<std::size_t>(10, kRows / share));
    }
}

TEST_F(Derived, FiltersThatFollowTheQueryFindWhatMatches) {
    fill();
    make_scans_look_bad();
    for (const std::int64_t centre : {0, 7, 29}) {
        const auto only = Filter::compare(Filter::Op::Eq, "centre", Value(centre));
        const auto others = Filter{Filter::Op::Not, {}, {}, {only}};
        for (const std::size_t near : {static_cast<std::size_t>(centre), std::size_t{3}}) {
            EXPECT_GE(recall(only, 10, near, 10), 0.95);
            EXPECT_GE(recall(others, 10, near, 10), 0.95);
            EXPECT_EQ(search(vector_near(rng_, near), false, 50, only).hits.size(), 50U);
            EXPECT_EQ(search(vector_near(rng_, near), false, 50, others).hits.size(), 50U);
        }
    }
}

TEST_F(Derived, ReplacingHalfOfItInRandomOrderCostsNoRecall) {
    fill();
    make_scans_look_bad();
    const double before = recall();
    std::vector<std::size_t> order(kRows);
    for (std::size_t i = 0; i < kRows; ++i) order[i] = i;
    std::ranges::shuffle(order, rng_);
    for (std::size_t i = 0; i < kRows / 2; ++i) {
        Chunk chunk = make_chunk(id(order[i]), "text", vector_near(rng_, order[i] % kCentres));
        must(backend_->upsert("c", "default", {std::move(chunk)}, {}));
        if (i % 100 == 0) local().run_due_compactions();
        if (i == kRows / 4) {
            EXPECT_GE(recall(), before - 0.02);
        }
    }
    EXPECT_GE(recall(), before - 0.02) << "as it is";
    local().run_due_compactions();
    compact();
    EXPECT_EQ(dense_stats()->in_graphs, kRows);
    constexpr int kQueries = 200;
    const double replaced = recall(std::nullopt, 10, kCentres, kQueries);
    const std::vector<std::string> names{"c"};
    auto chunks = must(must(backend_->snapshot(names, {}))->scan(scope_of("c"), "", kRows, true));
    ASSERT_EQ(chunks.size(), kRows);
    must(backend_->drop_collection("c"));
    create();
    must(backend_->upsert("c", "default", std::move(chunks), {}));
    compact();
    make_scans_look_bad();
    EXPECT_GE(replaced, recall(std::nullopt, 10, kCentres, kQueries) - 0.01) << "built afresh";
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

TEST_F(Derived, DeletesTakeEffectAtOnce) {
    fill();
    make_scans_look_bad();
    for (int i = 0; i < 200; ++i) {
        const auto query = vector_near(rng_, 5);
        const LegResult found = search(query, false, 1);
        ASSERT_EQ(found.hits.size(), 1U);
        must(backend_->remove(scope_of("c"), by_ids({found.hits.front().chunk_id}), {}));
        const LegResult next = search(query, false, 1);
        ASSERT_EQ(next.hits.size(), 1U);
        EXPECT_NE(next.hits.front().chunk_id, found.hits.front().chunk_id);
    }
}

TEST_F(Derived, QueriesOfLateMakeTheCalibration) {
    fill();
    for (int i = 0; i < 300; ++i) search(vector_near(rng_, rng_() % kCentres), false);
    local().run_due_compactions();
    auto stats = dense_stats();
    ASSERT_TRUE(stats.has_value());
    EXPECT_GE(stats->asked, 256U);
    EXPECT_EQ(stats->asked, stats->queries) << "enough of them, so no own vectors";
    EXPECT_GE(recall(std::nullopt, 10, kCentres, 100), 0.88);
    open();
    EXPECT_EQ(dense_stats()->asked, stats->asked);
    // Twice as many vectors: it is made again.
    put(kRows, 2 * kRows + 100);
    compact();
    EXPECT_EQ(dense_stats()->calibrated, 2 * kRows + 100);
}

TEST_F(Derived, DepthsAndVectorsOfAllKindsAreAnswered) {
    fill();
    make_scans_look_bad();
    const auto query = vector_near(rng_, 1);
    EXPECT_TRUE(search(query, false, 0).hits.empty());
    EXPECT_EQ(search(query, false, kRows + 5).hits.size(), kRows);
    EXPECT_EQ(search(query, false, kRows).hits, search(query, true, kRows).hits);
    EXPECT_EQ(search(query, false, 10, std::nullopt, 1).hits, search(query, true).hits);
    must(backend_->create_collection("same", vectors_schema(3)));
    std::vector<Chunk> chunks;
    for (std::size_t i = 0; i < 4500; ++i) chunks.push_back(make_chunk(id(i), "text", {3, 4, 5}));
    must(backend_->upsert("same", "default", std::move(chunks), {}));
    must(must(backend_->compaction("same"))->finish());
    const std::vector<std::string> names{"same"};
    Leg leg = vector_leg(scope_of("same"), {1, 1, 1}, 10);
    leg.recall = 0.9;
    const LegResult found = must(must(backend_->snapshot(names, {}))->search_leg(leg));
    ASSERT_EQ(found.hits.size(), 10U);
    EXPECT_EQ(found.hits.front().score, found.hits.back().score);
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

TEST_F(Derived, NewVectorsGetAGraphOfTheirOwn) {
    fill();
    const Schema schema = vectors_schema(kDimension, Metric::Dot);
    auto work = must(backend_->rewrite("c", schema));
    do {
        for (auto batch = must(work->pending(500)); !batch.chunks.empty();
             batch = must(work->pending(500))) {
            must(work->put(std::move(batch)));
        }
    } while (!must(work->finish()));
    work.reset();
    EXPECT_TRUE(names_of("graph-").empty()) << "it went with its segment";
    EXPECT_TRUE(names_of("calibration").empty());
    compact();
    EXPECT_EQ(dense_stats()->in_graphs, kRows);
    EXPECT_GE(recall(), 0.9);
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
