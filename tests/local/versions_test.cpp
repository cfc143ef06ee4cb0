#include "braid/local/versions.hpp"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace braid::local {
namespace {

std::vector<std::byte> record_of(std::size_t size) {
    return std::vector<std::byte>(size, std::byte{42});
}

TEST(Versions, AreTheSameForTheSameRecordAndOthersForAllElse) {
    const Versions versions(7, 100);
    const auto record = record_of(9);
    const Version version = versions.of(5, record);
    EXPECT_EQ(version, Versions(7, 100).of(5, record));
    EXPECT_NE(version, versions.of(6, record));
    EXPECT_NE(version, versions.of(5, record_of(10)));
    EXPECT_NE(version, Versions(8, 100).of(5, record));
    EXPECT_EQ(version, Versions(7, 102).of(3, record)) << "records of all logs are counted";
}

TEST(Versions, AreWholeNumbersThatJsonCanCarryAndNotZero) {
    constexpr Version most = (Version{1} << 53U) - 1;
    const Versions versions(1, 0);
    std::set<Version> given;
    for (Sequence sequence = 0; sequence < 5000; ++sequence) {
        const Version version = versions.of(sequence, {});
        ASSERT_GE(version, 1U);
        ASSERT_LE(version, most);
        ASSERT_TRUE(given.insert(version).second);
    }
}

}  // namespace
}  // namespace braid::local
