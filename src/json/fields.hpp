#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::json {

/// Reads the members of one JSON object into native types, and remembers which keys it was asked
/// for, so that finish() can refuse the others.
///
/// A getter returns nullopt (or a null pointer) if the member is absent or null, and fails with
/// InvalidArgument if it is of the wrong type or out of range:
/// `"fusion.k" must be an integer from 1 to 1000, got "ten" (string)`.
///
///     Fields fields(object);
///     BRAID_TRY(auto top_k, fields.integer("top_k", 1, 10'000));
///     BRAID_TRY(auto query, fields.required("query", fields.string("query")));
///     BRAID_CHECK(fields.finish());
class Fields {
public:
    /// `object` must outlive this. `path` stands before the keys in messages: "fusion" gives
    /// "fusion.k".
    explicit Fields(const Object& object, std::string path = {});
    /// Fails if `value`, which messages call `path`, is no object.
    static Result<Fields> of(const Value& value, std::string path = {});

    Result<std::optional<std::string>> string(std::string_view key);
    /// A string that must be one of `names`.
    Result<std::optional<std::string>> choice(std::string_view key,
                                              std::initializer_list<std::string_view> names);
    Result<std::optional<bool>> boolean(std::string_view key);
    /// A whole number written as a decimal (5.0) is taken too.
    Result<std::optional<std::int64_t>> integer(
        std::string_view key, std::int64_t min = std::numeric_limits<std::int64_t>::min(),
        std::int64_t max = std::numeric_limits<std::int64_t>::max());
    Result<std::optional<double>> number(std::string_view key,
                                         double min = std::numeric_limits<double>::lowest(),
                                         double max = std::numeric_limits<double>::max());
    /// A list of strings.
    Result<std::optional<std::vector<std::string>>> strings(std::string_view key);
    /// A nested object, with its own keys to be read and finished.
    Result<std::optional<Fields>> fields(std::string_view key);
    Result<const Object*> object(std::string_view key);
    Result<const Array*> array(std::string_view key);
    /// The member whatever its type, null values included.
    const Value* any(std::string_view key);

    /// Turns an absent member into an error: `"query" is required`.
    template <class T>
    Result<T> required(std::string_view key, Result<std::optional<T>> value) const {
        BRAID_TRY(std::optional<T> present, std::move(value));
        if (!present) return invalid_argument(missing(key));
        return *std::move(present);
    }

    /// Fails on the first key that no getter was asked for, and names the one that was perhaps
    /// meant: `unknown key "topk"; did you mean "top_k"?`.
    Result<> finish() const;

    const Object& whole() const noexcept { return *object_; }
    /// "fusion.k": the key as messages show it.
    std::string path_of(std::string_view key) const;
    /// A message in the words of the getters: `"k" must be <expected>, got <the member>`.
    std::string complaint(std::string_view key, std::string_view expected) const;

private:
    std::string missing(std::string_view key) const;
    /// The member, or null if it is absent or null; the key counts as known from now on.
    const Value* read(std::string_view key);

    const Object* object_;
    std::string path_;
    std::vector<std::string> known_;
};

/// A value as messages show it: `"ten" (string)`, cut if long.
std::string shown(const Value& value);

}  // namespace braid::json
