#include "braid/sparse/joint_rows.hpp"

#include <random>

#include <gtest/gtest.h>

#include "core/share.hpp"
#include "sparse/sparse_corpus.hpp"

namespace braid::sparse {
namespace {

std::uint32_t times(const Corpus::Row& row, const std::string& word) {
    const auto found = row.terms.find(word);
    if (found == row.terms.end()) return 0;
    std::uint32_t all = 0;
    for (const std::uint32_t count : found->second) all += count;
    return all;
}

/// Rows found, and codes, are those that looking at every row gives.
void check_joint(const Corpus& corpus, const WriteOptions& options, std::mt19937_64& rng,
                 std::size_t queries, std::uint64_t vocabulary) {
    store::MemorySections sections;
    corpus.build(sections, options);
    const IndexReader reader = must_open(sections);
    for (std::size_t q = 0; q < queries; ++q) {
        SCOPED_TRACE(testing::Message() << "query " << q);
        const auto words = random_words(rng, 1 + below(rng, 5), vocabulary);
        const Query query = corpus.query(words, {}, std::vector<double>(corpus.fields, 1.0));
        const auto scorer = RowScorer::create(reader, query);
        ASSERT_TRUE(scorer);
        const auto bounds = QueryBounds::create(reader, *scorer);
        ASSERT_TRUE(bounds);
        std::vector<std::size_t> terms;
        std::vector<std::string> names;
        std::vector<std::uint8_t> least;
        for (const QueryTerm& term : query.terms) {
            const auto entry = reader.dictionary().find(term.term);
            ASSERT_TRUE(entry);
            if (!*entry) continue;
            for (std::size_t i = 0; i < bounds->terms().size(); ++i) {
                if (bounds->terms()[i].list.entry.id != (*entry)->id) continue;
                terms.push_back(i);
                names.push_back(term.term);
                least.push_back(static_cast<std::uint8_t>(1 + below(rng, 3) / 2));
            }
        }
        if (terms.empty()) continue;
        std::vector<std::uint64_t> mask;
        if (below(rng, 2) == 0) {
            mask.resize((reader.rows() + 63) / 64);
            for (std::uint64_t& word : mask) word = rng() | rng();
        }
        JointRows rows(reader, scorer->facts(), *bounds, terms);
        for (std::uint32_t window = 0; window < reader.header().windows(); ++window) {
            const auto found = rows.find(window, least, mask);
            std::size_t next = 0;
            const std::uint32_t base = window * kWindowRows;
            for (std::uint32_t row = base; row < std::min(base + kWindowRows, reader.rows());
                 ++row) {
                bool all = mask.empty() || (mask[row / 64] >> (row % 64) & 1) != 0;
                for (std::size_t i = 0; all && i < names.size(); ++i) {
                    all = times(corpus.rows[row], names[i]) >= least[i];
                }
                if (!all) continue;
                ASSERT_LT(next, found.size());
                ASSERT_EQ(base + found[next], row);
                for (std::size_t i = 0; i < names.size(); ++i) {
                    const RowCode expected(times(corpus.rows[row], names[i]),
                                           scorer->facts().length_class(row));
                    ASSERT_EQ(rows.codes(i)[next], expected.bits());
                }
                ++next;
            }
            ASSERT_EQ(next, found.size());
        }
    }
}

TEST(JointRows, AreThoseThatHoldAllTerms) {
    for (std::uint64_t seed = 0; seed < share_of(200); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const CorpusShape shape{.rows = static_cast<std::uint32_t>(1 + below(rng, 900)),
                                .fields = static_cast<std::uint32_t>(1 + below(rng, 2)),
                                .words = static_cast<std::uint32_t>(1 + below(rng, 40)),
                                .vocabulary = 1 + below(rng, 60)};
        const std::uint64_t room = below(rng, 2) == 0 ? 64U << 20 : 0;  // columns, or none
        check_joint(random_corpus(rng, shape), {.column_bytes = room}, rng, 10, shape.vocabulary);
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(JointRows, AreFoundInEveryWindow) {
    for (std::uint64_t seed = 0; seed < share_of(4); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const CorpusShape shape{
            .rows = kWindowRows * 2 + static_cast<std::uint32_t>(below(rng, 5000)),
            .words = 12,
            .vocabulary = 3000};
        const std::uint64_t room = seed % 2 == 0 ? 64U << 20 : 0;
        check_joint(random_corpus(rng, shape), {.column_bytes = room}, rng, 6, shape.vocabulary);
        if (testing::Test::HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace braid::sparse
