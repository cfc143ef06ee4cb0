#include "braid/store/log_format.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"

namespace braid::store {
namespace {

constexpr std::string_view kLogMagic = "braidlog";
// No UTF-8 text contains these bytes, so a search for headers is rarely interrupted in vain.
constexpr std::array<std::byte, 4> kRecordMagic{std::byte{0xD7}, std::byte{0x42}, std::byte{0x52},
                                                std::byte{0xC1}};
constexpr std::size_t kChecksumBytes = 8;

/// What a crash leaves of a header that was being written to a new file: the length without the
/// content, or the first bytes.
bool is_interrupted_creation(std::span<const std::byte> file) {
    if (file.size() > kLogHeaderBytes) return false;
    const std::size_t compared = std::min(file.size(), kLogMagic.size());
    const bool starts_like_a_log = std::memcmp(file.data(), kLogMagic.data(), compared) == 0;
    return starts_like_a_log || std::all_of(file.begin(), file.end(),
                                            [](std::byte byte) { return byte == std::byte{0}; });
}

auto damaged_header(std::string_view path, std::string_view problem) {
    return fail(ErrorCode::Corruption,
                "log " + std::string(path) + " is damaged at offset 0: " + std::string(problem));
}

}  // namespace

std::vector<std::byte> encode_log_header(const LogHeader& header) {
    ByteWriter out;
    out.bytes(std::as_bytes(std::span(kLogMagic)));
    out.u32(kLogVersion);
    out.u32(0);
    out.u64(header.log_id);
    out.u64(header.first_sequence);
    out.u64(checksum(out.view()));
    return out.take();
}

Result<std::optional<LogHeader>> decode_log_header(std::span<const std::byte> file,
                                                   std::string_view path) {
    if (file.empty()) return std::optional<LogHeader>();
    const auto checked = file.first(std::min(file.size(), kLogHeaderBytes - kChecksumBytes));
    ByteReader in(file.first(std::min(file.size(), kLogHeaderBytes)), path);
    const auto magic = in.bytes(kLogMagic.size(), "magic");
    const auto version = in.u32("version");
    const auto flags = in.u32("flags");
    const auto log_id = in.u64("log id");
    const auto first_sequence = in.u64("first sequence number");
    const auto stored = in.u64("checksum");
    if (!stored || *stored != checksum(checked)) {
        if (is_interrupted_creation(file)) return std::optional<LogHeader>();
        return damaged_header(path, "no valid file header");
    }
    if (std::memcmp(magic->data(), kLogMagic.data(), kLogMagic.size()) != 0) {
        return damaged_header(path, "it is not a log");
    }
    if (*version > kLogVersion || *flags != 0) {
        return fail(
            ErrorCode::Unsupported,
            "log " + std::string(path) + " was written by a newer version of braid (format " +
                std::to_string(*version) + ", this one reads " + std::to_string(kLogVersion) + ")");
    }
    if (*version == 0) return damaged_header(path, "format version 0");
    return LogHeader{*log_id, *first_sequence};
}

void encode_record_header(std::vector<std::byte>& out, const RecordHeader& header,
                          std::uint64_t offset) {
    const std::size_t start = out.size();
    ByteWriter writer(std::move(out));
    writer.bytes(kRecordMagic);
    writer.u32(header.length);
    writer.u64(header.log_id);
    writer.u64(header.sequence);
    writer.u64(header.durable_before);
    writer.u64(header.payload_checksum);
    // Seeded with its offset: a copy of a log stored in the payload of a record must not pass for
    // records of this log.
    writer.u64(checksum(writer.view().subspan(start), offset));
    out = writer.take();
}

std::optional<RecordHeader> decode_record_header(std::span<const std::byte> file,
                                                 std::uint64_t offset,
                                                 std::uint64_t place) noexcept {
    if (offset > file.size() || file.size() - offset < kRecordHeaderBytes) return std::nullopt;
    const auto bytes = file.subspan(static_cast<std::size_t>(offset), kRecordHeaderBytes);
    if (!std::equal(kRecordMagic.begin(), kRecordMagic.end(), bytes.begin())) return std::nullopt;

    ByteReader in(bytes.subspan(kRecordMagic.size()));
    const auto length = in.u32("length");
    const auto log_id = in.u64("log id");
    const auto sequence = in.u64("sequence");
    const auto durable_before = in.u64("durable_before");
    const auto payload_checksum = in.u64("payload checksum");
    const auto stored = in.u64("header checksum");
    const auto checked = bytes.first(kRecordHeaderBytes - kChecksumBytes);
    if (*stored != checksum(checked, place)) return std::nullopt;
    // A log never claims that bytes were durable before they were written, nor less than its own
    // header, which is synced before the first record.
    if (*durable_before > place || *durable_before < kLogHeaderBytes) return std::nullopt;
    return RecordHeader{*log_id, *length, *sequence, *durable_before, *payload_checksum};
}

RecordAt read_record(std::span<const std::byte> file, std::uint64_t log_id, std::uint64_t offset,
                     std::uint64_t place) {
    if (offset >= file.size()) return {std::nullopt, "", file.size(), std::nullopt};
    const auto header = decode_record_header(file, offset, place);
    if (!header || header->log_id != log_id) {
        const bool short_of_header = file.size() - offset < kRecordHeaderBytes;
        return {std::nullopt, short_of_header ? "a record is cut short" : "no valid record header",
                offset + 1, std::nullopt};
    }
    const auto behind = file.subspan(static_cast<std::size_t>(offset) + kRecordHeaderBytes);
    if (header->length > behind.size()) {
        return {std::nullopt,
                "record " + std::to_string(header->sequence) + " declares " +
                    std::to_string(header->length) + " bytes, " + std::to_string(behind.size()) +
                    " are left",
                file.size(), header};
    }
    const auto payload = behind.first(header->length);
    const std::uint64_t next = offset + kRecordHeaderBytes + header->length;
    if (checksum(payload) != header->payload_checksum) {
        return {std::nullopt,
                "the payload of record " + std::to_string(header->sequence) + " is damaged", next,
                header};
    }
    return {Record{*header, payload}, "", next, header};
}

std::optional<std::uint64_t> find_record_magic(std::span<const std::byte> file,
                                               std::uint64_t from) noexcept {
    const std::byte* const begin = file.data();
    for (std::uint64_t at = from; at < file.size(); ++at) {
        const void* found = std::memchr(begin + at, std::to_integer<int>(kRecordMagic[0]),
                                        file.size() - static_cast<std::size_t>(at));
        if (found == nullptr) return std::nullopt;
        at = static_cast<std::uint64_t>(static_cast<const std::byte*>(found) - begin);
        if (file.size() - at < kRecordMagic.size()) return std::nullopt;
        if (std::equal(kRecordMagic.begin(), kRecordMagic.end(), begin + at)) return at;
    }
    return std::nullopt;
}

}  // namespace braid::store
