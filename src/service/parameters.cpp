#include "braid/service/parameters.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include "braid/service/bounds.hpp"
#include "braid/service/operations.hpp"

namespace braid::service {

Result<Place> read_place(json::Fields& fields, std::string_view default_collection) {
    Place place;
    BRAID_TRY(auto collection, fields.string("collection"));
    BRAID_TRY(place.namespace_, fields.string("namespace"));
    place.collection = std::move(collection).value_or(std::string(default_collection));
    return place;
}

Result<ReadScope> read_scope(json::Fields& fields, const Caller& caller, Access access,
                             std::string_view default_collection) {
    BRAID_TRY(const Place place, read_place(fields, default_collection));
    return scope_of(place, caller, access);
}

Result<std::optional<Filter>> read_filter(json::Fields& fields) {
    const Value* const filter = fields.any("filter");
    if (filter == nullptr || filter->is_null()) return std::nullopt;
    BRAID_TRY(Filter parsed, parse_filter(*filter));
    return parsed;
}

Result<std::vector<std::string>> read_ids(json::Fields& fields, std::string_view key,
                                          std::size_t limit) {
    BRAID_TRY(auto ids, fields.required(key, fields.strings(key)));
    BRAID_CHECK(some_ids(fields.path_of(key), ids.size(), limit));
    return ids;
}

Result<std::optional<Version>> read_if_version(json::Fields& fields) {
    BRAID_TRY(const auto version,
              fields.integer("if_version", 0, std::numeric_limits<std::int64_t>::max()));
    if (!version) return std::nullopt;
    return static_cast<Version>(*version);
}

Result<std::string> read_text(json::Fields& fields, std::string_view key, std::size_t limit) {
    BRAID_TRY(auto text, fields.required(key, fields.string(key)));
    BRAID_CHECK(some_text(fields.path_of(key), text, limit));
    return text;
}

Result<std::size_t> read_size(json::Fields& fields, std::string_view key, std::size_t otherwise,
                              std::size_t min, std::size_t max) {
    BRAID_TRY(const auto size,
              fields.integer(key, static_cast<std::int64_t>(min), static_cast<std::int64_t>(max)));
    return size ? static_cast<std::size_t>(*size) : otherwise;
}

Array strings_to_array(const std::vector<std::string>& strings) {
    return {strings.begin(), strings.end()};
}

}  // namespace braid::service
