#include "braid/remote/kept.hpp"

#include <utility>

#include "braid/json/json.hpp"
#include "braid/remote/bulk.hpp"

namespace braid::remote {

std::string probes_name(const std::string& namespace_) {
    return ":probes:" + document_key(namespace_, "");
}

Result<Kept> read_kept(const ClusterCore& core, const RemoteCollection& collection,
                       const std::string& name, bool with_text, const CallLimits& limits) {
    const std::string path = collection.path + "/_mget" + (with_text ? "" : "?_source=version");
    BRAID_TRY(
        const Value answer,
        core.client().ask("POST", path, json::print(Object{{"ids", Array{Value(name)}}}), limits));
    const Value* const docs = answer.find("docs");
    if (docs == nullptr || !docs->is_array() || docs->as_array().size() != 1) {
        return fail(ErrorCode::Unavailable, "the cluster did not answer for \"" + name + "\"");
    }
    const Value& document = docs->as_array().front();
    if (const Value* const error = document.find("error"); error != nullptr) {
        return tl::unexpected<Error>(error_of(503, *error, "reading from the cluster"));
    }
    BRAID_TRY(const StoredVersion stored, read_stored_version(document));
    Kept kept{.text = {}, .dependency = stored.dependency};
    const Value* const source = document.find("_source");
    const Value* const text = source != nullptr ? source->find("kept") : nullptr;
    if (text != nullptr && text->is_string()) kept.text = text->as_string();
    return kept;
}

Result<> write_kept(const ClusterCore& core, const RemoteCollection& collection,
                    const std::string& name, const std::string& text, const CallLimits& limits) {
    BRAID_TRY(const Kept there, read_kept(core, collection, name, false, limits));
    const Object document{{"version", Value(Version{1})}, {"kept", Value(text)}};
    std::string lines = bulk_action(name, there.dependency) + json::print(document) + "\n";
    BRAID_TRY(
        const ClusterAnswer answer,
        core.client().send_lines(collection.write_path + "/_bulk?timeout=5s&require_alias=true",
                                 std::move(lines), limits));
    if (answer.status >= 300) {
        return tl::unexpected<Error>(
            error_of(answer.status, answer.body, "writing to the cluster"));
    }
    const Value* const items = answer.body.find("items");
    if (items == nullptr || !items->is_array() || items->as_array().size() != 1) {
        return fail(ErrorCode::Unavailable, "the cluster did not say whether it wrote");
    }
    const auto outcome = outcome_of(items->as_array().front(), true);
    if (outcome->kind == BulkOutcome::Kind::Conflict) {
        // Perhaps by this same request, whose answer was lost.
        const auto now = read_kept(core, collection, name, true, limits);
        if (now && now->text == text) return {};
        return fail(ErrorCode::Conflict, "another program changed it at the same moment");
    }
    if (outcome->kind == BulkOutcome::Kind::Failed) return tl::unexpected<Error>(outcome->error);
    return {};
}

}  // namespace braid::remote
