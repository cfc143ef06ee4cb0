#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/core/lru_cache.hpp"
#include "braid/core/unique_number.hpp"
#include "braid/dense/vectors_reader.hpp"
#include "braid/docs/columns_reader.hpp"
#include "braid/docs/documents_reader.hpp"
#include "braid/filter.hpp"
#include "braid/result.hpp"
#include "braid/segment/segment_format.hpp"
#include "braid/sparse/index_reader.hpp"
#include "braid/store/nested_sections.hpp"
#include "braid/store/section_file.hpp"

namespace braid::segment {

using docs::Bits;
using BitsPtr = std::shared_ptr<const Bits>;

struct SizeOfBits {
    std::size_t operator()(const BitsPtr& bits) const noexcept { return bits->size() * 8; }
};
/// Row masks that were worked out before, for filters and for sets of labels.
using MaskCache = core::LruCache<BitsPtr, SizeOfBits>;

/// Shared by the parts of a database, bounded in bytes.
struct Caches {
    std::shared_ptr<docs::BlockCache> blocks;
    std::shared_ptr<MaskCache> masks;

    static Caches make();
};

/// One namespace of a segment: documents, columns, an index of words and one of vectors, all over
/// the same rows, which are in chunk-id order. Immutable and safe for concurrent use.
class Part {
public:
    /// Reads a few headers. Corruption if its sections do not fit together.
    static Result<std::shared_ptr<const Part>> open(std::shared_ptr<const store::SectionFile> file,
                                                    std::size_t number, const PartMeta& meta,
                                                    const Caches& caches);
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    Part(Part&&) = delete;
    Part& operator=(Part&&) = delete;
    ~Part() = default;

    /// Verifies what nearly every search reads, so that the first search need not. Damage found
    /// here becomes an error of the read that needs the damaged bytes.
    void warm() const;

    std::uint32_t rows() const noexcept { return sparse_->rows(); }
    /// That no other part has, nor anything else that chunks are found in.
    std::uint64_t number() const noexcept { return number_; }
    const docs::DocumentsReader& documents() const noexcept { return *documents_; }
    const docs::ColumnsReader& columns() const noexcept { return *columns_; }
    const sparse::IndexReader& words() const noexcept { return *sparse_; }
    /// Null if no row has a vector.
    const dense::VectorsReader* vectors() const noexcept { return vectors_ ? &*vectors_ : nullptr; }

    /// The vector of a row, if it has one, and vice versa.
    Result<std::optional<std::uint32_t>> vector_of(std::uint32_t row) const;
    std::uint32_t row_of_vector(std::uint32_t vector) const noexcept {
        return vector_rows_.empty() ? vector : vector_rows_[vector];
    }
    /// The vectors of the rows in a mask; the mask itself if every row has one.
    BitsPtr vectors_among(const BitsPtr& rows) const;

    Result<Chunk> chunk(std::uint32_t row, bool with_vector) const;

    /// Rows that a filter admits, and rows whose label is visible. The most recent answers are
    /// remembered.
    Result<BitsPtr> matching(const Filter& filter, const Schema& schema,
                             const CallLimits& limits) const;
    /// All rows but the first `count` to expire; null if that is every row.
    Result<BitsPtr> unexpired(std::uint64_t count) const;
    Result<BitsPtr> labelled(const std::vector<bool>& visible, const CallLimits& limits) const;

    /// To be called after a read, before the answer leaves.
    Result<> intact() const { return file_->intact(); }
    const store::SectionFile& file() const noexcept { return *file_; }

private:
    explicit Part(std::shared_ptr<const store::SectionFile> file) : file_(std::move(file)) {}
    Result<> open_vectors(const PartMeta& meta);
    std::string mask_key(char kind, std::string_view what) const;

    std::shared_ptr<const store::SectionFile> file_;
    std::uint64_t number_ = core::unique_number();
    std::shared_ptr<MaskCache> masks_;
    store::NestedSource source_;
    std::optional<docs::DocumentsReader> documents_;
    std::optional<docs::ColumnsReader> columns_;
    std::optional<sparse::IndexReader> sparse_;
    std::optional<dense::VectorsReader> vectors_;
    std::vector<std::uint32_t> vector_rows_;  // ascending; empty: all rows have a vector
};

}  // namespace braid::segment
