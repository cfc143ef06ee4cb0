#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/local/backend.hpp"
#include "braid/segment/calibrations.hpp"
#include "braid/store/memory_directory.hpp"

namespace braid::testing {

/// A database in memory whose collection "c" gets graphs from few vectors on.
class Derived : public ::testing::Test {
protected:
    static constexpr std::size_t kRows = 4500;
    static constexpr std::size_t kCentres = 30;
    static constexpr std::size_t kDimension = 24;

    /// Vectors about centres, of which neighbours in number are near each other.
    static std::vector<float> vector_near(std::mt19937& rng, std::size_t centre) {
        std::mt19937 of_centre(static_cast<unsigned>(centre));
        std::normal_distribution<float> place;
        std::normal_distribution<float> noise;
        std::vector<float> vector(kDimension);
        for (float& x : vector) x = place(of_centre) + noise(rng);
        return vector;
    }

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

}  // namespace braid::testing
