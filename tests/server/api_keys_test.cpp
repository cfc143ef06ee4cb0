#include "braid/server/auth/api_keys.hpp"

#include <chrono>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "braid/server/auth/rate_limit.hpp"
#include "core/present.hpp"
#include "server/key_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::hash_of;
using braid::testing::key_entry;
using braid::testing::ring;

TEST(ApiKeys, AreReadFromAFile) {
    const KeyRing keys = ring(R"({"name": "a", "sha256": ")" + hash_of("secret") + R"(",
        "collections": {"notes": "write"}}, {"name": "b", "salt": "ff00", "sha256": ")" +
                              hash_of(std::string("\xFF\x00", 2) + "secret2") + R"(",
        "collections": {"*": "read"}})");
    ASSERT_EQ(keys.size(), 2U);
    ASSERT_NE(keys.find("secret", {}), nullptr);
    EXPECT_EQ(keys.find("secret", {})->principal.name, "a");
    ASSERT_NE(keys.find("secret2", {}), nullptr);
    EXPECT_EQ(keys.find("secret2", {})->principal.name, "b");
    EXPECT_EQ(keys.find("", {}), nullptr);
    EXPECT_EQ(keys.find("Secret", {}), nullptr);
    const std::string hash = hash_of("x");
    for (const std::string bad :
         {R"([])", R"({})", R"({"keys": []})", R"({"keys": [{}]})", R"({"keys": 3})",
          R"({"keys": [{"name": "a", "sha256": "abc", "collections": {}}]})",
          R"({"keys": [{"name": "", "sha256": "HASH", "collections": {}}]})",
          R"({"keys": [{"name": "a", "sha256": "HASH"}]})",
          R"({"keys": [{"name": "a", "sha256": "HASH", "collections": {"x": "own"}}]})",
          R"({"keys": [{"name": "a", "sha256": "HASH", "collections": {"../x": "read"}}]})",
          R"({"keys": [{"name": "a", "sha256": "HASH", "collections": {"a*b": "read"}}]})",
          R"({"keys": [{"name": "a", "sha256": "HASH", "collections": {}, "principal": {}}]})",
          R"({"keys": [{"name": "a", "sha256": "HASH", "collections": {}, "salt": "x"}]})",
          R"({"keys": [{"name": "a", "sha256": "HASH", "collections": {}, "admin": true}]})",
          R"({"keys": [{"name": "a", "sha256": "HASH", "collections": {}},
                       {"name": "a", "sha256": "HASH", "collections": {}}]})"}) {
        std::string text = bad;
        for (std::size_t place = text.find("HASH"); place != std::string::npos;
             place = text.find("HASH")) {
            text.replace(place, 4, hash);
        }
        const auto keys_read = KeyRing::parse(text);
        ASSERT_FALSE(keys_read) << bad;
        EXPECT_EQ(keys_read.error().message.find(hash), std::string::npos) << "a hash is shown";
    }
}

TEST(ApiKeys, AreMadeSoThatOnlyTheirHashIsKept) {
    std::set<std::string> made;
    for (int i = 0; i < 100; ++i) {
        const auto key = make_key({{.name = "agent"}, {}}, {{"notes", service::Access::Write},
                                                            {"team-*", service::Access::Read}});
        ASSERT_TRUE(key);
        EXPECT_EQ(key->key.size(), 49U);
        EXPECT_TRUE(made.insert(key->key).second);
        const std::string file = R"({"keys": [)" + json::print(Value(key->entry)) + "]}";
        EXPECT_EQ(file.find(key->key), std::string::npos);
        const auto keys = KeyRing::parse(file);
        ASSERT_TRUE(keys) << file;
        const ApiKey* const found = keys->find(key->key, {});
        ASSERT_NE(found, nullptr);
        EXPECT_TRUE(found->grants.allow(service::Access::Write, "notes"));
        EXPECT_FALSE(found->grants.allow(service::Access::Write, "team-a"));
    }
    EXPECT_FALSE(make_key({}, {}));
    EXPECT_FALSE(make_key({{.name = "a"}, {}}, {{"../x", service::Access::Read}}));
}

TEST(ApiKeys, GrantByTheNameThatFitsBest) {
    Grants grants;
    grants.by_pattern = {{"*", service::Access::Read},
                         {"team-*", service::Access::Write},
                         {"team-a-*", service::Access::Read},
                         {"team-a-b", service::Access::Admin}};
    EXPECT_TRUE(grants.allow(service::Access::Read, "other"));
    EXPECT_FALSE(grants.allow(service::Access::Write, "other"));
    EXPECT_TRUE(grants.allow(service::Access::Write, "team-x"));
    EXPECT_FALSE(grants.allow(service::Access::Write, "team-a-x"));
    EXPECT_TRUE(grants.allow(service::Access::Admin, "team-a-b"));
    EXPECT_FALSE(Grants{}.allow(service::Access::Read, "x"));
}

TEST(ApiKeys, AreRequiredWhereOthersCanReach) {
    for (const char* host : {"127.0.0.1", "127.8.9.1", "::1", "localhost", ""}) {
        EXPECT_TRUE(require_keys(host, {})) << host;
    }
    for (const char* host :
         {"0.0.0.0", "::", "192.168.1.2", "127.0.0.1.example.com", "example.com"}) {
        const auto refused = require_keys(host, {});
        ASSERT_FALSE(refused) << host;
        EXPECT_EQ(refused.error().code, ErrorCode::PermissionDenied);
        EXPECT_TRUE(require_keys(host, ring(key_entry("a", R"("collections": {})")))) << host;
    }
}

TEST(RateLimiter, FillsUpWithTime) {
    RateLimiter limiter;
    const auto start = RateLimiter::Clock::now();
    EXPECT_FALSE(limiter.take("a", 2, start));
    EXPECT_FALSE(limiter.take("a", 2, start));
    const auto wait = limiter.take("a", 2, start);
    EXPECT_NEAR(present(wait).count(), 0.5, 1e-9);
    EXPECT_FALSE(limiter.take("b", 2, start));
    EXPECT_FALSE(limiter.take("a", 2, start + std::chrono::milliseconds(501)));
    EXPECT_TRUE(limiter.take("a", 2, start + std::chrono::milliseconds(502)));
    EXPECT_FALSE(limiter.take("a", 0, start));
    // Several go together or not at all.
    EXPECT_TRUE(limiter.take("c", 10, start, 11));
    EXPECT_FALSE(limiter.take("c", 10, start, 8));
    EXPECT_TRUE(limiter.take("c", 10, start, 3));
    EXPECT_FALSE(limiter.take("c", 10, start, 2));
}

}  // namespace
}  // namespace braid::server
