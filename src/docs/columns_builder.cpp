#include "braid/docs/columns_builder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "braid/docs/chunk_codec.hpp"
#include "braid/docs/column_format.hpp"
#include "braid/docs/documents_format.hpp"
#include "braid/docs/field_view.hpp"
#include "braid/docs/metadata_fields.hpp"
#include "braid/docs/packed_ints.hpp"
#include "braid/docs/string_table.hpp"

namespace braid::docs {
namespace {

using Numbers64 = std::vector<std::uint64_t>;

bool is_ordered_number(const Value& value) {
    return value.is_int() || (value.is_double() && !std::isnan(value.as_double()));
}

void write_number(store::ByteWriter& out, const Value& number) {
    out.u8(number.is_int() ? 0 : 1);
    if (number.is_int()) {
        out.u64(static_cast<std::uint64_t>(number.as_int()));
    } else {
        out.f64(number.as_double());
    }
}

}  // namespace

/// The values of one field as they come; sorted and numbered at the end.
class ColumnsBuilder::Column {
public:
    /// `are_names`: texts are never times.
    explicit Column(bool are_names) : are_names_(are_names) {}

    void add(std::uint64_t row, const Value& value) {
        begin(row, value.is_array() ? RowKind::List : RowKind::One);
        if (!value.is_array()) return codes_.push_back(number_of(value));
        for (const Value& element : value.as_array()) codes_.push_back(number_of(element));
    }
    void add(std::uint64_t row, Timestamp time) {
        begin(row, RowKind::One);
        codes_.push_back(number_of(time));
    }
    void add(std::uint64_t row, const std::vector<std::string>& names) {
        begin(row, RowKind::Names);
        for (const std::string& name : names) codes_.push_back(number_of(Value(name)));
    }

    Result<std::vector<std::byte>> finish(std::uint64_t row_count);

private:
    struct Distinct {
        Value value;
        std::optional<Timestamp> time;  // then there is no value
    };
    using Order = std::vector<std::uint64_t>;  // places in values_

    void begin(std::uint64_t row, RowKind kind) {
        rows_.push_back(row);
        kinds_.push_back(static_cast<std::uint64_t>(kind));
        starts_.push_back(codes_.size());
    }
    std::uint64_t number_of(const Value& value) {
        store::ByteWriter key;
        write_value(key, value);
        return number_of(key, {value, std::nullopt});
    }
    std::uint64_t number_of(Timestamp time) {
        store::ByteWriter key;
        key.u8(0xFF);  // no value begins so
        key.u64(static_cast<std::uint64_t>(time.micros));
        return number_of(key, {Value(), time});
    }
    std::uint64_t number_of(const store::ByteWriter& key, Distinct distinct) {
        const auto* text = reinterpret_cast<const char*>(key.view().data());
        const auto [place, is_new] =
            numbers_.try_emplace(std::string(text, key.size()), values_.size());
        if (is_new) values_.push_back(std::move(distinct));
        return place->second;
    }

    void sort_values();
    Result<store::ByteWriter> write_texts(store::ByteWriter& times, store::ByteWriter& timed) const;
    void write_others(store::ByteWriter& starts, store::ByteWriter& out) const;
    Numbers64 final_codes() const;

    bool are_names_;
    std::vector<std::uint64_t> rows_;
    std::vector<std::uint64_t> kinds_;
    std::vector<std::uint64_t> starts_;
    std::vector<std::uint64_t> codes_;  // until the end: places in values_
    std::vector<Distinct> values_;
    std::unordered_map<std::string, std::uint64_t> numbers_;

