#pragma once

#include <span>
#include <vector>

#include "braid/backend.hpp"
#include "braid/docs/filter_matcher.hpp"
#include "braid/local/partition.hpp"
#include "braid/result.hpp"
#include "braid/text/analyzer.hpp"

namespace braid::local {

/// What a principal sees of a partition at one point in time.
class View {
public:
    /// InvalidArgument if the principal's clearance is not one of the schema's levels.
    static Result<View> create(const Partition& partition, const Schema& schema,
                               const Principal& principal, Sequence at);

    bool shows(Row row) const noexcept {
        const RowFacts& facts = partition_->facts(row);
        return facts.visible(at_) && labels_[facts.label];
    }
    /// kNoRow if there is no such chunk, or it may not be seen.
    Row find(const std::string& chunk_id) const noexcept {
        const Row row = partition_->find(chunk_id, at_);
        return row != kNoRow && shows(row) ? row : kNoRow;
    }
    const Partition& partition() const noexcept { return *partition_; }

private:
    View(const Partition& partition, Sequence at) : partition_(&partition), at_(at) {}

    const Partition* partition_;
    Sequence at_;
    std::vector<bool> labels_;  // by label: may be seen
};

/// Terms of many rows, added per text field as integers: the sum does not depend on their order.
class LengthSum {
public:
    explicit LengthSum(const Schema& schema)
        : schema_(&schema), terms_(schema.text_fields.size()) {}

    void add(std::span<const std::uint32_t> field_lengths) noexcept {
        for (std::size_t i = 0; i < terms_.size(); ++i) terms_[i] += field_lengths[i];
    }
    /// Each field's terms times its weight.
    double weighted() const noexcept;

private:
    const Schema* schema_;
    std::vector<std::uint64_t> terms_;
};

struct ScoredRow {
    Row row = kNoRow;
    double score = 0;
};

/// Scores of one leg for every visible row that has one (a vector, or a word of the query), filter
/// not applied, in row order. Of the sparse ones, which Okapi's negative weights can pull below
/// zero, a list holds those above zero. The slow, complete reference: every list and every pruned
/// search must agree with it. DeadlineExceeded or Cancelled when the limits say so.
Result<std::vector<ScoredRow>> score_dense(const View& view, const Schema& schema, const Leg& leg,
                                           const CallLimits& limits);
Result<std::vector<ScoredRow>> score_sparse(const View& view, const Schema& schema,
                                            const text::Analyzer& analyzer, const Leg& leg,
                                            const CallLimits& limits);

/// What score_sparse weighs the words of `texts` by, unless the leg brings its own; of every term
/// if asked for, which Okapi needs where a word is in more than half of the chunks.
TextStatistics text_statistics(const View& view, const Schema& schema,
                               const text::Analyzer& analyzer, std::span<const std::string> texts,
                               bool every_term);

/// The best `depth`, by score, then smaller chunk id.
std::vector<ScoredRow> best(const Partition& partition, std::vector<ScoredRow> rows,
                            std::size_t depth);

}  // namespace braid::local
