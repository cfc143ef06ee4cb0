#include "braid/net/client/address_policy.hpp"

#include <gtest/gtest.h>

namespace braid::net {
namespace {

TEST(AddressPolicy, KnowsPrivateAddresses) {
    for (const char* host : {"0.0.0.0",
                             "10.1.2.3",
                             "100.64.0.1",
                             "127.0.0.1",
                             "127.255.255.255",
                             "169.254.169.254",
                             "172.16.0.1",
                             "172.31.255.255",
                             "192.168.0.1",
                             "192.0.0.8",
                             "198.18.0.1",
                             "224.0.0.1",
                             "255.255.255.255",
                             "::",
                             "::1",
                             "[::1]",
                             "fe80::1",
                             "[fe80::1%eth0]",
                             "fec0::1",
                             "fc00::1",
                             "fd12::1",
                             "ff02::1",
                             "::ffff:10.0.0.1",
                             "::ffff:169.254.169.254",
                             "::127.0.0.1",
                             "64:ff9b::a00:1",
                             "2002:7f00:1::1"}) {
        EXPECT_TRUE(is_private_literal(host)) << host;
    }
}

TEST(AddressPolicy, LetsPublicAddressesPass) {
    for (const char* host :
         {"1.1.1.1", "8.8.8.8", "100.128.0.1", "172.32.0.1", "172.15.0.1", "192.169.0.1",
          "198.20.0.1", "223.255.255.255", "2606:4700::1111", "[2001:4860:4860::8888]",
          "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"}) {
        EXPECT_FALSE(is_private_literal(host)) << host;
    }
}

TEST(AddressPolicy, DoesNotTakeNamesForAddresses) {
    EXPECT_FALSE(is_private_literal("localhost"));
    EXPECT_FALSE(is_private_literal("example.org"));
    EXPECT_FALSE(is_private_literal(""));
    EXPECT_FALSE(is_private_literal(std::string(1000, '1')));
}

}  // namespace
}  // namespace braid::net
