#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "braid/core/rfc3339.hpp"
#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"
#include "braid/service/bounds.hpp"
#include "braid/service/operation_json.hpp"
#include "braid/service/parameters.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/request_json.hpp"
#include "braid/wire/schema_json.hpp"

namespace braid::service {
namespace {

using json::Fields;

constexpr std::int64_t kMaxRelevance = 1'000'000;

/// The parameters of one call, and what reading them depends on.
struct Given {
    const Object& params;
    const core::Vocabulary& vocabulary;
    const Caller& caller;
    Fields fields{params};

    const RequestLimits& limits() const { return caller.limits; }
};

std::string place(std::string_view key, std::size_t i) {
    return std::string(key) + "[" + std::to_string(i) + "]";
}

Result<const Array*> read_list(Fields& fields, std::string_view key, std::size_t limit,
                               std::string_view members = "members") {
    BRAID_TRY(const Array* const list, fields.array(key));
    if (list == nullptr) return invalid_argument("\"" + fields.path_of(key) + "\" is required");
    BRAID_CHECK(some_members(fields.path_of(key), list->size(), limit, members));
    return list;
}

Result<> read_flag(Fields& fields, std::string_view key, bool& into) {
    BRAID_TRY(const auto flag, fields.boolean(key));
    into = flag.value_or(false);
    return {};
}

Result<std::optional<Schema>> read_schema(Fields& fields) {
    const Value* const json = fields.any("schema");
    if (json == nullptr || json->is_null()) return std::nullopt;
    BRAID_TRY(Schema schema, wire::schema_from_value(*json));
    return schema;
}

/// A request together with one member of the operation's own.
Result<Request> read_request_beside(const Given& given, std::string_view key) {
    Object members = given.params;
    members.erase(key);
    return wire::request_from_value(members, given.vocabulary);
}

template <class Question>
Result<> read_question(Given& given, Question& out) {
    BRAID_TRY(out.chunk_id, given.fields.required("chunk_id", given.fields.string("chunk_id")));
    BRAID_TRY(out.request, read_request_beside(given, "chunk_id"));
    return {};
}

/// "collection", which has no default.
template <class Whole>
Result<> read_whole(Given& given, Whole& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.collection, fields.required("collection", fields.string("collection")));
    return fields.finish();
}

Result<std::vector<eval::Query>> read_queries(Given& given) {
    BRAID_TRY(const Array* const list,
              read_list(given.fields, "queries", given.limits().eval_queries, "queries"));
    std::vector<eval::Query> queries;
    queries.reserve(list->size());
    for (std::size_t i = 0; i < list->size(); ++i) {
        BRAID_TRY(Fields query, Fields::of((*list)[i], place("queries", i)));
        eval::Query& read = queries.emplace_back();
        BRAID_TRY(read.id, query.required("id", query.string("id")));
        BRAID_TRY(read.text, read_text(query, "text", given.limits().query_bytes));
        BRAID_CHECK(query.finish());
    }
    return queries;
}

Result<eval::Qrels> read_qrels(Fields& fields) {
    BRAID_TRY(const Object* const judged, fields.object("qrels"));
    if (judged == nullptr || judged->empty()) return invalid_argument("\"qrels\" is required");
    eval::Qrels qrels;
    qrels.queries.reserve(judged->size());
    for (const auto& [query, documents] : *judged) {
        if (!documents.is_object() || documents.as_object().empty()) {
            return invalid_argument("\"qrels\" must give each query an object of document ids");
        }
        eval::JudgedQuery& entry = qrels.queries.emplace_back();
        entry.query = query;
        Fields members(documents.as_object(), "qrels");
        for (const auto& [document, relevance] : documents.as_object()) {
            BRAID_TRY(const auto number, members.integer(document, -kMaxRelevance, kMaxRelevance));
            if (!number)
                return invalid_argument("\"qrels\" must give each document a whole number");
            entry.judgements.push_back({document, static_cast<std::int32_t>(*number)});
        }
        std::ranges::sort(entry.judgements, {}, &eval::Judgement::document);
    }
    return qrels;
}

Result<std::vector<eval::Measure>> read_measures(Fields& fields) {
    BRAID_TRY(const auto names, fields.strings("measures"));
    if (!names || names->empty()) return eval::default_measures();
    std::string joined;
    for (const std::string& name : *names) joined += (joined.empty() ? "" : ",") + name;
    return eval::parse_measures(joined);
}

Result<MetadataUpdate> read_update(const Value& json) {
    BRAID_TRY(Fields fields, Fields::of(json));
    MetadataUpdate update;
    BRAID_TRY(update.chunk_id, fields.required("chunk_id", fields.string("chunk_id")));
    BRAID_TRY(const Object* const metadata, fields.object("metadata"));
    if (metadata != nullptr) update.metadata = *metadata;
    for (const auto& [key, into] : {std::pair("created_at", &update.created_at),
                                    std::pair("expires_at", &update.expires_at)}) {
        BRAID_TRY(const auto time, fields.string(key));
        if (!time) continue;
        BRAID_TRY(*into, core::parse_rfc3339(*time));
    }
    BRAID_TRY(update.sensitivity, fields.string("sensitivity"));
    BRAID_TRY(update.visibility_scope, fields.strings("visibility_scope"));
    BRAID_CHECK(fields.finish());
    return update;
}

/// A chunk that names another namespace than the call's is refused, because a call is written
/// whole or not at all.
Result<> read_chunks(const Given& given, const Array& list, AddRequest& out) {
    const std::string target = out.at.namespace_.value_or(given.caller.namespaces.usual());
    out.chunks.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        auto input = wire::chunk_from_value(list[i], given.vocabulary);
        if (!input) return fail(place("chunks", i), std::move(input).error());
        if (auto fits = wire::check_namespace(*input, target); !fits) {
            return fail(place("chunks", i), std::move(fits).error());
        }
        for (std::string& warning : input->warnings) {
            out.warnings.push_back(place("chunks", i) + ": " + std::move(warning));
        }
        out.chunks.push_back(std::move(input->chunk));
    }
    return {};
}

