#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "braid/store/log_format.hpp"

namespace braid::store {

/// A record header found after some damage.
struct FoundHeader {
    std::uint64_t offset;
    std::uint64_t moved;  // how far before the place where it was written, modulo 2^64
    RecordHeader header;
};

/// Looks for undamaged record headers of one log after damage, including ones that are no longer
/// where they were written because bytes before them were removed or inserted. Looks at headers
/// only, never at payloads: linear in the bytes skipped, whatever the file declares.
class HeaderSearch {
public:
    HeaderSearch(std::span<const std::byte> file, std::uint64_t log_id) noexcept
        : file_(file), log_id_(log_id) {}

    /// The first one at `from` or later that belongs to a record with that number or a higher one.
    std::optional<FoundHeader> next(std::uint64_t from, std::uint64_t min_sequence = 0) noexcept;

private:
    std::optional<FoundHeader> at(std::uint64_t offset) noexcept;
    std::optional<FoundHeader> guess(std::uint64_t offset) noexcept;
    std::optional<RecordHeader> written_at(std::uint64_t offset,
                                           std::uint64_t place) const noexcept;

    std::span<const std::byte> file_;
    std::uint64_t log_id_;
    std::uint64_t moved_ = 0;  // of the last one found
    std::uint64_t guesses_left_ = std::uint64_t{1} << 12;
};

/// A header after `damage` that proves that the damaged place was once durable, and perhaps
/// acknowledged. None: nothing in the file shows that it was ever synced.
std::optional<FoundHeader> find_witness(std::span<const std::byte> file, std::uint64_t log_id,
                                        std::uint64_t damage) noexcept;

/// The furthest point that any header proves to have been durable.
std::uint64_t witnessed_bytes(std::span<const std::byte> file, std::uint64_t log_id) noexcept;

/// The log that the first undamaged record header belongs to: for a file whose own header is
/// damaged.
std::optional<std::uint64_t> log_id_of_records(std::span<const std::byte> file) noexcept;

}  // namespace braid::store
