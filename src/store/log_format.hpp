#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"

/// The bytes of a log file; docs/formats/log.md says why they are as they are.
namespace braid::store {

inline constexpr std::size_t kLogHeaderBytes = 40;
inline constexpr std::size_t kRecordHeaderBytes = 48;
inline constexpr std::uint32_t kLogVersion = 1;
inline constexpr std::uint64_t kMaxRecordBytes = 0xFFFF'FFFF;

struct LogHeader {
    std::uint64_t log_id;  // random, also in every record
    std::uint64_t first_sequence;
};

std::vector<std::byte> encode_log_header(const LogHeader& header);

/// Decodes the header of a log file, given its whole content. None if the file is what an
/// interrupted creation leaves: no longer than a header, and not an intact one. Corruption if it is
/// not a log or its header is damaged, Unsupported if a newer version wrote it.
Result<std::optional<LogHeader>> decode_log_header(std::span<const std::byte> file,
                                                   std::string_view path);

struct RecordHeader {
    std::uint64_t log_id;
    std::uint32_t length;  // of the payload
    std::uint64_t sequence;
    std::uint64_t durable_before;  // the file was synced up to here when the record was written
    std::uint64_t payload_checksum;
};

/// Appends the header of a record that starts at `offset` of the file.
void encode_record_header(std::vector<std::byte>& out, const RecordHeader& header,
                          std::uint64_t offset);

/// The header at `offset`, if there is an undamaged one that was written at `place`, of any log.
/// The two differ if bytes before it were removed or inserted.
std::optional<RecordHeader> decode_record_header(std::span<const std::byte> file,
                                                 std::uint64_t offset,
                                                 std::uint64_t place) noexcept;
inline std::optional<RecordHeader> decode_record_header(std::span<const std::byte> file,
                                                        std::uint64_t offset) noexcept {
    return decode_record_header(file, offset, offset);
}

struct Record {
    RecordHeader header;
    std::span<const std::byte> payload;  // borrowed from the file
};

/// The record of log `log_id` at `offset`, or what is wrong there; neither at the end of the file.
struct RecordAt {
    std::optional<Record> record;
    std::string problem;
    std::uint64_t next;                  // after the record, or where one could begin
    std::optional<RecordHeader> header;  // undamaged, although the payload is damaged
};
RecordAt read_record(std::span<const std::byte> file, std::uint64_t log_id, std::uint64_t offset,
                     std::uint64_t place);
inline RecordAt read_record(std::span<const std::byte> file, std::uint64_t log_id,
                            std::uint64_t offset) {
    return read_record(file, log_id, offset, offset);
}

/// Where, at `from` or later, the bytes occur that begin every record header.
std::optional<std::uint64_t> find_record_magic(std::span<const std::byte> file,
                                               std::uint64_t from) noexcept;

}  // namespace braid::store
