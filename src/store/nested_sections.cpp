#include "braid/store/nested_sections.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"

namespace braid::store {
namespace {

constexpr std::uint64_t kTrailerBytes = 24;  // offset and length of the directory, its checksum
constexpr std::array<std::byte, kSectionAlignment> kZeros{};

}  // namespace

Result<> NestedSink::pad() {
    // The first section begins after a whole unit, as it does in a file.
    const std::uint64_t at = outer_.offset();
    const std::uint64_t over = at % kSectionAlignment;
    const std::uint64_t zeros = over == 0 && at > 0 ? 0 : kSectionAlignment - over;
    return outer_.write(std::span(kZeros).first(zeros));
}

Result<> NestedSink::begin(std::string_view name) {
    if (std::ranges::find(entries_, name, &SectionEntry::name) != entries_.end()) {
        return fail(ErrorCode::InvalidArgument,
                    "section \"" + std::string(name) + "\" has already been written");
    }
    BRAID_CHECK(pad());
    entries_.push_back({std::string(name), outer_.offset(), 0});
    return {};
}

Result<> NestedSink::write(std::span<const std::byte> bytes) {
    if (entries_.empty()) return fail(ErrorCode::InvalidArgument, "no section was begun");
    BRAID_CHECK(outer_.write(bytes));
    entries_.back().length += bytes.size();
    return {};
}

std::uint64_t NestedSink::offset() const noexcept {
    return entries_.empty() ? 0 : entries_.back().length;
}

Result<> NestedSink::finish() {
    BRAID_CHECK(pad());
    std::ranges::sort(entries_, {}, &SectionEntry::name);
    const std::vector<std::byte> directory = encode_section_directory(entries_);
    ByteWriter trailer;
    trailer.u64(outer_.offset());
    trailer.u64(directory.size());
    trailer.u64(checksum(directory));
    BRAID_CHECK(outer_.write(directory));
    return outer_.write(trailer.view());
}

Result<NestedSource> NestedSource::open(const Section& outer) {
    const std::string name(outer.name());
    if (outer.size() < kTrailerBytes) {
        return fail(ErrorCode::Corruption, "section \"" + name + "\" has no list of its parts");
    }
    const std::uint64_t end = outer.size() - kTrailerBytes;
    BRAID_TRY(const auto trailer, outer.bytes(end, kTrailerBytes));
    ByteReader in(trailer, outer.name(), end);
    BRAID_TRY(const std::uint64_t offset, in.u64("offset of the list of parts"));
    BRAID_TRY(const std::uint64_t length, in.u64("length of the list of parts"));
    BRAID_TRY(const std::uint64_t sum, in.u64("checksum of the list of parts"));
    if (offset > end || length != end - offset)
        return in.corrupt("the list of its parts is missing");
    BRAID_TRY(const auto directory, outer.bytes(offset, length));
    if (checksum(directory) != sum) return in.corrupt("the list of its parts is damaged");
    NestedSource source;
    source.outer_ = outer;
    BRAID_TRY(source.entries_, decode_section_directory(directory, name, offset));
    return source;
}

Result<Section> NestedSource::section(std::string_view name) const {
    const auto found = std::ranges::lower_bound(entries_, name, {}, &SectionEntry::name);
    if (found == entries_.end() || found->name != name) {
        return fail(ErrorCode::NotFound, "there is no section \"" + std::string(name) + "\" in \"" +
                                             std::string(outer_.name()) + "\"");
    }
    return outer_.part(found->offset, found->length, found->name);
}

}  // namespace braid::store
