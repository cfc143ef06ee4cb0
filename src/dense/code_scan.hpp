#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "braid/dense/codes.hpp"
#include "braid/dense/stored_vectors.hpp"
#include "braid/kernels/dense.hpp"

namespace braid::dense {

/// The codes of all vectors, verified.
struct CodeView {
    std::uint64_t count = 0;
    std::size_t dimensions = 0;
    bool offsets = false;
    const std::uint8_t* lines = nullptr;
    const std::uint8_t* blocks = nullptr;

    std::size_t block_count() const noexcept {
        return (count + kernels::kBlockVectors - 1) / kernels::kBlockVectors;
    }
    std::size_t block_stride() const noexcept { return kernels::block_bytes(dimensions, offsets); }
    /// The vectors of a block that exist and are allowed.
    std::uint64_t present(std::size_t block, Allowed allowed) const noexcept;
};

/// How many rows pass each sieve of a scan.
struct ScanDepth {
    std::size_t survivors = 0;  // after the high bits
    std::size_t rescored = 0;   // after the whole codes
};

/// Rows to be scored, best first, with their estimates.
struct Candidates {
    std::vector<std::uint32_t> rows;
    std::vector<float> estimates;
    double spread = 0;  // see StoredVectors::best
};

/// The estimate in a key of rank_lines.
float estimate_in(std::uint64_t key) noexcept;

/// Finds candidates by looking at the code of every allowed row: first at the high bits, in blocks,
/// then at the whole codes of those that survive. One scan per query.
class CodeScan {
public:
    /// `allowed_count` is how many rows `allowed` allows.
    CodeScan(const CodeView& codes, const CodeQuery& query, Allowed allowed,
             std::uint64_t allowed_count)
        : codes_(codes), query_(query), allowed_(allowed), allowed_count_(allowed_count) {}

    /// About depth.rescored distinct rows: exactly that many, or all the allowed ones. Requires
    /// depth.survivors >= depth.rescored.
    Candidates candidates(const ScanDepth& depth) const;

    /// The best `count` of the rows by their whole codes.
    Candidates best_by_lines(std::span<const std::uint32_t> rows, std::size_t count) const;
    std::vector<std::uint32_t> survivors(std::size_t wanted) const;

private:
    std::vector<std::uint32_t> all_allowed() const;
    /// A threshold reached by roughly `wanted` estimates, judging by a sample of the blocks.
    std::int16_t sampled_threshold(std::span<const std::uint32_t> blocks, std::size_t wanted) const;
    /// Exactly the best `wanted` by the high bits, lower rows first among ties; reads every
    /// estimate.
    std::vector<std::uint32_t> exact_survivors(std::span<const std::uint32_t> blocks,
                                               std::size_t wanted) const;
    std::vector<std::uint32_t> scan(std::span<const std::uint32_t> blocks, std::int16_t threshold,
                                    std::size_t enough) const;

    const CodeView& codes_;
    const CodeQuery& query_;
    Allowed allowed_;
    std::uint64_t allowed_count_;
};

/// How many of the first `count` rows are allowed.
std::uint64_t count_allowed(Allowed allowed, std::uint64_t count) noexcept;

}  // namespace braid::dense
