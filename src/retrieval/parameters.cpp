#include "braid/retrieval/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "braid/core/nearest.hpp"

namespace braid::retrieval {
namespace {

std::string shown(double number) {
    std::ostringstream text;
    text << number;
    return text.str();
}

}  // namespace

const Value* Parameters::any(std::string_view key) {
    known_.push_back(key);
    const Value* const value = object_.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
}

Result<double> Parameters::number(std::string_view key, double default_value, double min,
                                  double max) {
    const Value* const value = any(key);
    if (value == nullptr) return default_value;
    if (!value->is_number() || !std::isfinite(value->as_double()) || value->as_double() < min ||
        value->as_double() > max) {
        return complaint(key, "a number from " + shown(min) + " to " + shown(max));
    }
    return value->as_double();
}

Result<bool> Parameters::boolean(std::string_view key, bool default_value) {
    const Value* const value = any(key);
    if (value == nullptr) return default_value;
    if (!value->is_bool()) return complaint(key, "true or false");
    return value->as_bool();
}

Result<std::vector<std::string>> Parameters::strings(std::string_view key,
                                                     std::vector<std::string> default_value) {
    const Value* const value = any(key);
    if (value == nullptr) return default_value;
    if (!value->is_array()) return complaint(key, "a list of strings");
    std::vector<std::string> strings;
    strings.reserve(value->as_array().size());
    for (const Value& element : value->as_array()) {
        if (!element.is_string()) return complaint(key, "a list of strings");
        strings.push_back(element.as_string());
    }
    return strings;
}

Result<> Parameters::finish() const {
    for (const auto& [key, value] : object_) {
        if (std::ranges::find(known_, std::string_view(key)) != known_.end()) continue;
        std::string message =
            "the stage \"" + std::string(stage_) + "\" has no parameter \"" + key + "\"";
        if (const auto near = core::nearest(key, known_)) {
            message += "; did you mean \"" + std::string(*near) + "\"?";
        }
        return invalid_argument(std::move(message));
    }
    return {};
}

tl::unexpected<Error> Parameters::complaint(std::string_view key, std::string_view expected) const {
    return invalid_argument("the parameter \"" + std::string(key) + "\" of the stage \"" +
                            std::string(stage_) + "\" must be " + std::string(expected));
}

}  // namespace braid::retrieval
