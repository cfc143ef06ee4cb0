#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/backend.hpp"
#include "braid/collection.hpp"
#include "braid/docs/column.hpp"
#include "braid/docs/documents_reader.hpp"
#include "braid/docs/packed_ints.hpp"
#include "braid/docs/string_table.hpp"
#include "braid/filter.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::docs {

class FilterMatcher;

/// Reads what a ColumnsBuilder wrote: filters and facets without reading chunks. Answers equal
/// those of FilterMatcher and field_value on the chunks themselves. Borrows from the source and
/// from the documents. Safe for concurrent use.
class ColumnsReader final : public FilterColumns {
public:
    /// `documents` are those of the same rows, and must outlive the reader.
    static Result<ColumnsReader> open(const store::SectionSource& source, std::string_view prefix,
                                      const DocumentsReader& documents);

    /// The rows that match: bit i of word w is row 64 w + i; bits past the last row are 0.
    /// InvalidArgument if the filter and the schema clash, in FilterMatcher's words.
    Result<Bits> matching(const Filter& filter, const Schema& schema,
                          const CallLimits& limits) const;

    /// How many of the rows in `mask` have each value of a field: null, lists and objects are not
    /// values; a list counts for each of its distinct elements. In no particular order. Unsupported
    /// for paths longer than kMaxPathBytes. For "": how many have each field of the metadata.
    Result<std::vector<FacetCount>> facets(const std::string& field, const Schema& schema,
                                           const Bits& mask, const CallLimits& limits) const;

    /// All columns, by the names under which they are stored (docs/formats/documents.md).
    const StringTable& names() const noexcept { return names_; }
    Result<Column> column_at(std::uint64_t number) const;

private:
    ColumnsReader() = default;
    Result<std::optional<Column>> column(const std::string& field) const;
    Result<std::vector<FacetCount>> fields(const Bits& mask, const CallLimits& limits) const;
    Result<Bits> compare(const Comparison& comparison, std::size_t rows,
                         const CallLimits& limits) const override;
    Result<Bits> match_chunks(const FilterMatcher& matcher, const CallLimits& limits) const;

    const DocumentsReader* documents_ = nullptr;
    std::uint64_t rows_ = 0;
    StringTable names_;
    PackedInts offsets_;
    store::Section data_;
};

}  // namespace braid::docs
