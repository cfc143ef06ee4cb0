#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/sparse/term_source.hpp"
#include "braid/store/sections.hpp"

namespace braid::sparse {

struct WriteOptions {
    /// For columns of the most frequent terms, in the index and while writing it.
    std::uint64_t column_bytes = 64ULL << 20;
    /// For sorting postings by term: with less, the rows are read more often.
    std::uint64_t sort_bytes = 256ULL << 20;
};

/// One row as handed to the writer.
struct SourceRow {
    std::uint32_t label = 0;
    FieldCounts lengths{};
    /// The ranks of the row's terms among all terms in byte order, each once, in any order.
    std::vector<std::uint32_t> terms;
    std::vector<FieldCounts> counts;  // of each
    /// Where the terms stand, if known: the positions of the first term, field by field, ascending,
    /// then those of the next.
    std::vector<std::uint32_t> positions;
};

/// What an index with forward lists is made from: rows whose terms are numbered in byte order. It
/// is read several times and gives the same each time.
class RowSource {
public:
    virtual ~RowSource() = default;

    virtual std::uint32_t fields() const noexcept = 0;
    /// How many terms each_term gives. Terms that no row holds are left out of the index.
    virtual std::uint32_t terms() const noexcept = 0;
    /// Whether rows come with positions; a row then has as many as its lengths say.
    virtual bool has_positions() const noexcept = 0;
    virtual Result<> each_row(const std::function<Result<>(const SourceRow&)>& visit) const = 0;
    virtual Result<> each_term(const std::function<Result<>(std::string_view)>& visit) const = 0;
};

// Both write sections that depend on rows and options alone: a merged index has the same bytes as
// one built in one go.

/// In version 4, whose lists say how often each field has a term.
Result<> write_index(const TermSource& source, const WriteOptions& options,
                     store::SectionSink& sink);

/// In version 3, with forward lists, and with positions if the source has them.
Result<> write_forward_index(const RowSource& source, const WriteOptions& options,
                             store::SectionSink& sink);

}  // namespace braid::sparse
