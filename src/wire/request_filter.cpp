#include <optional>
#include <string>
#include <utility>

#include "braid/core/rfc3339.hpp"
#include "braid/wire/request_reading.hpp"

namespace braid::wire {
namespace {

/// A text, or a list of which one must match.
Result<> read_condition(Reading& in, std::string_view key, const std::string& field) {
    const Value* const member = in.fields.any(key);
    if (member == nullptr || member->is_null()) return {};
    if (member->is_string()) {
        in.clauses.push_back(Filter::compare(Filter::Op::Eq, field, *member));
        return {};
    }
    if (!member->is_array())
        return invalid_argument(in.fields.complaint(key, "a string or a list of strings"));
    BRAID_TRY(const auto names, in.fields.strings(key));
    in.clauses.push_back(Filter::compare(Filter::Op::In, field, *member));
    return {};
}

Result<> read_time(Filter::Op op, Reading& in, std::string_view key) {
    BRAID_TRY(auto text, in.fields.string(key));
    if (!text) return {};
    if (!core::parse_rfc3339(*text)) {
        return invalid_argument(
            in.fields.complaint(key, "a time such as \"2025-12-25T10:00:00Z\""));
    }
    in.clauses.push_back(Filter::compare(op, "created_at", *std::move(text)));
    return {};
}

}  // namespace

Result<> read_filter(Reading& in, std::string_view key) {
    const Value* const member = in.fields.any(key);
    if (member == nullptr || member->is_null()) return {};
    BRAID_TRY(Filter filter, parse_filter(*member));
    in.clauses.push_back(std::move(filter));
    return {};
}

Result<> read_clause(Reading& in, std::string_view key) {
    return read_condition(in, key, std::string(key));
}

Result<> read_shorthand(Reading& in, const core::FilterShorthand& shorthand) {
    if (!shorthand.optional_list) return read_condition(in, shorthand.name, shorthand.field);
    BRAID_TRY(const auto values, in.fields.strings(shorthand.name));
    if (!values || values->empty()) return {};
    in.clauses.push_back(
        Filter::compare(Filter::Op::In, shorthand.field, *in.fields.any(shorthand.name)));
    return {};
}

Result<> read_after(Reading& in, std::string_view key) {
    return read_time(Filter::Op::Gt, in, key);
}

Result<> read_before(Reading& in, std::string_view key) {
    return read_time(Filter::Op::Lt, in, key);
}

Result<> read_document_ids(Reading& in, std::string_view key) {
    BRAID_TRY(in.request.document_ids, in.fields.strings(key));
    const std::size_t most = FilterLimits().list;  // they become a filter
    if (!in.request.document_ids || in.request.document_ids->size() <= most) return {};
    return invalid_argument(
        in.fields.complaint(key, "a list of at most " + std::to_string(most) + " ids"));
}

}  // namespace braid::wire
