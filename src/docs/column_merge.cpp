#include "braid/docs/column_merge.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "braid/docs/merged_streams.hpp"

namespace braid::docs {
namespace {

auto damaged(const char* problem) {
    return fail(ErrorCode::Corruption, std::string("a column is damaged: ") + problem);
}

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The rows of one column, in order.
class RowsOfColumn {
public:
    explicit RowsOfColumn(const Column& column) : column_(&column) {}

    /// Whether a row has a value; if so, it becomes the current one. Rows must be asked for in
    /// ascending order.
    Result<bool> seek(std::uint32_t row) {
        while (true) {
            while (at_ < batch_.rows.size() && batch_.rows[at_] < row) ++at_;
            if (at_ < batch_.rows.size()) return batch_.rows[at_] == row;
            if (read_ == column_->present()) return false;
            BRAID_CHECK(column_->read_rows(read_, batch_));
            read_ += batch_.rows.size();
            at_ = 0;
        }
    }
    RowKind kind() const { return batch_.kinds.empty() ? RowKind::One : batch_.kinds[at_]; }
    std::span<const std::uint64_t> codes() const {
        if (batch_.kinds.empty()) return {&batch_.codes[at_], 1};
        const auto begin = static_cast<std::size_t>(batch_.starts[at_]);
        const auto end = static_cast<std::size_t>(batch_.starts[at_ + 1]);
        return std::span(batch_.codes).subspan(begin, end - begin);
    }

private:
    const Column* column_;
    Column::Batch batch_;
    std::uint64_t read_ = 0;  // rows that have a value, the batch included
    std::size_t at_ = 0;      // in the batch
};

/// The values of one type in an input's column that some remaining row has, in order.
class StayingValues {
public:
    StayingValues(std::vector<std::uint32_t>& codes, Range range)
        : codes_(&codes), range_(range), next_(range.first) {}

    void set_code(std::uint32_t code) { (*codes_)[static_cast<std::size_t>(code_)] = code; }
    std::uint32_t new_code() const { return (*codes_)[static_cast<std::size_t>(code_)]; }

protected:
    /// Moves to the next code that stays. False at the end.
    bool next_code() {
        while (next_ < range_.last) {
            code_ = next_++;
            if (new_code() != kLeftOut) return true;
        }
        return false;
    }
    std::uint64_t count() const { return range_.last - range_.first; }
    std::uint64_t place() const { return code_ - range_.first; }
    bool stays(std::uint64_t place) {
        code_ = range_.first + place;
        return new_code() != kLeftOut;
    }

private:
    std::vector<std::uint32_t>* codes_;
    Range range_;
    std::uint64_t next_;
    std::uint64_t code_ = 0;
};

class Numbers : public StayingValues {
public:
    explicit Numbers(ColumnMerge::Source& source)
        : StayingValues(source.codes, source.column.numbers()), column_(&source.column) {}

    Result<bool> next() {
        if (!next_code()) return false;
        BRAID_TRY(value_, column_->number(place()));
        return true;
    }
    bool is_less(const Numbers& other) const { return is_number_before(value_, other.value_); }
    const Value& value() const { return value_; }

private:
    const Column* column_;
    Value value_;
};

class Texts : public StayingValues {
public:
    explicit Texts(ColumnMerge::Source& source)
        : StayingValues(source.codes, source.column.texts()), texts_(source.column.text_table()) {}

    Result<bool> next() {
        while (true) {
            BRAID_TRY(const bool more, texts_.next());
            if (!more || stays(texts_.number())) return more;
        }
    }
    bool is_less(const Texts& other) const { return text() < other.text(); }
    std::string_view text() const { return texts_.text(); }

private:
    StringStream texts_;
};

class Times : public StayingValues {
public:
    explicit Times(ColumnMerge::Source& source)
        : StayingValues(source.codes, source.column.times()), bits_(source.column.time_bits()) {}

    Result<bool> next() {
        if (!next_code()) return false;
        BRAID_TRY(time_, bits_.at(place()));
        return true;
    }
    bool is_less(const Times& other) const { return time_ < other.time_; }
    std::uint64_t time() const { return time_; }

private:
    PackedStream bits_;
    std::uint64_t time_ = 0;
};

/// Texts that are times, in order of time; they have their new codes already.
class TimedTexts : public StayingValues {
public:
    explicit TimedTexts(ColumnMerge::Source& source)
        : StayingValues(source.codes, source.column.texts()),
          timed_(source.column.timed_texts().size()),
          texts_(source.column.timed_texts()),
          times_(source.column.text_times()) {}

    Result<bool> next() {
        while (next_ < timed_) {
            BRAID_TRY(const std::uint64_t text, texts_.at(next_));
            if (text >= count()) return damaged("a time has no text");
            BRAID_TRY(time_, times_.at(next_++));
            if (stays(text)) return true;
        }
        return false;
    }
    bool is_less(const TimedTexts& other) const {
        return std::tuple(time_, new_code()) < std::tuple(other.time_, other.new_code());
    }
    std::uint64_t time() const { return time_; }

private:
    std::uint64_t timed_;
    std::uint64_t next_ = 0;
    PackedStream texts_;
    PackedStream times_;
    std::uint64_t time_ = 0;
};

class Others : public StayingValues {
public:
    explicit Others(ColumnMerge::Source& source)
        : StayingValues(source.codes, source.column.others()),
          column_(&source.column),
          order_(&source.others) {}

