#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/collection.hpp"
#include "braid/docs/blocks_writer.hpp"
#include "braid/docs/string_table.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::docs {

/// Writes the chunks of one namespace section, with row numbers in order of arrival: stored
/// documents, their ids and order, and what a search needs to know about each row
/// (docs/formats/documents.md). DocumentsReader reads them. Compressed chunks go to the sink as
/// they come; the ids and some 40 bytes per row are held in memory. Not safe for concurrent use.
class DocumentsBuilder {
public:
    /// Sections are named `prefix` + "docs.…". From the first `add` to the end of `finish` nobody
    /// else may write to the sink.
    DocumentsBuilder(store::SectionSink& sink, std::string prefix, DocumentsOptions options = {});

    /// Adds the next row. InvalidArgument if its id does not come after that of the previous row
    /// (in bytes). The vector is left out. `label` and `length` are the caller's numbers, stored as
    /// given.
    Result<> add(Chunk chunk, std::uint32_t label, std::uint32_t length);
    std::uint64_t rows() const noexcept { return ids_.size(); }
    /// Whether some row expires.
    bool expires() const noexcept { return !expiring_.empty(); }
    Result<> finish();

private:
    struct Place {
        std::uint64_t row;
        std::optional<std::int64_t> chunk_index;
    };

    std::string name(std::string_view part) const { return prefix_ + std::string(part); }
    Result<> write_documents();
    Result<> write_columns();

    store::SectionSink& sink_;
    std::string prefix_;
    BlocksWriter blocks_;

    StringTableBuilder ids_;
    std::map<std::string, std::vector<Place>, std::less<>> documents_;
    std::vector<std::uint64_t> versions_;
    std::vector<std::uint64_t> labels_;
    std::vector<std::uint64_t> lengths_;
    std::vector<std::optional<std::int64_t>> created_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> expiring_;  // when, and which row
};

}  // namespace braid::docs
