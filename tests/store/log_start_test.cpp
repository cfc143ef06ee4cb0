#include <gtest/gtest.h>

#include "braid/store/append_log.hpp"
#include "braid/store/log_format.hpp"
#include "braid/store/memory_directory.hpp"
#include "store/every_directory.hpp"

namespace braid::store {
namespace {

class LogStartSuite : public testing::EveryDirectory {};

INSTANTIATE_TEST_SUITE_P(Everywhere, LogStartSuite, ::testing::Values("posix", "memory", "faulty"),
                         [](const auto& tested) { return tested.param; });

AppendLogOptions beginning_at(const LogPosition& start, bool read_only = false) {
    AppendLogOptions options;
    options.start = start;
    options.read_only = read_only;
    return options;
}

/// Appends ten records; the position before each, and behind the last.
std::vector<LogPosition> ten_records(Directory& directory) {
    const auto opened = testing::replay(directory).opened;
    std::vector<LogPosition> positions;
    for (int i = 0; i < 10; ++i) {
        positions.push_back(opened->log->position());
        EXPECT_TRUE(opened->log->append(testing::Bytes(20, static_cast<std::byte>(i))).has_value());
    }
    positions.push_back(opened->log->position());
    EXPECT_TRUE(opened->log->close().has_value());
    return positions;
}

TEST_P(LogStartSuite, ReplaysFromAPositionOnAndGoesOnBehindTheEnd) {
    const auto positions = ten_records(*directory);
    EXPECT_EQ(positions.front(), (LogPosition{1, kLogHeaderBytes}));
    for (std::size_t i = 0; i < positions.size(); ++i) {
        for (const bool read_only : {true, false}) {
            const auto found =
                testing::replay(*directory, "log", beginning_at(positions[i], read_only));
            ASSERT_TRUE(found.opened.has_value()) << testing::why(found.opened);
            ASSERT_EQ(found.records.size(), 10 - i);
            if (i < 10) {
                EXPECT_EQ(found.records.front()[0], static_cast<std::byte>(i));
            }
            EXPECT_EQ(found.opened->report.records, 10 - i);
            EXPECT_EQ(found.opened->log->position(), positions.back());
        }
    }
    const auto last = testing::replay(*directory, "log", beginning_at(positions.back()));
    EXPECT_EQ(last.opened->log->append(testing::to_bytes("eleven")).value(), 11U);
    EXPECT_EQ(testing::replay(*directory).records.size(), 11U);
}

TEST_P(LogStartSuite, AnotherPositionIsCorruptionAndChangesNothing) {
    const auto positions = ten_records(*directory);
    const LogPosition good = positions[5];
    const LogPosition end = positions.back();
    const std::vector<LogPosition> bad = {{good.sequence + 1, good.offset},
                                          {good.sequence - 1, good.offset},
                                          {good.sequence, good.offset + 1},
                                          {good.sequence, 0},
                                          {0, kLogHeaderBytes},
                                          {1, end.offset + 1},
                                          {end.sequence, ~std::uint64_t{0}},
                                          {~std::uint64_t{0}, end.offset}};
    for (const LogPosition& start : bad) {
        SCOPED_TRACE(::testing::Message() << start.sequence << " at " << start.offset);
        const auto found = testing::replay(*directory, "log", beginning_at(start));
        ASSERT_FALSE(found.opened.has_value());
        EXPECT_EQ(found.opened.error().code, ErrorCode::Corruption);
    }
    EXPECT_EQ(testing::replay(*directory).records.size(), 10U);
}

TEST_P(LogStartSuite, ALogThatIsCutOrEmptyHasLostIt) {
    const auto positions = ten_records(*directory);
    const auto view = directory->open("log").value();
    const testing::Bytes whole(view->bytes().begin(), view->bytes().end());
    for (const std::size_t size : {0UL, 10UL, 40UL, 41UL, 200UL}) {
        SCOPED_TRACE(::testing::Message() << size << " bytes");
        ASSERT_TRUE(directory->replace("log", {whole.data(), size}).has_value());
        const auto found = testing::replay(*directory, "log", beginning_at(positions[7]));
        ASSERT_FALSE(found.opened.has_value());
        EXPECT_EQ(found.opened.error().code, ErrorCode::Corruption);
    }
}

TEST(LogStart, DamageBeforeThePositionIsNotLookedAtAndBehindItIsFound) {
    const auto source = make_memory_directory();
    const auto positions = ten_records(*source);
    const auto view = source->open("log").value();
    const testing::Bytes whole(view->bytes().begin(), view->bytes().end());
    for (std::size_t at = kLogHeaderBytes; at < whole.size(); ++at) {
        SCOPED_TRACE(::testing::Message() << "byte " << at);
        testing::Bytes bad = whole;
        bad[at] ^= std::byte{1};
        const auto directory = make_memory_directory();
        ASSERT_TRUE(directory->create("log", bad).has_value());
        const auto found = testing::replay(*directory, "log", beginning_at(positions[5], true));
        if (at < positions[5].offset) {
            ASSERT_TRUE(found.opened.has_value()) << testing::why(found.opened);
            EXPECT_EQ(found.records.size(), 5U);
        } else if (at < positions[9].offset) {
            EXPECT_FALSE(found.opened.has_value());
        } else {
            // Without a mark, the last record looks like a torn write.
            ASSERT_TRUE(found.opened.has_value()) << testing::why(found.opened);
            EXPECT_EQ(found.records.size(), 4U);
        }
    }
}

}  // namespace
}  // namespace braid::store