    Result<bool> next() {
        while (next_ < order_->size()) {
            const std::uint32_t place = (*order_)[next_++];
            if (!stays(place)) continue;
            BRAID_TRY(bytes_, column_->other(place));
            return true;
        }
        return false;
    }
    bool is_less(const Others& other) const { return text_of(bytes_) < text_of(other.bytes_); }
    std::span<const std::byte> bytes() const { return bytes_; }

private:
    const Column* column_;
    const std::vector<std::uint32_t>* order_;
    std::size_t next_ = 0;
    std::span<const std::byte> bytes_;
};

/// The positions of a column's other values, in byte order.
Result<> sort_others(ColumnMerge::Source& source) {
    source.others.resize(
        static_cast<std::size_t>(source.column.others().last - source.column.others().first));
    std::iota(source.others.begin(), source.others.end(), 0U);
    // Whatever cannot be read is reported when it is written.
    const auto text = [&](std::uint32_t place) {
        const auto bytes = source.column.other(place);
        return bytes ? text_of(*bytes) : std::string_view();
    };
    std::ranges::sort(source.others, {}, text);
    return {};
}

}  // namespace

template <class Stream, class Visit>
Result<> ColumnMerge::each_value(std::uint32_t& next_code, const Visit& visit) {
    std::vector<Stream> streams;
    for (Source& source : sources_) streams.emplace_back(source);
    return merge_streams(streams, [&](const Stream& first, const auto& holders) -> Result<> {
        BRAID_CHECK(go_on_());
        if (next_code == kLeftOut) {
            return fail(ErrorCode::ResourceExhausted, "a column has too many distinct values");
        }
        for (const std::size_t holder : holders) streams[holder].set_code(next_code);
        BRAID_CHECK(visit(first));
        ++next_code;
        return {};
    });
}

Result<> ColumnMerge::add(std::size_t input, const Column& column) {
    if (column.codes() >= kLeftOut) return damaged("it has too many values");
    Source& source = sources_.emplace_back();
    source.input = input;
    source.column = column;
    source.codes.assign(static_cast<std::size_t>(column.codes()), kLeftOut);
    return look_at_rows(source);
}

/// Marks the values that remaining rows have.
Result<> ColumnMerge::look_at_rows(Source& source) {
    const auto numbers = order_.numbers(source.input);
    return source.column.each_batch([&](const Column::Batch& batch) -> Result<> {
        BRAID_CHECK(go_on_());
        for (std::size_t i = 0; i < batch.rows.size(); ++i) {
            const std::uint32_t number = numbers[static_cast<std::size_t>(batch.rows[i])];
            if (number == kLeftOut) continue;
            rows_.add(number);
            const bool one = batch.kinds.empty();
            kinds_.add(one ? 0 : static_cast<std::uint64_t>(batch.kinds[i]));
            const std::uint64_t begin = one ? i : batch.starts[i];
            const std::uint64_t end = one ? i + 1 : batch.starts[i + 1];
            for (std::uint64_t at = begin; at < end; ++at) {
                source.codes[static_cast<std::size_t>(batch.codes[at])] = 0;
            }
            code_count_ += end - begin;
        }
        return {};
    });
}

/// Gives values their new codes, and writes the short ones.
Result<> ColumnMerge::number_values() {
    for (Source& source : sources_) {
        for (const std::uint64_t code : {kNullCode, kFalseCode, kTrueCode}) {
            std::uint32_t& mapped = source.codes[static_cast<std::size_t>(code)];
            if (mapped != kLeftOut) mapped = static_cast<std::uint32_t>(code);
        }
    }
    std::uint32_t next = kFirstCode;
    BRAID_CHECK(each_value<Numbers>(next, [&](const Numbers& number) -> Result<> {
        write_number(part(ColumnPart::Numbers), number.value());
        return {};
    }));
    first_text_ = next;
    BRAID_CHECK(
        each_value<Texts>(next, [&](const Texts& text) { return texts_.measure(text.text()); }));
    BRAID_CHECK(number_timed_texts());
    std::vector<std::uint64_t> times;
    BRAID_CHECK(each_value<Times>(next, [&](const Times& time) -> Result<> {
        times.push_back(time.time());
        return {};
    }));
    write_packed(part(ColumnPart::Times), times);
    first_other_ = next;
    for (Source& source : sources_) BRAID_CHECK(sort_others(source));
    std::vector<std::uint64_t> starts{0};
    BRAID_CHECK(each_value<Others>(next, [&](const Others& other) -> Result<> {
        starts.push_back(starts.back() + other.bytes().size());
        return {};
    }));
    other_bytes_ = starts.back();
    write_packed(part(ColumnPart::OtherStarts), starts);
    return {};
}

Result<> ColumnMerge::number_timed_texts() {
    std::vector<std::uint64_t> times;
    std::vector<std::uint64_t> texts;
    std::vector<TimedTexts> streams;
    for (Source& source : sources_) streams.emplace_back(source);
    BRAID_CHECK(merge_streams(streams, [&](const TimedTexts& first, const auto&) -> Result<> {
        times.push_back(first.time());
        texts.push_back(first.new_code() - first_text_);
        return {};
    }));
    write_packed(part(ColumnPart::TextTimes), times);
    write_packed(part(ColumnPart::TimedTexts), texts);
    return {};
}

/// Which rows have values, and the codes of those.
Result<> ColumnMerge::write_rows() {
    const bool lists = kinds_.high > 0;
    PackedRange codes;
    for (const Source& source : sources_) {
        for (const std::uint32_t code : source.codes) {
            if (code != kLeftOut) codes.add(code);
        }
    }
    codes.count = code_count_;
    PackedRange starts;
    starts.count = kinds_.count + 1;
    starts.high = code_count_;
    PackedWriter packed_codes(part(ColumnPart::Codes), codes, lists ? 1 : 0);
    std::optional<PackedWriter> packed_rows;
    std::optional<PackedWriter> packed_kinds;
    std::optional<PackedWriter> packed_starts;
    if (rows_.count != order_.rows()) packed_rows.emplace(part(ColumnPart::Rows), rows_);
    if (lists) {
        packed_kinds.emplace(part(ColumnPart::Kinds), kinds_);
        packed_starts.emplace(part(ColumnPart::Starts), starts);
    }

    std::vector<RowsOfColumn> rows;
    std::vector<std::size_t> source_of(order_.inputs(), sources_.size());
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        source_of[sources_[i].input] = i;
        rows.emplace_back(sources_[i].column);
    }
    std::uint64_t written = 0;
    std::uint32_t number = 0;
    const auto write_row = [&](std::size_t input, std::uint32_t row) -> Result<> {
        const std::uint32_t here = number++;
        const std::size_t source = source_of[input];
        if (source == sources_.size()) return {};
        BRAID_CHECK(go_on_());
        BRAID_TRY(const bool has, rows[source].seek(row));
        if (!has) return {};
        if (packed_rows) packed_rows->add(here);
        if (lists) {
            packed_kinds->add(static_cast<std::uint64_t>(rows[source].kind()));
            packed_starts->add(written);
        }
        for (const std::uint64_t code : rows[source].codes()) {
            packed_codes.add(sources_[source].codes[static_cast<std::size_t>(code)]);
            ++written;
        }
        return {};
    };
    BRAID_CHECK(order_.each(write_row));
    if (written != code_count_) return damaged("its rows are not in order");
    packed_codes.finish();
    if (packed_rows) packed_rows->finish();
    if (lists) {
        packed_starts->add(written);
        packed_kinds->finish();
        packed_starts->finish();
    }
    return {};
}

