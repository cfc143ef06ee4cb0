#include "braid/sparse/memory_postings.hpp"

#include <limits>
#include <map>
#include <memory>
#include <random>

#include <gtest/gtest.h>

namespace braid::sparse {
namespace {

constexpr auto kDropped = std::numeric_limits<std::uint32_t>::max();

using Rows = std::vector<std::pair<std::uint32_t, double>>;

Rows rows_of(const MemoryPostings& postings, std::string_view term) {
    Rows rows;
    for (const Posting& posting : postings.find(term)) rows.emplace_back(posting.row, posting.tf);
    return rows;
}

std::unique_ptr<MemoryPostings> renumbered(const MemoryPostings& postings,
                                           const std::vector<std::uint32_t>& numbers) {
    auto fresh = std::make_unique<MemoryPostings>();
    fresh->add_renumbered(postings, numbers);
    return fresh;
}

TEST(MemoryPostings, FindsTheRowsOfATerm) {
    MemoryPostings postings;
    EXPECT_TRUE(postings.find("a").empty());
    postings.add(0, {{"a", 1}, {"b", 2.5}});
    postings.add(1, {});
    postings.add(4, {{"a", 3}, {"", 1}});
    EXPECT_EQ(rows_of(postings, "a"), (Rows{{0, 1}, {4, 3}}));
    EXPECT_EQ(rows_of(postings, "b"), (Rows{{0, 2.5}}));
    EXPECT_EQ(rows_of(postings, ""), (Rows{{4, 1}}));
    EXPECT_TRUE(postings.find("c").empty());
    EXPECT_EQ(postings.terms(), 3U);
}

TEST(MemoryPostings, RenumberingDropsRowsAndTermsThatHaveNoneLeft) {
    MemoryPostings all;
    all.add(0, {{"a", 1}, {"gone", 1}});
    all.add(1, {{"a", 2}});
    all.add(2, {{"a", 3}, {"b", 1}});
    const auto fresh = renumbered(all, {kDropped, 0, 1});
    MemoryPostings& postings = *fresh;
    EXPECT_EQ(rows_of(all, "gone"), (Rows{{0, 1}})) << "readers may still hold it";
    EXPECT_EQ(rows_of(postings, "a"), (Rows{{0, 2}, {1, 3}}));
    EXPECT_EQ(rows_of(postings, "b"), (Rows{{1, 1}}));
    EXPECT_TRUE(postings.find("gone").empty());
    EXPECT_EQ(postings.terms(), 2U);
    postings.add(2, {{"gone", 5}});
    EXPECT_EQ(rows_of(postings, "gone"), (Rows{{2, 5}}));
}

TEST(MemoryPostings, RandomRenumberingsKeepWhatAMapKeeps) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        auto postings = std::make_unique<MemoryPostings>();
        std::map<std::string, Rows> model;
        std::uint32_t rows = 0;
        for (int round = 0; round < 5; ++round) {
            for (int i = 0; i < 20; ++i, ++rows) {
                std::vector<std::pair<std::string, double>> frequencies;
                for (char c = 'a'; c < 'h'; ++c) {
                    if (rng() % 3 != 0) continue;
                    frequencies.emplace_back(std::string(1, c), rng() % 5 + 1);
                    model[frequencies.back().first].emplace_back(rows, frequencies.back().second);
                }
                postings->add(rows, frequencies);
            }
            std::vector<std::uint32_t> numbers(rows, kDropped);
            std::uint32_t kept = 0;
            for (std::uint32_t& number : numbers) {
                if (rng() % 2 == 0) number = kept++;
            }
            postings = renumbered(*postings, numbers);
            rows = kept;
            for (auto& [term, list] : model) {
                Rows renumbered;
                for (const auto& [row, tf] : list) {
                    if (numbers[row] != kDropped) renumbered.emplace_back(numbers[row], tf);
                }
                list = renumbered;
                EXPECT_EQ(rows_of(*postings, term), list);
            }
        }
    }
}

TEST(PostingList, FindsEveryRowItHoldsAndNoOther) {
    PostingList list;
    EXPECT_EQ(list.find(0), nullptr);
    for (std::uint32_t row = 1; row < 400; row += 3) {
        list.push_back({row, row + 0.5});
        for (std::uint32_t wanted = 0; wanted < 402; ++wanted) {
            const Posting* const found = list.find(wanted);
            ASSERT_EQ(found != nullptr, wanted % 3 == 1 && wanted <= row) << row << " " << wanted;
            const double tf = found != nullptr ? found->tf : wanted + 0.5;
            ASSERT_EQ(tf, wanted + 0.5);
        }
    }
}

}  // namespace
}  // namespace braid::sparse
