#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/sparse/memory_postings.hpp"
#include "braid/text/analyzer.hpp"

namespace braid::index {

/// A position in a collection's log: what a record writes is visible from its sequence number on.
using Sequence = std::uint64_t;

/// The words of a chunk, counted: whole numbers per text field. Whoever scores applies the weights
/// of the fields, in the schema's order.
struct PreparedText {
    std::vector<sparse::TermCount> terms;      // by term, then by field
    std::vector<std::uint32_t> field_lengths;  // terms per text field, in the schema's order
    /// With Schema::positions: the positions of the first of `terms`, ascending, then those of the
    /// next.
    std::vector<std::uint32_t> positions;

    friend bool operator==(const PreparedText&, const PreparedText&) = default;
};

/// A chunk, with its vector and its version, ready to be written.
struct PreparedChunk {
    Chunk chunk;
    PreparedText text;
};

/// The text of one of Schema::text_fields; empty if the chunk has none. Borrowed.
std::string_view field_text(const Chunk& chunk, const std::string& field);

PreparedText count_terms(const Chunk& chunk, const Schema& schema, const text::Analyzer& analyzer);
PreparedChunk prepare(Chunk chunk, const Schema& schema, const text::Analyzer& analyzer);

/// Whether a text field is in the metadata, so that updating the metadata changes the words.
bool searches_metadata(const Schema& schema);

/// What an update makes of a chunk, apart from its version.
void apply_update(const MetadataUpdate& update, Chunk& chunk);

/// Sum of the terms of each field times its weight, in the schema's order.
template <class Lengths>
double weighted_length(const Schema& schema, const Lengths& lengths) noexcept {
    double length = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        length += schema.text_fields[i].weight * static_cast<double>(lengths[i]);
    }
    return length;
}

}  // namespace braid::index
