#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/docs/field_view.hpp"
#include "braid/docs/value_set.hpp"
#include "braid/filter.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::docs {

/// Bit i: row i, or the value with code i.
using Bits = std::vector<std::uint64_t>;

/// Whether a value that compares like this with the operand passes Gt, Gte, Lt or Lte.
bool passes(Filter::Op op, std::partial_ordering order) noexcept;

/// Linear in both, whatever they hold.
bool has_part(std::string_view text, std::string_view part);

/// One comparison of a filter, prepared: operands are parsed and sorted once for many values.
struct Comparison {
    /// A bound, with its time if it denotes one.
    struct Bound {
        Value value;
        std::optional<Timestamp> time;
    };

    /// Requires a valid filter other than And, Or and Not. `default_level` is the level of a chunk
    /// without sensitivity.
    Comparison(const Filter& filter, std::string default_level);

    Filter::Op op;
    std::string name;  // of the field, as the filter has it
    Field field;
    std::string default_level;
    bool exists = false;              // of Exists
    std::vector<Bound> bounds;        // of an order: one, or low and high
    std::optional<std::string> part;  // of Contains, if it is a text
    std::optional<ValueSet> set;      // of an equality and of Contains
    std::size_t cost = 1;             // in comparisons

    std::string_view path() const noexcept { return metadata_path(name); }
    /// Ne and Nin, which hold where Eq and In do not.
    bool negated() const noexcept { return op == Filter::Op::Ne || op == Filter::Op::Nin; }

    bool holds_for(const FieldView& value) const;
    bool holds_for(const Chunk& chunk) const {
        return holds_for(view_field(chunk, field, path(), default_level));
    }

private:
    bool compares(const FieldView& value) const;
    bool contains(const FieldView& value) const;
};

/// Rows whose fields are kept as columns. Evaluates one comparison for all rows.
class FilterColumns {
public:
    virtual ~FilterColumns() = default;

    /// For which of the rows below `rows` it holds. Fails when the limits say so.
    virtual Result<Bits> compare(const Comparison& comparison, std::size_t rows,
                                 const CallLimits& limits) const = 0;
};

}  // namespace braid::docs
