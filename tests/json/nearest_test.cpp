#include "braid/core/nearest.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace braid::core {
namespace {

TEST(EditDistance, CountsEdits) {
    EXPECT_EQ(edit_distance("", "", 9), 0U);
    EXPECT_EQ(edit_distance("", "abc", 9), 3U);
    EXPECT_EQ(edit_distance("abc", "", 9), 3U);
    EXPECT_EQ(edit_distance("top_k", "topk", 9), 1U);
    EXPECT_EQ(edit_distance("query", "qeury", 9), 1U);
    EXPECT_EQ(edit_distance("kitten", "sitting", 9), 3U);
    EXPECT_EQ(edit_distance("kitten", "sitting", 1), 2U);
    EXPECT_EQ(edit_distance("a", "abcdefgh", 3), 4U);
}

/// The definition, as a recursion.
std::size_t reference(std::string_view a, std::string_view b) {
    if (a.empty() || b.empty()) return a.size() + b.size();
    const std::string_view a_rest = a.substr(1);
    const std::string_view b_rest = b.substr(1);
    std::size_t best = std::min({reference(a_rest, b) + 1, reference(a, b_rest) + 1,
                                 reference(a_rest, b_rest) + (a[0] == b[0] ? 0 : 1)});
    if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0]) {
        best = std::min(best, reference(a.substr(2), b.substr(2)) + 1);
    }
    return best;
}

TEST(EditDistance, IsWhatItsDefinitionSays) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::string a(rng() % 6, 'a');
        std::string b(rng() % 6, 'a');
        for (char& c : a) c = static_cast<char>('a' + rng() % 3);
        for (char& c : b) c = static_cast<char>('a' + rng() % 3);
        ASSERT_EQ(edit_distance(a, b, 20), reference(a, b)) << a << " " << b;
    }
}

TEST(Nearest, IsTheWordThatWasProbablyMeant) {
    const std::vector<std::string_view> known{"query", "top_k", "hop_top_k", "strategy", "k"};
    EXPECT_EQ(nearest("topk", known), "top_k");
    EXPECT_EQ(nearest("TopK", known), "top_k");
    EXPECT_EQ(nearest("qeury", known), "query");
    EXPECT_EQ(nearest("startegy", known), "strategy");
    EXPECT_EQ(nearest("K", known), "k");
    EXPECT_EQ(nearest("fusion", known), std::nullopt);
    EXPECT_EQ(nearest("", known), std::nullopt);
    EXPECT_EQ(nearest("topk", {}), std::nullopt);
    EXPECT_EQ(nearest(std::string(100'000, 'q'), known), std::nullopt);
}

TEST(Nearest, TakesTheFirstOfEquals) {
    const std::vector<std::string_view> known{"cat", "bat"};
    EXPECT_EQ(nearest("rat", known), "cat");
}

}  // namespace
}  // namespace braid::core
