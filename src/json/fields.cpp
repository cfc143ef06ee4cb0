#include "braid/json/fields.hpp"

#include <algorithm>
#include <cmath>

#include "braid/core/nearest.hpp"
#include "braid/json/json.hpp"
#include "braid/json/quote.hpp"

namespace braid::json {
namespace {

/// The integer a number denotes, if it is one of 64 bits.
std::optional<std::int64_t> integer_of(const Value& value) {
    if (value.is_int()) return value.as_int();
    if (!value.is_double()) return std::nullopt;
    const double number = value.as_double();
    constexpr double two_to_63 = 9223372036854775808.0;
    if (!(number >= -two_to_63 && number < two_to_63) || std::trunc(number) != number) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(number);
}

/// A bound as people write it: 1 rather than 1.0.
std::string bound_text(const Value& bound) {
    const std::optional<std::int64_t> integer = integer_of(bound);
    return print(integer ? Value(*integer) : bound);
}

/// "an integer from 1 to 10", leaving out a bound that is the type's own.
template <class Number>
std::string range_text(std::string_view kind, Number min, Number max) {
    using Limits = std::numeric_limits<Number>;
    std::string text(kind);
    if (min != Limits::lowest() && max != Limits::max()) {
        text += " from " + bound_text(min) + " to " + bound_text(max);
    } else if (min != Limits::lowest()) {
        text += " of at least " + bound_text(min);
    } else if (max != Limits::max()) {
        text += " of at most " + bound_text(max);
    }
    return text;
}

std::string meant(std::string_view word, const std::vector<std::string_view>& known) {
    const std::optional<std::string_view> near = core::nearest(word, known);
    return near ? "; did you mean " + quoted(*near) + "?" : "";
}

}  // namespace

std::string shown(const Value& value) {
    std::string text;
    if (value.is_string()) {
        text = quoted(value.as_string());
    } else if (value.is_array() || value.is_object()) {
        const std::size_t count =
            value.is_array() ? value.as_array().size() : value.as_object().size();
        return "an " + std::string(value.type_name()) + " of " + std::to_string(count);
    } else if (value.is_null()) {
        return "null";
    } else {
        text = print(value);
    }
    return text + " (" + std::string(value.type_name()) + ")";
}

Fields::Fields(const Object& object, std::string path) : object_(&object), path_(std::move(path)) {}

Result<Fields> Fields::of(const Value& value, std::string path) {
    if (value.is_object()) return Fields(value.as_object(), std::move(path));
    const std::string subject = path.empty() ? "the value" : quoted(path, 200);
    return invalid_argument(subject + " must be an object, got " + shown(value));
}

Result<std::optional<std::string>> Fields::string(std::string_view key) {
    const Value* value = read(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) return invalid_argument(complaint(key, "a string"));
    return value->as_string();
}

Result<std::optional<std::string>> Fields::choice(std::string_view key,
                                                  std::initializer_list<std::string_view> names) {
    const Value* value = read(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_string() &&
        std::find(names.begin(), names.end(), value->as_string()) != names.end()) {
        return value->as_string();
    }
    std::string expected = "one of";
    for (const std::string_view name : names) {
        expected += (name == *names.begin() ? " " : ", ") + quoted(name);
    }
    std::string message = complaint(key, expected);
    if (value->is_string()) message += meant(value->as_string(), names);
    return invalid_argument(std::move(message));
}

Result<std::optional<bool>> Fields::boolean(std::string_view key) {
    const Value* value = read(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_bool()) return invalid_argument(complaint(key, "true or false"));
    return value->as_bool();
}

Result<std::optional<std::int64_t>> Fields::integer(std::string_view key, std::int64_t min,
                                                    std::int64_t max) {
    const Value* value = read(key);
    if (value == nullptr) return std::nullopt;
    const std::optional<std::int64_t> number = integer_of(*value);
    if (number && *number >= min && *number <= max) return number;
    return invalid_argument(complaint(key, range_text("an integer", min, max)));
}

Result<std::optional<double>> Fields::number(std::string_view key, double min, double max) {
    const Value* value = read(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_number()) {
        const double number = value->as_double();
        if (number >= min && number <= max) return number;
    }
    return invalid_argument(complaint(key, range_text("a number", min, max)));
}

Result<std::optional<std::vector<std::string>>> Fields::strings(std::string_view key) {
    const Value* value = read(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_array()) {
        return invalid_argument(complaint(key, "a list of strings"));
    }
    std::vector<std::string> strings;
    for (const Value& element : value->as_array()) {
        if (!element.is_string()) {
            const std::string where = path_of(key) + "[" + std::to_string(strings.size()) + "]";
            return invalid_argument(quoted(where, 200) + " must be a string, got " +
                                    shown(element));
        }
        strings.push_back(element.as_string());
    }
    return strings;
}

Result<std::optional<Fields>> Fields::fields(std::string_view key) {
    BRAID_TRY(const Object* nested, object(key));
    if (nested == nullptr) return std::nullopt;
    return Fields(*nested, path_of(key));
}

Result<const Object*> Fields::object(std::string_view key) {
    const Value* value = read(key);
    if (value == nullptr) return nullptr;
    if (!value->is_object()) return invalid_argument(complaint(key, "an object"));
    return &value->as_object();
}

Result<const Array*> Fields::array(std::string_view key) {
    const Value* value = read(key);
    if (value == nullptr) return nullptr;
    if (!value->is_array()) return invalid_argument(complaint(key, "a list"));
    return &value->as_array();
}

const Value* Fields::any(std::string_view key) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
    return object_->find(key);
}

Result<> Fields::finish() const {
    for (const auto& [key, value] : *object_) {
        if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
        const std::string where = path_.empty() ? "" : " in " + quoted(path_, 200);
        return invalid_argument(
            "unknown key " + quoted(key) + where +
            meant(key, std::vector<std::string_view>(known_.begin(), known_.end())));
    }
    return {};
}

std::string Fields::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

std::string Fields::complaint(std::string_view key, std::string_view expected) const {
    const Value* value = object_->find(key);
    return quoted(path_of(key), 200) + " must be " + std::string(expected) + ", got " +
           (value == nullptr ? "nothing" : shown(*value));
}

std::string Fields::missing(std::string_view key) const {
    return quoted(path_of(key), 200) + " is required";
}

const Value* Fields::read(std::string_view key) {
    const Value* value = any(key);
    return value == nullptr || value->is_null() ? nullptr : value;
}

}  // namespace braid::json
