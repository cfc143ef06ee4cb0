#include "braid/text/nearest.hpp"

#include <string>

#include <gtest/gtest.h>

namespace braid::text {
namespace {

constexpr std::string_view kKeys[] = {"top_k", "query", "filter", "dense_weight", "collections"};

TEST(NearestName, FindsWhatWasMeant) {
    EXPECT_EQ(nearest_name("topk", kKeys), "top_k");
    EXPECT_EQ(nearest_name("qeury", kKeys), "query");
    EXPECT_EQ(nearest_name("QUERY", kKeys), "query");
    EXPECT_EQ(nearest_name("dense_wieght", kKeys), "dense_weight");
    EXPECT_EQ(nearest_name("collection", kKeys), "collections");
}

TEST(NearestName, FindsNothingFarAway) {
    EXPECT_EQ(nearest_name("xyzzy", kKeys), std::nullopt);
    EXPECT_EQ(nearest_name("", kKeys), std::nullopt);
    EXPECT_EQ(nearest_name("query", {}), std::nullopt);
    EXPECT_EQ(nearest_name(std::string(1'000'000, 'q'), kKeys), std::nullopt);
}

TEST(NearestNames, ListsTheNearestFirst) {
    const auto names = nearest_names("Qurey", kKeys, 2);
    ASSERT_EQ(names.size(), 2U);
    EXPECT_EQ(names[0], "query");
    EXPECT_EQ(nearest_names("q", kKeys, 99).size(), std::size(kKeys));
    EXPECT_TRUE(nearest_names("q", {}, 3).empty());
    EXPECT_EQ(nearest_names(std::string(1'000'000, 'q'), kKeys, 3).size(), 3U);
}

}  // namespace
}  // namespace braid::text
