#include "braid/service/parameters.hpp"

#include <cstdint>
#include <limits>
#include <utility>

namespace braid::service {

Result<ReadScope> read_scope(json::Fields& fields, const Caller& caller, Access access,
                             std::string_view default_collection) {
    ReadScope scope;
    BRAID_TRY(auto collection, fields.string("collection"));
    BRAID_TRY(auto name, fields.string("namespace"));
    scope.collection = std::move(collection).value_or(std::string(default_collection));
    scope.namespace_ = name ? *std::move(name) : caller.namespaces.usual();
    scope.principal = caller.principal;
    BRAID_CHECK(validate_collection_name(scope.collection));
    BRAID_CHECK(caller.require(access, scope.collection));
    BRAID_CHECK(caller.namespaces.require(scope.namespace_));
    return scope;
}

Result<ReadScope> read_filtered_scope(json::Fields& fields, const Caller& caller) {
    BRAID_TRY(ReadScope scope, read_scope(fields, caller, Access::Read));
    const Value* const filter = fields.any("filter");
    if (filter != nullptr && !filter->is_null()) {
        BRAID_TRY(scope.filter, parse_filter(*filter));
    }
    return scope;
}

Result<std::vector<std::string>> read_ids(json::Fields& fields, std::string_view key,
                                          std::size_t limit) {
    BRAID_TRY(auto ids, fields.required(key, fields.strings(key)));
    if (ids.empty() || ids.size() > limit) {
        return invalid_argument("\"" + fields.path_of(key) + "\" must name 1 to " +
                                std::to_string(limit) + " ids, got " + std::to_string(ids.size()));
    }
    return ids;
}

Result<WriteOptions> read_write_options(json::Fields& fields) {
    WriteOptions options;
    BRAID_TRY(const auto version,
              fields.integer("if_version", 0, std::numeric_limits<std::int64_t>::max()));
    if (version) options.if_version = static_cast<Version>(*version);
    return options;
}

Result<std::string> read_text(json::Fields& fields, std::string_view key, std::size_t limit) {
    BRAID_TRY(auto text, fields.required(key, fields.string(key)));
    const std::string name = "\"" + fields.path_of(key) + "\"";
    if (text.find_first_not_of(" \t\r\n\f\v") == std::string::npos) {
        return invalid_argument(name + " is blank");
    }
    if (text.size() > limit) {
        return invalid_argument(name + " has " + std::to_string(text.size()) +
                                " bytes, the limit is " + std::to_string(limit));
    }
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
