#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "braid/collection.hpp"
#include "braid/core/findings.hpp"
#include "braid/exact/partition.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::exact {

/// Compares what a namespace's indexes show at one sequence number with the chunks that they should
/// hold: first each of them, then that there is nothing else. It takes no locks; between two calls
/// the partition may change, as long as the sequence number is pinned.
class IndexCheck {
public:
    /// Schema and findings must outlive it. `dimension`: of the collection's vectors.
    IndexCheck(const Schema& schema, std::size_t dimension, std::string namespace_, Sequence at,
               core::Findings& findings);

    /// A chunk with its vector and its terms, counted again.
    void compare(const Partition& partition, const PreparedChunk& expected);
    /// Call once after all chunks: checks statistics per label, and for postings and vectors that
    /// belong to no chunk.
    Result<> finish(const Partition& partition, const CallLimits& limits);

private:
    /// What the statistics of one label are computed from.
    struct LabelTotals {
        std::uint64_t chunks = 0;
        std::vector<std::uint64_t> terms;  // per text field

        friend bool operator==(const LabelTotals&, const LabelTotals&) = default;
    };
    struct Totals {
        std::map<std::pair<std::size_t, std::vector<std::string>>, LabelTotals> labels;
        std::unordered_set<std::string> documents;
        std::uint64_t chunks = 0;
        std::uint64_t vectors = 0;
        std::uint64_t postings = 0;

        void add(const Chunk& chunk, const Label& label,
                 std::span<const std::uint32_t> field_lengths);
    };

    void problem(const Chunk& chunk, const std::string& message);
    void check_vector(const Chunk& chunk);
    void compare_vector(const Partition& partition, const Chunk& chunk, Row row);
    void compare_words(const Partition& partition, const PreparedChunk& expected, Row row);
    Result<Totals> totals_of(const Partition& partition, const CallLimits& limits);
    void compare_totals(const Totals& kept);

    const Schema& schema_;
    std::size_t dimension_;
    std::string space_;
    Sequence at_;
    core::Findings& findings_;
    Totals expected_;
};

}  // namespace braid::exact
