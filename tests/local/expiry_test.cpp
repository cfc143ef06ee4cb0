#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/local/backend.hpp"
#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

constexpr Timestamp kStart{1'700'000'000'000'000};

/// A database with a clock of its own.
class Expiry : public ::testing::TestWithParam<local::Engine> {
protected:
    Expiry() {
        options_.engine = GetParam();
        options_.flush_rows = 2;
        options_.flush_on_close_rows = 1;
        options_.compaction.background = false;
        options_.clock = [this] { return now_; };
        open();
        must(backend_->create_collection("c", vectors_schema(2)));
    }
    void open() {
        backend_.reset();
        backend_ = database_.open(options_);
    }
    void put(const std::string& id, const std::string& text, std::int64_t lives_micros) {
        Chunk chunk = make_chunk(id, text, {1, 0});
        chunk.expires_at = Timestamp{kStart.micros + lives_micros};
        must(backend_->upsert("c", "default", {chunk}, {}));
        dynamic_cast<local::LocalBackend&>(*backend_).run_due_compactions();
    }
    void put(const std::string& id, const std::string& text) {
        must(backend_->upsert("c", "default", {make_chunk(id, text, {0, 1})}, {}));
        dynamic_cast<local::LocalBackend&>(*backend_).run_due_compactions();
    }
    void compact() { compact_whole(*backend_, "c"); }
    bool files_hold(const std::string& text) const {
        const auto files = database_.collection("c");
        return std::ranges::any_of(must(files->list()), [&](const store::DirectoryEntry& entry) {
            const auto bytes = DatabaseInMemory::read(*files, entry.name);
            const auto* const begin = reinterpret_cast<const char*>(bytes.data());
            return std::string_view(begin, bytes.size()).find(text) != std::string_view::npos;
        });
    }

    DatabaseInMemory database_;
    Timestamp now_ = kStart;
    local::LocalOptions options_;
    std::unique_ptr<Backend> backend_;
};

TEST_P(Expiry, HappensAtTheMomentAndNotBefore) {
    put("a", "red fox", 10);
    put("b", "red hen", 20);
    put("c", "red dog");
    now_.micros += 9;
    EXPECT_EQ(ids_in(*backend_, "c"), (Ids{"a", "b", "c"}));
    now_.micros += 1;
    EXPECT_EQ(ids_in(*backend_, "c"), (Ids{"b", "c"}));
    now_.micros += 100;
    EXPECT_EQ(ids_in(*backend_, "c"), Ids{"c"});
    open();
    EXPECT_EQ(ids_in(*backend_, "c"), Ids{"c"});
    EXPECT_EQ(must(backend_->describe("c", {})).chunks, 1U);
    EXPECT_TRUE(must(backend_->check({})).clean());
}

TEST_P(Expiry, ASnapshotKeepsWhatItShowsThroughMerges) {
    for (int i = 0; i < 6; ++i) put("a" + std::to_string(i), "red fox", 10 + i);
    const ReaderPtr before = snapshot_of(*backend_, "c");
    now_.micros += 100;
    compact();
    EXPECT_EQ(must(before->count(scope_of("c"))), 6U);
    EXPECT_EQ(must(snapshot_of(*backend_, "c")->count(scope_of("c"))), 0U);
}

TEST_P(Expiry, CompactingDropsItForGood) {
    put("a", "vulpecula0", 10);
    put("b", "vulpecula1", 10);
    put("c", "stays here");
    EXPECT_TRUE(files_hold("vulpecula0"));
    now_.micros += 10;
    EXPECT_GT(must(backend_->check({})).superseded, 0U);
    compact();
    EXPECT_FALSE(files_hold("vulpecula0"));
    EXPECT_FALSE(files_hold("vulpecula1"));
    EXPECT_EQ(must(backend_->check({})).superseded, 0U);
    now_ = kStart;  // a clock that is set back brings nothing back
    EXPECT_EQ(ids_in(*backend_, "c"), Ids{"c"});
    open();
    EXPECT_EQ(ids_in(*backend_, "c"), Ids{"c"});
    EXPECT_TRUE(must(backend_->check({})).clean());
}

TEST_P(Expiry, AnUpdateMovesIt) {
    put("a", "red fox", 10);
    put("b", "red hen");
    const auto set = [&](const std::string& id, std::int64_t micros) {
        const Timestamp at{kStart.micros + micros};
        return backend_->update("c", "default", {{.chunk_id = id, .expires_at = at}}, {});
    };
    must(set("a", 50));
    must(set("b", 5));
    now_.micros += 20;
    EXPECT_EQ(ids_in(*backend_, "c"), Ids{"a"});
    expect_error(set("b", 100), ErrorCode::NotFound);
    compact();
    open();
    EXPECT_EQ(ids_in(*backend_, "c"), Ids{"a"});
    const Ids ids{"a"};
    EXPECT_EQ(present(must(snapshot_of(*backend_, "c")->fetch(scope_of("c"), ids, false)).front())
                  .expires_at,
              Timestamp{kStart.micros + 50});
}

INSTANTIATE_TEST_SUITE_P(Engines, Expiry,
                         ::testing::Values(local::Engine::Exact, local::Engine::Segment),
                         [](const auto& one) {
                             return one.param == local::Engine::Exact ? "exact" : "segment";
                         });

TEST(ClockSetBack, BringsNothingBackAndIsTold) {
    const DatabaseInMemory database;
    Timestamp now = kStart;
    std::vector<std::string> told;
    local::LocalOptions options;
    options.max_open = 1;
    options.clock = [&] { return now; };
    options.log = [&](const LogEvent& event) { told.emplace_back(event.name); };
    const auto backend = database.open(options);
    for (const char* name : {"c", "other"}) must(backend->create_collection(name, words_schema()));
    Chunk chunk = make_chunk("a", "soon gone");
    chunk.expires_at = Timestamp{kStart.micros + 5};
    must(backend->upsert("c", "default", {chunk}, {}));
    EXPECT_EQ(ids_in(*backend, "c"), Ids{"a"});
    now.micros += 10'000'000;
    EXPECT_EQ(ids_in(*backend, "c"), Ids{});
    now = kStart;
    EXPECT_EQ(ids_in(*backend, "c"), Ids{});
    EXPECT_EQ(ids_in(*backend, "other"), Ids{}) << "which closes the first";
    EXPECT_EQ(ids_in(*backend, "c"), Ids{}) << "opened anew";
    EXPECT_EQ(told, std::vector<std::string>{"clock_set_back"});
    now.micros += 20'000'000;
    EXPECT_EQ(ids_in(*backend, "c"), Ids{});
    now = kStart;
    EXPECT_EQ(ids_in(*backend, "c"), Ids{});
    EXPECT_EQ(told.size(), 2U);
}

}  // namespace
}  // namespace braid::testing
