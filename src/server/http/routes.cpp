#include "braid/server/http/routes.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace braid::server {
namespace {

using Type = QueryParameter::Type;

bool is_name(std::string_view segment) {
    return segment.starts_with('{');
}

/// Fills in the values of {names}.
bool matches(std::string_view pattern, const std::vector<std::string>& segments, Object& values) {
    pattern.remove_prefix(1);
    if (pattern.empty()) return segments.empty();
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const std::size_t end = std::min(pattern.find('/'), pattern.size());
        const std::string_view part = pattern.substr(0, end);
        if (is_name(part)) {
            if (segments[i].empty()) return false;
            values.set(part.substr(1, part.size() - 2), Value(segments[i]));
        } else if (part != segments[i]) {
            return false;
        }
        if (end == pattern.size()) return i + 1 == segments.size();
        pattern.remove_prefix(end + 1);
    }
    return false;
}

Result<Value> read_parameter(const Route& route, const std::string& name, const std::string& text) {
    const auto known = std::ranges::find(route.query, name, &QueryParameter::name);
    if (known == route.query.end() || known->type == Type::String) return Value(text);
    if (known->type == Type::Boolean) {
        if (text == "true" || text == "1" || text.empty()) return Value(true);
        if (text == "false" || text == "0") return Value(false);
        return invalid_argument("\"" + name + "\" must be true or false");
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return Value(number);
    return invalid_argument("\"" + name + "\" must be a whole number");
}

}  // namespace

RouteMatch find_route(std::string_view method, const Target& target) {
    if (method == "HEAD") method = "GET";
    RouteMatch match;
    for (const Route& route : routes()) {
        Object values;
        if (!matches(route.path, target.segments, values)) continue;
        match.allowed.push_back(route.method);
        if (route.method != method || match.route != nullptr) continue;
        match.route = &route;
        match.path = std::move(values);
    }
    return match;
}

Result<Object> route_parameters(const Route& route, Object path, const Target& target,
                                Object body) {
    Object params = std::move(body);
    const auto add = [&](const std::string& name, Value value) -> Result<> {
        if (params.find(name) != nullptr) {
            return invalid_argument("\"" + name +
                                    "\" is given twice: in the body and in the address");
        }
        params.set(name, std::move(value));
        return {};
    };
    for (auto& [name, value] : path) BRAID_CHECK(add(name, std::move(value)));
    for (const auto& [name, text] : target.query) {
        BRAID_TRY(Value value, read_parameter(route, name, text));
        BRAID_CHECK(add(name, std::move(value)));
    }
    return params;
}

}  // namespace braid::server
