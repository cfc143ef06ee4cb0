#include "braid/sparse/search.hpp"

#include <random>

#include <gtest/gtest.h>

#include "core/share.hpp"
#include "sparse/sparse_corpus.hpp"

namespace braid::sparse {
namespace {

IndexReader open_index(const store::SectionSource& source) {
    auto reader = IndexReader::open(source);
    EXPECT_TRUE(reader) << reader.error().message;
    return *std::move(reader);
}

Bm25 random_bm25(std::mt19937_64& rng) {
    constexpr std::array kK1{1.2, 0.0, 1.5, 20.0};
    constexpr std::array kB{0.75, 0.0, 1.0, 0.3};
    return {.variant = below(rng, 3) == 0 ? Bm25Variant::Okapi : Bm25Variant::Lucene,
            .k1 = kK1[below(rng, 4)],
            .b = kB[below(rng, 4)]};
}

std::vector<double> random_weights(std::mt19937_64& rng, std::uint32_t fields) {
    constexpr std::array kFieldWeights{1.0, 1.0, 2.5, 0.1, 0.0};
    std::vector<double> weights(fields, 1.0);
    if (below(rng, 2) == 0) return weights;
    for (double& weight : weights) weight = kFieldWeights[below(rng, kFieldWeights.size())];
    return weights;
}

std::vector<std::uint64_t> random_mask(std::mt19937_64& rng, std::size_t rows) {
    std::vector<std::uint64_t> mask((rows + 63) / 64);
    const auto kind = below(rng, 5);
    for (std::uint64_t& word : mask) {
        word = rng();
        if (kind == 1) word &= rng() & rng() & rng();
        if (kind == 2) word = ~std::uint64_t{0};
        if (kind == 3) word = 0;
        if (kind == 4) word = below(rng, 8) == 0 ? std::uint64_t{1} << below(rng, 64) : 0;
    }
    return mask;
}

/// The same, one after another, as exhaustive scoring: by the test, by the index, and pruned.
void expect_same(const Corpus& corpus, const IndexReader& reader, const std::vector<Query>& queries,
                 SearchOptions options) {
    const SearchResult expected = corpus.expected(queries, options);
    const auto exhaustive = exhaustive_search(reader, queries, options);
    ASSERT_TRUE(exhaustive) << exhaustive.error().message;
    EXPECT_EQ(exhaustive->rows, expected.rows);
    EXPECT_EQ(exhaustive->matched, expected.matched);
    for (const bool count_all : {false, true}) {
        options.count_all = count_all;
        const auto found = search(reader, queries, options);
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_EQ(found->rows, expected.rows);
        if (found->matched.exact) {
            EXPECT_EQ(found->matched, expected.matched);
        } else {
            EXPECT_FALSE(count_all);
            EXPECT_LE(found->matched.count, expected.matched.count);
            EXPECT_GE(found->matched.count, found->rows.size());
        }
    }
}

void expect_scores_and_ranks(const Corpus& corpus, const IndexReader& reader,
                             const std::vector<Query>& queries, std::mt19937_64& rng,
                             std::span<const std::uint64_t> allowed) {
    if (corpus.rows.empty()) return;
    std::vector<std::uint32_t> rows;
    for (int i = 0; i < 5; ++i) {
        rows.push_back(static_cast<std::uint32_t>(below(rng, corpus.rows.size())));
    }
    const auto all = corpus.expected(queries, {.k = corpus.rows.size(), .allowed = allowed}).rows;
    const auto scores = score(reader, queries, rows);
    const auto ranks = rank_of(reader, queries, rows, allowed);
    ASSERT_TRUE(scores) << scores.error().message;
    ASSERT_TRUE(ranks) << ranks.error().message;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::optional<double> best;  // which Okapi's negative weights can pull below zero
        for (const Query& query : queries) {
            const double score = corpus.scores(query)[rows[i]];
            best = std::max(best.value_or(score), score);
        }
        EXPECT_EQ((*scores)[i], best.value_or(0));
        const auto found = std::ranges::find(all, rows[i], &ScoredRow::row);
        const auto rank =
            found == all.end() ? 0U : static_cast<std::uint64_t>(found - all.begin() + 1);
        EXPECT_EQ((*ranks)[i], rank);
    }
}

void compare_one_corpus(std::mt19937_64& rng, const CorpusShape& shape, int rounds) {
    Corpus corpus = random_corpus(rng, shape);
    corpus.positions = below(rng, 3) == 0;  // with forward lists
    store::MemorySections sections;
    // Without room for columns, frequent terms have lists.
    const WriteOptions options{.column_bytes = below(rng, 3) == 0 ? 0U : 1U << 20};
    corpus.build(sections, options);
    const IndexReader reader = open_index(sections);
    for (int round = 0; round < rounds; ++round) {
        SCOPED_TRACE(testing::Message() << "round " << round);
        const Bm25 bm25 = random_bm25(rng);
        const auto weights = random_weights(rng, shape.fields);
        std::vector<Query> queries;
        for (auto left = below(rng, 4) == 0 ? 3 : 1; left > 0; --left) {
            const auto words = random_words(rng, below(rng, 9), shape.vocabulary);
            queries.push_back(corpus.query(words, bm25, weights));
        }
        const auto mask = random_mask(rng, corpus.rows.size());
        SearchOptions search_options{.k = below(rng, 2) == 0 ? 10U : below(rng, 60)};
        if (below(rng, 2) == 0) search_options.allowed = mask;
        expect_same(corpus, reader, queries, search_options);
        if (round % 4 == 0) {
            expect_scores_and_ranks(corpus, reader, queries, rng, search_options.allowed);
        }
        const auto all = corpus.expected(queries, {.k = corpus.rows.size()}).rows;
        if (all.empty()) continue;
        search_options.after = all[below(rng, all.size())];
        expect_same(corpus, reader, queries, search_options);
        search_options.after.reset();
        search_options.threshold = all[below(rng, all.size())].score;
        expect_same(corpus, reader, queries, search_options);
    }
}

TEST(SparseSearch, EqualsExhaustiveScoringOnThousandsOfCorpora) {
    for (std::uint64_t seed = 0; seed < share_of(1'500); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const CorpusShape shape{.rows = static_cast<std::uint32_t>(below(rng, 60)),
                                .fields = static_cast<std::uint32_t>(1 + below(rng, 3)),
                                .words = static_cast<std::uint32_t>(below(rng, 30)),
                                .vocabulary = 1 + below(rng, 40)};
        compare_one_corpus(rng, shape, 2);
        if (testing::Test::HasFailure()) return;
    }
}

TEST(SparseSearch, EqualsExhaustiveScoringWithColumnsAndLists) {
    for (std::uint64_t seed = 0; seed < share_of(25); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed + 10'000);
        const CorpusShape shape{.rows = static_cast<std::uint32_t>(500 + below(rng, 2000)),
                                .fields = static_cast<std::uint32_t>(1 + below(rng, 3)),
                                .words = static_cast<std::uint32_t>(2 + below(rng, 20)),
                                .vocabulary = 3 + below(rng, 300)};
        compare_one_corpus(rng, shape, 8);
        if (testing::Test::HasFailure()) return;
    }
}

TEST(SparseSearch, EqualsExhaustiveScoringOverSeveralWindows) {
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed + 20'000);
        const CorpusShape shape{.rows = static_cast<std::uint32_t>(33'000 + below(rng, 3000)),
                                .fields = 2,
                                .words = 3,
                                .vocabulary = 5000};
        compare_one_corpus(rng, shape, 3);
        if (testing::Test::HasFailure()) return;
    }
}

/// All ways to ask that prune differently: few and many hits, filters from none to nearly all rows.
void compare_all_ways(Corpus corpus, const std::vector<std::vector<std::string>>& questions,
                      bool forward_lists = false) {
    corpus.positions = forward_lists;
    store::MemorySections sections;
    corpus.build(sections);
    const IndexReader reader = open_index(sections);
    std::mt19937_64 rng(corpus.rows.size());
    const std::size_t words = (corpus.rows.size() + 63) / 64;
    std::vector<std::vector<std::uint64_t>> masks(4, std::vector<std::uint64_t>(words));
    for (std::size_t row = 0; row < corpus.rows.size(); ++row) {
        const std::uint64_t bit = std::uint64_t{1} << (row % 64);
        if (below(rng, 2) == 0) masks[0][row / 64] |= bit;
        if (below(rng, 100) == 0) masks[1][row / 64] |= bit;
        if (below(rng, 4000) == 0) masks[2][row / 64] |= bit;
    }
    masks[3].back() = ~std::uint64_t{0};  // also rows that are not there
    for (const auto& question : questions) {
        const std::vector<Query> queries{
            corpus.query(question, {}, std::vector<double>(corpus.fields, 1.0))};
        for (const std::size_t k : {1, 10, 100}) {
            SCOPED_TRACE(testing::Message() << question.front() << ", k " << k);
            expect_same(corpus, reader, queries, {.k = k});
            for (const auto& mask : masks) {
                expect_same(corpus, reader, queries, {.k = k, .allowed = mask});
            }
            if (testing::Test::HasFailure()) return;
        }
    }
}

TEST(SparseSearch, EqualsExhaustiveScoringWhereTheBestRowsAreTheFirstOrTheLast) {
    // What the first window shows of the others is wrong: they hold better rows, or none as good.
    for (const bool first : {true, false}) {
        SCOPED_TRACE(first);
        Corpus corpus;
        constexpr std::uint32_t kRows = 70'000;
        for (std::uint32_t i = 0; i < kRows; ++i) {
            Corpus::Row& row = corpus.rows.emplace_back();
            const std::uint32_t rank = first ? i : kRows - 1 - i;
            corpus.add_word(row, 0, "all");
            if (i % 3 == 0) corpus.add_word(row, 0, "third");
            if (i % 500 == 0) corpus.add_word(row, 0, "some");
            if (rank < 60) corpus.add_word(row, 0, "rare");
            // Worse than those, better than what else the first window has.
            if (i >= 40'000 && i < 40'300) corpus.add_word(row, 0, "middle");
            for (std::uint32_t more = rank / 7000; more > 0; --more) {
                corpus.add_word(row, 0, "other");
            }
        }
        compare_all_ways(
            corpus,
            {{"all"}, {"some", "all", "rare"}, {"middle", "all", "rare"}, {"third", "other"}});
        if (testing::Test::HasFailure()) return;
    }
}

TEST(SparseSearch, EqualsExhaustiveScoringWhereAllRowsAreTheSame) {
    Corpus corpus;
    for (std::uint32_t i = 0; i < 40'000; ++i) {
        corpus.add_word(corpus.rows.emplace_back(), 0, "same");
        corpus.add_word(corpus.rows.back(), 0, "words");
    }
    corpus.add_word(corpus.rows[39'000], 0, "once");
    corpus.rows[39'000].lengths[0] = 2;
    compare_all_ways(corpus, {{"same"}, {"words", "same"}, {"once", "same"}});
}

TEST(SparseSearch, EqualsExhaustiveScoringOfWordsThatRowsRepeat) {
    std::mt19937_64 rng(5);
    Corpus corpus = random_corpus(rng, {.rows = 2500, .fields = 2, .words = 12, .vocabulary = 60});
    for (std::size_t i = 0; i < corpus.rows.size(); i += 7) {
        // More often than what lists, runs and codes can say.
        const std::string word = random_word(rng, 60);
        const auto times = std::array<std::uint64_t, 5>{6, 7, 15, 255, 300}[below(rng, 5)];
        for (std::uint64_t more = 0; more < times; ++more) corpus.add_word(corpus.rows[i], 1, word);
    }
    std::vector<std::vector<std::string>> questions;
    for (int i = 0; i < 6; ++i) questions.push_back(random_words(rng, 4, 60));
    compare_all_ways(corpus, questions);
    compare_all_ways(corpus, questions, true);
}

TEST(SparseSearch, EqualsExhaustiveScoringOfLongQueries) {
    std::mt19937_64 rng(6);
    const Corpus corpus =
        random_corpus(rng, {.rows = 3000, .fields = 1, .words = 40, .vocabulary = 1500});
    std::vector<std::vector<std::string>> questions;
    for (const std::size_t size : {16, 30, 33, 60, 100, 128, 200}) {
        questions.push_back(random_words(rng, size, 1500));
    }
    compare_all_ways(corpus, questions);
    compare_all_ways(corpus, questions, true);
}

TEST(SparseSearch, EqualScoresComeInOrderOfRows) {
    Corpus corpus;
    for (int i = 0; i < 3000; ++i) {
        corpus.add_word(corpus.rows.emplace_back(), 0, "same");
        if (i % 2 == 0) corpus.add_word(corpus.rows.back(), 0, "other");
    }
    store::MemorySections sections;
    corpus.build(sections);
    const IndexReader reader = open_index(sections);
    const std::vector<Query> queries{corpus.query({"same", "other"}, {}, {1.0})};
    for (const std::size_t k : {0, 1, 10, 1499, 1500, 1501, 4000}) {
        expect_same(corpus, reader, queries, {.k = k});
    }
}

TEST(SparseSearch, QueriesOfAHundredAndOfAThousandTermsAreAnswered) {
    std::mt19937_64 rng(3);
    const Corpus corpus =
        random_corpus(rng, {.rows = 3000, .fields = 1, .words = 40, .vocabulary = 1200});
    store::MemorySections sections;
    corpus.build(sections);
    const IndexReader reader = open_index(sections);
    for (const std::size_t words : {30, 100, 128, 1000}) {
        const auto query = corpus.query(random_words(rng, words, 1200), {}, {1.0});
        expect_same(corpus, reader, {query}, {.k = 10});
    }
}

TEST(SparseSearch, WeightsBeyondAllMeasureAreStillExact) {
    std::mt19937_64 rng(4);
    const Corpus corpus =
        random_corpus(rng, {.rows = 400, .fields = 2, .words = 10, .vocabulary = 30});
    store::MemorySections sections;
    corpus.build(sections);
    const IndexReader reader = open_index(sections);
    for (const double weight : {1e300, 1e-300, 1e30, 1e-30}) {
        for (const double k1 : {1.2, 0.0, 1e300, 1e-300}) {
            SCOPED_TRACE(testing::Message() << "weight " << weight << ", k1 " << k1);
            auto query = corpus.query(random_words(rng, 5, 30), {.k1 = k1}, {weight, 1.0});
            expect_same(corpus, reader, {query}, {.k = 10});
            query.terms.front().repeated = weight;
            expect_same(corpus, reader, {query}, {.k = 10});
        }
    }
}

TEST(SparseSearch, NothingIsFoundInNothing) {
    Corpus corpus{.fields = 3};
    store::MemorySections sections;
    corpus.build(sections);
    const IndexReader reader = open_index(sections);
    const auto query = corpus.query({"a"}, {}, {1, 1, 1});
    expect_same(corpus, reader, {query}, {.k = 10});
    expect_same(corpus, reader, {}, {.k = 10});
}

TEST(SparseSearch, SaysWhatIsWrongWithAQuery) {
    Corpus corpus{.fields = 2};
    corpus.add_word(corpus.rows.emplace_back(), 1, "a");
    store::MemorySections sections;
    corpus.build(sections);
    const IndexReader reader = open_index(sections);
    const Query good = corpus.query({"a"}, {}, {1, 1});
    const auto message = [&](const Query& query) {
        const auto found = search(reader, std::span(&query, 1), {});
        EXPECT_FALSE(found);
        return found ? "" : found.error().message;
    };
    Query bad = good;
    bad.field_weights = {1};
    EXPECT_EQ(message(bad), "query: 1 field weights for 2 fields");
    bad = good;
    bad.field_weights[0] = -1;
    EXPECT_EQ(message(bad), "query: a field weight must be 0 or more");
    bad = good;
    bad.terms.push_back(bad.terms[0]);
    EXPECT_EQ(message(bad), "query: term \"a\" is given twice");
    bad = good;
    bad.terms[0].df = 2;
    EXPECT_EQ(message(bad), "query: term \"a\" is in more chunks than there are");
    bad = good;
    bad.bm25.variant = Bm25Variant::Okapi;
    bad.mean_idf.reset();
    EXPECT_EQ(message(bad), "query: the mean idf is missing");
    const std::array<std::uint32_t, 1> beyond{1};
    EXPECT_EQ(score(reader, std::span(&good, 1), beyond).error().message,
              "score: there is no row 1");
}

}  // namespace
}  // namespace braid::sparse
