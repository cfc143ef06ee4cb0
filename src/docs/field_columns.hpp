#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "braid/collection.hpp"
#include "braid/core/stable_vector.hpp"
#include "braid/docs/comparison.hpp"
#include "braid/docs/field_view.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::docs {

/// One field of many rows: the number of each row's value, and each distinct value once. Lists and
/// objects count as distinct, whatever their content.
struct FieldColumn {
    core::StableVector<std::uint32_t> numbers;  // by row
    core::StableVector<FieldView> values;       // by number; borrowed from the rows' chunks
};

/// Columns of the fields that filters ask for, made on first use, over rows that are appended and
/// never change. Keeps the most recently used. Safe for concurrent use.
class FieldColumns final : public FilterColumns {
public:
    /// Returns the chunk of a row; it must stay where it is for as long as this lives.
    using ChunkAt = std::function<const Chunk&(std::size_t row)>;

    FieldColumns(ChunkAt chunk_at, std::string default_level)
        : chunk_at_(std::move(chunk_at)), default_level_(std::move(default_level)) {}

    /// Compares each distinct value once.
    Result<Bits> compare(const Comparison& comparison, std::size_t rows,
                         const CallLimits& limits) const override;

    /// Complete for rows below `rows`, all of which must exist. The first call for a field reads
    /// each row once, checking the limits on the way.
    Result<std::shared_ptr<const FieldColumn>> column(Field field, std::string_view path,
                                                      std::size_t rows,
                                                      const CallLimits& limits) const;

private:
    static constexpr std::size_t kKept = 16;

    struct Entry {
        Field field = Field::Metadata;
        std::string path;
        std::shared_ptr<FieldColumn> column = std::make_shared<FieldColumn>();
        std::unordered_map<std::string, std::uint32_t> numbers;  // of the values so far
        std::mutex mutex;                                        // of whoever extends it
    };
    std::shared_ptr<Entry> entry(Field field, std::string_view path) const;
    Result<> extend(Entry& entry, std::size_t rows, const CallLimits& limits) const;

    ChunkAt chunk_at_;
    std::string default_level_;
    mutable std::mutex mutex_;
    mutable std::list<std::shared_ptr<Entry>> entries_;  // the last used first
};

}  // namespace braid::docs