Result<> ColumnMerge::write_texts(store::SectionSink& sink) {
    BRAID_CHECK(texts_.begin(sink));
    std::uint32_t code = first_text_;
    BRAID_CHECK(each_value<Texts>(
        code, [&](const Texts& text) { return texts_.write(sink, text.text()); }));
    return texts_.finish(sink);
}

Result<> ColumnMerge::write_others(store::SectionSink& sink) {
    std::uint32_t code = first_other_;
    std::uint64_t written = 0;
    BRAID_CHECK(each_value<Others>(code, [&](const Others& other) {
        written += other.bytes().size();
        return sink.write(other.bytes());
    }));
    return written == other_bytes_ ? Result<>() : damaged("its values changed");
}

Result<> ColumnMerge::write(store::SectionSink& sink) {
    BRAID_CHECK(number_values());
    BRAID_CHECK(write_rows());
    std::array<std::uint64_t, kColumnParts> sizes{};
    for (std::size_t i = 0; i < kColumnParts; ++i) sizes[i] = parts_[i].size();
    sizes[static_cast<std::size_t>(ColumnPart::Texts)] = texts_.bytes();
    sizes[static_cast<std::size_t>(ColumnPart::Others)] = other_bytes_;
    store::ByteWriter head;
    for (const std::uint64_t size : sizes) head.u64(size);
    BRAID_CHECK(sink.write(head.view()));
    for (std::size_t i = 0; i < kColumnParts; ++i) {
        const auto which = static_cast<ColumnPart>(i);
        if (which == ColumnPart::Texts) {
            BRAID_CHECK(write_texts(sink));
        } else if (which == ColumnPart::Others) {
            BRAID_CHECK(write_others(sink));
        } else {
            BRAID_CHECK(sink.write(parts_[i].view()));
            parts_[i] = {};
        }
        constexpr std::array<std::byte, sizeof(std::uint64_t)> zeros{};
        const std::size_t past = sizes[i] % zeros.size();
        if (past > 0) BRAID_CHECK(sink.write(std::span(zeros).first(zeros.size() - past)));
    }
    return {};
}

}  // namespace braid::docs
