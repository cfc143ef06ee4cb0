// What each door says about a collection that is not there.

#include "braid/core/unknown_collection.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/server/auth/api_keys.hpp"
#include "braid/server/http/app.hpp"
#include "server/http_fixture.hpp"
#include "server/key_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::Headers;
using braid::testing::HttpTest;
using braid::testing::key_entry;
using braid::testing::ring;

TEST_F(HttpTest, AnUnknownCollectionNamesTheNearestAtEveryDoor) {
    const std::string chunk = R"({"text": "a red fox"})";
    json("PUT", "/v1/collections/meadow/chunks/a", chunk, 200);
    json("PUT", "/v1/collections/forest/chunks/a", chunk, 200);
    const std::string expected =
        "there is no collection \"meadwo\"; did you mean \"meadow\"? There are \"forest\", "
        "\"meadow\"";
    EXPECT_EQ(at(json("GET", "/v1/collections/meadwo/stats", "", 404), "detail"), Value(expected));
    EXPECT_EQ(at(json("POST", "/v1/retrieve", R"({"query": "x", "collection": "meadwo"})", 404),
                 "detail"),
              Value(expected));
    EXPECT_EQ(at(json("POST", "/rpc", R"({"jsonrpc": "2.0", "id": 1, "method": "braid.describe",
        "params": {"collection": "meadwo"}})",
                      200),
                 "error.message"),
              Value(expected));
    const Value batch = json("POST", "/rpc", R"({"jsonrpc": "2.0", "id": 1,
        "method": "braid.retrieve_batch",
        "params": {"requests": [{"query": "x", "collection": "meadwo"}]}})",
                             200);
    EXPECT_EQ(at(batch, "result.answers.0.error.message"), Value(expected));
}

TEST_F(HttpTest, AnUnknownCollectionDoesNotNameThoseOfOthers) {
    HttpAppOptions options;
    options.keys = ring(key_entry("root", R"("collections": {"*": "admin"})") + "," +
                        key_entry("team", R"("collections": {"team-*": "read"})"));
    restart(std::move(options));
    const Headers root{{"Authorization", "Bearer root-key"}};
    const Headers team{{"Authorization", "Bearer team-key"}};
    const std::string chunk = R"({"text": "a red fox"})";
    json("PUT", "/v1/collections/team-x/chunks/a", chunk, 200, root);
    json("PUT", "/v1/collections/secret/chunks/a", chunk, 200, root);
    EXPECT_EQ(
        at(json("GET", "/v1/collections/team-y/stats", "", 404, team), "detail"),
        Value("there is no collection \"team-y\"; did you mean \"team-x\"? There is \"team-x\""));
}

TEST(UnknownCollection, NamesTenAtMost) {
    const std::vector<std::string_view> many{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"};
    const std::string text = core::unknown_collection("zebra", many);
    EXPECT_NE(text.find("\"j\" and 1 more"), std::string::npos) << text;
    EXPECT_EQ(core::unknown_collection("x", {}),
              "there is no collection \"x\"; there are no collections yet");
    EXPECT_EQ(core::unknown_collection_in(core::unknown_collection("x")), "x");
    EXPECT_FALSE(core::unknown_collection_in(text));
}

}  // namespace
}  // namespace braid::server
