#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/visitor.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::server {

/// What a key may do with collections: the right given for the exact name, otherwise for the
/// longest matching pattern ("team-*", "*"). Read < Write < Admin, each including those before it.
struct Grants {
    std::map<std::string, service::Access, std::less<>> by_pattern;

    bool allow(service::Access access, std::string_view collection) const;
};

/// Who presents a key, and what it opens.
struct ApiKey {
    Principal principal;                        // its name is the key's
    service::Namespaces namespaces;             //
    Grants grants;                              //
    std::string salt;                           // bytes before the key when it is hashed; may be ""
    std::array<std::byte, 32> sha256{};         // of salt and key
    std::optional<Timestamp> expires_at;        //
    std::optional<double> requests_per_second;  // none: the server's
};

/// The keys a server knows. Immutable, safe for concurrent use.
class KeyRing {
public:
    KeyRing() = default;

    /// Reads a key file:
    ///
    ///     {"keys": [{"name": "agent", "sha256": "<64 hexadecimal digits>", "salt":
    ///     "<hexadecimal>",
    ///                "principal": {"clearance": "normal", "scopes": ["sales"]},
    ///                "namespaces": ["acme", "acme-*"],
    ///                "collections": {"notes": "write", "team-*": "read"},
    ///                "requests_per_second": 20, "expires_at": "2027-01-01T00:00:00Z"}]}
    ///
    /// Without "principal" the key sees every chunk of its collections, without "namespaces" in all
    /// of them. InvalidArgument names the key and what is wrong with it, never a hash.
    static Result<KeyRing> parse(std::string_view json);

    bool empty() const noexcept { return keys_.empty(); }
    std::size_t size() const noexcept { return keys_.size(); }
    const std::vector<ApiKey>& keys() const noexcept { return keys_; }

    /// The entry of this key, or null. Compares with every entry, whatever it finds, in a time that
    /// does not depend on what is stored.
    const ApiKey* find(std::string_view key, Timestamp now) const;

private:
    std::vector<ApiKey> keys_;
};

/// A new key, and the entry for the key file, which does not contain the key.
struct NewKey {
    std::string key;  // "braid_" and 43 characters: 256 bits
    Object entry;     // "name", "sha256", "collections", "principal", "namespaces"
};
/// A key named after the visitor, which sees only what the visitor does. IoError if the system
/// supplies no randomness.
Result<NewKey> make_key(const service::Visitor& visitor,
                        const std::map<std::string, service::Access>& collections);

/// 43 characters of [A-Za-z0-9_-] that nobody can guess. IoError if the system supplies no
/// randomness.
Result<std::string> random_token();

/// PermissionDenied if `host` would make a server reachable from other machines without any key.
Result<> require_keys(std::string_view host, const KeyRing& keys);

/// Whether an address is this machine's own: 127.0.0.0/8, ::1, "localhost", "unix".
bool is_loopback(std::string_view address);

}  // namespace braid::server
