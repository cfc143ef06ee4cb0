#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "braid/json/quote.hpp"
#include "json/random_value.hpp"

namespace braid::json {
namespace {

TEST(Print, WritesEachTypeCompactly) {
    const Object object{{"n", Value()}, {"a", Array{1, true, "x", 0.5}}, {"e", Object{}}};
    EXPECT_EQ(print(object), R"({"n":null,"a":[1,true,"x",0.5],"e":{}})");
    EXPECT_EQ(print(Array{}), "[]");
    EXPECT_EQ(print(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

TEST(Print, AppendsToWhatIsThere) {
    std::string out = "x: ";
    print_to(out, Array{1, 2});
    EXPECT_EQ(out, "x: [1,2]");
}

TEST(Print, WritesOneMemberPerLineWhenPretty) {
    const Object object{{"a", Array{1, Array{}, Object{{"b", 2}}}}, {"c", Object{}}, {"d", "x"}};
    EXPECT_EQ(print_pretty(object), R"({
  "a": [
    1,
    [],
    {
      "b": 2
    }
  ],
  "c": {},
  "d": "x"
})");
    EXPECT_EQ(print_pretty(Array{1}, 0), "[\n1\n]");
    EXPECT_EQ(print_pretty(Array{1}, 4), "[\n    1\n]");
    EXPECT_EQ(print_pretty("x"), "\"x\"");
}

TEST(Print, WritesDoublesAsBrieflyAsTheyCanBeReadBack) {
    const std::vector<std::pair<double, std::string>> cases{
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {0.1, "0.1"},
        {100000.0, "100000.0"},
        {-123456.75, "-123456.75"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {1e22, "1e+22"},
        {0.00001, "0.00001"},
        {0.000001, "1e-06"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {9007199254740993.0, "9007199254740992.0"},
        {0.019395491803278687, "0.019395491803278687"},
    };
    for (const auto& [number, text] : cases) EXPECT_EQ(print(number), text);
}

TEST(Print, WritesNullForWhatIsNoNumber) {
    EXPECT_EQ(print(std::nan("")), "null");
    EXPECT_EQ(print(Array{HUGE_VAL, -HUGE_VAL}), "[null,null]");
}

TEST(Print, EscapesOnlyWhatMustBe) {
    EXPECT_EQ(print("\"\\/\b\f\n\r\t\x01\x1f\x7f é😀"),
              "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f é😀\"");
    EXPECT_EQ(print(std::string("a\0b", 3)), "\"a\\u0000b\"");
    EXPECT_EQ(print(Object{{"k\n", 1}}), "{\"k\\n\":1}");
}

TEST(Print, EscapesAByteWhereverItStands) {
    for (int byte = 0; byte < 0x80; ++byte) {
        const char c = static_cast<char>(byte);
        std::string escaped;
        print_to(escaped, Value(std::string(1, c)));
        const std::string inner = escaped.substr(1, escaped.size() - 2);
        for (std::size_t size = 0; size < 20; ++size) {
            for (std::size_t at = 0; at <= size; ++at) {
                std::string text(size, 'x');
                text.insert(at, 1, c);
                std::string wanted(size, 'x');
                wanted.insert(at, inner);
                ASSERT_EQ(print(Value(text)), "\"" + wanted + "\"") << byte << " at " << at;
            }
        }
    }
}

TEST(Print, ReplacesBytesThatAreNotUtf8) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"\xFF", "\uFFFD"},           {"a\x80z", "a\uFFFDz"},
        {"\xC3", "\uFFFD"},           {"\xC3(", "\uFFFD("},
        {"\xC0\xAF", "\uFFFD\uFFFD"}, {"\xE2\x82", "\uFFFD"},
        {"\xE2\x82z", "\uFFFDz"},     {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
        {"\xF0\x9F\x98", "\uFFFD"},   {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
        {"\xF5", "\uFFFD"},           {"é\xC3\xC3\xA9", "é\uFFFDé"},
    };
    for (const auto& [bytes, text] : cases) EXPECT_EQ(print(bytes), "\"" + text + "\"");
}

TEST(Print, IsReadBackUnchanged) {
    for (unsigned seed = 0; seed < 4000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Value value = random_value(rng, 5);
        const auto compact = parse(print(value));
        ASSERT_TRUE(compact) << compact.error().message;
        EXPECT_TRUE(identical(*compact, value)) << print(value);
        const auto pretty = parse(print_pretty(value));
        ASSERT_TRUE(pretty) << pretty.error().message;
        EXPECT_TRUE(identical(*pretty, value)) << print(value);
        if (HasFailure()) return;
    }
}

TEST(Print, KeepsEveryBitOfADouble) {
    std::mt19937_64 rng(1);
    Parser parser;
    for (int i = 0; i < 200'000; ++i) {
        const double number = random_double(rng);
        const auto read = parser.parse(print(number));
        ASSERT_TRUE(read && identical(*read, number)) << "seed 1, number " << i << ": " << number;
    }
}

TEST(Print, MakesValidTextOfAnyBytes) {
    for (unsigned seed = 0; seed < 2000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        std::string bytes(rng() % 64, ' ');
        for (char& c : bytes) c = static_cast<char>(rng() % 2 == 0 ? rng() % 256 : rng() % 128);
        const auto read = parse(print(Object{{bytes, bytes}}));
        ASSERT_TRUE(read) << read.error().message;
        ASSERT_EQ(parse(print(*read)), *read);
    }
}

TEST(Print, WalksValuesAsDeepAsAnyTextMayBe) {
    Value deep = 1;
    for (std::size_t i = 0; i < kMaxDepth; ++i) {
        Array around;
        around.push_back(std::move(deep));
        deep = std::move(around);
    }
    std::string text(kMaxDepth, '[');
    text += '1';
    text.append(kMaxDepth, ']');
    EXPECT_EQ(print(deep), text);
    EXPECT_EQ(parse(text, {.max_depth = kMaxDepth}), deep);
    EXPECT_FALSE(print_pretty(deep).empty());
}

TEST(Quoted, CutsAtACodePoint) {
    EXPECT_EQ(quoted("abc", 3), "\"abc\"");
    EXPECT_EQ(quoted("abcd", 3), "\"abc…\"");
    EXPECT_EQ(quoted("😀😀", 1), "\"😀…\"");
    EXPECT_EQ(quoted("a\nb"), "\"a\\nb\"");
    EXPECT_EQ(quoted(""), "\"\"");
}

}  // namespace
}  // namespace braid::json
