#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "braid/collection.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::docs {

/// Writes what filters and facets need to know about rows, field by field: every field of a chunk
/// and every path into its metadata is a column (docs/formats/documents.md). Ids are left to
/// DocumentsBuilder. ColumnsReader reads them. Holds all values until `finish`: each distinct one
/// once, plus some twelve bytes per value of a row. Not safe for concurrent use.
class ColumnsBuilder {
public:
    ColumnsBuilder();
    ColumnsBuilder(const ColumnsBuilder&) = delete;
    ColumnsBuilder& operator=(const ColumnsBuilder&) = delete;
    ColumnsBuilder(ColumnsBuilder&&) = delete;
    ColumnsBuilder& operator=(ColumnsBuilder&&) = delete;
    ~ColumnsBuilder();

    /// Adds the next row.
    void add(const Chunk& chunk);
    std::uint64_t rows() const noexcept { return rows_; }
    /// Sections are named `prefix` + "columns.…".
    Result<> finish(store::SectionSink& sink, std::string_view prefix);

private:
    class Column;
    Column& column(char kind, std::string_view name);
    void add_metadata(const Object& metadata);

    std::uint64_t rows_ = 0;
    std::map<std::string, std::unique_ptr<Column>, std::less<>> columns_;
};

}  // namespace braid::docs
