#include "braid/docs/packed_ints.hpp"

#include <random>

#include <gtest/gtest.h>

#include "braid/store/memory_sections.hpp"

namespace braid::docs {
namespace {

std::vector<std::uint64_t> random_numbers(std::mt19937_64& rng, std::size_t count, unsigned bits) {
    std::vector<std::uint64_t> numbers(count);
    const std::uint64_t base = rng() >> (rng() % 64);
    for (std::uint64_t& number : numbers) {
        number = base + (bits == 0 ? 0 : rng() >> (64 - bits));
        if (bits < 64 && number < base) number = base;
    }
    return numbers;
}

TEST(PackedInts, GiveBackWhatWasWrittenInEveryWidth) {
    for (unsigned bits = 0; bits <= 64; ++bits) {
        for (const std::size_t count : {0UL, 1UL, 2UL, 63UL, 64UL, 65UL, 1000UL}) {
            SCOPED_TRACE(::testing::Message() << bits << " bits, " << count << " numbers");
            std::mt19937_64 rng(bits * 1000 + count);
            const auto numbers = random_numbers(rng, count, bits);
            store::MemorySections sections;
            ASSERT_TRUE(write_packed(sections, "n", numbers).has_value());
            EXPECT_LE(sections.size_bytes(), 24 + (count * bits + 63) / 64 * 8 + 8);
            const auto packed = PackedInts::open(sections.section("n").value(), count).value();
            std::vector<std::uint64_t> all(count);
            ASSERT_TRUE(packed.read(0, all).has_value());
            EXPECT_EQ(all, numbers);
            for (std::size_t i = 0; i < count; i += 1 + count / 20) {
                EXPECT_EQ(packed.at(i).value(), numbers[i]);
                std::vector<std::uint64_t> some(std::min<std::size_t>(count - i, 7));
                ASSERT_TRUE(packed.read(i, some).has_value());
                EXPECT_TRUE(std::equal(some.begin(), some.end(),
                                       numbers.begin() + static_cast<std::ptrdiff_t>(i)));
            }
            EXPECT_EQ(packed.at(count).error().code, ErrorCode::Corruption);
            EXPECT_EQ(PackedInts::open(sections.section("n").value(), count + 1).error().code,
                      ErrorCode::Corruption);
        }
    }
}

TEST(PackedInts, EqualNumbersCostNothing) {
    store::MemorySections sections;
    ASSERT_TRUE(write_packed(sections, "n", std::vector<std::uint64_t>(1'000'000, 77)).has_value());
    EXPECT_EQ(sections.size_bytes(), 24U);
    EXPECT_EQ(PackedInts::open(sections.section("n").value()).value().at(999'999).value(), 77U);
}

TEST(PackedInts, DamagedBytesAreWrongNumbersOrErrorsButNothingWorse) {
    store::ByteWriter good;
    write_packed(good, std::vector<std::uint64_t>{5, 900, 77, 3, 12'345});
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(PackedInts::open(store::Section(good.view().first(size), "cut")).has_value());
    }
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        std::vector<std::byte> bad(good.view().begin(), good.view().end());
        bad[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        const auto packed = PackedInts::open(store::Section(bad, "bad"), 5);
        if (!packed) continue;
        std::vector<std::uint64_t> all(5);
        (void)packed->read(0, all);
    }
}

}  // namespace
}  // namespace braid::docs
