#include "braid/docs/columns_builder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "braid/docs/chunk_codec.hpp"
#include "braid/docs/column.hpp"
#include "braid/docs/column_format.hpp"
#include "braid/docs/documents_format.hpp"
#include "braid/docs/field_view.hpp"
#include "braid/docs/metadata_fields.hpp"
#include "braid/docs/packed_ints.hpp"
#include "braid/docs/string_table.hpp"

namespace braid::docs {
namespace {

using Numbers64 = std::vector<std::uint64_t>;

constexpr char kTimeKey = '\xFF';  // no value begins with this

bool is_ordered_number(const Value& value) {
    return value.is_int() || (value.is_double() && !std::isnan(value.as_double()));
}

store::ByteReader reader_of(std::string_view bytes) {
    return store::ByteReader(std::as_bytes(std::span(bytes)));
}

/// Distinct byte strings, numbered in order of arrival.
class DistinctKeys {
public:
    DistinctKeys() = default;
    DistinctKeys(const DistinctKeys&) = delete;
    DistinctKeys& operator=(const DistinctKeys&) = delete;
    DistinctKeys(DistinctKeys&&) = delete;
    DistinctKeys& operator=(DistinctKeys&&) = delete;
    ~DistinctKeys() = default;

    std::uint32_t number_of(std::string_view key) {
        const auto found = numbers_.find(key);
        if (found != numbers_.end()) return *found;
        const std::uint32_t number = size();
        bytes_ += key;
        ends_.push_back(bytes_.size());
        numbers_.insert(number);
        return number;
    }
    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(ends_.size()); }
    std::string_view at(std::uint32_t number) const noexcept {
        const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
        return std::string_view(bytes_).substr(begin, ends_[number] - begin);
    }

private:
    struct Hash {
        using is_transparent = void;
        const DistinctKeys* keys;
        std::size_t operator()(std::string_view key) const noexcept {
            return std::hash<std::string_view>()(key);
        }
        std::size_t operator()(std::uint32_t number) const noexcept {
            return (*this)(keys->at(number));
        }
    };
    struct Equal {
        using is_transparent = void;
        const DistinctKeys* keys;
        bool operator()(std::uint32_t a, std::uint32_t b) const noexcept { return a == b; }
        bool operator()(std::string_view key, std::uint32_t number) const noexcept {
            return key == keys->at(number);
        }
        bool operator()(std::uint32_t number, std::string_view key) const noexcept {
            return key == keys->at(number);
        }
    };

    std::string bytes_;
    std::vector<std::size_t> ends_;
    std::unordered_set<std::uint32_t, Hash, Equal> numbers_{0, Hash{this}, Equal{this}};
};

}  // namespace

/// The values of one field as they arrive; sorted and numbered at the end.
class ColumnsBuilder::Column {
public:
    /// `are_names`: texts are never times.
    explicit Column(bool are_names) : are_names_(are_names) {}
    Column(const Column&) = delete;
    Column& operator=(const Column&) = delete;
    Column(Column&&) = delete;
    Column& operator=(Column&&) = delete;
    ~Column() = default;

    void add(std::uint64_t row, const Value& value) {
        begin(row, value.is_array() ? RowKind::List : RowKind::One);
        if (!value.is_array()) return add_value(value);
        for (const Value& element : value.as_array()) add_value(element);
    }
    void add(std::uint64_t row, Timestamp time) {
        begin(row, RowKind::One);
        store::ByteWriter key;
        key.u8(static_cast<std::uint8_t>(kTimeKey));
        key.u64(ordered_bits(time.micros));
        add_key(key);
    }
    void add(std::uint64_t row, const std::vector<std::string>& names) {
        begin(row, RowKind::Names);
        for (const std::string& name : names) add_value(Value(name));
    }

    Result<std::vector<std::byte>> finish(std::uint64_t row_count);

private:
    void begin(std::uint64_t row, RowKind kind) {
        rows_.push_back(static_cast<std::uint32_t>(row));
        kinds_.push_back(kind);
        lists_ = lists_ || kind != RowKind::One;
        starts_.push_back(static_cast<std::uint32_t>(codes_.size()));
    }
    void add_value(const Value& value) {
        store::ByteWriter key;
        write_value(key, value);
        add_key(key);
    }
    void add_key(const store::ByteWriter& key) {
        const auto* text = reinterpret_cast<const char*>(key.view().data());
        codes_.push_back(keys_.number_of({text, key.size()}));
    }

