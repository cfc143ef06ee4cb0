#include "braid/sparse/bm25.hpp"

#include <cmath>

namespace braid::sparse {

double idf(Bm25Variant variant, std::uint64_t chunks, std::uint64_t df) noexcept {
    const auto n = static_cast<double>(chunks);
    const auto d = static_cast<double>(df);
    if (variant == Bm25Variant::Okapi) return std::log(n - d + 0.5) - std::log(d + 0.5);
    return std::log(1 + (n - d + 0.5) / (d + 0.5));
}

double saturation(const Bm25& bm25, double tf, double length, double average_length) noexcept {
    return saturation(bm25, tf, length_norm(bm25, length, average_length));
}

}  // namespace braid::sparse
