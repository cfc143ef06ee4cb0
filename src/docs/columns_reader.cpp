#include "braid/docs/columns_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "braid/core/limits.hpp"
#include "braid/docs/column_format.hpp"
#include "braid/docs/column_predicate.hpp"
#include "braid/docs/field_view.hpp"
#include "braid/docs/filter_matcher.hpp"
#include "braid/docs/metadata_fields.hpp"

namespace braid::docs {
namespace {

using Op = Filter::Op;

/// Whether every path that the filter names can have a column.
bool has_columns(const Filter& filter) {
    return metadata_path(filter.field).size() <= kMaxPathBytes &&
           std::ranges::all_of(filter.children, has_columns);
}

/// A list as written.
Result<Value> list_of(const Column& column, std::span<const std::uint64_t> codes) {
    Array list;
    list.reserve(codes.size());
    for (const std::uint64_t code : codes) {
        BRAID_TRY(Value element, column.value(code));
        list.push_back(std::move(element));
    }
    return Value(std::move(list));
}

std::span<const std::uint64_t> codes_of(const Column::Batch& batch, std::size_t i) {
    if (batch.starts.empty()) return std::span(batch.codes).subspan(i, 1);
    const auto first = static_cast<std::size_t>(batch.starts[i]);
    return std::span(batch.codes)
        .subspan(first, static_cast<std::size_t>(batch.starts[i + 1]) - first);
}

Result<bool> row_matches(const Column& column, const ColumnPredicate& predicate,
                         const Comparison& comparison, const Column::Batch& batch, std::size_t i) {
    const auto codes = codes_of(batch, i);
    const RowKind kind = batch.kinds.empty() ? RowKind::One : batch.kinds[i];
    if (kind == RowKind::One) return has_bit(predicate.one, codes.front());
    for (const std::uint64_t code : codes) {
        if (has_bit(predicate.element, code)) return true;
    }
    if (kind != RowKind::List || !comparison.set) return false;
    const std::vector<Value>& whole = comparison.set->compound();
    if (whole.empty()) return false;
    BRAID_TRY(const Value list, list_of(column, codes));
    return std::ranges::find(whole, list) != whole.end();
}

/// Marks the rows of a batch whose one value is among `codes`. Requires rows that have one value
/// each.
void mark_rows(const Column::Batch& batch, const Bits& codes, Bits& present, Bits& matched) {
    constexpr std::size_t kWordRows = 64;
    const std::size_t count = batch.rows.size();
    const std::uint64_t first = count == 0 ? 0 : batch.rows.front();
    std::size_t i = 0;
    if (count > 0 && first % kWordRows == 0 && batch.rows.back() - first == count - 1) {
        // No row is missing: takes a word of both masks at a time.
        for (; i + kWordRows <= count; i += kWordRows) {
            std::uint64_t word = 0;
            for (std::size_t bit = 0; bit < kWordRows; ++bit) {
                word |= std::uint64_t{has_bit(codes, batch.codes[i + bit])} << bit;
            }
            const auto place = static_cast<std::size_t>((first + i) / kWordRows);
            present[place] = ~std::uint64_t{0};
            matched[place] = word;
        }
    }
    for (; i < count; ++i) {
        const std::uint64_t row = batch.rows[i];
        set_bit(present, row);
        matched[static_cast<std::size_t>(row / kWordRows)] |=
            std::uint64_t{has_bit(codes, batch.codes[i])} << (row % kWordRows);
    }
}

/// The form in which equal values are counted: whole numbers as integers.
Value counted_form(Value value) {
    constexpr double above = 0x1p63;
    if (!value.is_double()) return value;
    const double number = value.as_double();
    if (std::trunc(number) != number || number < -above || number >= above) return value;
    return Value(static_cast<std::int64_t>(number));
}

/// Codes whose values are counted together get the same number.
Result<std::vector<std::uint64_t>> counted_as(const Column& column) {
    std::vector<std::uint64_t> same(static_cast<std::size_t>(column.codes()));
    for (std::uint64_t code = 0; code < same.size(); ++code) same[code] = code;
    for (std::uint64_t code = column.numbers().first + 1; code < column.numbers().last; ++code) {
        BRAID_TRY(const Value before, column.value(code - 1));
        BRAID_TRY(const Value value, column.value(code));
        if (compare_numbers(before, value) == 0) same[code] = same[code - 1];
    }
    for (std::uint64_t code = column.times().first; code < column.times().last; ++code) {
        BRAID_TRY(const Value printed, column.value(code));
        BRAID_TRY(const auto text, column.text_table().find(printed.as_string()));
        if (text) same[code] = column.texts().first + *text;
    }
    return same;
}

/// Null and objects do not count as values.
Result<std::uint64_t> rows_with_values(const Column& column, const Bits& mask,
                                       const CallLimits& limits) {
    const auto is_value = [last = column.times().last](std::uint64_t code) {
        return code >= kFalseCode && code < last;
    };
    std::uint64_t count = 0;
    const auto add = [&](const Column::Batch& batch) -> Result<> {
        BRAID_CHECK(core::check_limits(limits));
        for (std::size_t i = 0; i < batch.rows.size(); ++i) {
            if (!has_bit(mask, batch.rows[i])) continue;
            if (std::ranges::any_of(codes_of(batch, i), is_value)) ++count;
        }
        return {};
    };
    BRAID_CHECK(column.each_batch(add));
    return count;
}

}  // namespace

Result<ColumnsReader> ColumnsReader::open(const store::SectionSource& source,
                                          std::string_view prefix,
                                          const DocumentsReader& documents) {
    const auto section = [&](std::string_view name) {
        return source.section(std::string(prefix) + std::string(name));
    };
    ColumnsReader reader;
    reader.documents_ = &documents;
    reader.rows_ = documents.rows();
    BRAID_TRY(const auto names, section(kColumnNamesSection));
    BRAID_TRY(reader.names_, StringTable::open(names));
    BRAID_TRY(const auto offsets, section(kColumnOffsetsSection));
    BRAID_TRY(reader.offsets_, PackedInts::open(offsets, reader.names_.size() + 1));
    BRAID_TRY(reader.data_, section(kColumnDataSection));
    return reader;
}

/// None if no row has such a field.
Result<std::optional<Column>> ColumnsReader::column(const std::string& field) const {
    const Field which = field_by_name(field);
    if (which == Field::ChunkId) {
        return std::optional(Column::of_texts(documents_->chunk_ids(), std::nullopt, rows_));
    }
    if (which == Field::DocumentId) {
        return std::optional(
            Column::of_texts(documents_->document_ids(), documents_->document_of(), rows_));
    }
    const std::string name = which == Field::Metadata
                                 ? kMetadataColumn + std::string(metadata_path(field))
                                 : kOwnColumn + field;
    BRAID_TRY(const auto number, names_.find(name));
    if (!number) return std::optional<Column>();
    BRAID_TRY(Column column, column_at(*number));
    return std::optional<Column>(std::move(column));
}

Result<Column> ColumnsReader::column_at(std::uint64_t number) const {
    std::array<std::uint64_t, 2> place{};
    BRAID_CHECK(offsets_.read(number, place));
    if (place[0] > place[1]) {
        return fail(ErrorCode::Corruption, "the columns of a segment are out of order");
    }
    BRAID_TRY(const store::Section data, data_.part(place[0], place[1] - place[0]));
    return Column::open(data, rows_);
}

Result<Bits> ColumnsReader::matching(const Filter& filter, const Schema& schema,
                                     const CallLimits& limits) const {
    BRAID_CHECK(core::check_limits(limits));
    BRAID_TRY(const FilterMatcher matcher, FilterMatcher::create(filter, schema));
    if (!has_columns(filter)) return match_chunks(matcher, limits);
    BRAID_TRY(Bits rows, matcher.select(*this, static_cast<std::size_t>(rows_), limits));
    BRAID_CHECK(documents_->intact());
    return rows;
}

Result<Bits> ColumnsReader::match_chunks(const FilterMatcher& matcher,
                                         const CallLimits& limits) const {
    Bits rows = make_bits(rows_);
    for (std::uint64_t row = 0; row < rows_; ++row) {
        if (row % 64 == 0) BRAID_CHECK(core::check_limits(limits));
        BRAID_TRY(const Chunk chunk, documents_->chunk(row));
        if (matcher.matches(chunk)) set_bit(rows, row);
    }
    return rows;
}

Result<Bits> ColumnsReader::compare(const Comparison& comparison, std::size_t /*rows*/,
                                    const CallLimits& limits) const {
    const bool exists = comparison.op == Op::Exists;
    BRAID_TRY(const auto found, column(comparison.name));
    Bits rows = make_bits(rows_);  // matching rows; for Ne and Nin, those that Eq and In match
    Bits present = make_bits(rows_);
    if (found) {
        ColumnPredicate predicate;
        if (!exists) {
            BRAID_TRY(predicate, ColumnPredicate::create(*found, comparison));
        }
        const auto scan = [&](const Column::Batch& batch) -> Result<> {
            BRAID_CHECK(core::check_limits(limits));
            if (!exists && batch.starts.empty()) {
                mark_rows(batch, predicate.one, present, rows);
                return {};
            }
            for (std::size_t i = 0; i < batch.rows.size(); ++i) {
                set_bit(present, batch.rows[i]);
                if (exists) continue;
                BRAID_TRY(const bool matched, row_matches(*found, predicate, comparison, batch, i));
                if (matched) set_bit(rows, batch.rows[i]);
            }
            return {};
        };
        BRAID_CHECK(found->each_batch(scan));
    }
    // What a row without a value gives: for Ne, Nin, Exists and, through its default level,
    // sensitivity.
    const bool holds_without = comparison.holds_for(Chunk());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint64_t with = exists ? (comparison.exists ? ~std::uint64_t{0} : 0)
                                          : (comparison.negated() ? ~rows[i] : rows[i]);
        rows[i] = (with & present[i]) | (holds_without ? ~present[i] : 0);
    }
    return rows;
}

