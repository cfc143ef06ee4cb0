#include "braid/server/auth/api_keys.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include <sys/random.h>

#include "braid/core/hex.hpp"
#include "braid/core/rfc3339.hpp"
#include "braid/core/sha256.hpp"
#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"

namespace braid::server {
namespace {

using json::Fields;

constexpr std::size_t kMaxKeys = 10'000;
constexpr std::size_t kMaxNameBytes = 100;
constexpr double kMaxRate = 1e6;

std::optional<std::string> from_hex(std::string_view text) {
    if (text.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = core::hex_digit(text[i]);
        const int low = core::hex_digit(text[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes.push_back(static_cast<char>(high * 16 + low));
    }
    return bytes;
}

core::Sha256::Digest digest_of(std::string_view salt, std::string_view key) {
    core::Sha256 hash;
    hash.update(std::as_bytes(std::span(salt)));
    hash.update(std::as_bytes(std::span(key)));
    return hash.finish();
}

/// Looks at every byte, whatever the first ones are.
bool same_digest(const core::Sha256::Digest& a, const core::Sha256::Digest& b) {
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference |= std::to_integer<unsigned>(a[i] ^ b[i]);
    }
    return difference == 0;
}

Result<service::Access> read_access(const Value& json, const std::string& collection) {
    for (const service::Access access :
         {service::Access::Read, service::Access::Write, service::Access::Admin}) {
        if (json == Value(name_of(access))) return access;
    }
    return invalid_argument("the right to \"" + collection +
                            R"(" must be "read", "write" or "admin")");
}

Result<> check_pattern(std::string_view pattern) {
    if (pattern == "*") return {};
    if (pattern.ends_with('*')) pattern.remove_suffix(1);
    return validate_collection_name(pattern);
}

Result<Grants> read_grants(Fields& fields) {
    BRAID_TRY(const Object* const collections, fields.object("collections"));
    if (collections == nullptr) return invalid_argument("\"collections\" is required");
    Grants grants;
    for (const auto& [pattern, right] : *collections) {
        BRAID_CHECK(check_pattern(pattern));
        BRAID_TRY(const service::Access access, read_access(right, pattern));
        grants.by_pattern.emplace(pattern, access);
    }
    return grants;
}

Result<Principal> read_principal(Fields& fields) {
    Principal principal;
    BRAID_TRY(auto members, fields.fields("principal"));
    if (!members) return principal;
    BRAID_TRY(principal.clearance, members->required("clearance", members->string("clearance")));
    BRAID_TRY(auto scopes, members->strings("scopes"));
    if (scopes) principal.scopes = *std::move(scopes);
    BRAID_CHECK(members->finish());
    return principal;
}

Result<ApiKey> read_key(const Value& json) {
    BRAID_TRY(Fields fields, Fields::of(json));
    ApiKey key;
    BRAID_TRY(const auto name, fields.required("name", fields.string("name")));
    if (name.empty() || name.size() > kMaxNameBytes)
        return invalid_argument("\"name\" must have 1 to 100 bytes");
    BRAID_TRY(key.principal, read_principal(fields));
    key.principal.name = name;
    BRAID_TRY(auto namespaces, fields.strings("namespaces"));
    if (namespaces) {
        // A key without a salt could match an entry with any of them.
        if (namespaces->empty()) return invalid_argument("\"namespaces\" must name one or more");
        BRAID_TRY(key.namespaces, service::namespaces_of(*std::move(namespaces)));
    }
    BRAID_TRY(key.grants, read_grants(fields));
    BRAID_TRY(const auto hash, fields.required("sha256", fields.string("sha256")));
    const auto digest = from_hex(hash);
    if (!digest || digest->size() != key.sha256.size()) {
        return invalid_argument("\"sha256\" must be 64 hexadecimal digits");
    }
    std::ranges::transform(*digest, key.sha256.begin(),
                           [](char c) { return static_cast<std::byte>(c); });
    BRAID_TRY(const auto salt, fields.string("salt"));
    if (salt) {
        auto bytes = from_hex(*salt);
        if (!bytes) return invalid_argument("\"salt\" must be hexadecimal digits");
        key.salt = *std::move(bytes);
    }
    BRAID_TRY(const auto expires, fields.string("expires_at"));
    if (expires) {
        BRAID_TRY(key.expires_at, core::parse_rfc3339(*expires));
    }
    BRAID_TRY(key.requests_per_second, fields.number("requests_per_second", 0, kMaxRate));
    BRAID_CHECK(fields.finish());
    return key;
}

std::string base64url(std::span<const unsigned char> bytes) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string text;
    unsigned bits = 0;
    unsigned count = 0;
    for (const unsigned char byte : bytes) {
        bits = (bits << 8U) | byte;
        count += 8;
        while (count >= 6) {
            count -= 6;
            text.push_back(digits[(bits >> count) & 63U]);
        }
    }
    if (count > 0) text.push_back(digits[(bits << (6 - count)) & 63U]);
    return text;
}

}  // namespace

Result<std::string> random_token() {
    std::array<unsigned char, 32> bytes{};
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const ssize_t got = getrandom(bytes.data() + filled, bytes.size() - filled, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return fail(ErrorCode::IoError, "the system provides no random bytes");
        filled += static_cast<std::size_t>(got);
    }
    return base64url(bytes);
}

bool Grants::allow(service::Access access, std::string_view collection) const {
    const auto exact = by_pattern.find(collection);
    if (exact != by_pattern.end()) return exact->second >= access;
    const service::Access* best = nullptr;
    std::size_t length = 0;
    for (const auto& [pattern, right] : by_pattern) {
        if (!pattern.ends_with('*')) continue;
        const std::string_view prefix(pattern.data(), pattern.size() - 1);
        if (!collection.starts_with(prefix) || (best != nullptr && prefix.size() < length))
            continue;
        best = &right;
        length = prefix.size();
    }
    return best != nullptr && *best >= access;
}

Result<KeyRing> KeyRing::parse(std::string_view json) {
    BRAID_TRY(const Value file, json::parse(json));
    BRAID_TRY(Fields fields, Fields::of(file));
    BRAID_TRY(const Array* const list, fields.array("keys"));
    BRAID_CHECK(fields.finish());
    if (list == nullptr || list->empty())
        return invalid_argument("\"keys\" must hold at least one key");
    if (list->size() > kMaxKeys) return invalid_argument("\"keys\" may hold at most 10000");
    KeyRing ring;
    ring.keys_.reserve(list->size());
    for (std::size_t i = 0; i < list->size(); ++i) {
        auto key = read_key((*list)[i]);
        if (!key) return fail("keys[" + std::to_string(i) + "]", std::move(key).error());
        for (const ApiKey& other : ring.keys_) {
            if (other.principal.name == key->principal.name) {
                return invalid_argument("two keys have the name \"" + other.principal.name + "\"");
            }
        }
        ring.keys_.push_back(*std::move(key));
    }
    return ring;
}

const ApiKey* KeyRing::find(std::string_view key, Timestamp now) const {
    const core::Sha256::Digest plain = digest_of({}, key);
    const ApiKey* found = nullptr;
    for (const ApiKey& entry : keys_) {
        const bool same =
            same_digest(entry.salt.empty() ? plain : digest_of(entry.salt, key), entry.sha256);
        if (same) found = &entry;
    }
    if (found != nullptr && found->expires_at && *found->expires_at <= now) return nullptr;
    return found;
}

Result<NewKey> make_key(const service::Visitor& visitor,
                        const std::map<std::string, service::Access>& collections) {
    const auto& [name, clearance, scopes] = visitor.principal;
    if (name.empty() || name.size() > kMaxNameBytes)
        return invalid_argument("a key's name has 1 to 100 bytes");
    Object rights;
    for (const auto& [pattern, access] : collections) {
        BRAID_CHECK(check_pattern(pattern));
        rights.set(pattern, name_of(access));
    }
    BRAID_TRY(const std::string token, random_token());
    NewKey made;
    made.key = "braid_" + token;
    made.entry = {{"name", Value(name)},
                  {"sha256", Value(core::to_hex(digest_of({}, made.key)))},
                  {"collections", std::move(rights)}};
    if (clearance) {
        Object principal{{"clearance", Value(*clearance)}};
        if (!scopes.empty()) principal.set("scopes", Array(scopes.begin(), scopes.end()));
        made.entry.set("principal", std::move(principal));
    }
    if (!visitor.namespaces.all()) {
        const auto& names = visitor.namespaces.patterns;
        made.entry.set("namespaces", Array(names.begin(), names.end()));
    }
    return made;
}

bool is_loopback(std::string_view address) {
    if (address == "localhost" || address == "unix" || address == "::1" || address == "[::1]") {
        return true;
    }
    if (address.starts_with("::ffff:")) address.remove_prefix(7);
    // Digits and dots only: "127.0.0.1.example.com" belongs to somebody else.
    return address.starts_with("127.") &&
           address.find_first_not_of("0123456789.") == std::string_view::npos;
}

Result<> require_keys(std::string_view host, const KeyRing& keys) {
    if (host.empty() || is_loopback(host) || !keys.empty()) return {};
    return fail(ErrorCode::PermissionDenied,
                "\"" + std::string(host) +
                    "\" can be reached from other machines: serve there only with API keys");
}

}  // namespace braid::server
