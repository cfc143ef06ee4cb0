#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "braid/json/strict_parse.hpp"
#include "json/random_value.hpp"

namespace braid::json {
namespace {

using namespace std::string_literals;

std::string error_of(const std::string& text, const ParseLimits& limits = {}) {
    const Result<Value> result = parse(text, limits);
    if (result) return "accepted";
    EXPECT_EQ(result.error().code, ErrorCode::InvalidArgument);
    return result.error().message;
}

TEST(Parse, ReadsWhatTheGrammarAllows) {
    const std::vector<std::pair<std::string, Value>> cases{
        {"null", Value()},
        {" true ", true},
        {"\t\r\nfalse\n", false},
        {"0", 0},
        {"-1", -1},
        {"1.0", 1.0},
        {"-0.0", -0.0},
        {"-0", -0.0},
        {"[-0,0]", Array{-0.0, 0}},
        {"[0,\"-0\",\"x-0 \"]", Array{0, "-0", "x-0 "}},
        {"[0,-0.5,-0e1]", Array{0, -0.5, -0.0}},
        {"{\"a\":0,\"b\":-0}", Object{{"a", 0}, {"b", -0.0}}},
        {"123.456e-2", 1.23456},
        {"1E5", 1e5},
        {"1e+5", 1e5},
        {"0e1", 0.0},
        {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
        {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
        {"9223372036854775808", 9223372036854775808.0},
        {"18446744073709551615", 18446744073709551615.0},
        {"18446744073709551616", 18446744073709551616.0},
        {"-9223372036854775809", -9223372036854775808.0},
        {"123456789012345678901234567890", 123456789012345678901234567890.0},
        {"[1,123456789012345678901234567890,\"a\"]",
         Array{1, 123456789012345678901234567890.0, "a"}},
        {"1.7976931348623157e308", std::numeric_limits<double>::max()},
        {"1.7976931348623158e308", std::numeric_limits<double>::max()},
        {"4.9e-324", std::numeric_limits<double>::denorm_min()},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
        {"1e-400", 0.0},
        {"-1e-400", -0.0},
        {"0.1e-99999999999999999999999", 0.0},
        {"0e99999999999999999999999", 0.0},
        {"1" + std::string(400, '0') + "e-400", 1.0},
        {"0." + std::string(400, '0') + "1e401", 1.0},
        {"9007199254740993", std::int64_t{9007199254740993}},
        {"9007199254740993.0", 9007199254740992.0},
        {"1.00000000000000011102230246251565404236316680908203125", 1.0},
        {"1.00000000000000011102230246251565404236316680908203126", 1.0000000000000002},
        {"\"\"", ""},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\"", "Aé€😀"},
        {"\"\\u0000\"", "\0"s},
        {"\"\\uFFFF\\uFFFE\"", "\uFFFF\uFFFE"},
        {"\"\x7f é€😀\"", "\x7f é€😀"},
        {"\"\xF4\x8F\xBF\xBF\"", "\U0010FFFF"},
        {"[]", Array{}},
        {"[ ]", Array{}},
        {"[[],{}]", Array{Array{}, Object{}}},
        {"{}", Object{}},
        {"{\"\":0}", Object{{"", 0}}},
        {"{ \"a\" : 1 , \"A\" : [ 2 ] }", Object{{"a", 1}, {"A", Array{2}}}},
        {"{\"b\":1,\"a\":2}", Object{{"b", 1}, {"a", 2}}},
    };
    for (const auto& [text, value] : cases) {
        const auto read = parse(text);
        ASSERT_TRUE(read) << text << ": " << read.error().message;
        EXPECT_TRUE(identical(*read, value)) << text << " read as " << print(*read);
        const auto slowly = parse_strictly(text, {});
        ASSERT_TRUE(slowly) << text << ": " << slowly.error().message;
        EXPECT_TRUE(identical(*slowly, value)) << text << " read as " << print(*slowly);
    }
}

TEST(Parse, RefusesWhatTheGrammarDoesNotAllow) {
    const std::vector<std::string> cases{
        "",
        " ",
        "nul",
        "nulll",
        "True",
        "NaN",
        "Infinity",
        "-Infinity",
        "undefined",
        "'a'",
        "a",
        "+1",
        "01",
        "-01",
        "-",
        "--1",
        "1.",
        ".5",
        "-.5",
        "1.e1",
        "1e",
        "1e+",
        "1e1.5",
        "0x10",
        "1_000",
        "1,000",
        "1 2",
        "1e400",
        "-1e400",
        "[1e999]",
        "\"",
        "\"a",
        "\"\\",
        "\"\\\"",
        "\"\\x41\"",
        "\"\\u12\"",
        "\"\\u12G4\"",
        "\"\\u\"",
        "\"\\a\"",
        "\"\\'\"",
        "\"a\nb\"",
        "\"a\tb\"",
        "\"\0\""s,
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1,,2]",
        "[1 2]",
        "[1}",
        "[1]]",
        "{",
        "}",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{,}",
        "{\"a\" 1}",
        "{\"a\":}",
        "{a:1}",
        "{'a':1}",
        "{1:1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1:2}",
        "{\"a\"}",
        "{\"a\",1}",
        "{null:1}",
        "{\"a\":1]",
        "{}{}",
        "[] []",
        "1 // x",
        "/* x */ 1",
        "# x\n1",
        "[1]\0"s,
        "1\0"s,
        "\f1",
        "1\v",
        "\u00A0[]",
        "\uFEFF[]",
        "\xEF\xBB\xBF",
        "\"\\uD800\"",
        "\"\\uDC00\"",
        "\"\\uD800\\u0041\"",
        "\"\\uD800\\uD800\"",
        "\"\\uD800x\"",
        "\"\\uDC00\\uD800\"",
        "\"\\ud800\\\"",
        "\"\xFF\"",
        "\"\x80\"",
        "\"\xC3\"",
        "\"\xC0\xAF\"",
        "\"\xED\xA0\x80\"",
        "\"\xF4\x90\x80\x80\"",
        "\"\xF5\x80\x80\x80\"",
        "\"\xE2\x82\"",
        "\"\xF0\x80\x80\x80\"",
        "[\"\xE9\"]",
        "{\"\xE9\":1}",
        "\xFF",
        "[\xC3\xA9]",
        "{\"a\":1,\"a\":1}",
        "{\"a\":1,\"\\u0061\":1}",
        "[{\"x\":{\"k\":1,\"j\":2,\"k\":3}}]",
        "\xFE\xFF\0[\0]"s,
        "1\0\0\0"s,
    };
    for (const std::string& text : cases) {
        EXPECT_FALSE(parse(text)) << text;
        EXPECT_FALSE(parse_strictly(text, {})) << text;
    }
}

TEST(Parse, SaysWhereAndWhatWasExpected) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "line 1, column 1: expected a value, found the end of the text"},
        {"\n\n  ", "line 3, column 3: expected a value, found the end of the text"},
        {"\uFEFF{}", "line 1, column 1: expected a value, found a byte order mark"},
        {"[1, NaN]", "line 1, column 5: expected a value, found 'NaN'"},
        {"[1,\n 2,\n x]", "line 3, column 2: expected a value, found 'x'"},
        {"[1,]", "line 1, column 4: expected a value, found ']'"},
        {"[1 2]", "line 1, column 4: expected ',' or ']' after an element, found '2'"},
        {"[1", "line 1, column 3: expected ',' or ']' after an element, found the end of the text"},
        {"{x", "line 1, column 2: expected a key or '}', found 'x'"},
        {"{\"a\":1,}", "line 1, column 8: expected a key after ',', found '}'"},
        {"{\"a\" 1}", "line 1, column 6: expected ':' after a key, found '1'"},
        {"{\"a\":1 é}", "line 1, column 8: expected ',' or '}' after a member, found 'é'"},
        {"{\"a\":1}\r\nx", "line 2, column 1: expected the end of the text, found 'x'"},
        {"\"日本\" \x01",
         "line 1, column 6: expected the end of the text, "
         "found control character 0x01"},
        {"01", "line 1, column 2: expected '.', 'e' or no more after a leading 0, found '1'"},
        {"-x", "line 1, column 2: expected a digit after '-', found 'x'"},
        {"[1.]", "line 1, column 4: expected a digit after '.', found ']'"},
        {"1e+", "line 1, column 4: expected a digit in an exponent, found the end of the text"},
        {"[1e400]", "line 1, column 2: number too large for a double: 1e400"},
        {"\"abc",
         "line 1, column 5: expected '\"' at the end of a string, "
         "found the end of the text"},
        {"\"a\nb\"", "line 1, column 3: control character 0x0A in a string must be escaped"},
        {"\"\\q\"", "line 1, column 3: expected one of \"\\/bfnrtu after '\\', found 'q'"},
        {"\"\\u12g\"", "line 1, column 6: expected four hexadecimal digits after \\u, found 'g'"},
        {"\"x\\ud800y\"", "line 1, column 3: \\u escape of half a surrogate pair"},
        {"\"\\udc00\"",
         "line 1, column 2: \\u escape of the second half of a surrogate pair "
         "without the first"},
        {"\"é\xFF\"", "line 1, column 3: invalid UTF-8: byte 0xFF"},
        {"[\xC3]", "line 1, column 2: expected a value, found invalid UTF-8: byte 0xC3"},
        {"{\"a\":1,\n \"b\":2, \"a\":3}", "line 2, column 9: duplicate key \"a\""},
    };
    for (const auto& [text, message] : cases) EXPECT_EQ(error_of(text), message) << text;
}

