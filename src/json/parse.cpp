#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <simdjson.h>

#include "braid/json/json.hpp"
#include "braid/json/strict_parse.hpp"

namespace braid::json {
namespace {

namespace dom = simdjson::dom;

/// Turns what simdjson read into a Value. Gives up, with false, on whatever it leaves to
/// parse_strictly.
class Converter {
public:
    Converter(std::string_view text, const ParseLimits& limits)
        : text_(text),
          max_depth_(std::min(limits.max_depth, kMaxDepth)),
          max_members_(limits.max_members) {}

    bool convert(dom::element from, std::size_t depth, Value& to) {
        switch (from.type()) {
            case dom::element_type::OBJECT: {
                Object object;
                if (!convert_object(dom::object(from.get_object().value_unsafe()), depth, object)) {
                    return false;
                }
                to = Value(std::move(object));
                return true;
            }
            case dom::element_type::ARRAY: {
                Array array;
                if (!convert_array(dom::array(from.get_array().value_unsafe()), depth, array)) {
                    return false;
                }
                to = Value(std::move(array));
                return true;
            }
            case dom::element_type::STRING:
                to = Value(std::string(from.get_string().value_unsafe()));
                return true;
            case dom::element_type::INT64: {
                const std::int64_t integer = from.get_int64().value_unsafe();
                to = Value(integer);
                return integer != 0 || !has_minus_zero();
            }
            case dom::element_type::UINT64:  // beyond the range of int64
                to = Value(static_cast<double>(from.get_uint64().value_unsafe()));
                return true;
            case dom::element_type::DOUBLE:
                to = Value(from.get_double().value_unsafe());
                return true;
            case dom::element_type::BOOL:
                to = Value(from.get_bool().value_unsafe());
                return true;
            case dom::element_type::NULL_VALUE:
                to = Value();
                return true;
        }
        return false;
    }

private:
    bool convert_object(dom::object from, std::size_t depth, Object& to) {
        if (depth == max_depth_ || from.size() > max_members_) return false;
        to.reserve(from.size());
        for (const dom::key_value_pair member : from) {
            const std::size_t before = to.size();
            Value& value = to.set(member.key, Value());
            if (to.size() == before) return false;  // a duplicate
            if (!convert(member.value, depth + 1, value)) return false;
        }
        return true;
    }

    bool convert_array(dom::array from, std::size_t depth, Array& to) {
        if (depth == max_depth_) return false;
        to.reserve(from.size());
        for (const dom::element element : from) {
            if (!convert(element, depth + 1, to.emplace_back())) return false;
        }
        return true;
    }

    /// Whether the text may hold the number -0, which simdjson reads as the integer 0. Looked for
    /// once, at the first 0.
    bool has_minus_zero() {
        if (!has_minus_zero_) {
            has_minus_zero_ = false;
            for (std::size_t at = text_.find("-0");
                 at != std::string_view::npos && !*has_minus_zero_; at = text_.find("-0", at + 2)) {
                const std::string_view after = text_.substr(at + 2, 1);
                has_minus_zero_ = after.find_first_of(".eE0123456789") == std::string_view::npos;
            }
        }
        return *has_minus_zero_;
    }

    std::string_view text_;
    std::size_t max_depth_;
    std::size_t max_members_;
    std::optional<bool> has_minus_zero_;
};

}  // namespace

struct Parser::State {
    ParseLimits limits;
    dom::parser parser;
};

Parser::Parser(const ParseLimits& limits) : state_(std::make_unique<State>()) {
    state_->limits = limits;
}

Parser::Parser(Parser&& other) noexcept = default;
Parser& Parser::operator=(Parser&& other) noexcept = default;
Parser::~Parser() = default;

Result<Value> Parser::parse(std::string_view text) {
    const ParseLimits& limits = state_->limits;
    if (text.size() > limits.max_bytes) {
        return invalid_argument("a text of " + std::to_string(text.size()) +
                                " bytes exceeds the limit of " + std::to_string(limits.max_bytes));
    }
    dom::element root;
    // An empty view may hold a null pointer, which simdjson would copy from.
    if (!text.empty() &&
        state_->parser.parse(text.data(), text.size()).get(root) == simdjson::SUCCESS) {
        Value value;
        if (Converter(text, limits).convert(root, 0, value)) return value;
    }
    return parse_strictly(text, limits);
}

Result<Value> parse(std::string_view text, const ParseLimits& limits) {
    return Parser(limits).parse(text);
}

}  // namespace braid::json
