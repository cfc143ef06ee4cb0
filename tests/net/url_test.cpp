#include "braid/net/client/url.hpp"

#include <gtest/gtest.h>

namespace braid::net {
namespace {

TEST(Url, GetsAPathBehindItsOwnAndBeforeItsQuery) {
    EXPECT_EQ(with_path("https://host/v1", "/embeddings"), "https://host/v1/embeddings");
    EXPECT_EQ(with_path("https://host/v1//", "/embeddings"), "https://host/v1/embeddings");
    EXPECT_EQ(with_path("https://host", "/x"), "https://host/x");
    EXPECT_EQ(with_path("https://host/v1/?version=2", "/x"), "https://host/v1/x?version=2");
}

TEST(Url, TellsKeysThatAHeaderCanCarry) {
    EXPECT_TRUE(is_sendable_key(""));
    EXPECT_TRUE(is_sendable_key("sk-~!a1"));
    EXPECT_FALSE(is_sendable_key("a b"));
    EXPECT_FALSE(is_sendable_key("a\nb"));
    EXPECT_FALSE(is_sendable_key("schl\xC3\xBCssel"));
}

TEST(Url, IsTakenApartOrRefused) {
    const auto url = parse_url("https://host:8443/a?key=secret");
    ASSERT_TRUE(url);
    EXPECT_EQ(url->without_secrets(), "https://host:8443/a");
    EXPECT_EQ(parse_url("http://host/").value_or(Url{}).port, "80");
    for (const char* const bad : {"ftp://host/", "no url", "https://user:password@host/"}) {
        const auto refused = parse_url(bad);
        ASSERT_FALSE(refused) << bad;
        EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
        EXPECT_EQ(refused.error().message.find("password@"), std::string::npos);
    }
}

}  // namespace
}  // namespace braid::net
