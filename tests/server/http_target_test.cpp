#include <random>
#include <string>

#include <gtest/gtest.h>

#include "braid/server/http/target.hpp"
#include "core/present.hpp"

namespace braid::server {
namespace {

TEST(HttpTarget, IsTakenApartBeforeItIsUnescaped) {
    const auto target = parse_target("/v1/a%2Fb/%E2%82%AC/..?x=1%262&y=a+b&z");
    ASSERT_TRUE(target);
    EXPECT_EQ(target->segments, (std::vector<std::string>{"v1", "a/b", "\u20AC", ".."}));
    using Query = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(target->query, (Query{{"x", "1&2"}, {"y", "a b"}, {"z", ""}}));
    EXPECT_TRUE(parse_target("/")->segments.empty());
    EXPECT_EQ(parse_target("/a/")->segments.size(), 2U);
    EXPECT_EQ(parse_target("/+")->segments.front(), "+") << "a plus is a blank only behind the ?";
}

TEST(HttpTarget, RefusesWhatCannotBeMeant) {
    for (const std::string odd : {"", "v1", "*", "http://x/", "/%", "/%4", "/%4g", "/%00", "/%ff",
                                  "/%c3%28", "/?a=%zz", "/?a=1&a=2", "/%ed%a0%80"}) {
        EXPECT_FALSE(parse_target(odd)) << odd;
    }
    std::string many = "/?";
    for (int i = 0; i < 100; ++i) many += "p" + std::to_string(i) + "=1&";
    EXPECT_FALSE(parse_target(many));
}

TEST(HttpTarget, SurvivesAnything) {
    for (unsigned seed = 0; seed < 2000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::string text = "/";
        for (auto i = rng() % 40; i > 0; --i) {
            text += rng() % 3 == 0 ? "%/?&=+"[rng() % 6] : static_cast<char>(rng() % 256);
        }
        const auto target = parse_target(text);
        if (!target) continue;
        for (const std::string& segment : target->segments) {
            EXPECT_EQ(segment.find('\0'), std::string::npos);
        }
        host_of(text);
        parse_traceparent(text);
        accepts(text, "application/json");
    }
}

TEST(HttpTarget, KnowsHosts) {
    EXPECT_EQ(host_of("Example.COM:80"), "example.com");
    EXPECT_EQ(host_of("example.com."), "example.com");
    EXPECT_EQ(host_of("[::1]:80"), "::1");
    EXPECT_EQ(host_of("127.0.0.1"), "127.0.0.1");
    for (const std::string odd :
         {"", ":80", "a:b", "a b", "[::1", "[::1]x", "a/b", "user@host", "."}) {
        EXPECT_EQ(host_of(odd), std::nullopt) << odd;
    }
    EXPECT_TRUE(is_address("10.0.0.255"));
    EXPECT_TRUE(is_address("::ffff:1.2.3.4"));
    for (const std::string odd :
         {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "a.b.c.d", "1.2.3.4x", "ab"}) {
        EXPECT_FALSE(is_address(odd)) << odd;
    }
}

TEST(HttpTarget, ReadsWhatAClientAccepts) {
    EXPECT_TRUE(accepts(std::nullopt, "application/json"));
    for (const std::string_view yes : {"*/*", "application/*", "text/html, application/json;q=0.9",
                                       "APPLICATION/JSON", "text/html,*/*;q=0.1"}) {
        EXPECT_TRUE(accepts(yes, "application/json")) << yes;
    }
    for (const std::string_view no : {"", "text/html", "application/json;q=0", "json"}) {
        EXPECT_FALSE(accepts(no, "application/json")) << no;
    }
    EXPECT_EQ(media_type(" Application/JSON ; charset=utf-8"), "application/json");
}

TEST(HttpTarget, WritesTraceContexts) {
    const TraceContext trace =
        present(parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
    EXPECT_EQ(trace.header(0xAB), "00-0af7651916cd43dd8448eb211c80319c-00000000000000ab-01");
    EXPECT_TRUE(parse_traceparent(trace.header(0)).has_value()) << "0 is no span";
    EXPECT_TRUE(parse_traceparent("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more"));
}

}  // namespace
}  // namespace braid::server
