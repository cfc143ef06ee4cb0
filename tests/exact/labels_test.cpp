#include "braid/exact/labels.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace braid::exact {
namespace {

TEST(LabelTable, GivesEqualLabelsOneNumber) {
    LabelTable table;
    EXPECT_EQ(table.intern({1, {"a", "b"}}), 0U);
    EXPECT_EQ(table.intern({1, {"ab"}}), 1U);
    EXPECT_EQ(table.intern({2, {"a", "b"}}), 2U);
    EXPECT_EQ(table.intern({1, {}}), 3U);
    EXPECT_EQ(table.intern({1, {"a", "b"}}), 0U);
    EXPECT_EQ(table.size(), 4U);
    EXPECT_EQ(table[1], (Label{1, {"ab"}}));
}

TEST(LabelTable, TakesAsManyLabelsAsThereAreChunks) {
    LabelTable table;
    for (std::uint32_t i = 0; i < 200'000; ++i) {
        ASSERT_EQ(table.intern({1, {"tenant-" + std::to_string(i)}}), i);
    }
    const auto visible = table.visible(3, {"tenant-77", "nobody"});
    EXPECT_EQ(std::ranges::count(visible, true), 1);
    EXPECT_TRUE(visible.at(77));
}

TEST(LabelTable, ShowsWhatLookingAtEveryLabelWouldShow) {
    std::mt19937 rng(3);
    LabelTable table;
    const std::vector<std::string> names{"a", "b", "c", "d", "e"};
    const auto some = [&] {
        std::vector<std::string> scopes;
        std::ranges::copy_if(names, std::back_inserter(scopes),
                             [&](const std::string&) { return rng() % 3 == 0; });
        return scopes;
    };
    for (int i = 0; i < 100; ++i) table.intern({rng() % 4, some()});
    for (int i = 0; i < 100; ++i) {
        const std::size_t clearance = rng() % 4;
        const std::vector<std::string> scopes = some();
        const auto visible = table.visible(clearance, scopes);
        ASSERT_EQ(visible.size(), table.size());
        for (std::uint32_t number = 0; number < table.size(); ++number) {
            const Label& label = table[number];
            const bool shared = std::ranges::any_of(label.scopes, [&](const std::string& scope) {
                return std::ranges::find(scopes, scope) != scopes.end();
            });
            ASSERT_EQ(visible[number],
                      label.level <= clearance && (label.scopes.empty() || shared));
        }
    }
}

}  // namespace
}  // namespace braid::exact
