#pragma once

#include <cstdint>
#include <vector>

#include "braid/dense/stored_vectors.hpp"

namespace braid::dense {

/// Exact search at memory speed: sums of floats, with a proven bound on their error, find the rows
/// that can be among the k best, and only those are scored the way ExactRows does.
class ExactSearch {
public:
    ExactSearch(const StoredVectors& vectors, const ExactQuery& query, std::size_t k);

    Result<std::vector<VectorHit>> run(Allowed allowed);

    /// Rows first ... first + count - 1, at most 64; bit i of `wanted` says whether row first + i
    /// counts. `run` does this for all rows, then calls `finish`.
    Result<> look_at(std::uint64_t first, std::size_t count, std::uint64_t wanted);
    /// `look_at` for several searches over the same products (not distances), which read each row
    /// once for all of them.
    static Result<> look_at_together(std::span<ExactSearch> searches, std::uint64_t first,
                                     std::size_t count);
    /// The best of the rows looked at.
    Result<std::vector<VectorHit>> finish();

private:
    /// A row that may be one of the k best, and the highest score it can have.
    struct Candidate {
        std::uint32_t row;
        double most;
    };

    /// For rows that are not contiguous.
    Result<> look_at_each(std::span<const std::uint32_t> rows);
    void consider(std::uint64_t row, float approximation, double norm);
    /// Sums of floats for contiguous rows.
    void approximate(const std::byte* from, std::size_t count, float* out) const noexcept;
    void offer(std::uint64_t row, double least, double most);
    void forget_the_beaten();
    double error_of(double lengths) const noexcept {
        return lengths * relative_error_ + absolute_error_;
    }
    void bound_distance(float approximate, double& least, double& most) const noexcept;
    void bound_product(float approximate, double norm, double& least, double& most) const noexcept;

    const StoredVectors& vectors_;
    const ExactQuery& query_;
    std::size_t k_;
    double relative_error_;
    double absolute_error_;
    std::vector<double> least_;  // a heap of the k highest lower bounds
    double limit_;               // the smallest of them, once there are k
    std::vector<Candidate> candidates_;
};

}  // namespace braid::dense
