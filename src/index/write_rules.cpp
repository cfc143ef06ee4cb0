#include "braid/index/write_rules.hpp"

#include <algorithm>
#include <cmath>

#include "braid/core/utf8.hpp"
#include "braid/docs/chunk_codec.hpp"
#include "braid/docs/filter_matcher.hpp"
#include "braid/index/ids.hpp"

namespace braid::index {
namespace {

Result<> check_object(const Object& object, std::size_t depth);

/// What JSON can express and the log can reproduce.
Result<> check_value(const Value& value, std::size_t depth) {
    if (depth > docs::kMaxMetadataDepth) {
        return invalid_argument("metadata is nested deeper than " +
                                std::to_string(docs::kMaxMetadataDepth) + " levels");
    }
    if (value.is_string()) return core::require_utf8(value.as_string(), "metadata");
    if (value.is_double() && !std::isfinite(value.as_double())) {
        return invalid_argument("metadata holds a number that is not finite");
    }
    if (value.is_object()) return check_object(value.as_object(), depth + 1);
    if (value.is_array()) {
        for (const Value& element : value.as_array()) BRAID_CHECK(check_value(element, depth + 1));
    }
    return {};
}

Result<> check_object(const Object& object, std::size_t depth = 1) {
    for (const auto& [key, member] : object) {
        BRAID_CHECK(core::require_utf8(key, "metadata"));
        BRAID_CHECK(check_value(member, depth));
    }
    return {};
}

Result<> check_labels(const std::optional<std::string>& sensitivity,
                      const std::vector<std::string>& scopes, const Schema& schema) {
    const auto& names = schema.levels.names;
    if (sensitivity && std::ranges::find(names, *sensitivity) == names.end()) {
        std::string message = "sensitivity \"" + *sensitivity + "\" is not a level; the levels are";
        for (const std::string& name : names) message += " " + name;
        return invalid_argument(std::move(message));
    }
    for (const std::string& scope : scopes) BRAID_CHECK(check_id(scope, "visibility_scope"));
    return {};
}

}  // namespace

Result<> check_chunk(Chunk& chunk, const Schema& schema) {
    BRAID_CHECK(check_id(chunk.chunk_id, "chunk_id"));
    if (chunk.document_id.empty()) chunk.document_id = chunk.chunk_id;
    BRAID_CHECK(check_id(chunk.document_id, "document_id"));
    BRAID_CHECK(core::require_utf8(chunk.content, "content"));
    if (chunk.title) BRAID_CHECK(core::require_utf8(*chunk.title, "title"));
    if (chunk.section_title) BRAID_CHECK(core::require_utf8(*chunk.section_title, "section_title"));
    BRAID_CHECK(check_object(chunk.metadata));
    BRAID_CHECK(docs::check_metadata(chunk.metadata, schema));
    BRAID_CHECK(check_labels(chunk.sensitivity, chunk.visibility_scope, schema));
    if (schema.vectors.has_vectors() == !chunk.vector.empty()) return {};
    if (!chunk.vector.empty()) {
        return invalid_argument(
            "it has a vector, but the collection holds none; create it with the embedder "
            "\"external\" to bring vectors of your own");
    }
    return invalid_argument(
        "it has no vector, and the collection takes its vectors from the embedder \"" +
        schema.vectors.embedder + "\"");
}

Result<> check_update(const MetadataUpdate& update, const Schema& schema) {
    const auto scopes = update.visibility_scope.value_or(std::vector<std::string>());
    BRAID_CHECK(check_labels(update.sensitivity, scopes, schema));
    for (const std::string& scope : scopes) {
        BRAID_CHECK(check_characters(scope, "visibility_scope"));
    }
    return check_object(update.metadata);
}

Result<> check_vector(const std::vector<float>& vector, std::size_t dimension, std::size_t shown,
                      Metric metric) {
    if (vector.size() > kMaxDimension) {
        return invalid_argument("its vector has " + std::to_string(vector.size()) +
                                " dimensions, above the limit of " + std::to_string(kMaxDimension));
    }
    if (dimension != 0 && vector.size() != dimension) {
        const std::string size = std::to_string(vector.size());
        // Something invisible decides this: that it does is all the caller is told.
        if (shown == 0) {
            return invalid_argument("a vector of " + size + " dimensions cannot be stored here");
        }
        return invalid_argument("its vector has " + size + " dimensions, but the collection has " +
                                std::to_string(shown));
    }
    const auto odd = std::ranges::find_if(vector, [](float x) { return !std::isfinite(x); });
    if (odd != vector.end()) {
        return invalid_argument("element " + std::to_string(odd - vector.begin()) +
                                " of its vector is not a finite number");
    }
    if (metric == Metric::Cosine && std::ranges::all_of(vector, [](float x) { return x == 0; })) {
        return invalid_argument(
            "its vector is all zeros, which have no direction to compare by cosine");
    }
    return {};
}

Result<> check_embedder(const WriteOptions& options, const Schema& schema,
                        const std::string& collection) {
    const auto& made_by = schema.vectors.fingerprint;
    if (!options.vectors_by || !made_by || made_by->hard_equal(*options.vectors_by)) return {};
    return fail(ErrorCode::Conflict,
                "the vectors of collection \"" + collection + "\" are made by \"" + made_by->model +
                    "\", those of the batch by \"" + options.vectors_by->model + "\"");
}

Result<> check_selector(const DeleteSelector& selector) {
    const int given = static_cast<int>(!selector.chunk_ids.empty()) +
                      static_cast<int>(!selector.document_ids.empty()) +
                      static_cast<int>(selector.filter.has_value());
    if (given == 1) return {};
    return invalid_argument(
        "delete takes chunk ids, document ids or a filter: exactly one of the three");
}

tl::unexpected<Error> named_twice(std::string_view chunk_id) {
    return invalid_argument("chunk \"" + std::string(chunk_id) + "\" appears twice in one batch");
}

tl::unexpected<Error> updated_twice() {
    return invalid_argument("a chunk appears twice in one batch of updates");
}

tl::unexpected<Error> nothing_to_update(std::string_view chunk_id, std::string_view namespace_) {
    return fail(ErrorCode::NotFound, "there is no chunk \"" + std::string(chunk_id) +
                                         "\" in namespace \"" + std::string(namespace_) + "\"");
}

tl::unexpected<Error> id_taken(std::string_view chunk_id) {
    return fail(ErrorCode::Conflict, "the chunk id \"" + std::string(chunk_id) + "\" is taken");
}

tl::unexpected<Error> wrong_version(std::string_view chunk_id, Version found, Version expected) {
    return fail(ErrorCode::Conflict, "chunk \"" + std::string(chunk_id) + "\" has version " +
                                         std::to_string(found) + ", not " +
                                         std::to_string(expected));
}

tl::unexpected<Error> owned_elsewhere(std::string_view chunk_id, std::string_view owner,
                                      std::string_view document_id) {
    return fail(ErrorCode::Conflict, "the chunk id \"" + std::string(chunk_id) +
                                         "\" belongs to document \"" + std::string(owner) +
                                         "\"; replacing \"" + std::string(document_id) +
                                         "\" would overwrite it");
}

tl::unexpected<Error> name_in_use(std::string_view collection) {
    return fail(ErrorCode::AlreadyExists,
                "collection \"" + std::string(collection) + "\" already exists");
}

tl::unexpected<Error> not_being_filled(std::string_view collection) {
    return fail(ErrorCode::Conflict,
                "collection \"" + std::string(collection) + "\" has no import under way");
}

}  // namespace braid::index