    Order number_order_;
    Order text_order_;
    Order time_order_;
    Order other_order_;
};

void ColumnsBuilder::Column::sort_values() {
    for (std::uint64_t i = 0; i < values_.size(); ++i) {
        const Distinct& one = values_[i];
        if (one.time) {
            time_order_.push_back(i);
        } else if (is_ordered_number(one.value)) {
            number_order_.push_back(i);
        } else if (one.value.is_string()) {
            text_order_.push_back(i);
        } else if (!one.value.is_null() && !one.value.is_bool()) {
            other_order_.push_back(i);
        }
    }
    std::ranges::sort(time_order_, {}, [&](std::uint64_t i) { return *values_[i].time; });
    std::ranges::sort(text_order_, {}, [&](std::uint64_t i) -> const std::string& {
        return values_[i].value.as_string();
    });
    std::ranges::sort(number_order_, [&](std::uint64_t a, std::uint64_t b) {
        const Value& left = values_[a].value;
        const Value& right = values_[b].value;
        const auto order = compare_numbers(left, right);
        // 1 and 1.0 are two values that are equal.
        if (order == 0) return std::pair(left.is_double(), a) < std::pair(right.is_double(), b);
        return order < 0;
    });
}

Result<store::ByteWriter> ColumnsBuilder::Column::write_texts(store::ByteWriter& times,
                                                              store::ByteWriter& timed) const {
    StringTableBuilder texts;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> said;  // time, text
    for (const std::uint64_t i : text_order_) {
        const std::string& text = values_[i].value.as_string();
        const auto time = are_names_ ? std::nullopt : time_of(text);
        if (time) said.emplace_back(ordered_bits(time->micros), texts.size());
        BRAID_CHECK(texts.add(text));
    }
    std::ranges::sort(said);
    Numbers64 keys;
    Numbers64 numbers;
    for (const auto& [time, text] : said) {
        keys.push_back(time);
        numbers.push_back(text);
    }
    write_packed(times, keys);
    write_packed(timed, numbers);
    store::ByteWriter out;
    texts.write(out);
    return out;
}

void ColumnsBuilder::Column::write_others(store::ByteWriter& starts, store::ByteWriter& out) const {
    Numbers64 offsets{0};
    for (const std::uint64_t i : other_order_) {
        write_value(out, values_[i].value);
        offsets.push_back(out.size());
    }
    write_packed(starts, offsets);
}

Numbers64 ColumnsBuilder::Column::final_codes() const {
    Numbers64 code_of(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
        const Distinct& one = values_[i];
        if (one.time || !one.value.is_bool()) continue;  // null has code 0
        code_of[i] = one.value.as_bool() ? kTrueCode : kFalseCode;
    }
    std::uint64_t next = kFirstCode;
    for (const Order* order : {&number_order_, &text_order_, &time_order_, &other_order_}) {
        for (const std::uint64_t i : *order) code_of[i] = next++;
    }
    Numbers64 codes;
    codes.reserve(codes_.size());
    for (const std::uint64_t i : codes_) codes.push_back(code_of[i]);
    return codes;
}

Result<std::vector<std::byte>> ColumnsBuilder::Column::finish(std::uint64_t row_count) {
    sort_values();
    std::array<store::ByteWriter, kColumnParts> parts;
    const auto part = [&](ColumnPart which) -> store::ByteWriter& {
        return parts[static_cast<std::size_t>(which)];
    };
    if (rows_.size() != row_count) write_packed(part(ColumnPart::Rows), rows_);
    const bool lists = std::ranges::any_of(kinds_, [](std::uint64_t kind) { return kind != 0; });
    if (lists) {
        write_packed(part(ColumnPart::Kinds), kinds_);
        starts_.push_back(codes_.size());
        write_packed(part(ColumnPart::Starts), starts_);
    }
    write_packed(part(ColumnPart::Codes), final_codes(), lists ? 1 : 0);
    for (const std::uint64_t i : number_order_) {
        write_number(part(ColumnPart::Numbers), values_[i].value);
    }
    BRAID_TRY(part(ColumnPart::Texts),
              write_texts(part(ColumnPart::TextTimes), part(ColumnPart::TimedTexts)));
    Numbers64 times;
    for (const std::uint64_t i : time_order_) {
        times.push_back(ordered_bits(values_[i].time->micros));
    }
    write_packed(part(ColumnPart::Times), times);
    write_others(part(ColumnPart::OtherStarts), part(ColumnPart::Others));

    store::ByteWriter out;
    for (const store::ByteWriter& one : parts) out.u64(one.size());
    for (const store::ByteWriter& one : parts) {
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
        // Where dots in names make it ambiguous, this decides, as it does for every filter.
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
