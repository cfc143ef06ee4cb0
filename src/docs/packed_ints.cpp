#include "braid/docs/packed_ints.hpp"

#include <algorithm>
#include <bit>

namespace braid::docs {
namespace {

constexpr std::uint64_t kPackedHeaderBytes = 3 * sizeof(std::uint64_t);
constexpr unsigned kWordBits = 64;
constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);

/// Little-endian, from bytes that need no alignment.
std::uint64_t word_at(std::span<const std::byte> bytes, std::uint64_t index) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < kWordBytes; ++i) {
        word |= std::to_integer<std::uint64_t>(bytes[index * kWordBytes + i]) << (8 * i);
    }
    return word;
}

std::uint64_t mask_of(unsigned width) {
    return width == kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

/// The words that hold `count` numbers from number `first` on.
struct WordRange {
    std::uint64_t first;
    std::uint64_t count;
};
WordRange words_of(std::uint64_t first, std::uint64_t count, unsigned width) {
    if (count == 0 || width == 0) return {0, 0};
    // A file of this size does not exist: count * width fits, as `open` has checked.
    const std::uint64_t begin = first * width / kWordBits;
    const std::uint64_t end = ((first + count) * width - 1) / kWordBits + 1;
    return {begin, end - begin};
}

}  // namespace

void write_packed(store::ByteWriter& out, std::span<const std::uint64_t> values,
                  unsigned min_width) {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    if (!values.empty()) {
        const auto [smallest, largest] = std::ranges::minmax_element(values);
        low = *smallest;
        high = *largest;
    }
    const auto width = std::max(min_width, static_cast<unsigned>(std::bit_width(high - low)));
    out.u64(values.size());
    out.u64(low);
    out.u64(width);
    if (width == 0) return;
    std::uint64_t word = 0;
    unsigned used = 0;
    for (const std::uint64_t value : values) {
        const std::uint64_t rest = value - low;
        word |= rest << used;
        used += width;
        if (used < kWordBits) continue;
        out.u64(word);
        used -= kWordBits;
        word = used == 0 ? 0 : rest >> (width - used);
    }
    if (used > 0) out.u64(word);
}

Result<> write_packed(store::SectionSink& sink, std::string_view name,
                      std::span<const std::uint64_t> values) {
    store::ByteWriter out;
    write_packed(out, values);
    BRAID_CHECK(sink.begin(name));
    return sink.write(out.view());
}

Result<PackedInts> PackedInts::open(const store::Section& section) {
    BRAID_TRY(const auto header, section.bytes(0, kPackedHeaderBytes));
    PackedInts packed;
    packed.count_ = word_at(header, 0);
    packed.base_ = word_at(header, 1);
    const std::uint64_t width = word_at(header, 2);
    const std::uint64_t word_count = (section.size() - kPackedHeaderBytes) / kWordBytes;
    // Divide rather than multiply: the product may wrap around.
    const bool fits = width <= kWordBits &&
                      (width == 0 || packed.count_ <= word_count * kWordBits / width) &&
                      (section.size() - kPackedHeaderBytes) % kWordBytes == 0;
    if (!fits) {
        return fail(ErrorCode::Corruption, "section \"" + std::string(section.name()) +
                                               "\" declares " + std::to_string(packed.count_) +
                                               " numbers of " + std::to_string(width) +
                                               " bits, which it does not hold");
    }
    packed.width_ = static_cast<unsigned>(width);
    BRAID_TRY(packed.words_, section.part(kPackedHeaderBytes, section.size() - kPackedHeaderBytes));
    return packed;
}

Result<PackedInts> PackedInts::open(const store::Section& section, std::uint64_t count) {
    BRAID_TRY(PackedInts packed, open(section));
    if (packed.size() == count) return packed;
    return fail(ErrorCode::Corruption, "section \"" + std::string(section.name()) + "\" holds " +
                                           std::to_string(packed.size()) + " numbers, and " +
                                           std::to_string(count) + " belong there");
}

Result<std::uint64_t> PackedInts::at(std::uint64_t index) const {
    std::uint64_t value = 0;
    BRAID_CHECK(read(index, {&value, 1}));
    return value;
}

Result<> PackedInts::read(std::uint64_t first, std::span<std::uint64_t> out) const {
    if (first > count_ || out.size() > count_ - first) {
        return fail(ErrorCode::Corruption, "section \"" + std::string(words_.name()) + "\" has " +
                                               std::to_string(count_) + " numbers, and number " +
                                               std::to_string(first + out.size()) +
                                               " was asked for");
    }
    if (width_ == 0) {
        std::ranges::fill(out, base_);
        return {};
    }
    const WordRange range = words_of(first, out.size(), width_);
    BRAID_TRY(const auto words, words_.bytes(range.first * kWordBytes, range.count * kWordBytes));
    const std::uint64_t mask = mask_of(width_);
    std::uint64_t bit = first * width_ - range.first * kWordBits;
    for (std::uint64_t& value : out) {
        const std::uint64_t word = bit / kWordBits;
        const auto shift = static_cast<unsigned>(bit % kWordBits);
        std::uint64_t bits = word_at(words, word) >> shift;
        if (shift + width_ > kWordBits) bits |= word_at(words, word + 1) << (kWordBits - shift);
        value = base_ + (bits & mask);
        bit += width_;
    }
    return {};
}

}  // namespace braid::docs
