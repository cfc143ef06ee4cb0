#include "braid/service/visitor.hpp"

#include <algorithm>
#include <utility>

#include "braid/collection.hpp"
#include "braid/json/fields.hpp"

namespace braid::service {
namespace {

constexpr std::size_t kMaxNamespaceBytes = 512;

bool fits(std::string_view pattern, std::string_view name) {
    if (!pattern.ends_with('*')) return pattern == name;
    pattern.remove_suffix(1);
    return name.starts_with(pattern);
}

Array array_of(const std::vector<std::string>& strings) {
    return {strings.begin(), strings.end()};
}

}  // namespace

bool Namespaces::allow(std::string_view name) const {
    return all() || std::ranges::any_of(
                        patterns, [&](const std::string& pattern) { return fits(pattern, name); });
}

Result<> Namespaces::require(std::string_view name) const {
    if (allow(name)) return {};
    std::string message =
        "the right to namespace \"" + std::string(name) + "\" is missing; allowed:";
    for (const std::string& pattern : patterns) {
        message += (&pattern == &patterns.front() ? " \"" : ", \"") + pattern + "\"";
    }
    return fail(ErrorCode::PermissionDenied, std::move(message));
}

std::string Namespaces::usual() const {
    std::string otherwise(kDefaultNamespace);
    if (allow(otherwise)) return otherwise;
    const auto named = std::ranges::find_if(
        patterns, [](const std::string& pattern) { return !pattern.ends_with('*'); });
    return named != patterns.end() ? *named : otherwise;
}

Result<Namespaces> namespaces_of(std::vector<std::string> patterns) {
    for (const std::string& pattern : patterns) {
        if (pattern.empty() || pattern.size() > kMaxNamespaceBytes) {
            return invalid_argument("a namespace has 1 to 512 bytes, got \"" + pattern + "\"");
        }
    }
    return Namespaces{std::move(patterns)};
}

Result<Visitor> visitor_from_value(const Value& json, const std::string& path) {
    BRAID_TRY(auto fields, json::Fields::of(json, path));
    Visitor visitor;
    BRAID_TRY(auto name, fields.string("name"));
    visitor.principal.name = std::move(name).value_or("");
    BRAID_TRY(visitor.principal.clearance, fields.string("clearance"));
    BRAID_TRY(auto scopes, fields.strings("scopes"));
    if (scopes) visitor.principal.scopes = *std::move(scopes);
    BRAID_TRY(auto namespaces, fields.strings("namespaces"));
    if (namespaces) {
        if (namespaces->empty()) {
            return invalid_argument(fields.complaint("namespaces", "a list of at least one name"));
        }
        BRAID_TRY(visitor.namespaces, namespaces_of(*std::move(namespaces)));
    }
    BRAID_CHECK(fields.finish());
    if (visitor.principal.clearance == "") {
        return invalid_argument(fields.complaint("clearance", "a level"));
    }
    if (!visitor.principal.scopes.empty() && !visitor.principal.clearance) {
        return invalid_argument("\"" + fields.path_of("scopes") + "\" needs \"clearance\" as well");
    }
    return visitor;
}

Value visitor_to_value(const Visitor& visitor) {
    Object out;
    if (!visitor.principal.name.empty()) out.set("name", visitor.principal.name);
    if (visitor.principal.clearance) out.set("clearance", *visitor.principal.clearance);
    if (!visitor.principal.scopes.empty()) out.set("scopes", array_of(visitor.principal.scopes));
    if (!visitor.namespaces.all()) out.set("namespaces", array_of(visitor.namespaces.patterns));
    return out;
}

}  // namespace braid::service
