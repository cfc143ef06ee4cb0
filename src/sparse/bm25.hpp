#pragma once

#include <cstdint>

#include "braid/collection.hpp"

namespace braid::sparse {

/// What BM25 needs to know of the chunks a principal may see in one namespace.
struct CorpusStatistics {
    std::uint64_t chunks = 0;
    double total_length = 0;

    double average_length() const noexcept {
        return chunks == 0 ? 0.0 : total_length / static_cast<double>(chunks);
    }
};

/// Inverse document frequency of a term held by `df` of `chunks` chunks. Okapi's may be negative.
double idf(Bm25Variant variant, std::uint64_t chunks, std::uint64_t df) noexcept;

/// How much the length of a chunk damps the frequencies of its terms.
inline double length_norm(const Bm25& bm25, double length, double average_length) noexcept {
    const double relative = average_length > 0 ? length / average_length : 0.0;
    return bm25.k1 * (1 - bm25.b + bm25.b * relative);
}

/// saturation() of a chunk whose norm is known.
inline double saturation(const Bm25& bm25, double tf, double norm) noexcept {
    if (bm25.variant == Bm25Variant::Okapi) return tf * (bm25.k1 + 1) / (tf + norm);
    return tf / (tf + norm);
}

/// What one term adds to a chunk's score, without its idf: the saturated term frequency. `tf` and
/// `length` are weighted sums over the text fields.
double saturation(const Bm25& bm25, double tf, double length, double average_length) noexcept;

}  // namespace braid::sparse
