#include "braid/core/rfc3339.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace braid::core {
namespace {

constexpr std::int64_t kSecond = 1'000'000;

std::int64_t micros_of(std::string_view text) {
    const auto parsed = parse_rfc3339(text);
    EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message);
    return parsed ? parsed->micros : std::numeric_limits<std::int64_t>::min();
}

TEST(Rfc3339, ReadsDatesTimesFractionsAndOffsets) {
    EXPECT_EQ(micros_of("1970-01-01T00:00:00Z"), 0);
    EXPECT_EQ(micros_of("2025-12-25T10:00:00Z"), 1'766'656'800 * kSecond);
    EXPECT_EQ(micros_of("2025-12-25t10:00:00z"), 1'766'656'800 * kSecond);
    EXPECT_EQ(micros_of("2025-12-25 10:00:00Z"), 1'766'656'800 * kSecond);
    EXPECT_EQ(micros_of("2025-12-25"), 1'766'620'800 * kSecond);
    EXPECT_EQ(micros_of("2025-12-25T11:00:00+01:00"), 1'766'656'800 * kSecond);
    EXPECT_EQ(micros_of("2025-12-25T04:30:00-05:30"), 1'766'656'800 * kSecond);
    EXPECT_EQ(micros_of("2025-12-25T10:00:00-00:00"), 1'766'656'800 * kSecond);
    EXPECT_EQ(micros_of("1970-01-01T00:00:00.5Z"), 500'000);
    EXPECT_EQ(micros_of("1970-01-01T00:00:00.123456Z"), 123'456);
    EXPECT_EQ(micros_of("1970-01-01T00:00:00.1234569999999999999999999999Z"), 123'456);
    EXPECT_EQ(micros_of("1969-12-31T23:59:59.999999Z"), -1);
    EXPECT_EQ(micros_of("1937-01-01T12:00:27.87+00:20"),
              micros_of("1937-01-01T11:40:27Z") + 870'000);
    EXPECT_EQ(micros_of("0000-01-01"), -62'167'219'200 * kSecond);
    EXPECT_EQ(micros_of("9999-12-31T23:59:59Z"), 253'402'300'799 * kSecond);
}

TEST(Rfc3339, KnowsHowManyDaysAMonthHas) {
    EXPECT_EQ(micros_of("2024-02-29"), 1'709'164'800 * kSecond);
    EXPECT_TRUE(parse_rfc3339("2000-02-29"));
    EXPECT_TRUE(parse_rfc3339("0000-02-29"));
    for (const char* text : {"2023-02-29", "1900-02-29", "2023-04-31", "2023-06-31", "2023-09-31",
                             "2023-11-31", "2023-01-32", "2023-01-00"}) {
        EXPECT_FALSE(parse_rfc3339(text)) << text;
    }
}

TEST(Rfc3339, ReadsALeapSecondAsTheLastMicrosecondBeforeMidnight) {
    const std::int64_t last = micros_of("2017-01-01T00:00:00Z") - 1;
    EXPECT_EQ(micros_of("2016-12-31T23:59:60Z"), last);
    EXPECT_EQ(micros_of("2016-12-31T23:59:60.75Z"), last);
    EXPECT_EQ(micros_of("2016-12-31T15:59:60-08:00"), last);
    EXPECT_EQ(micros_of("1969-12-31T23:59:60Z"), -1);
    EXPECT_FALSE(parse_rfc3339("2016-12-31T23:58:60Z"));
    EXPECT_FALSE(parse_rfc3339("2016-12-31T23:59:60+01:00"));
    EXPECT_FALSE(parse_rfc3339("2016-12-31T23:59:61Z"));
}

TEST(Rfc3339, RefusesAllElseAndSaysWhy) {
    struct Case {
        const char* text;
        const char* why;
    };
    const Case cases[] = {
        {"", "start with a date"},
        {"yesterday", "start with a date"},
        {"25-12-2025", "start with a date"},
        {"2025-1-1", "start with a date"},
        {"20251225", "start with a date"},
        {" 2025-12-25", "start with a date"},
        {"-001-12-25", "start with a date"},
        {"2025-13-01", "month"},
        {"2025-00-01", "month"},
        {"2025-02-30", "day"},
        {"2025-12-25T", "no time"},
        {"2025-12-25T10", "no time"},
        {"2025-12-25T10:00", "no time"},
        {"2025-12-25T10:00Z", "no time"},
        {"2025-12-25  10:00:00Z", "no time"},
        {"2025-12-25T10:00:00.Z", "no time"},
        {"2025-12-25T1:00:00Z", "no time"},
        {"2025-12-25T24:00:00Z", "hour"},
        {"2025-12-25T10:60:00Z", "minute"},
        {"2025-12-25T10:00:61Z", "second"},
        {"2025-12-25T10:00:00", "no offset"},
        {"2025-12-25T10:00:00,5Z", "no offset"},
        {"2025-12-25T10:00:00+1:00", "offset"},
        {"2025-12-25T10:00:00+0100", "offset"},
        {"2025-12-25T10:00:00+24:00", "offset"},
        {"2025-12-25T10:00:00+01:60", "offset"},
        {"2025-12-25T10:00:00Z ", "follows"},
        {"2025-12-25T10:00:00Z[UTC]", "follows"},
    };
    for (const auto& [text, why] : cases) {
        const auto parsed = parse_rfc3339(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code, ErrorCode::InvalidArgument);
        EXPECT_NE(parsed.error().message.find(why), std::string::npos)
            << text << ": " << parsed.error().message;
    }
    EXPECT_LT(parse_rfc3339(std::string(1'000'000, '7')).error().message.size(), 200U);
}

TEST(Rfc3339, PrintsAFractionOnlyIfThereIsOne) {
    EXPECT_EQ(print_rfc3339({micros_of("2025-12-25T11:00:00+01:00")}), "2025-12-25T10:00:00Z");
    EXPECT_EQ(print_rfc3339({0}), "1970-01-01T00:00:00Z");
    EXPECT_EQ(print_rfc3339({-1}), "1969-12-31T23:59:59.999999Z");
    EXPECT_EQ(print_rfc3339({500'000}), "1970-01-01T00:00:00.5Z");
    EXPECT_EQ(print_rfc3339({1}), "1970-01-01T00:00:00.000001Z");
    EXPECT_EQ(print_rfc3339({micros_of("0000-01-01")}), "0000-01-01T00:00:00Z");
    EXPECT_EQ(print_rfc3339({micros_of("2024-02-29")}), "2024-02-29T00:00:00Z");
}

TEST(Rfc3339, PrintsEveryTimestampThereIs) {
    EXPECT_EQ(print_rfc3339({micros_of("0000-01-01") - 1}), "-000001-12-31T23:59:59.999999Z");
    EXPECT_EQ(print_rfc3339({micros_of("9999-12-31T23:59:59Z") + kSecond}),
              "+010000-01-01T00:00:00Z");
    EXPECT_EQ(print_rfc3339({std::numeric_limits<std::int64_t>::max()}),
              "+294247-01-10T04:00:54.775807Z");
    EXPECT_EQ(print_rfc3339({std::numeric_limits<std::int64_t>::min()}),
              "-290308-12-21T19:59:05.224192Z");
}

TEST(Rfc3339, ReadsBackWhatItPrints) {
    static constexpr unsigned kSeed = 20251225;
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
    std::mt19937_64 rng(kSeed);
    std::uniform_int_distribution<std::int64_t> any(micros_of("0000-01-01"),
                                                    micros_of("9999-12-31T23:59:59Z"));
    for (int i = 0; i < 20'000; ++i) {
        const Timestamp time{any(rng)};
        const std::string printed = print_rfc3339(time);
        ASSERT_EQ(micros_of(printed), time.micros) << printed;
    }
}

TEST(Rfc3339, SurvivesRandomBytes) {
    static constexpr unsigned kSeed = 7;
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
    std::mt19937 rng(kSeed);
    const std::string base = "2016-12-31T23:59:60.123456+01:00";
    std::uniform_int_distribution<std::size_t> where(0, base.size() - 1);
    std::uniform_int_distribution<int> byte(0, 255);
    for (int i = 0; i < 50'000; ++i) {
        std::string text = base;
        text[where(rng)] = static_cast<char>(byte(rng));
        text.resize(where(rng) + 1);
        if (const auto parsed = parse_rfc3339(text)) {
            EXPECT_EQ(micros_of(print_rfc3339(*parsed)), parsed->micros) << text;
        }
    }
}

}  // namespace
}  // namespace braid::core
