#include "braid/json/find_in.hpp"

#include <gtest/gtest.h>

#include "braid/json/json.hpp"

namespace braid::json {
namespace {

TEST(FindIn, FollowsNamesFromObjectToObject) {
    const Value value = parse(R"({"a": {"b.c": {"d": 1}}, "e": [{"f": 2}]})").value();
    ASSERT_NE(find_in(value, {"a", "b.c", "d"}), nullptr);
    EXPECT_EQ(*find_in(value, {"a", "b.c", "d"}), Value(1));
    EXPECT_EQ(find_in(value, {}), &value);
    EXPECT_EQ(find_in(value, {"a", "b", "c", "d"}), nullptr);
    EXPECT_EQ(find_in(value, {"a", "b.c", "d", "x"}), nullptr);
    EXPECT_EQ(find_in(value, {"e", "f"}), nullptr);
}

}  // namespace
}  // namespace braid::json
