#include "braid/server/page/page.hpp"

#include <string>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "server/http_fixture.hpp"
#include "server/key_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::header_of;
using braid::testing::http_request;
using braid::testing::HttpTest;
using braid::testing::key_entry;
using braid::testing::ring;
using braid::testing::send;

TEST_F(HttpTest, ServesThePageWhereverItsAddressesLead) {
    for (const std::string target : {"/", "/collections", "/evaluate", "/docs", "/?theme=dark"}) {
        const auto response = ask("GET", target, "", {{"Accept", "text/html"}});
        EXPECT_EQ(response.status, 200) << target;
        EXPECT_EQ(header_of(response, "Content-Type"), "text/html; charset=utf-8") << target;
        EXPECT_TRUE(response.body.starts_with("<!doctype html>")) << target;
    }
    // The transport counts the body and leaves it out.
    EXPECT_EQ(ask("HEAD", "/").body, ask("GET", "/").body);
    EXPECT_EQ(code(ask("POST", "/", "{}"), 405), "method_not_allowed");
    EXPECT_EQ(code(ask("GET", "//"), 404), "no_such_route");
}

TEST_F(HttpTest, ShowsBrowsersThatNothingIsThere) {
    const std::string browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    for (const std::string target : {"/nowhere", "/v1/nothing", "/docs/more", "/page/"}) {
        const auto shown = ask("GET", target, "", {{"Accept", browser}});
        EXPECT_EQ(shown.status, 404) << target;
        EXPECT_TRUE(shown.body.starts_with("<!doctype html>")) << target;
        EXPECT_NE(header_of(shown, "Content-Security-Policy"), "") << target;
        for (const std::string accept : {"application/json", "*/*"}) {
            EXPECT_EQ(code(ask("GET", target, "", {{"Accept", accept}}), 404), "no_such_route");
        }
        EXPECT_EQ(code(ask("POST", target, "{}", {{"Accept", browser}}), 404), "no_such_route");
    }
    const auto moved = ask("GET", "/docs/?a=b", "", {{"Accept", browser}});
    EXPECT_EQ(moved.status, 308);
    EXPECT_EQ(header_of(moved, "Location"), "/docs");
    EXPECT_EQ(ask("GET", "/healthz/", "", {{"Accept", browser}}).status, 404);
    HttpAppOptions options;
    options.keys = ring(key_entry("reader", R"("collections": {"notes": "read"})"));
    restart(std::move(options));
    EXPECT_EQ(ask("GET", "/nowhere", "", {{"Accept", browser}}).status, 404);
    EXPECT_EQ(code(ask("GET", "/nowhere"), 401), "unauthenticated");
}

