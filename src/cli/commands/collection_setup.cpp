#include "braid/cli/commands/collection_setup.hpp"

#include "braid/engine/embedder_settings.hpp"
#include "braid/json/json.hpp"
#include "braid/text/analyzer.hpp"
#include "braid/wire/schema_json.hpp"

namespace braid::cli {
namespace {

/// "de" becomes "german", as the collection will store it.
Result<> use_full_language_name(Object& wanted) {
    Value* const language = wanted.find("language");
    if (language == nullptr) return {};
    text::AnalyzerOptions options;
    options.language = language->as_string();
    BRAID_TRY(const auto analyzer, text::Analyzer::create(options));
    *language = analyzer.options().language;
    return {};
}

/// Whether every member of `wanted` is in `has`, objects member by member.
bool is_part_of(const Value& wanted, const Value& has) {
    if (!wanted.is_object() || !has.is_object()) return wanted == has;
    for (const auto& [key, value] : wanted.as_object()) {
        const Value* const found = has.find(key);
        if (found == nullptr || !is_part_of(value, *found)) return false;
    }
    return true;
}

/// InvalidArgument names the first member of `wanted` that differs in the collection.
Result<> compare(const std::string& name, const Object& wanted, const Value& existing) {
    for (const auto& [key, value] : wanted) {
        const Value* const has = existing.find(key);
        if (has != nullptr && is_part_of(value, *has)) continue;
        std::string message = "collection \"" + name + "\" exists with ";
        message += key + " " + (has != nullptr ? json::print(*has) : "unset");
        message += ", not " + json::print(value);
        return invalid_argument(std::move(message));
    }
    return {};
}

}  // namespace

Result<Object> wanted_schema(const Session& session, bool has_vectors) {
    BRAID_TRY(Object wanted, session.arguments.keyed_values(kSchemaFlags));
    BRAID_CHECK(use_full_language_name(wanted));
    if (Value* const embedder = wanted.find("embedder")) {
        *embedder = engine::full_embedder_name(embedder->as_string());
    }
    if (wanted.find("embedder") == nullptr && has_vectors) wanted.set("embedder", "external");
    return wanted;
}

Result<bool> ensure_collection(const Session& session, const service::Service& service,
                               const std::string& name, bool has_vectors, Object form) {
    BRAID_TRY(Object wanted, wanted_schema(session, has_vectors));
    const auto existing = service.schema(name);
    if (existing) {
        BRAID_CHECK(compare(name, wanted, wire::schema_to_value(*existing)));
        return false;
    }
    if (existing.error().code != ErrorCode::NotFound) {
        return tl::unexpected<Error>(existing.error());
    }
    if (wanted.find("embedder") == nullptr) {
        wanted.set("embedder", session.settings.text("embedder"));
    }
    for (const auto& [key, value] : wanted) form.set(key, value);
    service::CreateCollectionRequest request{.name = name};
    BRAID_TRY(request.schema, wire::schema_from_value(form));
    BRAID_CHECK(service.run(std::move(request)));
    return true;
}

Result<std::unique_ptr<service::Service>> service_to_look_at(const Session& session,
                                                             const std::string& collection) {
    auto present = session.service_for_reading();
    if (present && (*present)->schema(collection)) return present;
    if (!present && present.error().code != ErrorCode::NotFound) return present;
    BRAID_TRY(Database empty, Database::in_memory());
    BRAID_CHECK(empty.create_collection(collection));
    return service::local_service(std::move(empty), {});
}

}  // namespace braid::cli
