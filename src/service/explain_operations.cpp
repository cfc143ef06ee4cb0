#include <algorithm>
#include <utility>

#include "braid/core/charge.hpp"
#include "braid/eval/compare.hpp"
#include "braid/eval/run_queries.hpp"
#include "braid/json/fields.hpp"
#include "braid/service/operations.hpp"
#include "braid/service/parameters.hpp"
#include "braid/wire/explain_json.hpp"

namespace braid::service {
namespace {

using json::Fields;

constexpr std::size_t kMaxIdBytes = 512;
constexpr std::size_t kMaxJudgements = 100'000;
constexpr std::int64_t kMaxRelevance = 1'000'000;

/// What a run can name: not empty, without white space.
Result<> check_id(const std::string& id, std::string_view what) {
    if (!id.empty() && id.size() <= kMaxIdBytes &&
        id.find_first_of(" \t\r\n\f\v") == std::string::npos) {
        return {};
    }
    return invalid_argument("an id of \"" + std::string(what) +
                            "\" is empty, too long or holds white space");
}

Result<std::vector<eval::Query>> read_queries(Fields& fields, const Limits& limits) {
    BRAID_TRY(const Array* const list, fields.array("queries"));
    if (list == nullptr) return invalid_argument("\"queries\" is required");
    if (list->empty() || list->size() > limits.eval_queries) {
        return invalid_argument("\"queries\" must hold 1 to " +
                                std::to_string(limits.eval_queries) + " queries, got " +
                                std::to_string(list->size()));
    }
    std::vector<eval::Query> queries;
    queries.reserve(list->size());
    for (std::size_t i = 0; i < list->size(); ++i) {
        BRAID_TRY(Fields query, Fields::of((*list)[i], "queries[" + std::to_string(i) + "]"));
        eval::Query& read = queries.emplace_back();
        BRAID_TRY(read.id, query.required("id", query.string("id")));
        BRAID_TRY(read.text, read_text(query, "text", limits.query_bytes));
        BRAID_CHECK(query.finish());
        BRAID_CHECK(check_id(read.id, "queries"));
    }
    std::vector<std::string_view> ids;
    ids.reserve(queries.size());
    for (const eval::Query& query : queries) ids.emplace_back(query.id);
    std::ranges::sort(ids);
    if (const auto twice = std::ranges::adjacent_find(ids); twice != ids.end()) {
        return invalid_argument("query \"" + std::string(*twice) +
                                "\" stands twice in \"queries\"");
    }
    return queries;
}

Result<eval::Qrels> read_qrels(Fields& fields) {
    BRAID_TRY(const Object* const judged, fields.object("qrels"));
    if (judged == nullptr || judged->empty()) return invalid_argument("\"qrels\" is required");
    eval::Qrels qrels;
    qrels.queries.reserve(judged->size());
    std::size_t count = 0;
    for (const auto& [query, documents] : *judged) {
        BRAID_CHECK(check_id(query, "qrels"));
        if (!documents.is_object() || documents.as_object().empty()) {
            return invalid_argument("\"qrels\" must give each query an object of document ids");
        }
        eval::JudgedQuery& entry = qrels.queries.emplace_back();
        entry.query = query;
        Fields members(documents.as_object(), "qrels");
        for (const auto& [document, relevance] : documents.as_object()) {
            BRAID_CHECK(check_id(document, "qrels"));
            BRAID_TRY(const auto number, members.integer(document, -kMaxRelevance, kMaxRelevance));
            if (!number)
                return invalid_argument("\"qrels\" must give each document a whole number");
            entry.judgements.push_back({document, static_cast<std::int32_t>(*number)});
        }
        count += entry.judgements.size();
        std::ranges::sort(entry.judgements, {}, &eval::Judgement::document);
    }
    if (count > kMaxJudgements) {
        return invalid_argument("\"qrels\" may hold " + std::to_string(kMaxJudgements) +
                                " judgements at most");
    }
    return qrels;
}

void tell(Explanation& explanation, const Caller& caller) {
    for (std::string& warning : explanation.warnings) warning = caller.told(std::move(warning));
}

Result<std::vector<eval::Measure>> read_measures(Fields& fields) {
    constexpr std::size_t max_measures = 50;
    BRAID_TRY(const auto names, fields.strings("measures"));
    if (!names || names->empty()) return eval::default_measures();
    if (names->size() > max_measures) {
        return invalid_argument("\"measures\" may name " + std::to_string(max_measures) +
                                " at most");
    }
    std::string joined;
    for (const std::string& name : *names) joined += (joined.empty() ? "" : ",") + name;
    return eval::parse_measures(joined);
}

}  // namespace

Result<std::pair<Request, std::string>> Operations::read_question(const Object& params,
                                                                  const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(auto id, fields.required("chunk_id", fields.string("chunk_id")));
    Object members = params;
    members.erase("chunk_id");
    BRAID_TRY(Request request, read_request(std::move(members), caller));
    return std::pair(std::move(request), std::move(id));
}

Result<Value> Operations::explain(const Object& params, const Caller& caller) const {
    BRAID_TRY(const auto question, read_question(params, caller));
    const auto& [request, id] = question;
    BRAID_TRY(Explanation explanation,
              database_.explain(request, id, caller.principal, caller.counted()));
    tell(explanation, caller);
    if (caller.observer != nullptr) {
        caller.observer->showed(explanation.collection, std::span(&id, 1));
    }
    return wire::explanation_to_value(explanation);
}

Result<Value> Operations::why_not(const Object& params, const Caller& caller) const {
    BRAID_TRY(const auto question, read_question(params, caller));
    const auto& [request, id] = question;
    BRAID_TRY(WhyNot why, database_.why_not(request, id, caller.principal, caller.counted()));
    tell(why.explanation, caller);
    if (caller.observer != nullptr) {
        caller.observer->showed(why.explanation.collection, std::span(&id, 1));
    }
    return wire::why_not_to_value(why);
}

Result<Value> Operations::evaluate(const Object& params, const Caller& caller) const {
    constexpr std::size_t resamples = 1000;
    Fields fields(params);
    BRAID_TRY(const auto queries, read_queries(fields, caller.limits));
    BRAID_TRY(const eval::Qrels qrels, read_qrels(fields));
    BRAID_TRY(const auto measures, read_measures(fields));
    eval::RunRequest run;
    BRAID_TRY(run.documents, read_size(fields, "documents", 100, 1, caller.limits.top_k));
    BRAID_TRY(const auto per_query, fields.boolean("per_query"));
    BRAID_TRY(const Object* const request, fields.object("request"));
    BRAID_CHECK(fields.finish());
    Object members = request != nullptr ? *request : Object();
    for (const std::string_view key : {"query", "text", "query_embedding", "cursor"}) {
        if (members.find(key) != nullptr) {
            return invalid_argument("\"request." + std::string(key) +
                                    "\" does not go with \"queries\"");
        }
    }
    BRAID_TRY(run.request, read_request(std::move(members), caller));
    BRAID_TRY(const eval::RunOutcome outcome,
              eval::run_queries(queries, run, [&](std::span<const Request> requests) {
                  Caller own = caller;  // what one batch found is gone before the next
                  own.call = core::as_another_answer(caller.counted());
                  return search_batch(requests, own);
              }));
    BRAID_TRY(const eval::Comparison comparison,
              eval::compare(qrels, std::span(&outcome.run, 1), measures, {.resamples = resamples}));
    Value out = eval::to_value(comparison, per_query.value_or(false));
    out.as_object().set("timings", eval::timings_to_value(outcome));
    return out;
}

}  // namespace braid::service
