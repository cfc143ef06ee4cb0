#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "braid/dense/exact_rows.hpp"
#include "braid/dense/stored_vectors.hpp"
#include "braid/dense/vectors_builder.hpp"
#include "braid/kernels/dense.hpp"
#include "braid/store/memory_sections.hpp"

namespace braid::dense {

using Vectors = std::vector<std::vector<float>>;

/// How many, where what is shown does not depend on it: fewer under a sanitizer, which is slow.
constexpr std::size_t sized([[maybe_unused]] std::size_t usual,
                            [[maybe_unused]] std::size_t with_sanitizer) {
#ifdef __SANITIZE_ADDRESS__
    return with_sanitizer;
#else
    return usual;
#endif
}

inline Vectors uniform_vectors(std::mt19937& rng, std::size_t count, std::size_t dimension) {
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    Vectors vectors(count, std::vector<float>(dimension));
    for (auto& vector : vectors) {
        for (float& x : vector) x = uniform(rng);
        if (dimension == 1 && vector[0] == 0) vector[0] = 1;
    }
    return vectors;
}

/// What a vector is after it was stored.
inline std::vector<float> as_stored(std::vector<float> vector, Precision precision) {
    if (precision == Precision::F16) {
        std::vector<std::uint16_t> halves(vector.size());
        kernels::dense_kernels().narrow(vector.data(), vector.size(), halves.data());
        kernels::dense_kernels().widen(halves.data(), halves.size(), vector.data());
    }
    if (precision == Precision::Int8) {
        float largest = 0;
        for (const float x : vector) largest = std::max(largest, std::abs(x));
        // The largest number's 127th part, without the last seven of a float's 24 binary digits.
        int exponent = 0;
        std::ignore = std::frexp(largest / 127, &exponent);
        exponent = std::max(exponent, std::numeric_limits<float>::min_exponent) - 17;
        const float unit = std::ldexp(std::floor(std::ldexp(largest / 127, -exponent)), exponent);
        for (float& x : vector) {
            const float steps = std::nearbyint(unit > 0 ? x / unit : 0);
            x = unit * (0.0F + std::clamp(steps, -127.0F, 127.0F));
        }
    }
    return vector;
}

inline constexpr std::array kPrecisions{Precision::F32, Precision::F16, Precision::Int8};

inline void write_index(const Vectors& vectors, const VectorsOptions& options,
                        store::SectionSink& sink) {
    auto builder = VectorsBuilder::create(options);
    ASSERT_TRUE(builder) << builder.error().message;
    for (const auto& vector : vectors) {
        const auto added = builder->add(vector);
        ASSERT_TRUE(added) << added.error().message;
    }
    const auto written = builder->write(sink);
    ASSERT_TRUE(written) << written.error().message;
}

inline bool is_allowed(Allowed allowed, std::size_t row) {
    return allowed.empty() ||
           (row / 64 < allowed.size() && (allowed[row / 64] >> row % 64 & 1) != 0);
}

inline void fill(ExactRows& rows, const Vectors& vectors, Precision precision) {
    for (const auto& vector : vectors) rows.add(as_stored(vector, precision));
}

/// Every allowed row scored by ExactRows, sorted, cut.
inline std::vector<VectorHit> reference_search(const ExactRows& rows, std::span<const float> query,
                                               std::size_t k, Allowed allowed) {
    std::vector<VectorHit> hits;
    const double length = norm(query);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (!is_allowed(allowed, row)) continue;
        double score = 0;
        rows.score(query, length, row, std::span(&score, 1));
        hits.push_back({static_cast<std::uint32_t>(row), score});
    }
    return best_of(std::move(hits), k);
}

inline std::vector<VectorHit> reference_search(const Vectors& vectors,
                                               const VectorsOptions& options,
                                               std::span<const float> query, std::size_t k,
                                               Allowed allowed) {
    ExactRows rows(options.dimension, options.metric);
    fill(rows, vectors, options.precision);
    return reference_search(rows, query, k, allowed);
}

inline std::vector<std::uint64_t> random_mask(std::mt19937& rng, std::size_t count, double share) {
    std::vector<std::uint64_t> mask((count + 63) / 64 + 1);
    std::bernoulli_distribution chosen(share);
    for (std::size_t row = 0; row < mask.size() * 64; ++row) {
        mask[row / 64] |= std::uint64_t{chosen(rng)} << row % 64;
    }
    return mask;
}

}  // namespace braid::dense