TEST(Parse, HoldsToItsLimits) {
    EXPECT_EQ(error_of("[1,2]", {.max_bytes = 4}), "a text of 5 bytes exceeds the limit of 4");
    EXPECT_EQ(error_of("[1,2]", {.max_bytes = 5}), "accepted");
    EXPECT_EQ(error_of("1", {.max_depth = 0}), "accepted");
    EXPECT_EQ(error_of("[]", {.max_depth = 0}), "line 1, column 1: nested deeper than 0");
    EXPECT_EQ(error_of("[{\"a\":1}]", {.max_depth = 2}), "accepted");
    EXPECT_EQ(error_of("[{\"a\":[]}]", {.max_depth = 2}), "line 1, column 7: nested deeper than 2");
    EXPECT_EQ(error_of(std::string(64, '[') + std::string(64, ']')), "accepted");
    EXPECT_EQ(error_of(std::string(65, '[') + std::string(65, ']')),
              "line 1, column 65: nested deeper than 64");
    const std::string three = R"({"a":1,"b":2,"c":3})";
    EXPECT_EQ(error_of(three, {.max_members = 3}), "accepted");
    EXPECT_EQ(error_of(three, {.max_members = 2}),
              "line 1, column 14: an object has more than 2 members");
}

TEST(Parse, SurvivesDepthBombs) {
    const ParseLimits generous{.max_depth = 1'000'000'000};
    for (const std::string& open : {"["s, "{\"a\":"s, "[{\"a\":["s}) {
        std::string bomb;
        while (bomb.size() < 1'000'000) bomb += open;
        EXPECT_NE(error_of(bomb).find("nested deeper than 64"), std::string::npos);
        EXPECT_NE(error_of(bomb, generous).find("nested deeper than 1024"), std::string::npos);
    }
    const std::string closed = std::string(1'000'000, '[') + std::string(1'000'000, ']');
    EXPECT_NE(error_of(closed, generous).find("nested deeper than 1024"), std::string::npos);
}

TEST(Parse, ReadsHugeStringsAndArrays) {
    const std::string content = std::string(1'000'000, 'x') + "é\n" + std::string(1'000'000, 'y');
    const auto read = parse(print(content));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, Value(content));
    std::string zeros = "[0";
    for (int i = 1; i < 100'000; ++i) zeros += ",0";
    EXPECT_EQ(parse(zeros + "]")->as_array().size(), 100'000U);
    const auto unclosed = parse(print(content).substr(0, 2'000'000));
    ASSERT_FALSE(unclosed);
}

TEST(Parse, FindsADuplicateAmongManyKeys) {
    std::string text = "{";
    for (int i = 0; i < 1000; ++i) text += "\"key" + std::to_string(i) + "\":1,";
    EXPECT_EQ(parse(text + "\"last\":1}")->as_object().size(), 1001U);
    EXPECT_NE(error_of(text + "\"key234\":1}").find("duplicate key \"key234\""), std::string::npos);
}

/// The value as text, or the error.
std::string outcome(const Result<Value>& result) {
    return result ? print(*result) : result.error().message;
}

TEST(Parser, IsTheSameForEveryTextItReads) {
    const std::string long_string = print(std::string(100'000, 'x'));
    Parser parser;
    for (int round = 0; round < 3; ++round) {
        for (const std::string& text : {"[1,2"s, "{\"a\":[1,2]}"s, ""s, "-0"s, long_string}) {
            EXPECT_EQ(outcome(parser.parse(text)), outcome(parse(text)));
        }
        EXPECT_EQ(outcome(parser.parse(std::string_view())), outcome(parse("")));
        EXPECT_EQ(outcome(parser.parse(long_string)), long_string);
    }
    Parser moved = std::move(parser);
    EXPECT_EQ(outcome(moved.parse("1")), "1");
}

TEST(Parser, ReadsAViewThatEndsBeforeItsText) {
    const std::string_view text = "[1,2]345";
    EXPECT_EQ(outcome(parse(text.substr(0, 5))), "[1,2]");
    EXPECT_EQ(outcome(parse(text.substr(5, 2))), "34");
    const std::vector<char> exact{'1', '2'};  // nothing behind it may be read
    EXPECT_EQ(outcome(parse({exact.data(), exact.size()})), "12");
}

}  // namespace
}  // namespace braid::json
