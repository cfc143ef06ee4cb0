#include "braid/filter.hpp"

#include <array>

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

bool is_logical(Op op) {
    return op == Op::And || op == Op::Or || op == Op::Not;
}

bool is_ordered(const Value& value) {
    return value.is_number() || value.is_string() || value.is_bool();
}

tl::unexpected<Error> bad(std::string message) {
    return fail(ErrorCode::InvalidArgument, "filter: " + std::move(message));
}

/// Reads one filter; counts clauses against the limits.
class FilterParser {
public:
    explicit FilterParser(const FilterLimits& limits) : limits_(limits) {}

    Result<Filter> parse(const Value& json, std::size_t depth) {
        if (!json.is_object()) {
            return bad("expected an object such as {\"year\": {\"$gte\": 2020}}, got " +
                       std::string(json.type_name()));
        }
        if (depth > limits_.depth) {
            return bad("nested deeper than " + std::to_string(limits_.depth) + " levels");
        }
        std::vector<Filter> clauses;
        for (const auto& [key, value] : json.as_object()) {
            BRAID_TRY(Filter clause, parse_member(key, value, depth));
            clauses.push_back(std::move(clause));
        }
        if (clauses.size() == 1) return std::move(clauses.front());
        return Filter::all_of(std::move(clauses));
    }

private:
    Result<Filter> parse_member(const std::string& key, const Value& value, std::size_t depth) {
        if (++clauses_ > limits_.clauses) {
            return bad("more than " + std::to_string(limits_.clauses) + " clauses");
        }
        if (!key.starts_with('$')) return parse_field(key, value, depth);
        const auto op = op_by_name(key);
        if (!op) return bad(unknown_operator(key));
        if (!is_logical(*op)) {
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

    Result<Filter> parse_field(const std::string& field, const Value& value, std::size_t depth) {
        if (field.empty()) return bad("a field name is empty");
        if (!value.is_object()) return comparison(Op::Eq, field, value);
        const Object& operators = value.as_object();
        std::vector<Filter> clauses;
        for (const auto& [key, operand] : operators) {
            if (!key.starts_with('$')) {
                return bad("field \"" + field + "\": expected an operator such as $eq, got \"" +
                           key + "\"; write \"" + field + "." + key + "\" for a nested field");
            }
            const auto op = op_by_name(key);
            if (!op) return bad("field \"" + field + "\": " + unknown_operator(key));
            if (++clauses_ > limits_.clauses) {
                return bad("more than " + std::to_string(limits_.clauses) + " clauses");
            }
            if (*op == Op::Not) {  // {"field": {"$not": {"$gt": 3}}}
                if (depth + 1 > limits_.depth) return bad("nested too deeply");
                BRAID_TRY(Filter child, parse_field(field, operand, depth + 1));
                clauses.push_back({Op::Not, {}, {}, {std::move(child)}});
                continue;
            }
            if (is_logical(*op)) return bad("field \"" + field + "\": " + key + " takes filters");
            BRAID_TRY(Filter clause, comparison(*op, field, operand));
            clauses.push_back(std::move(clause));
        }
        if (clauses.empty()) return bad("field \"" + field + "\": no operator in {}");
        if (clauses.size() == 1) return std::move(clauses.front());
        return Filter::all_of(std::move(clauses));
    }

    Result<Filter> comparison(Op op, const std::string& field, const Value& operand) const {
        const auto wrong = [&](std::string_view expected) {
            return bad("field \"" + field + "\": " + std::string(name_of(op)) + " takes " +
                       std::string(expected) + ", got " + std::string(operand.type_name()));
        };
        switch (op) {
            case Op::Gt:
            case Op::Gte:
            case Op::Lt:
            case Op::Lte:
                if (!is_ordered(operand)) return wrong("a number, a string or a boolean");
                break;
            case Op::In:
            case Op::Nin:
                if (!operand.is_array()) return wrong("a list");
                if (operand.as_array().size() > limits_.list) {
                    return bad("field \"" + field + "\": more than " +
                               std::to_string(limits_.list) + " members in one list");
                }
                break;
            case Op::Exists:
                if (!operand.is_bool()) return wrong("true or false");
                break;
            case Op::Contains:
                if (operand.is_array() || operand.is_object()) return wrong("a single value");
                break;
            case Op::Between: {
                const bool pair = operand.is_array() && operand.as_array().size() == 2;
                if (!pair) return wrong("a list of two, [low, high]");
                const Value& low = operand.as_array()[0];
                const Value& high = operand.as_array()[1];
                if (!is_ordered(low) || !is_ordered(high) || low.type_name() != high.type_name()) {
                    return bad("field \"" + field +
                               "\": $between takes two numbers or two strings");
                }
                break;
            }
            default:
                break;
        }
        return Filter::compare(op, field, operand);
    }

    static std::string unknown_operator(const std::string& name) {
        std::string message = "unknown operator " + name + "; known are";
        for (const OpName& row : kOps) message += " " + std::string(row.name);
        return message;
    }

    FilterLimits limits_;
    std::size_t clauses_ = 0;
};

}  // namespace

Result<Filter> parse_filter(const Value& json, const FilterLimits& limits) {
    return FilterParser(limits).parse(json, 1);
}

Value filter_to_value(const Filter& filter) {
    if (filter.op == Op::Not) {
        return Object{{"$not", filter_to_value(filter.children.at(0))}};
    }
    if (is_logical(filter.op)) {
        Array children;
        for (const Filter& child : filter.children) children.push_back(filter_to_value(child));
        return Object{{std::string(name_of(filter.op)), std::move(children)}};
    }
    return Object{{filter.field, Object{{std::string(name_of(filter.op)), filter.operand}}}};
}

}  // namespace braid