TEST_F(HttpTest, ServesEveryFileOfThePageAndNoOther) {
    std::size_t bytes = 0;
    for (const PageFile& file : page_files()) {
        const auto response = ask("GET", "/page/" + std::string(file.name));
        EXPECT_EQ(response.status, 200) << file.name;
        EXPECT_EQ(header_of(response, "Content-Type"), file.type) << file.name;
        EXPECT_EQ(response.body, file.body) << file.name;
        EXPECT_GT(file.body.size(), 100U) << file.name;
        bytes += file.body.size();
    }
    EXPECT_LT(bytes, 300'000U) << "the page stays small";
    for (const std::string name : {"nothing.js", "..%2f..%2fetc%2fpasswd", "page.cpp", "%00"}) {
        EXPECT_GE(ask("GET", "/page/" + name).status, 400) << name;
    }
}

TEST_F(HttpTest, SendsAFileOfThePageOnce) {
    const auto first = ask("GET", "/page/main.js");
    const std::string tag = header_of(first, "ETag");
    EXPECT_EQ(tag.size(), 34U) << tag;
    EXPECT_EQ(header_of(first, "Cache-Control"), "no-cache") << "asked for again, not sent again";
    const auto again = ask("GET", "/page/main.js", "", {{"If-None-Match", tag}});
    EXPECT_EQ(again.status, 304);
    EXPECT_EQ(again.body, "");
    EXPECT_EQ(ask("GET", "/page/main.js", "", {{"If-None-Match", "\"other\""}}).status, 200);
}

TEST_F(HttpTest, LetsThePageLoadAndCallNothingButItsServer) {
    const std::string policy = header_of(ask("GET", "/"), "Content-Security-Policy");
    for (const std::string part :
         {"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
          "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
          "require-trusted-types-for 'script'"}) {
        EXPECT_NE(policy.find(part), std::string::npos) << part;
    }
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
    EXPECT_EQ(policy.find("http"), std::string::npos);
    EXPECT_EQ(header_of(ask("GET", "/"), "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header_of(ask("GET", "/"), "Referrer-Policy"), "no-referrer");
    for (const PageFile& file : page_files()) {
        for (const std::string_view address : {"http://", "https://", "//cdn", "innerHTML"}) {
            const bool names_svg =
                file.body.find("http://www.w3.org/2000/svg") != std::string_view::npos;
            if (names_svg && address == "http://") continue;  // the name of a language
            EXPECT_EQ(file.body.find(address), std::string_view::npos) << file.name << address;
        }
    }
}

TEST_F(HttpTest, ShowsThePageToNoOtherSite) {
    auto rebound = http_request("GET", "/", "");
    rebound.headers.back().value = "evil.example";
    EXPECT_EQ(send(*app, rebound).status, 421);
    EXPECT_EQ(code(ask("GET", "/", "", {{"Origin", "http://evil.example"}}), 403),
              "origin_refused");
}

TEST_F(HttpTest, MarksWhereTheWordsOfAQueryStand) {
    add_notes();
    const Value marks = json(
        "POST", "/v1/collections/notes/highlight",
        R"({"query": "foxes hunt", "texts": ["Ähm. A fox hunts.", "Nothing."], "window": 10})");
    EXPECT_EQ(braid::json::print(marks),
              R"({"texts":[{"matches":[[7,10],[11,16]],"window":[7,17]},)"
              R"({"matches":[],"window":[0,8]}]})")
        << "in code points";
    for (const std::string body :
         {R"({"texts": ["a"]})", R"({"query": "a"})", R"({"query": "a", "texts": []})",
          R"({"query": " ", "texts": ["a"]})", R"({"query": "a", "texts": ["a"], "window": 0})",
          R"({"query": "a", "texts": [1]})", R"({"query": "a", "texts": ["a"], "txts": 1})"}) {
        EXPECT_EQ(code(ask("POST", "/v1/collections/notes/highlight", body), 400),
                  "invalid_argument")
            << body;
    }
    EXPECT_EQ(
        code(ask("POST", "/v1/collections/none/highlight", R"({"query":"a","texts":["a"]})"), 404),
        "not_found");
}

TEST_F(HttpTest, TellsCallersWhatTheyMayDo) {
    add_notes();
    EXPECT_EQ(braid::json::print(json("GET", "/v1/whoami")),
              R"({"name":null,"sees_everything":true,"everywhere":"admin",)"
              R"("collections":{"notes":"admin"},"grants":{"*":"admin"}})");
    HttpAppOptions options;
    options.keys = ring(key_entry("reader", R"("collections": {"notes": "read"})") + "," +
                        key_entry("other", R"("collections": {"team-*": "write"})"));
    restart(std::move(options));
    EXPECT_EQ(braid::json::print(json("GET", "/v1/whoami", "", 200, {{"X-Api-Key", "reader-key"}})),
              R"({"name":"reader","sees_everything":true,"everywhere":null,)"
              R"("collections":{"notes":"read"},"grants":{"notes":"read"}})");
    EXPECT_EQ(braid::json::print(json("GET", "/v1/whoami", "", 200, {{"X-Api-Key", "other-key"}})),
              R"({"name":"other","sees_everything":true,"everywhere":null,"collections":{},)"
              R"("grants":{"team-*":"write"}})")
        << "what it may not read is not there; what it could make is";
    EXPECT_EQ(code(ask("GET", "/v1/whoami"), 401), "unauthenticated");
    EXPECT_EQ(ask("GET", "/").status, 200) << "the page asks for the key";
    EXPECT_EQ(ask("GET", "/page/main.js").status, 200);
}

TEST_F(HttpTest, TellsItsAddressToTheOwnerOfTheSocketAlone) {
    app->announce("http://127.0.0.1:7");
    EXPECT_EQ(ask("GET", "/healthz").body, R"({"status":"ok"})");
    auto own = http_request("GET", "/healthz", "");
    own.peer = "unix";
    EXPECT_EQ(send(*app, own).body, R"({"status":"ok","address":"http://127.0.0.1:7"})");
}

}  // namespace
}  // namespace braid::server