    Result<> number_values();
    Result<> write_texts(const std::vector<std::pair<std::string_view, std::uint32_t>>& texts);
    void write_rows(std::uint64_t row_count);
    template <class Key>
    void set_codes(const std::vector<std::pair<Key, std::uint32_t>>& sorted) {
        for (const auto& [key, number] : sorted) code_of_[number] = next_code_++;
    }
    store::ByteWriter& part(ColumnPart which) { return parts_[static_cast<std::size_t>(which)]; }

    bool are_names_;
    bool lists_ = false;
    std::vector<std::uint32_t> rows_;
    std::vector<RowKind> kinds_;
    std::vector<std::uint32_t> starts_;
    std::vector<std::uint32_t> codes_;  // numbers of keys
    DistinctKeys keys_;

    std::vector<std::uint64_t> code_of_;  // each key's
    std::uint64_t next_code_ = kFirstCode;
    std::array<store::ByteWriter, kColumnParts> parts_;
};

Result<> ColumnsBuilder::Column::number_values() {
    std::vector<std::pair<Value, std::uint32_t>> numbers;
    std::vector<std::pair<std::string_view, std::uint32_t>> texts;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> times;
    std::vector<std::pair<std::string_view, std::uint32_t>> others;
    code_of_.resize(keys_.size());
    for (std::uint32_t i = 0; i < keys_.size(); ++i) {
        const std::string_view key = keys_.at(i);
        if (key.front() == kTimeKey) {
            auto in = reader_of(key.substr(1));
            BRAID_TRY(const std::uint64_t bits, in.u64("time"));
            times.emplace_back(bits, i);
            continue;
        }
        if (const auto text = text_of_value(key)) {
            texts.emplace_back(*text, i);
            continue;
        }
        auto in = reader_of(key);
        BRAID_TRY(Value value, read_value(in));
        if (is_ordered_number(value)) {
            numbers.emplace_back(std::move(value), i);
        } else if (value.is_bool()) {
            code_of_[i] = value.as_bool() ? kTrueCode : kFalseCode;
        } else if (value.is_null()) {
            code_of_[i] = kNullCode;
        } else {
            others.emplace_back(key, i);
        }
    }
    // 1 and 1.0 are two values that are equal.
    std::ranges::sort(numbers, is_number_before, &std::pair<Value, std::uint32_t>::first);
    std::ranges::sort(texts);
    std::ranges::sort(times);
    std::ranges::sort(others);
    set_codes(numbers);
    set_codes(texts);
    set_codes(times);
    set_codes(others);

    for (const auto& [value, i] : numbers) write_number(part(ColumnPart::Numbers), value);
    BRAID_CHECK(write_texts(texts));
    Numbers64 bits;
    for (const auto& [time, i] : times) bits.push_back(time);
    write_packed(part(ColumnPart::Times), bits);
    Numbers64 starts{0};
    for (const auto& [bytes, i] : others) {
        part(ColumnPart::Others).bytes(std::as_bytes(std::span(bytes)));
        starts.push_back(part(ColumnPart::Others).size());
    }
    write_packed(part(ColumnPart::OtherStarts), starts);
    return {};
}

Result<> ColumnsBuilder::Column::write_texts(
    const std::vector<std::pair<std::string_view, std::uint32_t>>& texts) {
    StringTableBuilder table;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> said;  // time, text
    for (const auto& [text, i] : texts) {
        const auto time = are_names_ ? std::nullopt : time_of(text);
        if (time) said.emplace_back(ordered_bits(time->micros), table.size());
        BRAID_CHECK(table.add(text));
    }
    std::ranges::sort(said);
    Numbers64 keys;
    Numbers64 numbers;
    for (const auto& [time, text] : said) {
        keys.push_back(time);
        numbers.push_back(text);
    }
    write_packed(part(ColumnPart::TextTimes), keys);
    write_packed(part(ColumnPart::TimedTexts), numbers);
    table.write(part(ColumnPart::Texts));
    return {};
}

