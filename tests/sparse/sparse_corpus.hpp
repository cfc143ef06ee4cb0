#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/sparse/index_builder.hpp"
#include "braid/sparse/search.hpp"
#include "braid/store/memory_sections.hpp"

namespace braid::sparse {

/// Rows as a test makes them, and their scores by the plainest of means.
struct Corpus {
    struct Row {
        std::uint32_t label = 0;
        FieldCounts lengths{};
        std::map<std::string, FieldCounts> terms;
        std::map<std::string, std::array<std::vector<std::uint32_t>, kMaxFields>> positions;
    };
    std::uint32_t fields = 1;
    std::vector<Row> rows;
    bool positions = false;  // are written

    void add_word(Row& row, std::uint32_t field, const std::string& word) const {
        row.positions[word][field].push_back(row.lengths[field]);
        ++row.lengths[field];
        ++row.terms[word][field];
    }

    static Result<> add_to(IndexBuilder& builder, std::uint32_t fields, const Row& row) {
        std::vector<TermCounts> terms;
        std::map<std::string_view, std::vector<std::uint32_t>> positions;
        for (const auto& [term, by_field] : row.positions) {
            auto& all = positions[term];
            for (const auto& here : by_field) all.insert(all.end(), here.begin(), here.end());
        }
        for (const auto& [term, counts] : row.terms) {
            terms.push_back({term, counts, positions[term]});
        }
        return builder.add(row.label, std::span(row.lengths).first(fields), terms);
    }
    void build(store::SectionSink& sink, const WriteOptions& options = {}) const {
        IndexBuilder builder(fields, positions);
        for (const Row& row : rows) ASSERT_TRUE(add_to(builder, fields, row));
        const auto finished = builder.finish(sink, options);
        ASSERT_TRUE(finished) << finished.error().message;
    }

    /// Statistics of all rows whose label is in `labels` (all: empty).
    Query query(const std::vector<std::string>& words, const Bm25& bm25,
                const std::vector<double>& weights,
                const std::set<std::uint32_t>& labels = {}) const {
        Query query{.bm25 = bm25, .field_weights = weights};
        std::map<std::string, std::uint64_t> frequencies;
        std::array<std::uint64_t, kMaxFields> totals{};
        for (const Row& row : rows) {
            if (!labels.empty() && !labels.contains(row.label)) continue;
            ++query.corpus.chunks;
            for (std::size_t f = 0; f < fields; ++f) totals[f] += row.lengths[f];
            for (const auto& [term, counts] : row.terms) ++frequencies[term];
        }
        for (std::size_t f = 0; f < fields; ++f) {
            query.corpus.total_length += weights[f] * static_cast<double>(totals[f]);
        }
        for (const std::string& word : words) {
            const auto known = std::ranges::find(query.terms, word, &QueryTerm::term);
            if (known != query.terms.end()) {
                known->repeated += 1;
            } else {
                const auto df = frequencies.find(word);
                query.terms.push_back({word, 1, df == frequencies.end() ? 0 : df->second});
            }
        }
        double sum = 0;
        for (const auto& [term, df] : frequencies) {
            sum += idf(Bm25Variant::Okapi, query.corpus.chunks, df);
        }
        query.mean_idf = frequencies.empty() ? 0 : sum / static_cast<double>(frequencies.size());
        return query;
    }

    std::vector<double> scores(const Query& query) const {
        std::vector<double> scores(rows.size(), 0.0);
        for (const QueryTerm& term : query.terms) {
            if (term.df == 0) continue;
            double inverse = idf(query.bm25.variant, query.corpus.chunks, term.df);
            if (query.bm25.variant == Bm25Variant::Okapi && inverse < 0) {
                inverse = query.bm25.epsilon * *query.mean_idf;
            }
            const double weight = term.repeated * inverse;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const auto found = rows[i].terms.find(term.term);
                if (found == rows[i].terms.end()) continue;
                double tf = 0;
                double length = 0;
                for (std::size_t f = 0; f < fields; ++f) {
                    tf += query.field_weights[f] * found->second[f];
                    length += query.field_weights[f] * rows[i].lengths[f];
                }
                if (tf == 0) continue;
                scores[i] +=
                    weight * saturation(query.bm25, tf, length, query.corpus.average_length());
            }
        }
        return scores;
    }

    SearchResult expected(const std::vector<Query>& queries, const SearchOptions& options) const {
        std::vector<double> best(rows.size(), 0.0);
        for (const Query& query : queries) {
            std::ranges::transform(best, scores(query), best.begin(), std::ranges::max);
        }
        SearchResult result;
        for (std::uint32_t row = 0; row < rows.size(); ++row) {
            const bool may =
                options.allowed.empty() || (options.allowed[row / 64] >> (row % 64) & 1) != 0;
            if (!may || best[row] <= 0) continue;
            ++result.matched.count;
            const ScoredRow hit{row, best[row]};
            if (options.after && !better(*options.after, hit)) continue;
            if (hit.score >= options.threshold) result.rows.push_back(hit);
        }
        std::ranges::sort(result.rows, better);
        if (result.rows.size() > options.k) result.rows.resize(options.k);
        result.matched.exact = true;
        return result;
    }
};

inline IndexReader must_open(const store::SectionSource& source) {
    auto reader = IndexReader::open(source);
    EXPECT_TRUE(reader) << reader.error().message;
    return *std::move(reader);
}

inline std::string word_of(std::uint64_t rank) {
    return "w" + std::to_string(rank);
}

inline std::uint64_t below(std::mt19937_64& rng, std::uint64_t count) {
    return rng() % count;
}

/// A word, frequent ones by far the most often.
inline std::string random_word(std::mt19937_64& rng, std::uint64_t vocabulary) {
    std::uint64_t rank = below(rng, vocabulary);
    for (auto again = below(rng, 4); again > 0; --again) rank = below(rng, rank + 1);
    return word_of(rank);
}

struct CorpusShape {
    std::uint32_t rows = 100;
    std::uint32_t fields = 1;
    std::uint32_t words = 20;  // at most, per field
    std::uint64_t vocabulary = 50;
    std::uint32_t labels = 1;
};

inline Corpus random_corpus(std::mt19937_64& rng, const CorpusShape& shape) {
    Corpus corpus{.fields = shape.fields};
    for (std::uint32_t i = 0; i < shape.rows; ++i) {
        Corpus::Row& row = corpus.rows.emplace_back();
        row.label = static_cast<std::uint32_t>(below(rng, shape.labels)) * 7;
        for (std::uint32_t f = 0; f < shape.fields; ++f) {
            for (auto left = below(rng, shape.words + 1); left > 0; --left) {
                corpus.add_word(row, f, random_word(rng, shape.vocabulary));
            }
        }
    }
    return corpus;
}

inline std::vector<std::string> random_words(std::mt19937_64& rng, std::size_t count,
                                             std::uint64_t vocabulary) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < count; ++i) words.push_back(random_word(rng, vocabulary + 2));
    return words;
}

}  // namespace braid::sparse
