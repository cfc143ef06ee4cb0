#include "braid/exact/index_check.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"

namespace braid::exact {
namespace {

using testing::make_chunk;
using testing::vectors_schema;

/// One word per chunk, counted by hand.
PreparedChunk prepared(const std::string& id, const std::string& word, std::vector<float> vector) {
    PreparedChunk chunk;
    chunk.chunk = make_chunk(id, word, std::move(vector));
    chunk.chunk.document_id = "d";
    chunk.chunk.version = 1;
    chunk.text = {.terms = {{word, 2, 1}}, .field_lengths = {0, 0, 1}};
    return chunk;
}

class IndexCheckTest : public ::testing::Test {
protected:
    IndexCheckTest() {
        partition.upsert(prepared("a", "red", {1, 0}), 1);
        partition.upsert(prepared("b", "blue", {0, 1}), 1);
    }
    /// What is wrong if these are the chunks that there should be.
    std::vector<std::string> problems(const std::vector<PreparedChunk>& expected,
                                      Sequence at = 1) const {
        CheckReport report;
        {
            core::Findings findings("it", report);
            IndexCheck check(schema, 2, "default", at, findings);
            for (const PreparedChunk& chunk : expected) check.compare(partition, chunk);
            EXPECT_TRUE(check.finish(partition, {}));
        }
        return report.problems;
    }
    void expect_problem(const std::vector<PreparedChunk>& expected,
                        const std::string& words) const {
        std::string all;
        for (const std::string& problem : problems(expected)) all += problem + "\n";
        EXPECT_NE(all.find(words), std::string::npos) << all;
    }

    const Schema schema = vectors_schema(2);
    Partition partition{schema};
    const PreparedChunk a = prepared("a", "red", {1, 0});
    const PreparedChunk b = prepared("b", "blue", {0, 1});
};

TEST_F(IndexCheckTest, FindsNothingWhereAllIsWell) {
    EXPECT_EQ(problems({a, b}), std::vector<std::string>());
    partition.remove("b", 2);
    EXPECT_EQ(problems({a, b}), std::vector<std::string>()) << "as of before";
    EXPECT_EQ(problems({a}, 2), std::vector<std::string>());
}

TEST_F(IndexCheckTest, FindsWhatIsMissingAndWhatIsTooMuch) {
    expect_problem({a, b, prepared("c", "green", {1, 1})},
                   "chunk \"c\": it is in the log but not in the index");
    expect_problem({a}, "the index holds 2 chunks, but the log says 1");
    expect_problem({a}, "the index holds 2 vectors, but the log says 1");
    expect_problem({a}, "the index holds 2 postings, but the log says 1");
    expect_problem({a}, "statistics per access label");
}

TEST_F(IndexCheckTest, FindsWordsThatAreNotOfTheText) {
    PreparedChunk other = b;
    other.text.terms = {{"blue", 2, 2}};
    expect_problem({a, other}, "index of words does not match its text, first at \"blue\"");
    other.text.terms = {};
    expect_problem({a, other}, "the index holds 2 postings, but the log says 1");
    other = b;
    other.text.field_lengths = {0, 1, 1};
    expect_problem({a, other}, "wrong length for its text");
}

TEST_F(IndexCheckTest, FindsOtherVectorsLabelsAndFields) {
    PreparedChunk other = b;
    other.chunk.vector = {0, 2};
    expect_problem({a, other}, "differs between memory and the log");
    other = b;
    other.chunk.vector = {};
    expect_problem({a, other}, "the index has a vector for it, but the log has none");
    expect_problem({a, other}, "it has no vector");
    other = b;
    other.chunk.vector = {0, 1, 2};
    expect_problem({a, other}, "its vector has 3 dimensions, but the collection has 2");
    other.chunk.vector = {0, std::numeric_limits<float>::infinity()};
    expect_problem({a, other}, "not a finite number");
    other = b;
    other.chunk.sensitivity = "restricted";
    expect_problem({a, other}, "differ in its access label");
    other.chunk.sensitivity = "cosmic";
    expect_problem({a, other}, "its level \"cosmic\" is not one of the collection's");
    other = b;
    other.chunk.document_id = "elsewhere";
    expect_problem({a, other}, "does not list it under its document");
    other = b;
    other.chunk.metadata = {{"year", 2020}};
    expect_problem({a, other}, "differs between memory and the log");
}

TEST_F(IndexCheckTest, ListsAHundredProblemsAndCountsTheRest) {
    std::vector<PreparedChunk> many;
    many.reserve(150);
    for (int i = 0; i < 150; ++i) many.push_back(prepared("x" + std::to_string(i), "w", {1, 1}));
    const auto found = problems(many);
    ASSERT_EQ(found.size(), 101U);
    EXPECT_NE(found.back().find("more problems"), std::string::npos) << found.back();
}

}  // namespace
}  // namespace braid::exact
