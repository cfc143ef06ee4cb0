#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "braid/collection.hpp"
#include "braid/core/stable_vector.hpp"
#include "braid/core/unique_number.hpp"
#include "braid/dense/exact_rows.hpp"
#include "braid/docs/field_columns.hpp"
#include "braid/exact/labels.hpp"
#include "braid/index/prepared.hpp"
#include "braid/sparse/memory_postings.hpp"

namespace braid::exact {

using index::PreparedChunk;
using index::PreparedText;
using index::Sequence;

/// The number of a version of a chunk in its partition.
enum class Row : std::uint32_t {};
/// The number of a vector in its partition; most versions of chunks have one, but it is not the
/// same.
enum class VectorRow : std::uint32_t {};

inline constexpr Row kNoRow{std::numeric_limits<std::uint32_t>::max()};
inline constexpr VectorRow kNoVector{std::numeric_limits<std::uint32_t>::max()};
/// A row is visible from the record that created it up to the one that ended it.
inline constexpr Sequence kAlive = std::numeric_limits<Sequence>::max();

constexpr Row row_at(std::size_t index) noexcept {
    return static_cast<Row>(index);
}
constexpr std::size_t index_of(Row row) noexcept {
    return static_cast<std::size_t>(row);
}
constexpr std::size_t index_of(VectorRow row) noexcept {
    return static_cast<std::size_t>(row);
}

/// What a search touches for every row; the rest of a row is kept apart, so that scans stay short.
struct RowFacts {
    Sequence born = 0;
    /// The one thing about a row that changes. When a reader notices does not matter: what it looks
    /// at came before.
    std::atomic<Sequence> died = kAlive;
    double length = 0;  // terms, weighted over the text fields
    /// When it expires; the largest time: never.
    Timestamp expires{std::numeric_limits<std::int64_t>::max()};
    std::uint32_t label = 0;
    VectorRow vector = kNoVector;

    RowFacts() = default;
    RowFacts(const RowFacts& other) noexcept { *this = other; }
    RowFacts& operator=(const RowFacts& other) noexcept {
        if (this == &other) return *this;
        born = other.born;
        died.store(other.died.load(std::memory_order_relaxed), std::memory_order_relaxed);
        length = other.length;
        expires = other.expires;
        label = other.label;
        vector = other.vector;
        return *this;
    }
    ~RowFacts() = default;

    bool visible(Sequence at) const noexcept {
        return born <= at && at < died.load(std::memory_order_relaxed);
    }
};

/// The chunks of one namespace and their exact indexes, in memory: every version of every chunk
/// that some snapshot may still show.
///
/// One thread at a time may change it while any number of others read. Rows are appended and never
/// move, so a reader scans without a lock: it stays below the rows() it first saw, and looks at the
/// point in time it pinned. Only looking up an id or a term takes a lock, for as long as that
/// takes.
class Partition {
public:
    /// The schema must outlive it.
    explicit Partition(const Schema& schema);

    /// Turns the chunk's present version, if there is one, into a past one. True if there was one.
    /// The chunk brings its version.
    bool upsert(PreparedChunk prepared, Sequence sequence);
    /// Adds a version with the text and the vector of `row`, which must be its chunk's present one.
    /// With `text`, that is what its words are now.
    void update(Row row, Chunk chunk, const PreparedText* text, Sequence sequence);
    bool remove(const std::string& chunk_id, Sequence sequence);
    /// Returns how many were alive.
    std::uint64_t remove_all(Sequence sequence);

    std::size_t rows() const noexcept { return facts_.size(); }
    /// That no other partition has, nor anything else that chunks are found in.
    std::uint64_t number() const noexcept { return number_; }
    /// Roughly what the live chunks take in a log that holds nothing else, not counting the records
    /// themselves. For the writer, like the next.
    std::uint64_t live_bytes() const noexcept { return live_bytes_; }
    /// Rows that have died since without_dead() made this.
    std::size_t newly_dead() const noexcept { return dead_ - dead_kept_; }
    const RowFacts& facts(Row row) const noexcept { return facts_[index_of(row)]; }
    /// Without its vector.
    const Chunk& chunk(Row row) const noexcept { return *chunks_[index_of(row)]; }
    const std::shared_ptr<const Chunk>& shared_chunk(Row row) const noexcept {
        return chunks_[index_of(row)];
    }
    Chunk chunk_with_vector(Row row) const;
    /// Terms of each text field, in the schema's order.
    std::span<const std::uint32_t> field_lengths(Row row) const noexcept {
        return field_lengths_.row(index_of(row));
    }
    /// PreparedText::positions of a row.
    std::span<const std::uint32_t> positions(Row row) const noexcept {
        if (!schema_->positions) return {};
        return *positions_[index_of(row)];
    }
    const Schema& schema() const noexcept { return *schema_; }
    /// Of the text fields.
    std::span<const double> weights() const noexcept { return weights_; }
    /// The columns of its rows, for filters.
    const docs::FieldColumns& columns() const noexcept { return columns_; }
    const LabelTable& labels() const noexcept { return labels_; }
    const sparse::MemoryPostings& postings() const noexcept { return postings_; }
    /// Null until the first vector has come.
    const dense::ExactRows* vectors() const noexcept {
        return vectors_.load(std::memory_order_acquire);
    }
    /// The chunk row that a vector belongs to.
    Row row_of_vector(std::size_t vector) const noexcept { return vector_owners_[vector]; }

    /// The version of a chunk that `at` shows; kNoRow if it shows none.
    Row find(const std::string& chunk_id, Sequence at) const;
    /// Rows of all versions of a document's chunks.
    std::vector<Row> rows_of_document(const std::string& document_id) const;

    /// A copy without the versions that died at or before `oldest`, which no snapshot shows any
    /// more. Whoever is reading this one continues with it.
    std::shared_ptr<Partition> without_dead(Sequence oldest) const;

private:
    using Positions = std::shared_ptr<const std::vector<std::uint32_t>>;
    Positions shared_positions(const PreparedText& text) const;
    /// The vector's number; kNoVector for an empty one.
    VectorRow add_vector(std::span<const float> vector, Row row);
    /// The row is complete: from now on readers see it.
    void publish(const RowFacts& facts, std::shared_ptr<const Chunk> chunk,
                 std::span<const std::uint32_t> lengths, Positions positions);
    std::uint64_t stored_bytes(Row row) const;

    const std::uint64_t number_ = core::unique_number();
    const Schema* schema_;
    std::vector<double> weights_;
    core::StableVector<RowFacts> facts_;  // the last of a row to be appended
    core::StableVector<std::shared_ptr<const Chunk>> chunks_;
    core::StableVector<std::uint32_t> field_lengths_;
    /// One list for all versions with the same text; only with Schema::positions.
    core::StableVector<Positions> positions_;
    core::StableVector<Row> previous_;  // version of the same chunk before this one
    docs::FieldColumns columns_;
    LabelTable labels_;
    sparse::MemoryPostings postings_;
    std::unique_ptr<dense::ExactRows> vectors_owner_;
    std::atomic<const dense::ExactRows*> vectors_ = nullptr;
    core::StableVector<Row> vector_owners_;
    std::uint64_t live_bytes_ = 0;  // the writer's, as are the next two
    std::size_t dead_ = 0;
    std::size_t dead_kept_ = 0;  // of them, by without_dead()

    mutable std::mutex maps_mutex_;  // of both; the writer reads them without
    std::unordered_map<std::string, Row> latest_;
    std::unordered_map<std::string, std::vector<Row>> documents_;
};

}  // namespace braid::exact
