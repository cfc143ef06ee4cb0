#include "braid/docs/string_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

namespace braid::docs {
namespace {

constexpr std::uint64_t kGroupStrings = 16;  // strings, the first of which is stored whole
constexpr std::uint64_t kOffsetBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kTableHeaderBytes = 2 * kOffsetBytes;
constexpr std::size_t kWriteBytes = 64 * 1024;

/// As stored, little-endian.
std::uint64_t load_offset(const std::byte* at) noexcept {
    static_assert(std::endian::native == std::endian::little, "offsets are read as they lie");
    std::uint64_t offset = 0;
    std::memcpy(&offset, at, sizeof(offset));
    return offset;
}

std::uint64_t group_count(std::uint64_t strings) {
    return strings / kGroupStrings + (strings % kGroupStrings != 0 ? 1 : 0);
}

/// The next string of a group; `text` is the previous one.
Result<> read_next(store::ByteReader& in, std::string& text) {
    BRAID_TRY(const std::uint64_t shared, in.varint("shared length"));
    if (shared > text.size())
        return in.corrupt("a string shares more bytes than the one before it has");
    BRAID_TRY(const std::string_view rest, in.string("string"));
    text.resize(static_cast<std::size_t>(shared));
    text += rest;
    return {};
}

/// A number below 2^14, as lengths nearly always are.
bool read_short(const char*& at, const char* end, std::size_t& value) noexcept {
    if (at == end) return false;
    const auto first = static_cast<unsigned char>(*at++);
    value = first;
    if (first < 0x80) return true;
    if (at == end || static_cast<unsigned char>(*at) >= 0x80) return false;
    value = (first & 0x7FU) | static_cast<std::size_t>(static_cast<unsigned char>(*at++)) << 7;
    return true;
}

/// String number `index` of a group, assembled from the pieces it shares with those before it. None
/// if the bytes are unusual in any way: the careful path then says what is wrong.
std::optional<std::string> string_in_group(std::string_view group, std::uint64_t index) {
    struct Piece {
        std::size_t shared;
        std::string_view rest;
    };
    std::array<Piece, kGroupStrings> pieces;  // NOLINT: written before it is read
    const char* at = group.data();
    const char* const end = at + group.size();
    std::size_t length = 0;  // of the string before
    for (std::uint64_t i = 0; i <= index; ++i) {
        std::size_t shared = 0;
        std::size_t size = 0;
        if (!read_short(at, end, shared) || !read_short(at, end, size)) return std::nullopt;
        if (shared > length || size > static_cast<std::size_t>(end - at)) return std::nullopt;
        pieces[i] = {shared, {at, size}};
        at += size;
        length = shared + size;
    }
    std::string text(length, '\0');
    std::size_t left = length;
    for (std::uint64_t i = index + 1; i-- > 0 && left > 0;) {
        const auto [shared, rest] = pieces[i];
        if (shared >= left) continue;
        std::copy_n(rest.data(), left - shared, text.data() + shared);
        left = shared;
    }
    return text;
}

Result<> follows(std::uint64_t count, const std::string& last, std::string_view text) {
    if (count == 0 || text > last) return {};
    return invalid_argument("\"" + std::string(text.substr(0, 100)) + "\" does not come after \"" +
                            last.substr(0, 100) + "\"");
}

/// How many bytes string number `count` leaves out because the previous one has them.
std::size_t shared_with(std::uint64_t count, const std::string& last, std::string_view text) {
    if (count % kGroupStrings == 0) return 0;
    const auto [end, unused] = std::ranges::mismatch(last, text);
    return static_cast<std::size_t>(end - last.begin());
}

std::uint64_t varint_bytes(std::uint64_t value) {
    return (static_cast<unsigned>(std::bit_width(value | 1U)) + 6) / 7;
}

}  // namespace

Result<> StringTableBuilder::add(std::string_view text) {
    BRAID_CHECK(follows(count_, last_, text));
    if (count_ % kGroupStrings == 0) offsets_.push_back(data_.size());
    const std::size_t shared = shared_with(count_, last_, text);
    data_.varint(shared);
    data_.string(text.substr(shared));
    last_ = text;
    ++count_;
    return {};
}

void StringTableBuilder::write(store::ByteWriter& out) const {
    out.u64(count_);
    out.u64(data_.size());
    for (const std::uint64_t offset : offsets_) out.u64(offset);
    out.bytes(data_.view());
}

Result<> StringTableBuilder::write(store::SectionSink& sink, std::string_view name) const {
    store::ByteWriter head;
    head.u64(count_);
    head.u64(data_.size());
    for (const std::uint64_t offset : offsets_) head.u64(offset);
    BRAID_CHECK(sink.begin(name));
    BRAID_CHECK(sink.write(head.view()));
    return sink.write(data_.view());
}

Result<> StringTableWriter::measure(std::string_view text) {
    BRAID_CHECK(follows(measured_, last_, text));
    if (measured_ % kGroupStrings == 0) offsets_.push_back(data_bytes_);
    const std::size_t shared = shared_with(measured_, last_, text);
    const std::size_t rest = text.size() - shared;
    data_bytes_ += varint_bytes(shared) + varint_bytes(rest) + rest;
    last_ = text;
    ++measured_;
    return {};
}

std::uint64_t StringTableWriter::bytes() const noexcept {
    return kTableHeaderBytes + kOffsetBytes * offsets_.size() + data_bytes_;
}

Result<> StringTableWriter::begin(store::SectionSink& sink) {
    buffer_.u64(measured_);
    buffer_.u64(data_bytes_);
    for (const std::uint64_t offset : offsets_) buffer_.u64(offset);
    offsets_ = {};
    BRAID_CHECK(sink.write(buffer_.view()));
    buffer_ = {};
    return {};
}

Result<> StringTableWriter::write(store::SectionSink& sink, std::string_view text) {
    const std::size_t shared = shared_with(written_, last_, text);
    buffer_.varint(shared);
    buffer_.string(text.substr(shared));
    last_ = text;
    ++written_;
    if (buffer_.size() < kWriteBytes) return {};
    BRAID_CHECK(sink.write(buffer_.view()));
    buffer_ = {};
    return {};
}

Result<> StringTableWriter::finish(store::SectionSink& sink) {
    BRAID_CHECK(sink.write(buffer_.view()));
    buffer_ = {};
    if (written_ == measured_) return {};
    return fail(ErrorCode::Corruption, "strings changed while they were written");
}

Result<StringTable> StringTable::open(const store::Section& section) {
    BRAID_TRY(const auto header, section.bytes(0, kTableHeaderBytes));
    store::ByteReader in(header, section.name());
    StringTable table;
    BRAID_TRY(table.count_, in.u64("number of strings"));
    BRAID_TRY(const std::uint64_t data_bytes, in.u64("length of strings"));
    const std::uint64_t rest = section.size() - kTableHeaderBytes;
    const std::uint64_t groups = group_count(table.count_);
    if (groups > rest / kOffsetBytes || data_bytes != rest - groups * kOffsetBytes ||
        table.count_ / 2 > data_bytes) {
        return in.corrupt("it declares " + std::to_string(table.count_) + " strings in " +
                          std::to_string(data_bytes) + " bytes, which it does not hold");
    }
    BRAID_TRY(table.offsets_, section.part(kTableHeaderBytes, groups * kOffsetBytes));
    BRAID_TRY(table.data_, section.part(kTableHeaderBytes + groups * kOffsetBytes, data_bytes));
    return table;
}

Result<store::ByteReader> StringTable::group(std::uint64_t number) const {
    const bool last = (number + 1) * kOffsetBytes == offsets_.size();
    BRAID_TRY(const auto place,
              offsets_.bytes(number * kOffsetBytes, (last ? 1 : 2) * kOffsetBytes));
    const std::uint64_t begin = load_offset(place.data());
    const std::uint64_t end = last ? data_.size() : load_offset(place.data() + kOffsetBytes);
    if (begin > end) {
        return store::ByteReader(place, offsets_.name())
            .corrupt("the offsets of strings do not ascend");
    }
    BRAID_TRY(const auto bytes, data_.bytes(begin, end - begin));
    return store::ByteReader(bytes, data_.name(), begin);
}

void StringTable::prefetch_place(std::uint64_t index) const noexcept {
    if (index < count_) {
        __builtin_prefetch(offsets_.place() + index / kGroupStrings * kOffsetBytes);
    }
}

void StringTable::prefetch(std::uint64_t index) const noexcept {
    if (index >= count_) return;
    const std::uint64_t begin =
        load_offset(offsets_.place() + index / kGroupStrings * kOffsetBytes);
    if (begin >= data_.size()) return;  // damaged: reading it will say so
    __builtin_prefetch(data_.place() + begin);
    __builtin_prefetch(data_.place() + std::min(begin + 64, data_.size() - 1));
}

Result<> StringTable::step(Walk& walk, std::uint64_t index) const {
    if (index >= count_) {
        return fail(ErrorCode::Corruption, "section \"" + std::string(data_.name()) + "\" has " +
                                               std::to_string(count_) + " strings, but number " +
                                               std::to_string(index) + " was requested");
    }
    if (index != walk.next || index % kGroupStrings == 0) {
        BRAID_TRY(walk.rest, group(index / kGroupStrings));
        walk.text.clear();
        walk.next = index / kGroupStrings * kGroupStrings;
    }
    while (walk.next <= index) {
        BRAID_CHECK(read_next(walk.rest, walk.text));
        ++walk.next;
    }
    return {};
}

Result<std::string> StringTable::at(std::uint64_t index) const {
    if (index < count_) {
        BRAID_TRY(const auto whole, group(index / kGroupStrings));
        const auto bytes = whole.rest();
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (auto found = string_in_group(text, index % kGroupStrings)) return *std::move(found);
    }
    Walk walk;
    BRAID_CHECK(step(walk, index));
    return std::move(walk.text);
}

/// Whether the first string of a group is not greater. It is stored whole, so nothing is copied.
Result<bool> StringTable::begins_at_most(std::uint64_t number, std::string_view text) const {
    BRAID_TRY(store::ByteReader in, group(number));
    const auto bytes = in.rest();
    // The usual case: nothing shared, and a length of one byte.
    if (bytes.size() >= 2 && bytes[0] == std::byte{0} && bytes[1] < std::byte{128} &&
        bytes.size() - 2 >= static_cast<std::size_t>(bytes[1])) {
        return std::string_view(reinterpret_cast<const char*>(bytes.data() + 2),
                                static_cast<std::size_t>(bytes[1])) <= text;
    }
    BRAID_TRY(const std::uint64_t shared, in.varint("shared length"));
    if (shared > 0) return in.corrupt("the first string of a group shares bytes with none");
    BRAID_TRY(const std::string_view head, in.string("string"));
    return head <= text;
}

Result<StringTable::Bound> StringTable::bound_of(std::string_view text) const {
    // The last group whose first string is not greater holds it, or its place is after that group.
    std::uint64_t low = 0;
    std::uint64_t high = group_count(count_);
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        BRAID_TRY(const bool before, begins_at_most(middle, text));
        if (before) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) return Bound{};
    Walk walk;
    const std::uint64_t end = std::min(count_, low * kGroupStrings);
    for (std::uint64_t i = (low - 1) * kGroupStrings; i < end; ++i) {
        BRAID_CHECK(step(walk, i));
        const int order = walk.text.compare(text);
        if (order >= 0) return Bound{i, order == 0};
    }
    return Bound{end, false};
}

Result<std::uint64_t> StringTable::lower_bound(std::string_view text) const {
    BRAID_TRY(const Bound bound, bound_of(text));
    return bound.number;
}

Result<std::optional<std::uint64_t>> StringTable::find(std::string_view text) const {
    BRAID_TRY(const Bound bound, bound_of(text));
    return bound.equal ? std::optional(bound.number) : std::nullopt;
}

}  // namespace braid::docs
