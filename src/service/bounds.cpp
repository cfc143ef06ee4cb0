#include "braid/service/bounds.hpp"

#include <string>

namespace braid::service {
namespace {

std::string quoted(std::string_view key) {
    return "\"" + std::string(key) + "\"";
}

}  // namespace

Result<> at_most(std::string_view key, std::size_t value, std::size_t limit) {
    if (value <= limit) return {};
    return invalid_argument(quoted(key) + " may be at most " + std::to_string(limit) +
                            " here, got " + std::to_string(value));
}

Result<> from_to(std::string_view key, std::size_t value, std::size_t min, std::size_t max) {
    if (value >= min && value <= max) return {};
    return invalid_argument(quoted(key) + " must be an integer from " + std::to_string(min) +
                            " to " + std::to_string(max) + ", got " + std::to_string(value));
}

Result<> some_ids(std::string_view key, std::size_t count, std::size_t limit) {
    if (count >= 1 && count <= limit) return {};
    return invalid_argument(quoted(key) + " must name 1 to " + std::to_string(limit) +
                            " ids, got " + std::to_string(count));
}

Result<> some_members(std::string_view key, std::size_t count, std::size_t limit,
                      std::string_view members) {
    if (count >= 1 && count <= limit) return {};
    return invalid_argument(quoted(key) + " must hold 1 to " + std::to_string(limit) + " " +
                            std::string(members) + ", got " + std::to_string(count));
}

Result<> some_text(std::string_view key, std::string_view text, std::size_t limit) {
    if (text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos) {
        return invalid_argument(quoted(key) + " is blank");
    }
    if (text.size() <= limit) return {};
    return invalid_argument(quoted(key) + " has " + std::to_string(text.size()) +
                            " bytes, the limit is " + std::to_string(limit));
}

}  // namespace braid::service