Result<std::vector<FacetCount>> ColumnsReader::fields(const Bits& mask,
                                                      const CallLimits& limits) const {
    std::vector<FacetCount> fields;
    const auto add = [&](std::uint64_t number, std::string_view name) -> Result<> {
        if (!name.starts_with(kMetadataColumn)) return {};
        BRAID_TRY(const Column column, column_at(number));
        BRAID_TRY(const std::uint64_t count, rows_with_values(column, mask, limits));
        if (count > 0) fields.push_back({Value(field_of_path(name.substr(1))), count});
        return {};
    };
    BRAID_CHECK(names_.each(0, names_.size(), add));
    BRAID_CHECK(documents_->intact());
    return fields;
}

Result<std::vector<FacetCount>> ColumnsReader::facets(const std::string& field,
                                                      const Schema& schema, const Bits& mask,
                                                      const CallLimits& limits) const {
    BRAID_CHECK(core::check_limits(limits));
    if (mask.size() != make_bits(rows_).size()) {
        return invalid_argument("a row mask must have one bit per row");
    }
    if (metadata_path(field).size() > kMaxPathBytes) {
        return fail(ErrorCode::Unsupported, "a field whose name has more than " +
                                                std::to_string(kMaxPathBytes) +
                                                " bytes has no facets");
    }
    if (field.empty()) return fields(mask, limits);
    BRAID_TRY(const auto found, column(field));
    std::uint64_t without = 0;  // rows in the mask that have no value
    for (const std::uint64_t word : mask)
        without += static_cast<std::uint64_t>(std::popcount(word));
    std::vector<FacetCount> facets;
    if (found) {
        BRAID_TRY(const auto same, counted_as(*found));
        std::vector<std::uint64_t> counts(same.size());
        std::vector<std::uint64_t> once;
        const auto count = [&](const Column::Batch& batch) -> Result<> {
            BRAID_CHECK(core::check_limits(limits));
            for (std::size_t i = 0; i < batch.rows.size(); ++i) {
                if (!has_bit(mask, batch.rows[i])) continue;
                --without;
                if (batch.starts.empty()) {
                    ++counts[same[batch.codes[i]]];
                    continue;
                }
                once.clear();
                for (const std::uint64_t code : codes_of(batch, i)) once.push_back(same[code]);
                std::ranges::sort(once);
                const auto repeated = std::ranges::unique(once);
                once.erase(repeated.begin(), repeated.end());
                for (const std::uint64_t code : once) ++counts[code];
            }
            return {};
        };
        BRAID_CHECK(found->each_batch(count));
        for (std::uint64_t code = kFalseCode; code < found->times().last; ++code) {
            if (counts[code] == 0) continue;
            BRAID_TRY(Value value, found->value(code));
            facets.push_back({counted_form(std::move(value)), counts[code]});
        }
    }
    if (field_by_name(field) == Field::Sensitivity && without > 0) {
        const Value level(schema.levels.default_level);
        const auto same = std::ranges::find(facets, level, &FacetCount::value);
        if (same != facets.end()) {
            same->count += without;
        } else {
            facets.push_back({level, without});
        }
    }
    BRAID_CHECK(documents_->intact());
    return facets;
}

}  // namespace braid::docs
