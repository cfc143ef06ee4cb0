// A namespace that is large beside others has files of its own.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "segment/model_database.hpp"

namespace braid::testing {
namespace {

using Segments = std::vector<IndexState::Segment>;

Segments segments_of(Database& database) {
    return must(database.snapshot()->stats(scope_of("c"))).index->segments;
}

std::uint64_t count_in(Database& database, const std::string& space) {
    ReadScope scope = scope_of("c");
    scope.namespace_ = space;
    return must(database.snapshot()->count(scope));
}

class OwnFiles : public ::testing::Test {
protected:
    static constexpr int kLarge = 60;  // of four rows a flush and eight segments a merge: over 32
    static constexpr int kSmall = 9;

    OwnFiles() { must(database_.backend().create_collection("c", words_schema())); }

    void put(const std::string& space, int number, const std::string& text) {
        must(database_.backend().upsert("c", space,
                                        {make_chunk("c" + std::to_string(number), text)}, {}));
        database_.settle();
    }
    /// A large namespace and small ones, written by turns.
    void fill() {
        for (int i = 0; i < kLarge; ++i) {
            put("large", i, "word of many");
            if (i % 7 == 0) put("small" + std::to_string(i), i, "word of few");
        }
    }

    Database database_{local::Engine::Segment, 4};
};

TEST_F(OwnFiles, OneIsMadeWhenEverythingIsMerged) {
    fill();
    database_.compact();
    const Segments files = segments_of(database_);
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(std::max(files[0].chunks, files[1].chunks), std::uint64_t{kLarge});
    EXPECT_EQ(std::min(files[0].chunks, files[1].chunks), std::uint64_t{kSmall});
    database_.compact();
    EXPECT_EQ(segments_of(database_).front().file, files.front().file) << "nothing was left to do";
    database_.reopen();
    EXPECT_EQ(count_in(database_, "large"), std::uint64_t{kLarge});
    EXPECT_EQ(count_in(database_, "small7"), 1U);
    EXPECT_EQ(must(database_.backend().check({})).problems, std::vector<std::string>());
}

TEST_F(OwnFiles, DroppingItRewritesNothingOfTheOthers) {
    fill();
    database_.compact();
    Segments before = segments_of(database_);
    std::erase_if(before, [](const auto& one) { return one.chunks == kLarge; });
    ASSERT_EQ(before.size(), 1U);
    ReadScope scope = scope_of("c");
    scope.namespace_ = "large";
    DeleteSelector all;
    all.filter = Filter{};
    EXPECT_EQ(must(database_.backend().remove(scope, all, {})).written, std::uint64_t{kLarge});
    for (int i = 0; i < 4; ++i) put("small7", 100 + i, "more");  // a flush looks for merges
    Segments after = segments_of(database_);
    const auto kept = std::ranges::find(after, before.front().file, &IndexState::Segment::file);
    EXPECT_NE(kept, after.end());
    for (const auto& segment : after) EXPECT_NE(segment.chunks, std::uint64_t{kLarge});
    EXPECT_EQ(count_in(database_, "large"), 0U);
    EXPECT_EQ(count_in(database_, "small7"), 5U);
}

TEST_F(OwnFiles, AnswersAreOfTheLastVersions) {
    for (int round = 0; round < 12; ++round) {
        for (int i = 0; i < kLarge; ++i) {
            put("large", i, "round" + std::to_string(round));
            if (i % 7 == 0) put("small" + std::to_string(i), i, "round" + std::to_string(round));
        }
    }
    EXPECT_EQ(count_in(database_, "large"), std::uint64_t{kLarge});
    EXPECT_EQ(count_in(database_, "small7"), 1U);
    const Leg last = words_leg(scope_of("c"), {"round11"}, 1000);
    for (const std::string space : {"large", "small7"}) {
        Leg leg = last;
        leg.scope.namespace_ = space;
        EXPECT_EQ(must(database_.snapshot()->search_leg(leg)).hits.size(),
                  space == "large" ? std::size_t{kLarge} : 1U);
    }
    EXPECT_LE(segments_of(database_).size(), 8U * 3 * 2);
    EXPECT_EQ(must(database_.backend().check({})).problems, std::vector<std::string>());
}

}  // namespace
}  // namespace braid::testing
