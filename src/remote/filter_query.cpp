#include "braid/remote/filter_query.hpp"

#include <algorithm>
#include <utility>

#include "braid/docs/field_view.hpp"
#include "braid/docs/filter_matcher.hpp"
#include "braid/exact/visible_rows.hpp"
#include "braid/remote/facts.hpp"

namespace braid::remote {
namespace {

using Op = Filter::Op;

/// Words of one type in an interval; a missing end stands for the type's own limit.
struct Interval {
    const std::string* from = nullptr;
    bool from_included = true;
    const std::string* to = nullptr;
    bool to_included = true;
};

Value range_clause(const FactPlace& place, FactKind kind, const Interval& interval) {
    Object bounds;
    if (interval.from != nullptr) {
        bounds.set(interval.from_included ? "gte" : "gt", fact(place, kind, *interval.from));
    } else if (!place.is_id) {
        bounds.set("gte", fact(place, kind, ""));
    }
    if (interval.to != nullptr) {
        bounds.set(interval.to_included ? "lte" : "lt", fact(place, kind, *interval.to));
    } else if (!place.is_id) {
        const auto next = static_cast<FactKind>(static_cast<char>(kind) + 1);
        bounds.set("lt", fact(place, next, ""));
    }
    return Object{{"range", Object{{place.field, std::move(bounds)}}}};
}

/// Texts are compared by bytes unless both denote a time, so texts that do are asked for
/// separately.
Value ordered(const FactPlace& place, const Value& operand, bool up, bool included) {
    const EncodedValue one = encode(operand, place.is_name);
    const auto interval = [&](const std::string& end) {
        return up ? Interval{.from = &end, .from_included = included}
                  : Interval{.to = &end, .to_included = included};
    };
    if (one.kind == FactKind::Time) {
        const std::string bytes = encode_text(operand.as_string());
        return any_of({range_clause(place, FactKind::Time, interval(one.encoded)),
                       range_clause(place, FactKind::Text, interval(bytes))});
    }
    if (one.kind == FactKind::Text && !place.is_name) {
        return any_of({range_clause(place, FactKind::Text, interval(one.encoded)),
                       range_clause(place, FactKind::DateText, interval(one.encoded))});
    }
    return range_clause(place, one.kind, interval(one.encoded));
}

Value between(const FactPlace& place, const Value& low, const Value& high) {
    const EncodedValue from = encode(low, place.is_name);
    const EncodedValue to = encode(high, place.is_name);
    const auto within = [&](FactKind kind, const std::string& a, const std::string& b) {
        return range_clause(place, kind, {.from = &a, .to = &b});
    };
    if (from.kind != to.kind && low.is_string() && high.is_string()) {
        // One end denotes a time, the other does not. A text that denotes none is compared by its
        // bytes; one that does is compared by time with the one end and by bytes with the other.
        // That takes two words, which in a list may belong to two different elements.
        const std::string a = encode_text(low.as_string());
        const std::string b = encode_text(high.as_string());
        const bool low_is_time = from.kind == FactKind::Time;
        return any_of(
            {within(FactKind::Text, a, b),
             all_of({range_clause(place, low_is_time ? FactKind::Time : FactKind::DateText,
                                  {.from = &from.encoded}),
                     range_clause(place, low_is_time ? FactKind::DateText : FactKind::Time,
                                  {.to = &to.encoded})})});
    }
    if (from.kind != to.kind) return match_none();
    if (from.kind == FactKind::Time) {
        return any_of(
            {within(FactKind::Time, from.encoded, to.encoded),
             within(FactKind::Text, encode_text(low.as_string()), encode_text(high.as_string()))});
    }
    if (from.kind == FactKind::Text && !place.is_name) {
        return any_of({within(FactKind::Text, from.encoded, to.encoded),
                       within(FactKind::DateText, from.encoded, to.encoded)});
    }
    return within(from.kind, from.encoded, to.encoded);
}

Value equal_to(const FactPlace& place, const Array& operands) {
    Array words;
    for (const Value& operand : operands) {
        if (place.is_id && !operand.is_string()) continue;
        const EncodedValue one = encode(operand, place.is_name);
        words.emplace_back(fact(place, one.kind, one.encoded));
    }
    return words.empty() ? match_none() : terms_clause(place.field, std::move(words));
}

std::string wildcard(std::string_view prefix, std::string_view part) {
    std::string pattern;
    const auto literal = [&](std::string_view text) {
        for (const char c : text) {
            if (c == '*' || c == '?' || c == '\\') pattern += '\\';
            pattern += c;
        }
    };
    literal(prefix);
    pattern += '*';
    literal(part);
    pattern += '*';
    return pattern;
}

Value contains(const FactPlace& place, const Value& operand) {
    if (!operand.is_string()) return equal_to(place, {operand});
    const std::string field = place.is_id ? place.field : "texts";
    Value within =
        Object{{"wildcard",
                Object{{field, Object{{"value", wildcard(place.prefix, operand.as_string())}}}}}};
    if (place.is_id) return within;
    // A list contains the operand if one of its elements equals it.
    const EncodedValue one = encode(operand, place.is_name);
    const std::string element =
        fact(place, FactKind::Element, std::string(1, static_cast<char>(one.kind)) + one.encoded);
    // Scopes are always a list, whatever they hold.
    if (place.is_name && place == place_of("visibility_scope"))
        return term_clause(place.field, element);
    return any_of({std::move(within), term_clause(place.field, element)});
}

Value at_most(const std::string& field, Value most) {
    Object bounds;
    bounds.set("lte", std::move(most));
    Object fields;
    fields.set(field, std::move(bounds));
    return Object{{"range", std::move(fields)}};
}

Value exists(const FactPlace& place, bool wanted) {
    if (place.is_id) return wanted ? match_all() : match_none();
    Value clause = term_clause(place.field, fact(place, FactKind::Exists, ""));
    return wanted ? std::move(clause) : none_of(std::move(clause));
}

}  // namespace

Value term_clause(const std::string& field, Value value) {
    return Object{{"term", Object{{field, std::move(value)}}}};
}
Value terms_clause(const std::string& field, Array values) {
    return Object{{"terms", Object{{field, std::move(values)}}}};
}
Value all_of(Array clauses) {
    if (clauses.empty()) return match_all();
    return Object{{"bool", Object{{"filter", std::move(clauses)}}}};
}
Value any_of(Array clauses) {
    if (clauses.empty()) return match_none();
    return Object{
        {"bool", Object{{"should", std::move(clauses)}, {"minimum_should_match", Value(1)}}}};
}
Value none_of(Value clause) {
    return Object{{"bool", Object{{"must_not", Array{std::move(clause)}}}}};
}
Value match_all() {
    return Object{{"match_all", Object{}}};
}
Value match_none() {
    return Object{{"match_none", Object{}}};
}

Value filter_clause(const Filter& filter) {
    const auto children = [&] {
        Array clauses;
        for (const Filter& child : filter.children) clauses.push_back(filter_clause(child));
        return clauses;
    };
    if (filter.op == Op::And) return all_of(children());
    if (filter.op == Op::Or) return any_of(children());
    if (filter.op == Op::Not) return none_of(filter_clause(filter.children.front()));
    const FactPlace place = place_of(filter.field);
    switch (filter.op) {
        case Op::Eq:
            return equal_to(place, {filter.operand});
        case Op::Ne:
            return none_of(equal_to(place, {filter.operand}));
        case Op::Gt:
            return ordered(place, filter.operand, true, false);
        case Op::Gte:
            return ordered(place, filter.operand, true, true);
        case Op::Lt:
            return ordered(place, filter.operand, false, false);
        case Op::Lte:
            return ordered(place, filter.operand, false, true);
        case Op::In:
            return equal_to(place, filter.operand.as_array());
        case Op::Nin:
            return none_of(equal_to(place, filter.operand.as_array()));
        case Op::Exists:
            return exists(place, filter.operand.as_bool());
        case Op::Contains:
            return contains(place, filter.operand);
        default:
            return between(place, filter.operand.as_array().at(0), filter.operand.as_array().at(1));
    }
}

Result<Array> principal_clauses(const Principal& principal, const Schema& schema,
                                std::optional<Timestamp> now) {
    Array clauses;
    if (now) clauses.push_back(none_of(at_most("expires", now->micros)));
    if (principal.sees_everything()) return clauses;
    BRAID_TRY(const std::size_t clearance, exact::clearance_of(principal, schema));
    clauses.push_back(at_most("level", Value(clearance)));
    Array scopes{""};  // chunks open to every scope
    for (const std::string& scope : principal.scopes) scopes.emplace_back(scope);
    clauses.push_back(terms_clause("scope", std::move(scopes)));
    return clauses;
}

Result<Array> scope_clauses(const ReadScope& scope, const Schema& schema,
                            std::optional<Timestamp> now) {
    BRAID_TRY(Array clauses, principal_clauses(scope.principal, schema, now));
    clauses.insert(clauses.begin(), term_clause("ns", scope.namespace_));
    if (scope.filter) {
        BRAID_CHECK(docs::FilterMatcher::create(*scope.filter, schema));
        clauses.push_back(filter_clause(*scope.filter));
    }
    return clauses;
}

}  // namespace braid::remote
