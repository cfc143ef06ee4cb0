#include "braid/filter.hpp"

#include <array>

#include "braid/core/filter_ops.hpp"

namespace braid {
namespace {

using Op = Filter::Op;

struct OpName {
    std::string_view name;
    Op op;
};

constexpr std::array<OpName, 14> kOps{{{"$and", Op::And},
                                       {"$or", Op::Or},
                                       {"$not", Op::Not},
                                       {"$eq", Op::Eq},
                                       {"$ne", Op::Ne},
                                       {"$gt", Op::Gt},
                                       {"$gte", Op::Gte},
                                       {"$lt", Op::Lt},
                                       {"$lte", Op::Lte},
                                       {"$in", Op::In},
                                       {"$nin", Op::Nin},
                                       {"$exists", Op::Exists},
                                       {"$contains", Op::Contains},
                                       {"$between", Op::Between}}};

std::optional<Op> op_by_name(std::string_view name) {
    for (const OpName& row : kOps) {
        if (row.name == name) return row.op;
    }
    return std::nullopt;
}

std::string_view name_of(Op op) {
    return kOps[static_cast<std::size_t>(op)].name;
}

bool is_ordered(const Value& value) {
    return value.is_number() || value.is_string() || value.is_bool();
}

tl::unexpected<Error> bad(std::string message) {
    return invalid_argument("filter: " + std::move(message));
}

tl::unexpected<Error> not_an_operator(const std::string& field, const std::string& key) {
    return bad("field \"" + field + "\": expected an operator such as $eq, got \"" + key +
               "\"; write \"" + field + "." + key + "\" for a nested field");
}

tl::unexpected<Error> takes_filters(const std::string& field, const std::string& key) {
    return bad("field \"" + field + "\": " + key + " takes filters");
}

std::string unknown_operator(const std::string& name) {
    std::string message = "unknown operator " + name + "; known operators are";
    for (const OpName& row : kOps) message += " " + std::string(row.name);
    return message;
}

/// Holds a filter against the limits and the rules of its operators.
class FilterChecker {
public:
    explicit FilterChecker(const FilterLimits& limits) : limits_(limits) {}

    Result<> check(const Filter& filter, std::size_t depth) {
        if (depth > limits_.depth) {
            return bad("nested deeper than " + std::to_string(limits_.depth) + " levels");
        }
        if (++clauses_ > limits_.clauses) {
            return bad("more than " + std::to_string(limits_.clauses) + " clauses");
        }
        if (static_cast<std::size_t>(filter.op) >= kOps.size()) return bad("unknown operator");
        if (!core::is_logical(filter.op)) {
            BRAID_CHECK(check_comparison(filter));
            return check_size(filter);
        }
        const std::string name(name_of(filter.op));
        if (!filter.field.empty() || !filter.operand.is_null()) {
            return bad(name + " takes filters, not a field or a value");
        }
        if (filter.op == Op::Not && filter.children.size() != 1) {
            return bad(name + " takes one filter, got " + std::to_string(filter.children.size()));
        }
        for (const Filter& child : filter.children) BRAID_CHECK(check(child, depth + 1));
        return {};
    }

private:
    /// Counts what is in an operand. A list and an object are one value, and what they hold.
    void add(const Value& value) {
        ++values_;
        if (value.is_string()) bytes_ += value.as_string().size();
        if (value.is_array()) {
            for (const Value& element : value.as_array()) add(element);
        }
        if (!value.is_object()) return;
        for (const auto& [key, member] : value.as_object()) {
            bytes_ += key.size();
            add(member);
        }
    }

    Result<> check_size(const Filter& filter) {
        bytes_ += filter.field.size();
        if (filter.op == Op::In || filter.op == Op::Nin) {
            for (const Value& member : filter.operand.as_array()) add(member);
        } else {
            add(filter.operand);
        }
        if (values_ > limits_.values) {
            return bad("more than " + std::to_string(limits_.values) + " values in all");
        }
        if (bytes_ > limits_.bytes) {
            return bad("more than " + std::to_string(limits_.bytes) +
                       " bytes of names and texts in all");
        }
        return {};
    }

    Result<> check_comparison(const Filter& filter) const {
        if (filter.field.empty()) return bad("a field name is empty");
        if (filter.field.starts_with('$')) {
            return bad("\"" + filter.field + "\" cannot be the name of a field");
        }
        if (!filter.children.empty()) return wrong(filter, "a value, not filters");
        const Value& operand = filter.operand;
        switch (filter.op) {
            case Op::Gt:
            case Op::Gte:
            case Op::Lt:
            case Op::Lte:
                if (!is_ordered(operand)) return wrong(filter, "a number, a string or a boolean");
                return {};
            case Op::In:
            case Op::Nin:
                if (!operand.is_array()) return wrong(filter, "a list");
                if (operand.as_array().size() > limits_.list) {
                    return bad("field \"" + filter.field + "\": more than " +
                               std::to_string(limits_.list) + " members in one list");
                }
                return {};
            case Op::Exists:
                if (!operand.is_bool()) return wrong(filter, "true or false");
                return {};
            case Op::Contains:
                if (operand.is_array() || operand.is_object()) {
                    return wrong(filter, "a single value");
                }
                return {};
            case Op::Between:
                return check_between(filter);
            default:
                return {};
        }
    }

