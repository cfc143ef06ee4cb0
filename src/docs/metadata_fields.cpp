#include "braid/docs/metadata_fields.hpp"

#include <algorithm>

#include "braid/docs/column_format.hpp"
#include "braid/docs/field_view.hpp"

namespace braid::docs {
namespace {

void collect_paths(const Object& object, const std::string& prefix, std::set<std::string>& paths) {
    for (const auto& [key, member] : object) {
        if (prefix.size() + key.size() > kMaxPathBytes) continue;
        const std::string path = prefix + key;
        paths.insert(path);
        if (member.is_object()) collect_paths(member.as_object(), path + ".", paths);
    }
}

bool is_one_value(const Value& value) {
    return !value.is_null() && !value.is_array() && !value.is_object();
}

}  // namespace

std::set<std::string> metadata_paths(const Object& metadata) {
    std::set<std::string> paths;
    collect_paths(metadata, "", paths);
    return paths;
}

std::string field_of_path(std::string_view path) {
    const bool alone = !path.empty() && !path.starts_with('$') && metadata_path(path) == path &&
                       field_by_name(path) == Field::Metadata;
    return alone ? std::string(path) : "metadata." + std::string(path);
}

std::vector<std::string> fields_with_values(const Object& metadata) {
    std::vector<std::string> fields;
    for (const std::string& path : metadata_paths(metadata)) {
        const Value* const value = find_path(metadata, path);
        if (value == nullptr) continue;
        const bool some = value->is_array() ? std::ranges::any_of(value->as_array(), is_one_value)
                                            : is_one_value(*value);
        if (some) fields.push_back(field_of_path(path));
    }
    return fields;
}

}  // namespace braid::docs
