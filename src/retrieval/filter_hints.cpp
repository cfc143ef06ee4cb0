#include "braid/retrieval/filter_hints.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "braid/core/charge.hpp"
#include "braid/core/metadata_path.hpp"
#include "braid/core/nearest.hpp"

namespace braid::retrieval {
namespace {

constexpr std::array<std::string_view, 8> kFields{"chunk_id",    "document_id",     "chunk_index",
                                                  "title",       "section_title",   "created_at",
                                                  "sensitivity", "visibility_scope"};
constexpr std::size_t kMostKeys = 8;           // of one filter that are looked for
constexpr std::size_t kChunksLookedAt = 1000;  // for the names of keys, in each collection
constexpr std::size_t kMostDepth = 4;          // of a key in the metadata

// NOLINTNEXTLINE(misc-no-recursion): as deep as the filter, which is bounded
void collect_fields(const Filter& filter, std::set<std::string>& fields) {
    if (!filter.field.empty()) fields.insert(filter.field);
    for (const Filter& child : filter.children) collect_fields(child, fields);
}

bool has_key(const Object& metadata, std::string_view path) {
    if (metadata.find(path) != nullptr) return true;
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) return false;
    const Value* const part = metadata.find(path.substr(0, dot));
    return part != nullptr && part->is_object() &&
           has_key(part->as_object(), path.substr(dot + 1));  // NOLINT(misc-no-recursion)
}

// NOLINTNEXTLINE(misc-no-recursion): to kMostDepth
void collect_keys(const Object& metadata, const std::string& before, std::size_t depth,
                  std::set<std::string>& keys) {
    for (const auto& [name, value] : metadata) {
        const std::string key = before + name;
        keys.insert(key);
        if (value.is_object() && depth < kMostDepth) {
            collect_keys(value.as_object(), key + ".", depth + 1, keys);
        }
    }
}

/// Whether some chunk has the key; nullopt if that cannot be found out.
std::optional<bool> some_chunk_has(const Work& work, const std::string& field) {
    for (const CollectionPlan& collection : work.plan.collections) {
        ReadScope scope = work.scope_of(collection.name);
        scope.filter = Filter::compare(Filter::Op::Exists, field, Value(true));
        const auto count = work.snapshot->with(work.leg_limits)->count(scope);
        if (!count) return std::nullopt;
        if (*count > 0) return true;
    }
    return false;
}

std::set<std::string> known_keys(const Work& work) {
    std::set<std::string> keys;
    for (const CollectionPlan& collection : work.plan.collections) {
        const ReaderPtr snapshot = work.snapshot->with(core::apart(work.leg_limits));
        const auto chunks =
            snapshot->scan(work.scope_of(collection.name), std::string(), kChunksLookedAt, false);
        if (!chunks) continue;
        for (const Chunk& chunk : *chunks) collect_keys(chunk.metadata, "", 1, keys);
    }
    return keys;
}

}  // namespace

void hint_at_unknown_keys(Work& work) {
    if (!work.request.filter) return;
    std::set<std::string> fields;
    collect_fields(*work.request.filter, fields);
    std::optional<std::set<std::string>> keys;
    std::size_t looked_for = 0;
    for (const std::string& field : fields) {
        const std::string_view path = core::metadata_path(field);
        if (std::ranges::find(kFields, std::string_view(field)) != kFields.end()) continue;
        const bool shown = std::ranges::any_of(
            work.answer.hits, [&](const Hit& hit) { return has_key(hit.chunk.metadata, path); });
        if (shown || ++looked_for > kMostKeys || some_chunk_has(work, field) != false) continue;
        if (!keys) keys = known_keys(work);
        std::vector<std::string_view> names(kFields.begin(), kFields.end());
        names.insert(names.end(), keys->begin(), keys->end());
        std::string hint = "no chunk has the filter's key \"" + field + "\"";
        const auto meant = core::nearest(path, names);
        if (meant) hint += "; did you mean \"" + std::string(*meant) + "\"?";
        work.answer.warnings.push_back(std::move(hint));
    }
}

}  // namespace braid::retrieval
