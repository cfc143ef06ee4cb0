#include "braid/ingest/zip_archive.hpp"

#include <algorithm>
#include <utility>

#include "braid/ingest/compression.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kMostMembers = 100'000;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kLocalBytes = 30;

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < size; ++i) {
        number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    }
    return number;
}

std::uint16_t short_at(std::string_view bytes, std::size_t at) {
    return static_cast<std::uint16_t>(number_at(bytes, at, 2));
}

tl::unexpected<Error> damaged() {
    return invalid_argument("it is a damaged zip archive");
}

/// Digits compare as numbers.
bool in_order(const std::string& a, const std::string& b) {
    const auto key = [](const std::string& name) {
        const std::size_t end = name.find_last_of("0123456789");
        if (end == std::string::npos) return std::pair(name, 0UL);
        std::size_t begin = end;
        while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
        unsigned long number = 0;
        for (std::size_t i = begin; i <= end && i < begin + 9; ++i) {
            number = number * 10 + static_cast<unsigned long>(name[i] - '0');
        }
        return std::pair(name.substr(0, begin), number);
    };
    return key(a) < key(b);
}

}  // namespace

Result<ZipArchive> ZipArchive::open(std::string_view bytes, std::size_t max_bytes) {
    const std::size_t end = bytes.rfind("PK\x05\x06");
    if (end == std::string_view::npos || bytes.size() - end < kEndBytes) return damaged();
    const std::size_t count = short_at(bytes, end + 10);
    std::size_t at = number_at(bytes, end + 16, 4);
    if (count > kMostMembers) return damaged();
    ZipArchive archive(bytes, max_bytes);
    for (std::size_t i = 0; i < count; ++i) {
        if (at > bytes.size() || bytes.size() - at < kEntryBytes ||
            bytes.substr(at, 4) != "PK\x01\x02") {
            return damaged();
        }
        const std::size_t name_bytes = short_at(bytes, at + 28);
        const std::size_t next = kEntryBytes + name_bytes + short_at(bytes, at + 30) +
                                 std::size_t{short_at(bytes, at + 32)};
        if (bytes.size() - at < next) return damaged();
        Member& member = archive.members_.emplace_back();
        member.name = bytes.substr(at + kEntryBytes, name_bytes);
        member.flags = short_at(bytes, at + 8);
        member.method = short_at(bytes, at + 10);
        member.packed = number_at(bytes, at + 20, 4);
        member.offset = number_at(bytes, at + 42, 4);
        at += next;
    }
    std::ranges::sort(archive.members_, in_order, &Member::name);
    for (std::size_t i = 0; i < archive.members_.size(); ++i) {
        archive.places_.emplace(archive.members_[i].name, i);
    }
    return archive;
}

const ZipArchive::Member* ZipArchive::find(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &members_[found->second];
}

std::vector<std::string> ZipArchive::names(std::string_view prefix, std::string_view suffix) const {
    std::vector<std::string> names;
    for (const Member& member : members_) {
        if (member.name.starts_with(prefix) && member.name.ends_with(suffix)) {
            names.push_back(member.name);
        }
    }
    return names;
}

Result<std::string> ZipArchive::read(std::string_view name) {
    const Member* const member = find(name);
    if (member == nullptr) {
        return fail(ErrorCode::NotFound, "it has no part \"" + std::string(name) + "\"");
    }
    if ((member->flags & 1U) != 0) return invalid_argument("it is encrypted");
    const std::size_t at = member->offset;
    if (at > bytes_.size() || bytes_.size() - at < kLocalBytes ||
        bytes_.substr(at, 4) != "PK\x03\x04") {
        return damaged();
    }
    const std::size_t begin =
        at + kLocalBytes + short_at(bytes_, at + 26) + std::size_t{short_at(bytes_, at + 28)};
    if (begin > bytes_.size() || bytes_.size() - begin < member->packed) return damaged();
    const std::string_view packed = bytes_.substr(begin, member->packed);
    std::string text;
    if (member->method == 0) {
        if (packed.size() > left_) {
            return invalid_argument("it is too large once unpacked");
        }
        text = packed;
    } else if (member->method == 8) {
        BRAID_TRY(text, inflated(packed, left_));
    } else {
        return invalid_argument("it uses a compression method that braid does not know");
    }
    left_ -= text.size();
    return text;
}

}  // namespace braid::ingest
