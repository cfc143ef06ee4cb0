#include "braid/eval/queries.hpp"

#include <random>

#include <gtest/gtest.h>

namespace braid::eval {
namespace {

std::string error_of(const Result<std::vector<Query>>& result) {
    return result ? "no error" : result.error().message;
}

TEST(ParseQueries, ReadsBeirLines) {
    const Result<std::vector<Query>> queries = parse_queries(
        "{\"_id\": \"q1\", \"text\": \"red fox\", \"metadata\": {\"a\": [1]}}\r\n"
        "\n"
        "{\"text\": \" caf\\u00e9\\n\", \"_id\": 7}",
        "q.jsonl");

    ASSERT_TRUE(queries.has_value()) << queries.error().message;
    EXPECT_EQ(*queries, (std::vector<Query>{{"q1", "red fox"}, {"7", "café"}}));
}

TEST(ParseQueries, ReadsTabSeparatedLinesWithOrWithoutAHeader) {
    const std::vector<Query> expected{{"q1", "red fox"}, {"q2", "a\tb"}};
    EXPECT_EQ(*parse_queries("q1\tred fox\nq2\ta\tb\n", "q"), expected);
    EXPECT_EQ(*parse_queries("qid\ttext\r\nq1\tred fox \r\nq2\ta\tb\r\n", "q"), expected);
    EXPECT_EQ(*parse_queries("_id\tquery\nq1\tred fox\nq2\ta\tb", "q"), expected);
    EXPECT_TRUE(parse_queries("", "q")->empty());
}

TEST(ParseQueries, NamesFileAndLineOfWhatIsWrong) {
    EXPECT_EQ(error_of(parse_queries("q1\tx\nq2 y", "f")),
              "f:2: expected an id, a tab and the query's text, but found no tab");
    EXPECT_EQ(error_of(parse_queries("q1\tx\n\nq1\ty", "f")),
              "f:3: query \"q1\" is already on line 1");
    EXPECT_EQ(error_of(parse_queries("q1\t \n", "f")), "f:1: query \"q1\" has no text");
    EXPECT_EQ(error_of(parse_queries("q 1\tx\n", "f")),
              "f:1: the id \"q 1\" is empty or holds white space");
    EXPECT_EQ(error_of(parse_queries("{\"_id\":\"a\",\"text\":\"x\"}\n{\"_id\":\"b\"}", "f")),
              "f:2: expected a JSON object whose \"text\" is a string");
    EXPECT_EQ(error_of(parse_queries("{\"_id\":[],\"text\":\"x\"}", "f")),
              "f:1: expected a JSON object whose \"_id\" is a string");
    EXPECT_EQ(error_of(parse_queries("{\"_id\":\"\\u0000\",\"text\":\"x\"}", "f")).substr(0, 11),
              "f:1: the id");
    EXPECT_TRUE(error_of(parse_queries("{\"_id\":\"a\",", "f")).starts_with("f:1: "));
    EXPECT_EQ(error_of(parse_queries("q\t\xC0\x80", "f")), "f:1: the line is not UTF-8");
    EXPECT_EQ(error_of(parse_queries("q\t\xED\xA0\x80", "f")), "f:1: the line is not UTF-8");
}

TEST(ParseQueries, SurvivesDamagedFiles) {
    const std::string json =
        "{\"_id\": \"q1\", \"text\": \"red\"}\n{\"_id\": \"q2\", \"text\": \"b\"}\n";
    for (unsigned seed = 0; seed < 2000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::string text = seed % 2 == 0 ? json : "q1\tred fox\nq2\tblue\n";
        for (auto i = 1 + rng() % 4; i > 0 && !text.empty(); --i) {
            text[rng() % text.size()] = static_cast<char>(rng());
            if (rng() % 4 == 0) text.resize(rng() % (text.size() + 1));
        }
        const Result<std::vector<Query>> queries = parse_queries(text, "file");
        if (!queries) {
            EXPECT_TRUE(queries.error().message.starts_with("file:"));
        }
    }
}

}  // namespace
}  // namespace braid::eval
