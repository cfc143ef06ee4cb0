#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/docs/comparison.hpp"
#include "braid/filter.hpp"
#include "braid/result.hpp"

namespace braid::docs {

/// A filter prepared for one schema: operands are checked, parsed and sorted once for many chunks.
/// Immutable and safe for concurrent use.
class FilterMatcher {
public:
    /// InvalidArgument if an operand's type clashes with a declared metadata field or with a
    /// chunk's own field; the message names the field.
    static Result<FilterMatcher> create(const Filter& filter, const Schema& schema);

    bool matches(const Chunk& chunk) const;
    /// Which of the rows below `rows` match; bits past the last row are 0. Fails when the limits
    /// say so.
    Result<Bits> select(const FilterColumns& columns, std::size_t rows,
                        const CallLimits& limits) const;

    /// What one match may cost, in comparisons: tells how often a scan should check its limits.
    std::size_t cost() const noexcept;

    FilterMatcher(FilterMatcher&&) noexcept;
    FilterMatcher& operator=(FilterMatcher&&) noexcept;
    FilterMatcher(const FilterMatcher&) = delete;
    FilterMatcher& operator=(const FilterMatcher&) = delete;
    ~FilterMatcher();

private:
    struct Node;
    explicit FilterMatcher(std::unique_ptr<Node> root);
    std::unique_ptr<Node> root_;
};

/// The value of a field as a filter or a facet sees it; null if the chunk has none.
std::optional<Value> field_value(const Chunk& chunk, const std::string& field,
                                 const Schema& schema);

/// InvalidArgument, naming the field, if a declared metadata field of the chunk has another type.
Result<> check_metadata(const Object& metadata, const Schema& schema);

}  // namespace braid::docs
