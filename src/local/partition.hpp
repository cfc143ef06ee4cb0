#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "braid/collection.hpp"
#include "braid/dense/exact_rows.hpp"
#include "braid/sparse/memory_postings.hpp"

namespace braid::local {

using Row = std::uint32_t;
/// Position in the collection's log: a row is visible from its birth up to its death.
using Sequence = std::uint64_t;

inline constexpr Row kNoRow = std::numeric_limits<Row>::max();
inline constexpr Sequence kAlive = std::numeric_limits<Sequence>::max();

/// A chunk with the terms of its text counted, ready to be applied.
struct PreparedChunk {
    Chunk chunk;
    std::vector<std::pair<std::string, double>> frequencies;  // weighted over the text fields
    std::vector<std::uint32_t> field_lengths;                 // terms per text field
};

/// The text of a field of Schema::text_fields; empty if the chunk has none. Borrowed.
std::string_view field_text(const Chunk& chunk, const std::string& field);

/// Access class of a chunk; each chunk has exactly one.
struct Label {
    std::size_t level = 0;            // index into the schema's levels
    std::vector<std::string> scopes;  // sorted

    friend bool operator==(const Label&, const Label&) = default;
};

Label label_of(const Chunk& chunk, const Schema& schema);

/// What a search touches for every row; the rest of a row is apart, to keep scans short.
struct RowFacts {
    Sequence born = 0;
    Sequence died = kAlive;
    double length = 0;  // terms, weighted over the text fields
    std::uint32_t label = 0;
    Row vector = kNoRow;  // row of the vectors

    bool visible(Sequence at) const noexcept { return born <= at && at < died; }
};

/// The chunks of one namespace and their exact indexes, in memory: every version of every chunk
/// that some snapshot may still show. Not safe for concurrent use by itself: the collection keeps
/// its one writer and its readers apart.
class Partition {
public:
    explicit Partition(const Schema& schema) : schema_(&schema) {}

    /// Makes the chunk's present version, if there is one, a past one. True if there was one. The
    /// chunk brings its version.
    bool upsert(PreparedChunk prepared, Sequence sequence);
    bool remove(const std::string& chunk_id, Sequence sequence);

    std::size_t rows() const noexcept { return facts_.size(); }
    /// What the live chunks take in a log that holds nothing else, their records apart.
    std::uint64_t live_bytes() const noexcept { return live_bytes_; }
    /// Rows that died since compact() was last called.
    std::size_t newly_dead() const noexcept { return dead_ - dead_kept_; }
    const RowFacts& facts(Row row) const noexcept { return facts_[row]; }
    /// Without its vector.
    const Chunk& chunk(Row row) const noexcept { return chunks_[row]; }
    Chunk chunk_with_vector(Row row) const;
    /// Terms of each text field, in the schema's order.
    std::span<const std::uint32_t> field_lengths(Row row) const noexcept {
        const std::size_t fields = schema_->text_fields.size();
        return std::span(field_lengths_).subspan(row * fields, fields);
    }
    const std::vector<Label>& labels() const noexcept { return labels_; }
    const sparse::MemoryPostings& postings() const noexcept { return postings_; }
    /// Null until the first vector came.
    const dense::ExactRows* vectors() const noexcept { return vectors_.get(); }
    /// The chunk row a vector belongs to.
    Row row_of_vector(std::size_t vector_row) const noexcept { return vector_owners_[vector_row]; }

    /// The version of a chunk that `at` shows; kNoRow if it shows none.
    Row find(const std::string& chunk_id, Sequence at) const noexcept;
    /// Rows of all versions of a document's chunks.
    const std::vector<Row>& rows_of_document(const std::string& document_id) const noexcept;

    /// Forgets versions that died at or before `oldest`: no snapshot shows them any more.
    void compact(Sequence oldest);

private:
    std::uint32_t intern_label(const Chunk& chunk);
    void link(Row row);
    std::uint64_t stored_bytes(Row row) const;
    double weighted_length(std::span<const std::uint32_t> lengths) const noexcept;

    const Schema* schema_;
    std::vector<RowFacts> facts_;
    std::vector<Chunk> chunks_;
    std::vector<std::uint32_t> field_lengths_;  // rows times text fields
    std::vector<Row> previous_;                 // version of the same chunk before this one
    std::unordered_map<std::string, Row> latest_;
    std::unordered_map<std::string, std::vector<Row>> documents_;
    std::vector<Label> labels_;
    sparse::MemoryPostings postings_;
    std::unique_ptr<dense::ExactRows> vectors_;
    std::vector<Row> vector_owners_;
    std::uint64_t live_bytes_ = 0;
    std::size_t dead_ = 0;
    std::size_t dead_kept_ = 0;  // of them, by the last compact()
};

}  // namespace braid::local
