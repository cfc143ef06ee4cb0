#include <map>
#include <random>

#include <gtest/gtest.h>

#include "braid/sparse/count_finder.hpp"
#include "braid/sparse/counted_rows.hpp"
#include "core/share.hpp"
#include "sparse/sparse_corpus.hpp"

namespace braid::sparse {
namespace {

using Counts = std::map<std::uint32_t, FieldCounts>;

/// Rows with the word `w`, so dense or so rare; counts small, or larger than what codes can say.
Corpus corpus_of(std::mt19937_64& rng, std::uint32_t rows, std::uint64_t one_in,
                 std::uint32_t fields) {
    Corpus corpus{.fields = fields};
    for (std::uint32_t row = 0; row < rows; ++row) {
        Corpus::Row& made = corpus.rows.emplace_back();
        corpus.add_word(made, 0, "x");
        if (below(rng, one_in) != 0) continue;
        FieldCounts counts{1};
        const std::uint64_t kind = below(rng, 12);
        if (kind < 3) counts[below(rng, fields)] += static_cast<std::uint32_t>(below(rng, 20));
        if (kind == 3) counts[0] = 0;
        if (kind == 3) counts[fields - 1] = 1;
        if (kind == 4) counts[0] = static_cast<std::uint32_t>(below(rng, 3) == 0 ? 70'000 : 300);
        if (total_of(counts.data(), fields) == 0) counts[0] = 1;
        made.terms["w"] = counts;
        for (std::uint32_t f = 0; f < fields; ++f) made.lengths[f] += counts[f];
    }
    return corpus;
}

void expect_counts(const Corpus& corpus, const WriteOptions& options) {
    Counts expected;
    for (std::uint32_t row = 0; row < corpus.rows.size(); ++row) {
        const auto found = corpus.rows[row].terms.find("w");
        if (found != corpus.rows[row].terms.end()) expected.emplace(row, found->second);
    }
    store::MemorySections sections;
    corpus.build(sections, options);
    const IndexReader reader = must_open(sections);
    const auto entry = reader.dictionary().find("w");
    ASSERT_TRUE(entry);
    ASSERT_EQ(entry->has_value(), !expected.empty());
    if (expected.empty()) return;
    const auto list = reader.list(**entry);
    ASSERT_TRUE(list) << list.error().message;
    Counts walked;
    ASSERT_TRUE(each_counted_row(reader, *reader.row_facts(), *list,
                                 [&](std::uint32_t row, const std::uint32_t* counts) {
                                     std::copy_n(counts, corpus.fields, walked[row].begin());
                                 }));
    EXPECT_EQ(walked, expected);
    const auto finder = CountFinder::create(reader, **entry);
    ASSERT_TRUE(finder);
    for (std::uint32_t row = 0; row < corpus.rows.size(); ++row) {
        FieldCounts counts{};
        const auto held = expected.find(row);
        ASSERT_EQ(finder->find(row, counts), held != expected.end()) << "row " << row;
        if (held == expected.end()) continue;
        ASSERT_EQ(counts, held->second) << "row " << row;
        const std::uint32_t tf = std::min(total_of(counts.data(), corpus.fields), kMostRunTf);
        if (list->form == ListView::Form::Column) {
            ASSERT_EQ(list->tf_in_column(row), tf);
        } else if (list->form == ListView::Form::Rows) {
            ASSERT_EQ(list->tf_in(row / kWindowRows, row % kWindowRows), tf);
        }
    }
}

TEST(CountedList, SaysHowOftenEachFieldOfEachRowHasATerm) {
    for (std::uint64_t seed = 0; seed < share_of(60); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        constexpr std::array<std::uint64_t, 7> kOneIn{1, 3, 15, 17, 50, 100, 3000};
        const auto rows = static_cast<std::uint32_t>(1 + below(rng, seed % 3 == 0 ? 80'000 : 3000));
        const Corpus corpus = corpus_of(rng, rows, kOneIn[below(rng, kOneIn.size())],
                                        static_cast<std::uint32_t>(1 + below(rng, 3)));
        expect_counts(corpus, {.column_bytes = below(rng, 2) << 24});
        if (testing::Test::HasFailure()) return;
    }
}

TEST(CountedList, TakesTheFormThatFitsItsNumberOfRows) {
    std::mt19937_64 rng(1);
    const auto form_of = [&](std::uint64_t one_in, std::uint64_t room) {
        store::MemorySections sections;
        corpus_of(rng, 70'000, one_in, 1).build(sections, {.column_bytes = room});
        const IndexReader reader = must_open(sections);
        const auto list = reader.list(**reader.dictionary().find("w"));
        return list->header.form;
    };
    EXPECT_EQ(form_of(10, 1U << 24), ListForm::CountedColumn);
    EXPECT_EQ(form_of(10, 0), ListForm::CountedGaps);
    EXPECT_EQ(form_of(40, 1U << 24), ListForm::CountedGaps);
    EXPECT_EQ(form_of(100, 1U << 24), ListForm::CountedRows);
}

}  // namespace
}  // namespace braid::sparse