Result<> read(Given& given, ContextRequest& out) {
    BRAID_TRY(out.budget,
              read_size(given.fields, "budget", out.budget, 1, ContextRequest::kMaxBudget));
    BRAID_TRY(out.request, read_request_beside(given, "budget"));
    return {};
}

Result<> read(Given& given, ExplainRequest& out) {
    return read_question(given, out);
}

Result<> read(Given& given, WhyNotRequest& out) {
    return read_question(given, out);
}

Result<> read(Given& given, EvaluateRequest& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.queries, read_queries(given));
    BRAID_TRY(out.qrels, read_qrels(fields));
    BRAID_TRY(out.measures, read_measures(fields));
    BRAID_TRY(out.documents,
              read_size(fields, "documents", out.documents, 1, given.limits().top_k));
    BRAID_CHECK(read_flag(fields, "per_query", out.per_query));
    BRAID_TRY(const Object* const request, fields.object("request"));
    BRAID_CHECK(fields.finish());
    if (request == nullptr) return {};
    for (const std::string_view key : {"query", "text", "query_embedding", "cursor"}) {
        if (request->find(key) != nullptr) {
            return invalid_argument("\"request." + std::string(key) +
                                    "\" cannot be used with \"queries\"");
        }
    }
    BRAID_TRY(out.request, wire::request_from_value(*request, given.vocabulary));
    return {};
}

Result<> read(Given& given, AddRequest& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.at, read_place(fields));
    BRAID_TRY(const Array* const list, read_list(fields, "chunks", given.limits().chunks));
    BRAID_TRY(out.if_version, read_if_version(fields));
    BRAID_CHECK(read_flag(fields, "replace_documents", out.replace_documents));
    BRAID_CHECK(read_flag(fields, "skip_unchanged", out.skip_unchanged));
    fields.any("schema");
    BRAID_CHECK(fields.finish());
    BRAID_CHECK(read_chunks(given, *list, out));
    BRAID_TRY(out.schema, read_schema(fields));
    return {};
}

