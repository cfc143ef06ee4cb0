#include "braid/apps/artifacts/hybrid_search.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "braid/backend.hpp"
#include "braid/json/fields.hpp"
#include "braid/service/parameters.hpp"
#include "braid/wire/request_json.hpp"

namespace braid::apps {
namespace {

using json::Fields;

constexpr std::string_view kProfile = "artifacts";
constexpr std::array<std::string_view, 2> kDocuments{"artifacts", "artifact_chunks"};
constexpr std::string_view kMemory = "memory";
constexpr std::string_view kHistory = "history";

/// Conditions that a request names beside its filter.
constexpr std::array<std::string_view, 8> kShorthands{
    "artifact_type", "sensitivity",   "category",       "stakes",
    "project",       "created_after", "created_before", "document_ids"};

std::size_t limit_of(const HybridSearchRequest& search, const Profile& profile,
                     std::vector<std::string>& warnings) {
    if (!search.limit) return profile.top_k;
    const auto most = static_cast<std::int64_t>(profile.max_top_k);
    std::int64_t limit = std::max<std::int64_t>(*search.limit, 1);
    if (most != 0) limit = std::min(limit, most);
    if (limit != *search.limit) {
        warnings.push_back("limit " + std::to_string(*search.limit) + " was changed to " +
                           std::to_string(limit) + ": it must be from 1" +
                           (most != 0 ? " to " + std::to_string(most) : " on"));
    }
    return static_cast<std::size_t>(limit);
}

bool exists(const service::Operations& operations, std::string_view name) {
    const std::string wanted(name);
    const auto pinned = operations.database().backend().snapshot(std::span(&wanted, 1), {});
    return pinned || pinned.error().code != ErrorCode::NotFound;
}

/// Where documents are: in the collections meant for them; where neither exists, in all that the
/// caller may see and that do not hold memories or conversations.
Result<std::vector<std::string>> document_collections(const service::Operations& operations,
                                                      const service::Caller& caller,
                                                      std::vector<std::string>& warnings) {
    std::vector<std::string> names;
    bool any = false;
    for (const std::string_view name : kDocuments) {
        if (!caller.require(service::Access::Read, name)) continue;
        names.emplace_back(name);
        any = any || exists(operations, name);
    }
    if (any) return names;
    BRAID_TRY(const auto all, operations.database().collections(caller.principal));
    std::vector<std::string> others;
    for (const CollectionInfo& info : all) {
        if (is_agent_collection(info.name) || !caller.require(service::Access::Read, info.name))
            continue;
        others.push_back(info.name);
    }
    const std::size_t most = caller.limits.collections - 2;  // room for memory and history
    if (others.size() > most) {
        warnings.push_back("only the first " + std::to_string(most) + " of " +
                           std::to_string(others.size()) +
                           " collections were searched; name the ones you want in \"collections\"");
        others.resize(most);
    }
    return others;
}

Result<std::vector<std::string>> collections_for(const service::Operations& operations,
                                                 const HybridSearchRequest& search,
                                                 const service::Caller& caller,
                                                 std::vector<std::string>& warnings) {
    std::vector<std::string> names = search.collections;
    if (names.empty()) {
        BRAID_TRY(names, document_collections(operations, caller, warnings));
    }
    const auto add = [&](std::string_view name) {
        if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
    };
    if (search.include_memory) add(kMemory);
    if (search.include_history) add(kHistory);
    return names;
}

Result<Request> request_of(const HybridSearchRequest& search,
                           const std::vector<std::string>& collections,
                           const core::Vocabulary& vocabulary) {
    Object request{{"query", Value(search.query)},
                   {"profile", kProfile},
                   {"expand_neighbors", search.expand_neighbors},
                   {"query_syntax", search.query_syntax}};
    if (search.typos) request.set("typos", *search.typos);
    if (!collections.empty()) request.set("collections", service::strings_to_array(collections));
    if (search.namespace_) request.set("namespace", *search.namespace_);
    if (search.across) request.set("across", name_of(*search.across));
    if (search.deadline_ms) request.set("deadline_ms", *search.deadline_ms);
    if (search.filters.is_object()) {
        Object filter;
        for (const auto& [key, value] : search.filters.as_object()) {
            const bool shorthand = std::ranges::find(kShorthands, key) != kShorthands.end();
            // A shorthand may also be written as a condition: {"sensitivity": {"$ne": "public"}}.
            (shorthand && !value.is_object() ? request : filter).set(key, value);
        }
        if (!filter.empty()) request.set("filter", std::move(filter));
    }
    return wire::request_from_value(request, vocabulary);
}

}  // namespace

bool is_agent_collection(std::string_view name) {
    return std::ranges::find(kDocuments, name) != kDocuments.end() || name == kMemory ||
           name == kHistory;
}

Result<HybridSearchRequest> read_hybrid_search(const Object& params) {
    Fields fields(params);
    HybridSearchRequest search;
    BRAID_TRY(search.query, fields.required("query", fields.string("query")));
    BRAID_TRY(search.limit, fields.integer("limit"));
    for (const auto& [key, target] : {std::pair("include_memory", &search.include_memory),
                                      std::pair("include_history", &search.include_history),
                                      std::pair("expand_neighbors", &search.expand_neighbors),
                                      std::pair("query_syntax", &search.query_syntax)}) {
        BRAID_TRY(const auto given, fields.boolean(key));
        *target = given.value_or(false);
    }
    BRAID_TRY(search.typos, fields.choice("typos", {"auto", "off"}));
    BRAID_TRY(const Object* const filters, fields.object("filters"));
    if (filters != nullptr) search.filters = *filters;
    BRAID_TRY(auto collections, fields.strings("collections"));
    if (collections && collections->empty()) {
        return invalid_argument(fields.complaint("collections", "a list of at least one name"));
    }
    if (collections) search.collections = *std::move(collections);
    BRAID_TRY(search.namespace_, fields.string("namespace"));
    BRAID_TRY(auto topic, fields.string("topicId"));
    if (topic && search.namespace_) {
        return invalid_argument("\"namespace\" and \"topicId\" mean the same; give one of them");
    }
    if (topic) search.namespace_ = *std::move(topic);
    BRAID_TRY(const auto across, fields.choice("across", {"ranks", "scores"}));
    if (across) search.across = across_by_name(*across);
    BRAID_TRY(search.deadline_ms, fields.integer("deadline_ms"));
    BRAID_CHECK(fields.finish());
    return search;
}

Result<Answer> hybrid_search(const service::Operations& operations,
                             const HybridSearchRequest& request, const service::Caller& caller) {
    std::vector<std::string> warnings;
    BRAID_TRY(const auto collections, collections_for(operations, request, caller, warnings));
    BRAID_TRY(Request search, request_of(request, collections, operations.database().vocabulary()));
    BRAID_TRY(const SearchTarget target, operations.database().target_of(search));
    search.top_k = limit_of(request, target.profile, warnings);
    BRAID_CHECK(operations.check(search, caller));
    auto answer = operations.search(search, caller);
    if (!answer) {
        // Where nothing has been stored yet there is nothing to find, which is no failure.
        if (answer.error().code != ErrorCode::NotFound || !request.collections.empty()) {
            return answer;
        }
        Answer nothing;
        nothing.query = request.query;
        nothing.profile = kProfile;
        nothing.warnings.push_back(answer.error().message);
        answer = std::move(nothing);
    }
    answer->warnings.insert(answer->warnings.begin(), warnings.begin(), warnings.end());
    return answer;
}

Result<Value> run_hybrid_search(const service::Operations& operations, const Object& params,
                                const service::Caller& caller) {
    BRAID_TRY(const HybridSearchRequest request, read_hybrid_search(params));
    BRAID_TRY(const Answer answer, hybrid_search(operations, request, caller));
    return hybrid_search_value(answer);
}

}  // namespace braid::apps
