#include "braid/docs/field_columns.hpp"

#include <atomic>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/docs/filter_matcher.hpp"

namespace braid::docs {
namespace {

class RandomRows {
public:
    explicit RandomRows(unsigned seed) : rng_(seed) {}

    Chunk chunk() {
        Chunk one;
        one.chunk_id = "c" + std::to_string(below(1000));
        one.document_id = "d" + std::to_string(below(3));
        if (below(2) == 0) one.title = word();
        if (below(2) == 0) one.chunk_index = static_cast<std::int64_t>(below(4));
        if (below(3) == 0) one.sensitivity = below(2) == 0 ? "public" : "restricted";
        if (below(3) == 0) one.visibility_scope = {word(), word()};
        for (const std::string name : {"a", "b", "c"}) {
            if (below(4) > 0) one.metadata.set(name, value(2));
        }
        return one;
    }
    Filter filter(int depth) {
        if (depth > 0 && below(3) == 0) {
            Filter node{below(2) == 0 ? Filter::Op::And : Filter::Op::Or, {}, {}, {}};
            for (std::size_t i = below(3); i > 0; --i) node.children.push_back(filter(depth - 1));
            return node;
        }
        if (depth > 0 && below(5) == 0) return {Filter::Op::Not, {}, {}, {filter(depth - 1)}};
        using enum Filter::Op;
        static const std::vector<Filter::Op> kOps{Eq, Ne,  Gt,     Gte,      Lt,     Lte,
                                                  In, Nin, Exists, Contains, Between};
        const Filter::Op op = kOps[below(kOps.size())];
        return Filter::compare(op, field(), operand(op));
    }

private:
    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(rng_);
    }
    std::string word() {
        static const std::vector<std::string> kWords{
            "ash", "oak", "public", "2024-05-01", "2024-05-01T00:00:00Z", ""};
        return kWords[below(kWords.size())];
    }
    Value scalar() {
        switch (below(4)) {
            case 0:
                return Value(word());
            case 1:
                return Value(static_cast<std::int64_t>(below(4)));
            case 2:
                return Value(static_cast<double>(below(8)) / 2);
            default:
                return Value(below(2) == 0);
        }
    }
    Value value(int depth) {
        if (depth > 0 && below(4) == 0) return Array{value(depth - 1), value(depth - 1)};
        if (depth > 0 && below(5) == 0) return Object{{"a", value(depth - 1)}};
        if (below(8) == 0) return Value();
        return scalar();
    }
    std::string field() {
        static const std::vector<std::string> kFields{"a",     "b.a",         "c",
                                                      "title", "chunk_index", "sensitivity",
                                                      "none",  "document_id", "visibility_scope"};
        return kFields[below(kFields.size())];
    }
    Value operand(Filter::Op op) {
        switch (op) {
            case Filter::Op::In:
            case Filter::Op::Nin:
                return Array{scalar(), scalar()};
            case Filter::Op::Between:
                return Array{Value(static_cast<std::int64_t>(0)),
                             Value(static_cast<std::int64_t>(2))};
            case Filter::Op::Exists:
                return Value(below(2) == 0);
            default:
                return scalar();
        }
    }

    std::mt19937 rng_;
};

TEST(FieldColumns, SelectWhatTheChunksThemselvesSay) {
    std::size_t compared = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomRows random(seed);
        std::vector<Chunk> chunks;
        for (int i = 0; i < 150; ++i) chunks.push_back(random.chunk());
        const Schema schema;
        const FieldColumns columns([&](std::size_t row) -> const Chunk& { return chunks[row]; },
                                   schema.levels.default_level);
        for (int i = 0; i < 40; ++i) {
            const auto matcher = FilterMatcher::create(random.filter(3), schema);
            if (!matcher) continue;                                // types that clash
            const std::size_t rows = i < 20 ? 70 : chunks.size();  // columns grow
            const auto selected = matcher->select(columns, rows, {});
            ASSERT_TRUE(selected);
            for (std::size_t row = 0; row < rows; ++row) {
                ASSERT_EQ(((*selected)[row / 64] >> (row % 64) & 1) != 0,
                          matcher->matches(chunks[row]))
                    << row;
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 300'000U);
}

TEST(FieldColumns, GiveUpWhenTheLimitsSaySo) {
    const std::vector<Chunk> chunks(5000);
    const FieldColumns columns([&](std::size_t row) -> const Chunk& { return chunks[row]; },
                               "normal");
    CallLimits late;
    late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
    const auto column = columns.column(Field::Metadata, "a", chunks.size(), late);
    ASSERT_FALSE(column);
    EXPECT_EQ(column.error().code, ErrorCode::DeadlineExceeded);
    EXPECT_TRUE(columns.column(Field::Metadata, "a", chunks.size(), {})) << "and goes on later";
}

}  // namespace
}  // namespace braid::docs
