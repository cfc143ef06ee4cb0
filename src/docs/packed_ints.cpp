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
    // No file of this size exists: count * width fits, as `open` has checked.
    const std::uint64_t begin = first * width / kWordBits;
    const std::uint64_t end = ((first + count) * width - 1) / kWordBits + 1;
    return {begin, end - begin};
}

}  // namespace

void PackedRange::add(std::uint64_t value) noexcept {
    low = count == 0 ? value : std::min(low, value);
    high = count == 0 ? value : std::max(high, value);
    ++count;
}

unsigned PackedRange::width(unsigned min_width) const noexcept {
    return std::max(min_width, static_cast<unsigned>(std::bit_width(high - low)));
}

PackedWriter::PackedWriter(store::ByteWriter& out, const PackedRange& range, unsigned min_width)
    : out_(out), low_(range.low), width_(range.width(min_width)) {
    out.u64(range.count);
    out.u64(range.low);
    out.u64(width_);
}

void PackedWriter::add(std::uint64_t value) {
    if (width_ == 0) return;
    const std::uint64_t rest = value - low_;
    word_ |= rest << used_;
    used_ += width_;
    if (used_ < kWordBits) return;
    out_.u64(word_);
    used_ -= kWordBits;
    word_ = used_ == 0 ? 0 : rest >> (width_ - used_);
}

void PackedWriter::finish() {
    if (used_ > 0) out_.u64(word_);
    used_ = 0;
}

void write_packed(store::ByteWriter& out, std::span<const std::uint64_t> values,
                  unsigned min_width) {
    PackedRange range;
    for (const std::uint64_t value : values) range.add(value);
    PackedWriter writer(out, range, min_width);
    for (const std::uint64_t value : values) writer.add(value);
    writer.finish();
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
                                           std::to_string(packed.size()) + " numbers, expected " +
                                           std::to_string(count));
}

Result<std::uint64_t> PackedInts::at(std::uint64_t index) const {
    std::uint64_t value = 0;
    BRAID_CHECK(read(index, {&value, 1}));
    return value;
}

Result<> PackedInts::read(std::uint64_t first, std::span<std::uint64_t> out) const {
    if (first > count_ || out.size() > count_ - first) {
        return fail(ErrorCode::Corruption, "section \"" + std::string(words_.name()) + "\" has " +
                                               std::to_string(count_) + " numbers, but number " +
                                               std::to_string(first + out.size()) +
                                               " was requested");
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

Result<std::uint64_t> PackedStream::at(std::uint64_t index) {
    constexpr std::uint64_t kReadAtOnce = 1024;
    if (index - first_ >= read_.size()) {
        first_ = index;
        const std::uint64_t left = numbers_.size() - std::min(index, numbers_.size());
        read_.resize(static_cast<std::size_t>(std::clamp<std::uint64_t>(left, 1, kReadAtOnce)));
        BRAID_CHECK(numbers_.read(first_, read_));
    }
    return read_[static_cast<std::size_t>(index - first_)];
}

}  // namespace braid::docs
