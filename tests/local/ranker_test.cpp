// A collection's learned ranking is one of its files.

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "braid/rank/model_json.hpp"
#include "braid/store/directory.hpp"
#include "local/copy_database.hpp"
#include "local/database_in_memory.hpp"
#include "rank/random_model.hpp"
#include "recovery/workload.hpp"

namespace braid::testing {
namespace {

std::string some_model(unsigned seed) {
    std::mt19937_64 rng(seed);
    return rank::write_model(rank::random_model(rng, 5));
}

std::string ranker_of(const Backend& backend, const std::string& collection) {
    const auto model = must(snapshot_of(backend, collection)->ranker(collection));
    return model ? rank::write_model(*model) : "";
}

class RankerTest : public ::testing::Test {
protected:
    RankerTest() {
        for (const Step& step : workload()) must(step.run(*backend));
    }

    DatabaseInMemory database;
    std::unique_ptr<Backend> backend = database.open();
};

TEST_F(RankerTest, IsThereAfterARestartAndGoesWhenTold) {
    EXPECT_EQ(ranker_of(*backend, "docs"), "");
    must(backend->set_ranker("docs", some_model(1)));
    EXPECT_EQ(ranker_of(*backend, "docs"), some_model(1));
    EXPECT_EQ(ranker_of(*backend, "brief"), "");
    must(backend->set_ranker("docs", some_model(2)));
    backend.reset();
    backend = database.open();
    EXPECT_EQ(ranker_of(*backend, "docs"), some_model(2));
    EXPECT_TRUE(must(backend->check({})).clean());
    EXPECT_TRUE(must(backend->check({})).notes.empty());
    must(backend->set_ranker("docs", ""));
    must(backend->set_ranker("docs", ""));  // once more is no error
    EXPECT_EQ(ranker_of(*backend, "docs"), "");
    backend.reset();
    backend = database.open();
    EXPECT_EQ(ranker_of(*backend, "docs"), "");
}

TEST_F(RankerTest, WhatIsNoneIsRefused) {
    must(backend->set_ranker("docs", some_model(1)));
    EXPECT_FALSE(backend->set_ranker("docs", "{}"));
    EXPECT_FALSE(backend->set_ranker("nowhere", some_model(1)));
    EXPECT_EQ(ranker_of(*backend, "docs"), some_model(1));
}

TEST_F(RankerTest, ASnapshotKeepsTheOneItUsed) {
    must(backend->set_ranker("docs", some_model(1)));
    const std::string name = "docs";
    const ReaderPtr reader = snapshot_of(*backend, name);
    EXPECT_EQ(rank::write_model(*must(reader->ranker(name))), some_model(1));
    must(backend->set_ranker("docs", some_model(2)));
    EXPECT_EQ(rank::write_model(*must(reader->with({})->ranker(name))), some_model(1));
    EXPECT_EQ(ranker_of(*backend, "docs"), some_model(2));
}

TEST_F(RankerTest, IsPartOfACopy) {
    must(backend->set_ranker("docs", some_model(3)));
    DatabaseInMemory target;
    const CheckReport report = must(copy_database(*backend, *target.home(), {}));
    EXPECT_TRUE(report.clean());
    const auto copy = target.open();
    EXPECT_EQ(ranker_of(*copy, "docs"), some_model(3));
    EXPECT_EQ(ranker_of(*copy, "brief"), "");
}

TEST_F(RankerTest, DamageIsFoundAndStopsNothingElse) {
    must(backend->set_ranker("docs", some_model(4)));
    const std::string state = state_of(*backend);
    backend.reset();
    const auto files = database.collection("docs");
    const std::vector<std::byte> bytes = DatabaseInMemory::read(*files, "ranker");
    for (std::size_t i = 0; i < bytes.size(); i += 11) {
        std::vector<std::byte> damaged = bytes;
        damaged[i] ^= std::byte{1};
        must(files->replace("ranker", damaged));
        backend = database.open();
        EXPECT_EQ(state_of(*backend), state);
        EXPECT_FALSE(snapshot_of(*backend, "docs")->ranker("docs")) << i;
        EXPECT_FALSE(must(backend->check({})).clean()) << i;
        backend.reset();
    }
    must(files->replace("ranker", std::span(bytes).first(10)));
    backend = database.open();
    EXPECT_FALSE(must(backend->check({})).clean());
    must(backend->set_ranker("docs", some_model(5)));
    EXPECT_TRUE(must(backend->check({})).clean());
}

}  // namespace
}  // namespace braid::testing
