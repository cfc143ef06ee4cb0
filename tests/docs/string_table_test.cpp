#include "braid/docs/string_table.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "braid/store/memory_sections.hpp"

namespace braid::docs {
namespace {

std::vector<std::string> random_strings(std::uint64_t seed, std::size_t count) {
    std::mt19937_64 rng(seed);
    std::set<std::string> strings;
    while (strings.size() < count) {
        std::string text = rng() % 3 == 0 ? "common/prefix/" : "";
        for (std::uint64_t i = rng() % 12; i > 0; --i) text += static_cast<char>(rng() % 5 + 254);
        strings.insert(text);
    }
    return {strings.begin(), strings.end()};
}

store::ByteWriter table_of(const std::vector<std::string>& strings) {
    StringTableBuilder builder;
    for (const std::string& text : strings) EXPECT_TRUE(builder.add(text).has_value());
    store::ByteWriter out;
    builder.write(out);
    return out;
}

TEST(StringTable, FindsWhatIsThereAndThePlaceOfWhatIsNot) {
    for (const std::size_t count : {0UL, 1UL, 15UL, 16UL, 17UL, 400UL}) {
        SCOPED_TRACE(::testing::Message() << count << " strings");
        const auto strings = random_strings(count, count);
        const auto bytes = table_of(strings);
        const auto table = StringTable::open(store::Section(bytes.view(), "t")).value();
        ASSERT_EQ(table.size(), count);
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_EQ(table.at(i).value(), strings[i]);
            EXPECT_EQ(table.find(strings[i]).value(), i);
        }
        for (const std::string& text : random_strings(count + 1000, 200)) {
            const auto place = std::ranges::lower_bound(strings, text);
            EXPECT_EQ(table.lower_bound(text).value(),
                      static_cast<std::uint64_t>(place - strings.begin()));
            const bool there = place != strings.end() && *place == text;
            EXPECT_EQ(table.find(text).value().has_value(), there);
        }
        std::vector<std::string> walked;
        ASSERT_TRUE(table
                        .each(0, count,
                              [&](std::uint64_t number, std::string_view text) -> Result<> {
                                  EXPECT_EQ(number, walked.size());
                                  walked.emplace_back(text);
                                  return {};
                              })
                        .has_value());
        EXPECT_EQ(walked, strings);
        EXPECT_EQ(table.at(count).error().code, ErrorCode::Corruption);
    }
}

TEST(StringTable, HoldsStringsOfAnyLengthAndWhatTheyShare) {
    std::vector<std::string> strings;
    for (const std::size_t shared : {0UL, 1UL, 127UL, 128UL, 16'383UL, 16'384UL, 40'000UL}) {
        for (const char last : {'b', 'c'}) {
            strings.push_back(std::string(shared, 'a') + last);
            strings.push_back(strings.back() + std::string(shared, 'x'));
        }
    }
    std::ranges::sort(strings);
    strings.erase(std::ranges::unique(strings).begin(), strings.end());
    const auto bytes = table_of(strings);
    const auto table = StringTable::open(store::Section(bytes.view(), "t")).value();
    for (std::size_t i = 0; i < strings.size(); ++i) EXPECT_EQ(table.at(i).value(), strings[i]);
}

TEST(StringTable, TakesAscendingStringsOnly) {
    StringTableBuilder builder;
    ASSERT_TRUE(builder.add("").has_value());
    ASSERT_TRUE(builder.add("b").has_value());
    EXPECT_EQ(builder.add("b").error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(builder.add("a").error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(builder.size(), 2U);
}

TEST(StringTable, DamagedBytesAreErrorsOrOtherStringsButNothingWorse) {
    const auto good = table_of(random_strings(5, 40));
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(StringTable::open(store::Section(good.view().first(size), "cut")).has_value());
    }
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        std::vector<std::byte> bad(good.view().begin(), good.view().end());
        bad[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        const auto table = StringTable::open(store::Section(bad, "bad"));
        if (!table) continue;
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(table->size(), 50); ++i) {
            (void)table->at(i);
        }
        (void)table->find("common/prefix/x");
    }
}

}  // namespace
}  // namespace braid::docs
