#include "braid/store/log_search.hpp"

#include <algorithm>

#include "braid/store/checksum.hpp"

namespace braid::store {
namespace {

constexpr std::size_t kLogIdAt = 8;
constexpr std::size_t kDurableBeforeAt = 24;
constexpr std::size_t kChecksumAt = 40;
/// How far from its place a header may have been written, if nothing tells.
constexpr std::uint64_t kGuessedBytes = 1024;

/// A number in a header that may not be one. Requires a whole header at `offset`.
std::uint64_t number_at(std::span<const std::byte> file, std::uint64_t offset,
                        std::size_t field) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < sizeof(number); ++i) {
        const std::byte byte = file[static_cast<std::size_t>(offset) + field + i];
        number |= std::to_integer<std::uint64_t>(byte) << (8 * i);
    }
    return number;
}

}  // namespace

std::optional<RecordHeader> HeaderSearch::written_at(std::uint64_t offset,
                                                     std::uint64_t place) const noexcept {
    const auto header = decode_record_header(file_, offset, place);
    return header && header->log_id == log_id_ ? header : std::nullopt;
}

std::optional<FoundHeader> HeaderSearch::at(std::uint64_t offset) noexcept {
    if (file_.size() - offset < kRecordHeaderBytes) return std::nullopt;
    if (number_at(file_, offset, kLogIdAt) != log_id_) return std::nullopt;
    // The first record of every batch was written where the log was known to be synced.
    const std::uint64_t batch = number_at(file_, offset, kDurableBeforeAt);
    for (const std::uint64_t place : {offset, offset + moved_, batch}) {
        if (const auto header = written_at(offset, place)) {
            return FoundHeader{offset, place - offset, *header};
        }
    }
    return guess(offset);
}

/// For records of a batch whose first one is gone: a few bytes either way, unless too many have
/// been tried in vain.
std::optional<FoundHeader> HeaderSearch::guess(std::uint64_t offset) noexcept {
    const auto checked = file_.subspan(static_cast<std::size_t>(offset), kChecksumAt);
    const std::uint64_t stored = number_at(file_, offset, kChecksumAt);
    for (std::uint64_t distance = 1; distance <= kGuessedBytes && guesses_left_ > 0; ++distance) {
        --guesses_left_;
        for (const std::uint64_t place : {offset + distance, offset - distance}) {
            if (checksum(checked, place) != stored) continue;
            if (const auto header = written_at(offset, place)) {
                return FoundHeader{offset, place - offset, *header};
            }
        }
    }
    return std::nullopt;
}

std::optional<FoundHeader> HeaderSearch::next(std::uint64_t from,
                                              std::uint64_t min_sequence) noexcept {
    for (auto offset = find_record_magic(file_, from); offset;
         offset = find_record_magic(file_, *offset + 1)) {
        const auto found = at(*offset);
        if (!found || found->header.sequence < min_sequence) continue;
        moved_ = found->moved;
        return found;
    }
    return std::nullopt;
}

std::optional<FoundHeader> find_witness(std::span<const std::byte> file, std::uint64_t log_id,
                                        std::uint64_t damage) noexcept {
    // What an earlier record says about the log remains true, even of a copy of it inside a
    // payload.
    HeaderSearch search(file, log_id);
    auto found = search.next(damage);
    while (found && found->header.durable_before <= damage) found = search.next(found->offset + 1);
    return found;
}

std::uint64_t witnessed_bytes(std::span<const std::byte> file, std::uint64_t log_id) noexcept {
    HeaderSearch search(file, log_id);
    std::uint64_t durable = 0;
    for (auto found = search.next(0); found; found = search.next(found->offset + 1)) {
        durable = std::max(durable, found->header.durable_before);
    }
    return durable;
}

std::optional<std::uint64_t> log_id_of_records(std::span<const std::byte> file) noexcept {
    for (auto offset = find_record_magic(file, 0); offset;
         offset = find_record_magic(file, *offset + 1)) {
        if (file.size() - *offset < kRecordHeaderBytes) break;
        for (const std::uint64_t place : {*offset, number_at(file, *offset, kDurableBeforeAt)}) {
            if (const auto header = decode_record_header(file, *offset, place)) {
                return header->log_id;
            }
        }
    }
    return std::nullopt;
}

}  // namespace braid::store
