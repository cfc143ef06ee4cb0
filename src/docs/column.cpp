#include "braid/docs/column.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "braid/core/rfc3339.hpp"
#include "braid/docs/chunk_codec.hpp"
#include "braid/docs/documents_format.hpp"

namespace braid::docs {
namespace {

constexpr std::uint64_t kBatchRows = 4096;

auto damaged_column(const std::string& problem) {
    return fail(ErrorCode::Corruption, "a column is damaged: " + problem);
}

Result<std::vector<store::Section>> parts_of(const store::Section& data) {
    BRAID_TRY(const auto header, data.bytes(0, kColumnHeaderBytes));
    store::ByteReader in(header, data.name());
    std::vector<store::Section> parts;
    std::uint64_t offset = kColumnHeaderBytes;
    for (std::size_t i = 0; i < kColumnParts; ++i) {
        BRAID_TRY(const std::uint64_t length, in.u64("length of a part"));
        BRAID_TRY(store::Section part, data.part(offset, length));
        parts.push_back(part);
        // In range, so nothing wraps around.
        offset += (length + 7) / 8 * 8;
    }
    return parts;
}

Result<std::optional<PackedInts>> open_optional(const store::Section& part, std::uint64_t count) {
    if (part.size() == 0) return std::optional<PackedInts>();
    BRAID_TRY(PackedInts packed, PackedInts::open(part, count));
    return std::optional<PackedInts>(packed);
}

/// The first of the numbers, which ascend, for which `is_below` does not hold.
template <class IsBelow>
Result<std::uint64_t> partition_point(std::uint64_t count, const IsBelow& is_below) {
    std::uint64_t low = 0;
    std::uint64_t high = count;
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        BRAID_TRY(const bool below, is_below(middle));
        if (below) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

}  // namespace

void set_range(Bits& bits, Range range) {
    std::uint64_t i = range.first;
    for (; i < range.last && i % 64 != 0; ++i) set_bit(bits, i);
    for (; i + 64 <= range.last; i += 64)
        bits[static_cast<std::size_t>(i / 64)] = ~std::uint64_t{0};
    for (; i < range.last; ++i) set_bit(bits, i);
}

bool is_number_before(const Value& a, const Value& b) noexcept {
    const auto order = compare_numbers(a, b);
    if (order != 0) return order < 0;
    if (a.is_double() != b.is_double()) return b.is_double();
    return a.is_double() && std::bit_cast<std::uint64_t>(a.as_double()) <
                                std::bit_cast<std::uint64_t>(b.as_double());
}

void write_number(store::ByteWriter& out, const Value& number) {
    out.u8(number.is_int() ? 0 : 1);
    if (number.is_int()) {
        out.u64(static_cast<std::uint64_t>(number.as_int()));
    } else {
        out.f64(number.as_double());
    }
}

Result<Column> Column::open(const store::Section& data, std::uint64_t rows) {
    BRAID_TRY(const auto parts, parts_of(data));
    Column column;
    column.row_count_ = rows;
    BRAID_CHECK(column.open_rows(parts));
    BRAID_CHECK(column.open_values(parts));
    return column;
}

Result<> Column::open_rows(const std::vector<store::Section>& parts) {
    const auto part = [&](ColumnPart which) -> const store::Section& {
        return parts[static_cast<std::size_t>(which)];
    };
    present_ = row_count_;
    if (part(ColumnPart::Rows).size() > 0) {
        BRAID_TRY(rows_, PackedInts::open(part(ColumnPart::Rows)));
        present_ = rows_->size();
        if (present_ > row_count_) return damaged_column("it lists more rows than the segment has");
    }
    BRAID_TRY(kinds_, open_optional(part(ColumnPart::Kinds), present_));
    BRAID_TRY(starts_, open_optional(part(ColumnPart::Starts), present_ + 1));
    if (kinds_.has_value() != starts_.has_value()) return damaged_column("a part is missing");
    BRAID_TRY(codes_, PackedInts::open(part(ColumnPart::Codes)));
    // So that nobody reserves memory for more codes than the file can hold.
    if (starts_ && codes_->width() == 0) return damaged_column("its codes take no space");
    if (!starts_ && codes_->size() != present_)
        return damaged_column("some of its rows have no value");
    return {};
}

Result<> Column::open_values(const std::vector<store::Section>& parts) {
    const auto part = [&](ColumnPart which) -> const store::Section& {
        return parts[static_cast<std::size_t>(which)];
    };
    numbers_ = part(ColumnPart::Numbers);
    number_count_ = numbers_.size() / kNumberBytes;
    BRAID_TRY(texts_, StringTable::open(part(ColumnPart::Texts)));
    BRAID_TRY(timed_texts_, PackedInts::open(part(ColumnPart::TimedTexts)));
    BRAID_TRY(text_times_, PackedInts::open(part(ColumnPart::TextTimes), timed_texts_.size()));
    BRAID_TRY(times_, PackedInts::open(part(ColumnPart::Times)));
    BRAID_TRY(other_starts_, PackedInts::open(part(ColumnPart::OtherStarts)));
    others_ = part(ColumnPart::Others);
    // Numbers that are all equal take no bytes, so their count says nothing.
    if (other_starts_.size() == 0 || other_starts_.size() - 1 > others_.size() ||
        timed_texts_.size() > texts_.size() ||
        times_.size() > (codes_ ? codes_->size() : row_count_)) {
        return damaged_column("it declares values that it does not hold");
    }
    other_count_ = other_starts_.size() - 1;
    return {};
}

Column Column::of_texts(const StringTable& texts, std::optional<PackedInts> codes,
                        std::uint64_t rows) {
    Column column;
    column.row_count_ = rows;
    column.present_ = rows;
    column.texts_ = texts;
    column.codes_ = std::move(codes);
    column.codes_are_texts_ = true;
    return column;
}

Result<Value> Column::number(std::uint64_t index) const {
    BRAID_TRY(const auto bytes, numbers_.bytes(index * kNumberBytes, kNumberBytes));
    store::ByteReader in(bytes, numbers_.name());
    BRAID_TRY(const std::uint8_t is_double, in.u8("type of a number"));
    if (is_double > 1) return in.corrupt("unknown type of number");
    if (is_double == 1) {
        BRAID_TRY(const double number, in.f64("number"));
        return Value(number);
    }
    BRAID_TRY(const std::uint64_t bits, in.u64("number"));
    return Value(static_cast<std::int64_t>(bits));
}

Result<Value> Column::value(std::uint64_t code) const {
    if (code == kNullCode) return Value();
    if (code < kFirstCode) return Value(code == kTrueCode);
    if (code < numbers().last) return number(code - numbers().first);
    if (code < texts().last) {
        BRAID_TRY(std::string text, texts_.at(code - texts().first));
        return Value(std::move(text));
    }
    if (code < times().last) {
        BRAID_TRY(const std::uint64_t bits, times_.at(code - times().first));
        return Value(core::print_rfc3339(Timestamp{from_ordered_bits(bits)}));
    }
    BRAID_TRY(const auto bytes, other(code - others().first));
    store::ByteReader in(bytes, others_.name());
    BRAID_TRY(Value value, read_value(in));
    BRAID_CHECK(in.expect_end("value"));
    return value;
}

Result<std::span<const std::byte>> Column::other(std::uint64_t index) const {
    std::array<std::uint64_t, 2> place{};
    BRAID_CHECK(other_starts_.read(index, place));
    if (place[0] > place[1]) return damaged_column("a value ends before it begins");
    return others_.bytes(place[0], place[1] - place[0]);
}

Result<Range> Column::equal_numbers(const Value& operand) const {
    const auto first_not = [&](bool equal_too) {
        return partition_point(number_count_, [&](std::uint64_t i) -> Result<bool> {
            BRAID_TRY(const Value found, number(i));
            const auto order = compare_numbers(found, operand);
            return order < 0 || (equal_too && order == 0);
        });
    };
    BRAID_TRY(const std::uint64_t first, first_not(false));
    BRAID_TRY(const std::uint64_t last, first_not(true));
    return Range{numbers().first + first, numbers().first + std::max(first, last)};
}

Result<Range> Column::equal_times(Timestamp operand) const {
    const std::uint64_t wanted = ordered_bits(operand.micros);
    const auto first_not = [&](bool equal_too) {
        return partition_point(times_.size(), [&](std::uint64_t i) -> Result<bool> {
            BRAID_TRY(const std::uint64_t found, times_.at(i));
            return found < wanted || (equal_too && found == wanted);
        });
    };
    BRAID_TRY(const std::uint64_t first, first_not(false));
    BRAID_TRY(const std::uint64_t last, first_not(true));
    return Range{times().first + first, times().first + std::max(first, last)};
}

Result<> Column::each_timed_text(
    const std::function<void(Timestamp, std::uint64_t code)>& use) const {
    std::vector<std::uint64_t> keys;
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t first = 0; first < timed_texts_.size(); first += kBatchRows) {
        const std::uint64_t count = std::min(kBatchRows, timed_texts_.size() - first);
        keys.resize(static_cast<std::size_t>(count));
        numbers.resize(static_cast<std::size_t>(count));
        BRAID_CHECK(text_times_.read(first, keys));
        BRAID_CHECK(timed_texts_.read(first, numbers));
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (numbers[i] >= texts_.size()) return damaged_column("a time has no text");
            use(Timestamp{from_ordered_bits(keys[i])}, texts().first + numbers[i]);
        }
    }
    return {};
}