void ColumnsBuilder::Column::write_rows(std::uint64_t row_count) {
    if (rows_.size() != row_count) {
        write_packed(part(ColumnPart::Rows), Numbers64(rows_.begin(), rows_.end()));
    }
    if (lists_) {
        Numbers64 kinds;
        for (const RowKind kind : kinds_) kinds.push_back(static_cast<std::uint64_t>(kind));
        write_packed(part(ColumnPart::Kinds), kinds);
        Numbers64 starts(starts_.begin(), starts_.end());
        starts.push_back(codes_.size());
        write_packed(part(ColumnPart::Starts), starts);
    }
    Numbers64 codes;
    codes.reserve(codes_.size());
    for (const std::uint32_t key : codes_) codes.push_back(code_of_[key]);
    write_packed(part(ColumnPart::Codes), codes, lists_ ? 1 : 0);
}

Result<std::vector<std::byte>> ColumnsBuilder::Column::finish(std::uint64_t row_count) {
    BRAID_CHECK(number_values());
    write_rows(row_count);
    store::ByteWriter out;
    for (const store::ByteWriter& one : parts_) out.u64(one.size());
    for (const store::ByteWriter& one : parts_) {
        out.bytes(one.view());
        out.pad_to(sizeof(std::uint64_t));
    }
    return out.take();
}

ColumnsBuilder::ColumnsBuilder() = default;
ColumnsBuilder::~ColumnsBuilder() = default;

ColumnsBuilder::Column& ColumnsBuilder::column(char kind, std::string_view name) {
    std::string key = kind + std::string(name);
    auto& found = columns_[std::move(key)];
    if (found == nullptr) {
        found = std::make_unique<Column>(kind == kOwnColumn && is_name(field_by_name(name)));
    }
    return *found;
}

void ColumnsBuilder::add_metadata(const Object& metadata) {
    for (const std::string& path : metadata_paths(metadata)) {
        // Where dots in names make it ambiguous, this decides, as for every filter.
        if (const Value* value = find_path(metadata, path)) {
            column(kMetadataColumn, path).add(rows_, *value);
        }
    }
}

void ColumnsBuilder::add(const Chunk& chunk) {
    const std::string none;
    for (const std::string_view name : {"chunk_index", "title", "section_title", "created_at",
                                        "sensitivity", "visibility_scope"}) {
        const Field field = field_by_name(name);
        // The default level is the schema's, not the row's.
        if (field == Field::Sensitivity && !chunk.sensitivity) continue;
        const FieldView view = view_field(chunk, field, name, none);
        switch (view.kind) {
            case FieldView::Kind::Missing:
                break;
            case FieldView::Kind::Text:
                column(kOwnColumn, name).add(rows_, Value(view.text));
                break;
            case FieldView::Kind::Integer:
                column(kOwnColumn, name).add(rows_, Value(view.integer));
                break;
            case FieldView::Kind::Time:
                column(kOwnColumn, name).add(rows_, view.time);
                break;
            case FieldView::Kind::Scopes:
                column(kOwnColumn, name).add(rows_, *view.scopes);
                break;
            case FieldView::Kind::Json:
                column(kOwnColumn, name).add(rows_, *view.json);
                break;
        }
    }
    add_metadata(chunk.metadata);
    ++rows_;
}

Result<> ColumnsBuilder::finish(store::SectionSink& sink, std::string_view prefix) {
    const auto name = [&](std::string_view part) {
        return std::string(prefix) + std::string(part);
    };
    StringTableBuilder names;
    Numbers64 offsets{0};
    BRAID_CHECK(sink.begin(name(kColumnDataSection)));
    for (auto& [column_name, column] : columns_) {
        BRAID_CHECK(names.add(column_name));
        BRAID_TRY(const auto bytes, column->finish(rows_));
        BRAID_CHECK(sink.write(bytes));
        offsets.push_back(sink.offset());
        column = nullptr;
    }
    BRAID_CHECK(names.write(sink, name(kColumnNamesSection)));
    return write_packed(sink, name(kColumnOffsetsSection), offsets);
}

}  // namespace braid::docs