Result<> read(Given& given, UpdateRequest& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.at, read_place(fields));
    BRAID_TRY(const Array* const list, read_list(fields, "updates", given.limits().chunks));
    BRAID_TRY(out.if_version, read_if_version(fields));
    BRAID_CHECK(fields.finish());
    out.updates.reserve(list->size());
    for (std::size_t i = 0; i < list->size(); ++i) {
        auto update = read_update((*list)[i]);
        if (!update) return fail(place("updates", i), std::move(update).error());
        out.updates.push_back(*std::move(update));
    }
    return {};
}

Result<> read(Given& given, RemoveRequest& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.at, read_place(fields));
    BRAID_TRY(out.if_version, read_if_version(fields));
    for (const auto& [key, ids] : {std::pair("chunk_ids", &out.which.chunk_ids),
                                   std::pair("document_ids", &out.which.document_ids)}) {
        const Value* const listed = fields.any(key);
        if (listed == nullptr || listed->is_null()) continue;
        BRAID_TRY(*ids, read_ids(fields, key, given.limits().ids));
    }
    BRAID_TRY(out.which.filter, read_filter(fields));
    BRAID_CHECK(read_flag(fields, "everything", out.everything));
    return fields.finish();
}

Result<> read(Given& given, ChunkRequest& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.at, read_place(fields));
    BRAID_TRY(out.chunk_id, fields.required("chunk_id", fields.string("chunk_id")));
    BRAID_CHECK(read_flag(fields, "vectors", out.vectors));
    return fields.finish();
}

Result<> read(Given& given, GetRequest& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.at, read_place(fields));
    BRAID_TRY(out.chunk_ids, read_ids(fields, "chunk_ids", given.limits().ids));
    BRAID_CHECK(read_flag(fields, "vectors", out.vectors));
    return fields.finish();
}

Result<> read(Given& given, ScanRequest& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.at, read_place(fields));
    BRAID_TRY(out.filter, read_filter(fields));
    BRAID_TRY(auto after, fields.string("after"));
    out.after = std::move(after).value_or("");
    BRAID_TRY(out.limit, read_size(fields, "limit", out.limit, 1, given.limits().ids));
    BRAID_CHECK(read_flag(fields, "vectors", out.vectors));
    return fields.finish();
}

Result<> read(Given& given, DocumentRequest& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.at, read_place(fields));
    BRAID_TRY(out.document_id, fields.required("document_id", fields.string("document_id")));
    return fields.finish();
}

Result<> read(Given& given, NeighborsRequest& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.at, read_place(fields));
    BRAID_TRY(out.chunk_id, fields.required("chunk_id", fields.string("chunk_id")));
    BRAID_TRY(out.count, read_size(fields, "count", out.count, 0, given.limits().neighbors));
    return fields.finish();
}

Result<> read(Given& given, FacetsRequest& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.at, read_place(fields));
    BRAID_TRY(out.filter, read_filter(fields));
    BRAID_TRY(const auto field, fields.string("field"));
    out.field = field.value_or("");
    BRAID_TRY(out.limit, read_size(fields, "limit", out.limit, 1, FacetsRequest::kMaxValues));
    return fields.finish();
}

Result<> read(Given& given, HighlightRequest& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.at, read_place(fields));
    BRAID_TRY(out.query, read_text(fields, "query", given.limits().query_bytes));
    BRAID_TRY(out.texts, read_ids(fields, "texts", given.limits().ids));
    BRAID_TRY(out.window, read_size(fields, "window", out.window, 1, HighlightRequest::kMaxWindow));
    return fields.finish();
}

Result<> read(Given& given, CountRequest& out) {
    BRAID_TRY(out.at, read_place(given.fields));
    BRAID_TRY(out.filter, read_filter(given.fields));
    return given.fields.finish();
}

