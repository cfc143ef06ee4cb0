#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::service {

/// Namespaces that somebody may read and write: names, or name prefixes and "*". None: all.
struct Namespaces {
    std::vector<std::string> patterns;

    bool all() const noexcept { return patterns.empty(); }
    bool allow(std::string_view name) const;
    /// PermissionDenied names it, and those that may be used.
    Result<> require(std::string_view name) const;
    /// The one that is meant if none is named: "default" if it may be used, otherwise the first.
    std::string usual() const;

    friend bool operator==(const Namespaces&, const Namespaces&) = default;
};

/// InvalidArgument for anything but a namespace or the prefix of some.
Result<Namespaces> namespaces_of(std::vector<std::string> patterns);

/// On whose behalf something is done, and where.
struct Visitor {
    Principal principal;
    Namespaces namespaces;

    bool sees_everything() const { return principal.sees_everything() && namespaces.all(); }
    friend bool operator==(const Visitor&, const Visitor&) = default;
};

/// Carries a visitor over the Unix socket, whose owner may narrow what a request sees.
inline constexpr std::string_view kVisitorHeader = "Braid-As";

/// Reads `{"name", "clearance", "scopes", "namespaces"}`, each optional; scopes need a clearance.
/// `path` is what errors call it.
Result<Visitor> visitor_from_value(const Value& json, const std::string& path);
Value visitor_to_value(const Visitor& visitor);

}  // namespace braid::service
