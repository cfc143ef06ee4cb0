#include <algorithm>
#include <utility>

#include "braid/core/charge.hpp"
#include "braid/service/bounds.hpp"
#include "braid/service/operations.hpp"

namespace braid::service {
namespace {

constexpr std::size_t kMaxIdBytes = 512;
constexpr std::size_t kMaxJudgements = 100'000;
constexpr std::size_t kMaxMeasures = 50;
constexpr std::size_t kResamples = 1000;

/// An id that a run can hold: not empty, without white space.
Result<> check_id(const std::string& id, std::string_view what) {
    if (!id.empty() && id.size() <= kMaxIdBytes &&
        id.find_first_of(" \t\r\n\f\v") == std::string::npos) {
        return {};
    }
    return invalid_argument("an id of \"" + std::string(what) +
                            "\" is empty, too long or holds white space");
}

Result<> check_queries(const std::vector<eval::Query>& queries, const RequestLimits& limits) {
    BRAID_CHECK(some_members("queries", queries.size(), limits.eval_queries, "queries"));
    std::vector<std::string_view> ids;
    ids.reserve(queries.size());
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const std::string place = "queries[" + std::to_string(i) + "]";
        BRAID_CHECK(some_text(place + ".text", queries[i].text, limits.query_bytes));
        BRAID_CHECK(check_id(queries[i].id, "queries"));
        ids.emplace_back(queries[i].id);
    }
    std::ranges::sort(ids);
    if (const auto twice = std::ranges::adjacent_find(ids); twice != ids.end()) {
        return invalid_argument("query \"" + std::string(*twice) +
                                "\" appears twice in \"queries\"");
    }
    return {};
}

Result<> check_qrels(const eval::Qrels& qrels) {
    if (qrels.queries.empty()) return invalid_argument("\"qrels\" is required");
    std::size_t count = 0;
    for (const eval::JudgedQuery& query : qrels.queries) {
        BRAID_CHECK(check_id(query.query, "qrels"));
        for (const eval::Judgement& judgement : query.judgements) {
            BRAID_CHECK(check_id(judgement.document, "qrels"));
        }
        count += query.judgements.size();
    }
    if (count > kMaxJudgements) {
        return invalid_argument("\"qrels\" may hold at most " + std::to_string(kMaxJudgements) +
                                " judgements");
    }
    return {};
}

void tell(Explanation& explanation, const Caller& caller) {
    for (std::string& warning : explanation.warnings) warning = caller.told(std::move(warning));
    if (caller.observer == nullptr) return;
    caller.observer->showed(explanation.collection, std::span(&explanation.chunk_id, 1));
}

}  // namespace

Result<Explanation> Operations::perform(ExplainRequest wanted, const Caller& caller) const {
    BRAID_TRY(const Request request, admitted(std::move(wanted.request), caller));
    BRAID_TRY(Explanation explanation,
              database_.explain(request, wanted.chunk_id, caller.principal, caller.counted()));
    tell(explanation, caller);
    return explanation;
}

Result<WhyNot> Operations::perform(WhyNotRequest wanted, const Caller& caller) const {
    BRAID_TRY(const Request request, admitted(std::move(wanted.request), caller));
    BRAID_TRY(WhyNot why,
              database_.why_not(request, wanted.chunk_id, caller.principal, caller.counted()));
    tell(why.explanation, caller);
    return why;
}

Result<EvaluationReport> Operations::perform(EvaluateRequest wanted, const Caller& caller) const {
    BRAID_CHECK(check_queries(wanted.queries, caller.limits));
    BRAID_CHECK(check_qrels(wanted.qrels));
    if (wanted.measures.size() > kMaxMeasures) {
        return invalid_argument("\"measures\" may name at most " + std::to_string(kMaxMeasures));
    }
    BRAID_CHECK(from_to("documents", wanted.documents, 1, caller.limits.top_k));
    eval::RunRequest run;
    run.documents = wanted.documents;
    BRAID_TRY(run.request, admitted(std::move(wanted.request), caller));
    EvaluationReport report;
    BRAID_TRY(report.outcome,
              eval::run_queries(wanted.queries, run, [&](std::span<const Request> requests) {
                  Caller own = caller;  // what one batch found is gone before the next
                  own.call = core::as_another_answer(caller.counted());
                  return search_batch(requests, own);
              }));
    BRAID_TRY(report.comparison, eval::compare(wanted.qrels, std::span(&report.outcome.run, 1),
                                               wanted.measures, {.resamples = kResamples}));
    report.per_query = wanted.per_query;
    return report;
}

}  // namespace braid::service
