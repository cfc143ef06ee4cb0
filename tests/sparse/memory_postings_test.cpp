#include "braid/sparse/memory_postings.hpp"

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <random>

#include <gtest/gtest.h>

namespace braid::sparse {
namespace {

constexpr auto kDropped = std::numeric_limits<std::uint32_t>::max();

using Rows = std::vector<std::pair<std::uint32_t, double>>;

/// The second of two fields has twice the weight of the first.
constexpr std::array kWeights{0.5, 1.0};

Rows rows_of(const MemoryPostings& postings, std::string_view term) {
    Rows rows;
    for_each_row(postings.find(term), kWeights, [&](std::uint32_t row, double tf) {
        rows.emplace_back(row, tf);
        return true;
    });
    return rows;
}

std::vector<TermCount> counts(std::vector<TermCount> list) {
    return list;
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
    postings.add(0, counts({{"a", 1, 1}, {"b", 0, 1}, {"b", 1, 2}}));
    postings.add(1, {});
    postings.add(4, counts({{"", 1, 1}, {"a", 1, 3}}));
    EXPECT_EQ(rows_of(postings, "a"), (Rows{{0, 1}, {4, 3}}));
    EXPECT_EQ(rows_of(postings, "b"), (Rows{{0, 2.5}}));
    EXPECT_EQ(rows_of(postings, ""), (Rows{{4, 1}}));
    EXPECT_TRUE(postings.find("c").empty());
    EXPECT_EQ(postings.terms(), 3U);
}

TEST(MemoryPostings, RenumberingDropsRowsAndTermsThatHaveNoneLeft) {
    MemoryPostings all;
    all.add(0, counts({{"a", 1, 1}, {"gone", 1, 1}}));
    all.add(1, counts({{"a", 1, 2}}));
    all.add(2, counts({{"a", 1, 3}, {"b", 1, 1}}));
    const auto fresh = renumbered(all, {kDropped, 0, 1});
    MemoryPostings& postings = *fresh;
    EXPECT_EQ(rows_of(all, "gone"), (Rows{{0, 1}})) << "readers may still hold it";
    EXPECT_EQ(rows_of(postings, "a"), (Rows{{0, 2}, {1, 3}}));
    EXPECT_EQ(rows_of(postings, "b"), (Rows{{1, 1}}));
    EXPECT_TRUE(postings.find("gone").empty());
    EXPECT_EQ(postings.terms(), 2U);
    postings.add(2, counts({{"gone", 1, 5}}));
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
                std::vector<TermCount> counts;
                if (rows > 0 && rng() % 4 == 0) {
                    const auto of = static_cast<std::uint32_t>(rng() % rows);
                    postings->add_copy(rows, of);
                    for (auto& [term, list] : model) {
                        const auto held = std::ranges::find(list, of, &Rows::value_type::first);
                        if (held != list.end()) list.emplace_back(rows, held->second);
                    }
                    continue;
                }
                for (char c = 'a'; c < 'h'; ++c) {
                    if (rng() % 3 != 0) continue;
                    double tf = 0;
                    const std::string term(1, c);
                    for (std::uint32_t field = 0; field < kWeights.size(); ++field) {
                        if (field == 0 && rng() % 2 == 0) continue;
                        counts.push_back({term, field, static_cast<std::uint32_t>(rng() % 5 + 1)});
                        tf += kWeights[field] * counts.back().count;
                    }
                    model[term].emplace_back(rows, tf);
                }
                postings->add(rows, counts);
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
    EXPECT_EQ(list.find(0), PostingList::end());
    for (std::uint32_t row = 1; row < 400; row += 3) {
        for (std::uint32_t field = 0; field <= row % 3; ++field) {
            list.push_back({row, field, row + field});
        }
        for (std::uint32_t wanted = 0; wanted < 402; ++wanted) {
            auto found = list.find(wanted);
            ASSERT_EQ(found != PostingList::end(), wanted % 3 == 1 && wanted <= row)
                << row << " " << wanted;
            for (std::uint32_t field = 0; found != PostingList::end() && found->row == wanted;
                 ++field, ++found) {
                ASSERT_EQ(*found, (Posting{wanted, field, wanted + field}));
            }
        }
    }
}

}  // namespace
}  // namespace braid::sparse
