#include "braid/value.hpp"

#include <cmath>
#include <compare>
#include <limits>

#include <gtest/gtest.h>

namespace braid {
namespace {

constexpr std::int64_t kLarge = std::int64_t{1} << 53;

TEST(Value, NumbersAreEqualIfTheyDenoteTheSameNumber) {
    EXPECT_EQ(Value(1), Value(1.0));
    EXPECT_EQ(Value(0), Value(-0.0));
    EXPECT_NE(Value(1), Value(1.5));
    EXPECT_NE(Value(1), Value(true));
    EXPECT_NE(Value(1), Value("1"));
    EXPECT_NE(Value(), Value(0));
    EXPECT_NE(Value(), Value(false));
    EXPECT_EQ(Value(kLarge), Value(static_cast<double>(kLarge)));
    EXPECT_NE(Value(kLarge + 1), Value(static_cast<double>(kLarge)));
    EXPECT_NE(Value(kLarge + 1), Value(kLarge));
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    EXPECT_NE(Value(most), Value(static_cast<double>(most))) << "2^63 - 1 is not 2^63";
    EXPECT_EQ(Value(std::numeric_limits<std::int64_t>::min()), Value(-std::ldexp(1.0, 63)));
    EXPECT_NE(Value(std::nan("")), Value(std::nan("")));
    EXPECT_NE(Value(0), Value(std::nan("")));
}

TEST(Value, NumbersAreOrderedExactly) {
    const auto order = [](const Value& a, const Value& b) { return compare_numbers(a, b); };
    EXPECT_EQ(order(1, 2), std::partial_ordering::less);
    EXPECT_EQ(order(2, 1.5), std::partial_ordering::greater);
    EXPECT_EQ(order(-2, -1.5), std::partial_ordering::less);
    EXPECT_EQ(order(1.5, 2), std::partial_ordering::less);
    EXPECT_EQ(order(2.0, 2), std::partial_ordering::equivalent);
    EXPECT_EQ(order(kLarge + 1, static_cast<double>(kLarge)), std::partial_ordering::greater);
    EXPECT_EQ(order(static_cast<double>(kLarge), kLarge + 1), std::partial_ordering::less);
    EXPECT_EQ(order(1, 1e300), std::partial_ordering::less);
    EXPECT_EQ(order(1, -1e300), std::partial_ordering::greater);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(order(std::numeric_limits<std::int64_t>::max(), infinity),
              std::partial_ordering::less);
    EXPECT_EQ(order(-infinity, std::numeric_limits<std::int64_t>::min()),
              std::partial_ordering::less);
    EXPECT_EQ(order(std::nan(""), 1), std::partial_ordering::unordered);
    EXPECT_EQ(order(1, std::nan("")), std::partial_ordering::unordered);
}

TEST(Value, IntegersAbove64BitsBecomeDoubles) {
    EXPECT_TRUE(Value(std::uint64_t{7}).is_int());
    EXPECT_EQ(Value(std::numeric_limits<std::uint64_t>::max()).as_double(), std::ldexp(1.0, 64));
    EXPECT_EQ(Value(std::uint64_t{1} << 63).as_double(), std::ldexp(1.0, 63));
    EXPECT_EQ(Value((std::uint64_t{1} << 63) - 1).as_int(),
              std::numeric_limits<std::int64_t>::max());
}

TEST(Value, ContainersAreComparedByContent) {
    EXPECT_EQ(Value(Array{1, "a"}), Value(Array{1.0, "a"}));
    EXPECT_NE(Value(Array{1, 2}), Value(Array{2, 1}));
    EXPECT_EQ(Value(Object{{"a", 1}, {"b", Array{}}}), Value(Object{{"b", Array{}}, {"a", 1.0}}));
    EXPECT_NE(Value(Object{{"a", 1}}), Value(Object{{"a", 1}, {"b", nullptr}}));
    EXPECT_NE(Value(Object{{"a", 1}}), Value(Object{{"b", 1}}));
    EXPECT_NE(Value(Object{}), Value(Array{}));
}

TEST(Value, KnowsItsType) {
    EXPECT_EQ(Value().type_name(), "null");
    EXPECT_EQ(Value(false).type_name(), "boolean");
    EXPECT_EQ(Value(1).type_name(), "number");
    EXPECT_EQ(Value(1.5).type_name(), "number");
    EXPECT_EQ(Value("").type_name(), "string");
    EXPECT_EQ(Value(Array{}).type_name(), "array");
    EXPECT_EQ(Value(Object{}).type_name(), "object");
    EXPECT_TRUE(Value(std::optional<int>()).is_null());
    EXPECT_EQ(Value(std::optional(3)), Value(3));
}

TEST(Object, KeepsOrderAndUniqueKeys) {
    Object object{{"b", 1}, {"a", 2}, {"b", 3}};
    EXPECT_EQ(object.size(), 2U);
    EXPECT_EQ(object.begin()->first, "b");
    EXPECT_EQ(*object.find("b"), Value(3));
    object.set("c", 4) = 5;
    EXPECT_EQ(*object.find("c"), Value(5));
    EXPECT_TRUE(object.erase("b"));
    EXPECT_FALSE(object.erase("b"));
    EXPECT_EQ(object.find("b"), nullptr);
    EXPECT_EQ(Value(1).find("x"), nullptr);
}

TEST(FindPath, PrefersTheLongestName) {
    const Object object{{"a.b", 1},
                        {"a", Object{{"b", 2}, {"c", Object{{"d", 3}}}, {"c.d", 4}}},
                        {"x", Object{{"y.z", 5}}},
                        {"x.y", Object{{"w", 6}}}};
    EXPECT_EQ(*find_path(object, "a.b"), Value(1));
    EXPECT_EQ(*find_path(object, "a.c.d"), Value(4));
    EXPECT_EQ(*find_path(object, "x.y.z"), Value(5));
    EXPECT_EQ(*find_path(object, "x.y.w"), Value(6));
    EXPECT_EQ(find_path(object, "a.b.c"), nullptr);
    EXPECT_EQ(find_path(object, ""), nullptr);
    EXPECT_EQ(find_path(object, "."), nullptr);
    EXPECT_EQ(find_path(object, "a."), nullptr);
}

}  // namespace
}  // namespace braid