Result<> read(Given& given, CreateCollectionRequest& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.name, fields.required("name", fields.string("name")));
    fields.any("schema");
    BRAID_CHECK(read_flag(fields, "unfinished", out.unfinished));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(out.schema, read_schema(fields));
    return {};
}

Result<> read(Given& given, DescribeRequest& out) {
    BRAID_TRY(out.at, read_place(given.fields));
    return given.fields.finish();
}

Result<> read(Given& given, StatsRequest& out) {
    BRAID_TRY(out.at, read_place(given.fields));
    BRAID_TRY(const auto probe, given.fields.boolean("probe"));
    out.probe = probe.value_or(false);
    return given.fields.finish();
}

Result<> read(Given& given, FinishCollectionRequest& out) {
    return read_whole(given, out);
}

Result<> read(Given& given, DropCollectionRequest& out) {
    return read_whole(given, out);
}

Result<> read(Given& given, CompactRequest& out) {
    return read_whole(given, out);
}

Result<> read(Given& given, ReembedRequest& out) {
    BRAID_TRY(out.embedder, given.fields.string("embedder"));
    return read_whole(given, out);
}

Result<> read(Given& given, ClickRequest& out) {
    Fields& fields = given.fields;
    BRAID_TRY(out.id, fields.required("id", fields.string("id")));
    BRAID_TRY(out.chunk_id, fields.required("chunk_id", fields.string("chunk_id")));
    return fields.finish();
}

Result<> read(Given& given, RankerRequest& out) {
    return read_whole(given, out);
}

Result<> read(Given& given, SetRankerRequest& out) {
    const Value* const model = given.fields.any("ranker");
    if (model == nullptr) {
        return invalid_argument("\"ranker\" is required: a learned ranking, or null for none");
    }
    if (!model->is_null()) out.model = json::print(*model);
    return read_whole(given, out);
}

Result<> read(Given& given, WhoamiRequest& /*out*/) {
    return given.fields.finish();
}

Result<> read(Given& given, CollectionsRequest& /*out*/) {
    return given.fields.finish();
}

Result<> read(Given& given, CheckRequest& /*out*/) {
    return given.fields.finish();
}

}  // namespace

template <class Operation>
Result<Operation> operation_from_params(const Object& params, const core::Vocabulary& vocabulary,
                                        const Caller& caller) {
    Given given{params, vocabulary, caller};
    Operation operation;
    BRAID_CHECK(read(given, operation));
    return operation;
}

template Result<ContextRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                      const Caller&);
template Result<ExplainRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                      const Caller&);
template Result<WhyNotRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                     const Caller&);
template Result<EvaluateRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                       const Caller&);
template Result<AddRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                  const Caller&);
template Result<UpdateRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                     const Caller&);
template Result<RemoveRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                     const Caller&);
template Result<ChunkRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                    const Caller&);
template Result<GetRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                  const Caller&);
template Result<ScanRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                   const Caller&);
template Result<DocumentRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                       const Caller&);
template Result<NeighborsRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                        const Caller&);
template Result<FacetsRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                     const Caller&);
template Result<HighlightRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                        const Caller&);
template Result<WhoamiRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                     const Caller&);
template Result<CountRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                    const Caller&);
template Result<CollectionsRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                          const Caller&);
template Result<DescribeRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                       const Caller&);
template Result<CreateCollectionRequest> operation_from_params(const Object&,
                                                               const core::Vocabulary&,
                                                               const Caller&);
template Result<FinishCollectionRequest> operation_from_params(const Object&,
                                                               const core::Vocabulary&,
                                                               const Caller&);
template Result<DropCollectionRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                             const Caller&);
template Result<StatsRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                    const Caller&);
template Result<ClickRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                    const Caller&);
template Result<RankerRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                     const Caller&);
template Result<SetRankerRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                        const Caller&);
template Result<CompactRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                      const Caller&);
template Result<ReembedRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                      const Caller&);
template Result<CheckRequest> operation_from_params(const Object&, const core::Vocabulary&,
                                                    const Caller&);

}  // namespace braid::service
