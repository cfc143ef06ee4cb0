#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "braid/dense/vectors_reader.hpp"
#include "dense/vectors.hpp"

namespace braid::dense {

/// Vectors in clusters that vary in some directions more than in others, as embeddings do, with
/// lengths that differ a little.
inline Vectors clustered(std::mt19937& rng, std::size_t count, std::size_t dimension) {
    std::normal_distribution<float> normal;
    Vectors centres(20, std::vector<float>(dimension));
    for (auto& centre : centres) {
        for (float& x : centre) x = normal(rng);
    }
    Vectors vectors(count, std::vector<float>(dimension));
    for (std::size_t r = 0; r < count; ++r) {
        const auto& centre = centres[r * centres.size() / count];  // neighbours have near rows
        const float length = 1 + 0.1F * normal(rng);
        for (std::size_t i = 0; i < dimension; ++i) {
            const float spread = 1.5F / (1 + static_cast<float>(i) / 30);
            vectors[r][i] = length * (0.5F * centre[i] + spread * normal(rng));
        }
    }
    return vectors;
}

/// An index with codes, whose answers are checked against scoring every row.
struct Index {
    Vectors vectors;
    VectorsOptions options;
    ExactRows rows;
    store::MemorySections sections;
    VectorsReader reader;

    Index(Vectors given, const VectorsOptions& with)
        : vectors(std::move(given)), options(with), rows(with.dimension, with.metric) {
        fill(rows, vectors, options.precision);
        options.codes_from = 0;
        write_index(vectors, options, sections);
        auto opened = VectorsReader::open(sections);
        EXPECT_TRUE(opened);
        if (opened) reader = *std::move(opened);
    }

    /// The share of the true best found; checks order, scores, mask and number as well.
    double recall(const std::vector<float>& query, const VectorSearch& search) const {
        const auto answer = reader.search(query, search);
        EXPECT_TRUE(answer) << answer.error().message;
        if (!answer) return 0;
        const auto truth = reference_search(rows, query, search.k, search.allowed);
        EXPECT_EQ(answer->hits.size(), truth.size());
        EXPECT_TRUE(std::ranges::is_sorted(answer->hits, better));
        std::vector<std::uint32_t> found_rows;
        for (const VectorHit& hit : answer->hits) {
            EXPECT_TRUE(is_allowed(search.allowed, hit.row));
            found_rows.push_back(hit.row);
        }
        EXPECT_EQ(std::set<std::uint32_t>(found_rows.begin(), found_rows.end()).size(),
                  found_rows.size());
        const auto exact = reader.score(query, found_rows);
        EXPECT_TRUE(exact);
        std::size_t found = 0;
        for (std::size_t i = 0; i < found_rows.size(); ++i) {
            EXPECT_EQ(answer->hits[i].score, (*exact)[i]);
            found += static_cast<std::size_t>(std::ranges::count(truth, answer->hits[i]));
        }
        return truth.empty() ? 1 : static_cast<double>(found) / static_cast<double>(truth.size());
    }
};

}  // namespace braid::dense