Result<> Column::each_batch(const std::function<Result<>(const Batch&)>& use) const {
    Batch batch;
    for (std::uint64_t first = 0; first < present_; first += kBatchRows) {
        BRAID_CHECK(read_rows(first, batch));
        BRAID_CHECK(use(batch));
    }
    return {};
}

Result<> Column::read_rows(std::uint64_t first, Batch& batch) const {
    const std::uint64_t left = present_ - std::min(first, present_);
    BRAID_CHECK(read_batch(first, std::min(kBatchRows, left), batch));
    return check_batch(batch);
}

Result<> Column::read_batch(std::uint64_t first, std::uint64_t count, Batch& batch) const {
    batch.rows.resize(static_cast<std::size_t>(count));
    if (rows_) {
        BRAID_CHECK(rows_->read(first, batch.rows));
    } else {
        std::iota(batch.rows.begin(), batch.rows.end(), first);
    }
    if (!starts_) return read_codes(first, count, batch);
    std::vector<std::uint64_t> kinds(static_cast<std::size_t>(count));
    BRAID_CHECK(kinds_->read(first, kinds));
    batch.kinds.clear();
    for (const std::uint64_t kind : kinds) {
        if (kind > static_cast<std::uint64_t>(RowKind::Names)) {
            return damaged_column("a row has an unknown kind");
        }
        batch.kinds.push_back(static_cast<RowKind>(kind));
    }
    batch.starts.resize(static_cast<std::size_t>(count) + 1);
    BRAID_CHECK(starts_->read(first, batch.starts));
    const std::uint64_t begin = batch.starts.front();
    if (!std::ranges::is_sorted(batch.starts) || batch.starts.back() > codes_->size()) {
        return damaged_column("the values of rows are out of range");
    }
    const std::uint64_t length = batch.starts.back() - begin;
    for (std::uint64_t& start : batch.starts) start -= begin;
    return read_codes(begin, length, batch);
}

Result<> Column::read_codes(std::uint64_t first, std::uint64_t count, Batch& batch) const {
    batch.codes.resize(static_cast<std::size_t>(count));
    if (codes_) {
        BRAID_CHECK(codes_->read(first, batch.codes));
    } else {
        std::iota(batch.codes.begin(), batch.codes.end(), first);
    }
    if (codes_are_texts_) {
        for (std::uint64_t& code : batch.codes) code += texts().first;
    }
    return {};
}

Result<> Column::check_batch(const Batch& batch) const {
    const std::uint64_t end = codes();
    for (const std::uint64_t code : batch.codes) {
        if (code >= end) return damaged_column("a row has a value that does not exist");
    }
    for (const std::uint64_t row : batch.rows) {
        if (row >= row_count_) return damaged_column("it has a row that does not exist");
    }
    for (std::size_t i = 0; i < batch.kinds.size(); ++i) {
        if (batch.kinds[i] == RowKind::One && batch.starts[i + 1] - batch.starts[i] != 1) {
            return damaged_column("a row does not have exactly one value");
        }
    }
    return {};
}

}  // namespace braid::docs