    static Result<> check_between(const Filter& filter) {
        if (!filter.operand.is_array() || filter.operand.as_array().size() != 2) {
            return wrong(filter, "a list of two, [low, high]");
        }
        const Value& low = filter.operand.as_array()[0];
        const Value& high = filter.operand.as_array()[1];
        if (!is_ordered(low) || !is_ordered(high) || low.type_name() != high.type_name()) {
            return bad("field \"" + filter.field + "\": $between takes two numbers or two strings");
        }
        return {};
    }

    static tl::unexpected<Error> wrong(const Filter& filter, std::string_view expected) {
        return bad("field \"" + filter.field + "\": " + std::string(name_of(filter.op)) +
                   " takes " + std::string(expected) + ", got " +
                   std::string(filter.operand.type_name()));
    }

    const FilterLimits& limits_;
    std::size_t clauses_ = 0;
    std::size_t values_ = 0;
    std::size_t bytes_ = 0;
};

/// Reads a filter; what it means is checked afterwards, on the tree. Only nesting is bounded here.
class FilterParser {
public:
    explicit FilterParser(std::size_t max_depth) : max_depth_(max_depth) {}

    Result<Filter> parse(const Value& json, std::size_t depth) const {
        if (!json.is_object()) {
            return bad("expected an object such as {\"year\": {\"$gte\": 2020}}, got " +
                       std::string(json.type_name()));
        }
        BRAID_CHECK(check_depth(depth));
        std::vector<Filter> clauses;
        for (const auto& [key, value] : json.as_object()) {
            BRAID_TRY(Filter clause, parse_member(key, value, depth));
            clauses.push_back(std::move(clause));
        }
        if (clauses.size() == 1) return std::move(clauses.front());
        return Filter::all_of(std::move(clauses));
    }

private:
    Result<> check_depth(std::size_t depth) const {
        if (depth <= max_depth_) return {};
        return bad("nested deeper than " + std::to_string(max_depth_) + " levels");
    }

    Result<Filter> parse_member(const std::string& key, const Value& value,
                                std::size_t depth) const {
        if (!key.starts_with('$')) return parse_field(key, value, depth);
        const auto op = op_by_name(key);
        if (!op) return bad(unknown_operator(key));
        if (!core::is_logical(*op)) {
            return bad(key + " belongs inside a field: {\"field\": {\"" + key + "\": ...}}");
        }
        Filter filter{*op, {}, {}, {}};
        if (*op == Op::Not) {
            BRAID_TRY(Filter child, parse(value, depth + 1));
            filter.children.push_back(std::move(child));
            return filter;
        }
        if (!value.is_array()) {
            return bad(key + " takes a list of filters, got " + std::string(value.type_name()));
        }
        for (const Value& element : value.as_array()) {
            BRAID_TRY(Filter child, parse(element, depth + 1));
            filter.children.push_back(std::move(child));
        }
        return filter;
    }

    Result<Filter> parse_field(const std::string& field, const Value& value,
                               std::size_t depth) const {
        BRAID_CHECK(check_depth(depth));
        if (!value.is_object()) return Filter::compare(Op::Eq, field, value);
        std::vector<Filter> clauses;
        for (const auto& [key, operand] : value.as_object()) {
            if (!key.starts_with('$')) return not_an_operator(field, key);
            const auto op = op_by_name(key);
            if (!op) return bad("field \"" + field + "\": " + unknown_operator(key));
            if (*op == Op::Not) {  // {"field": {"$not": {"$gt": 3}}}
                BRAID_TRY(Filter child, parse_field(field, operand, depth + 1));
                clauses.push_back({Op::Not, {}, {}, {std::move(child)}});
                continue;
            }
            if (core::is_logical(*op)) return takes_filters(field, key);
            clauses.push_back(Filter::compare(*op, field, operand));
        }
        if (clauses.empty()) return bad("field \"" + field + "\": no operator in {}");
        if (clauses.size() == 1) return std::move(clauses.front());
        return Filter::all_of(std::move(clauses));
    }

    std::size_t max_depth_;
};

}  // namespace

Result<> validate(const Filter& filter, const FilterLimits& limits) {
    return FilterChecker(limits).check(filter, 1);
}

Result<Filter> parse_filter(const Value& json, const FilterLimits& limits) {
    BRAID_TRY(Filter filter, FilterParser(limits.depth).parse(json, 1));
    BRAID_CHECK(validate(filter, limits));
    return filter;
}

Value filter_to_value(const Filter& filter) {
    if (filter.op == Op::Not) {
        return Object{{"$not", filter_to_value(filter.children.at(0))}};
    }
    if (core::is_logical(filter.op)) {
        Array children;
        for (const Filter& child : filter.children) children.push_back(filter_to_value(child));
        return Object{{std::string(name_of(filter.op)), std::move(children)}};
    }
    return Object{{filter.field, Object{{std::string(name_of(filter.op)), filter.operand}}}};
}

}  // namespace braid
