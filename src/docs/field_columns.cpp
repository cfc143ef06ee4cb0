#include "braid/docs/field_columns.hpp"

#include <algorithm>
#include <bit>

#include "braid/core/limits.hpp"

namespace braid::docs {
namespace {

template <class Number>
std::string key(char kind, Number number) {
    std::string text(1, kind);
    const auto bits = std::bit_cast<std::uint64_t>(number);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        text += static_cast<char>(bits >> shift & 0xFF);
    }
    return text;
}

std::string key(char kind, std::string_view text) {
    std::string whole(1, kind);
    whole += text;
    return whole;
}

/// Values with the same key are equal; an empty key makes a value distinct from all others.
std::string key_of(const FieldView& view) {
    switch (view.kind) {
        case FieldView::Kind::Missing:
            return "-";
        case FieldView::Kind::Text:
            return key('t', view.text);
        case FieldView::Kind::Integer:
            return key('n', view.integer);
        case FieldView::Kind::Time:
        case FieldView::Kind::Scopes:
            return {};
        case FieldView::Kind::Json:
            break;
    }
    const Value& value = *view.json;
    if (value.is_string()) return key('s', std::string_view(value.as_string()));
    if (value.is_bool()) return value.as_bool() ? "1" : "0";
    if (value.is_null()) return "null";
    if (value.is_double()) return key('d', value.as_double());
    if (value.is_number()) return key('i', value.as_int());
    return {};
}

}  // namespace

std::shared_ptr<FieldColumns::Entry> FieldColumns::entry(Field field, std::string_view path) const {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find_if(
        entries_, [&](const auto& one) { return one->field == field && one->path == path; });
    if (found != entries_.end()) {
        entries_.splice(entries_.begin(), entries_, found);
    } else {
        if (entries_.size() == kKept) entries_.pop_back();
        auto& fresh = entries_.emplace_front(std::make_shared<Entry>());
        fresh->field = field;
        fresh->path = path;
    }
    return entries_.front();
}

Result<> FieldColumns::extend(Entry& entry, std::size_t rows, const CallLimits& limits) const {
    FieldColumn& column = *entry.column;
    core::StepCounter steps;
    for (std::size_t row = column.numbers.size(); row < rows; ++row) {
        if (steps.due(4)) BRAID_CHECK(core::check_limits(limits));
        const FieldView view = view_field(chunk_at_(row), entry.field, entry.path, default_level_);
        const auto next = static_cast<std::uint32_t>(column.values.size());
        std::uint32_t number = next;
        if (std::string name = key_of(view); !name.empty()) {
            number = entry.numbers.try_emplace(std::move(name), next).first->second;
        }
        if (number == next) column.values.push_back(view);
        column.numbers.push_back(number);
    }
    return {};
}

Result<std::shared_ptr<const FieldColumn>> FieldColumns::column(Field field, std::string_view path,
                                                                std::size_t rows,
                                                                const CallLimits& limits) const {
    const std::shared_ptr<Entry> kept = entry(field, path);
    if (kept->column->numbers.size() < rows) {
        const std::scoped_lock lock(kept->mutex);
        BRAID_CHECK(extend(*kept, rows, limits));
    }
    return std::shared_ptr<const FieldColumn>(kept->column);
}

Result<Bits> FieldColumns::compare(const Comparison& comparison, std::size_t rows,
                                   const CallLimits& limits) const {
    BRAID_TRY(const auto of_field, column(comparison.field, comparison.path(), rows, limits));
    core::StepCounter steps;
    std::vector<std::uint8_t> holds(of_field->values.size());
    for (std::size_t i = 0; i < holds.size(); ++i) {
        if (steps.due(comparison.cost)) BRAID_CHECK(core::check_limits(limits));
        holds[i] = comparison.holds_for(of_field->values[i]) ? 1 : 0;
    }
    Bits words((rows + 63) / 64);
    for (std::size_t row = 0; row < rows; ++row) {
        words[row / 64] |= std::uint64_t{holds[of_field->numbers[row]]} << (row % 64);
    }
    return words;
}

}  // namespace braid::docs
