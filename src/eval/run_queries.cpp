#include "braid/eval/run_queries.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "braid/core/timings.hpp"

namespace braid::eval {
namespace {

constexpr std::size_t kMaxChunks = 10'000;  // the most one request may ask for
constexpr std::size_t kMaxWarnings = 50;    // different ones that are kept

/// Documents of an answer by their best chunk, at most `limit`.
RankedList documents_of(const Query& query, const Answer& answer, std::size_t limit) {
    RankedList list{query.id, {}};
    std::unordered_set<std::string_view> seen;
    for (const Hit& hit : answer.hits) {
        if (list.hits.size() == limit) break;
        if (!seen.insert(hit.chunk.document_id).second) continue;
        const double score =
            list.hits.empty() ? hit.score : std::min(hit.score, list.hits.back().score);
        list.hits.push_back({hit.chunk.document_id, score});
    }
    return list;
}

/// The text with every number in it as "N", so that warnings that differ in one are counted as one.
std::string without_numbers(const std::string& text) {
    std::string out;
    bool in_number = false;
    for (const char c : text) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit) out += c;
        if (digit && !in_number) out += 'N';
        in_number = digit;
    }
    return out;
}

struct Pending {
    std::size_t query;  // index
    std::size_t chunks;
};

/// Searches some of the queries; those whose chunks came from too few documents are left in
/// `pending`, to be asked for more.
class QueryRunner {
public:
    QueryRunner(std::span<const Query> queries, const RunRequest& request,
                const AnswerBatch& answer)
        : queries_(queries), request_(request), answer_(answer) {
        outcome_.run.name = request.name;
        outcome_.run.lists.resize(queries.size());
        outcome_.timings.resize(queries.size());
    }

    Result<RunOutcome> run() {
        const auto start = std::chrono::steady_clock::now();
        for (std::size_t first = 0; first < queries_.size(); first += request_.batch) {
            std::vector<Pending> pending;
            for (std::size_t i = first; i < std::min(first + request_.batch, queries_.size());
                 ++i) {
                pending.push_back({i, std::min(request_.documents, kMaxChunks)});
            }
            const std::size_t done = first + pending.size();
            while (!pending.empty()) {
                BRAID_TRY(pending, search(pending));
            }
            if (request_.progress) request_.progress(done);
        }
        outcome_.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        std::erase_if(outcome_.run.lists, [](const RankedList& list) { return list.hits.empty(); });
        return std::move(outcome_);
    }

private:
    Request request_for(const Pending& wanted) const {
        Request request = request_.request;
        request.query = queries_[wanted.query].text;
        request.top_k = wanted.chunks;
        if (!request_.vectors.empty()) request.query_embedding = request_.vectors[wanted.query];
        return request;
    }

    Result<std::vector<Pending>> search(const std::vector<Pending>& wanted) {
        std::vector<Request> requests;
        requests.reserve(wanted.size());
        for (const Pending& one : wanted) requests.push_back(request_for(one));
        auto answers = answer_(requests);
        std::vector<Pending> again;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const Query& query = queries_[wanted[i].query];
            if (!answers[i]) {
                return fail("query \"" + query.id + "\"", std::move(answers[i]).error());
            }
            const Answer& answer = *answers[i];
            core::add(outcome_.timings[wanted[i].query], answer.timings);
            RankedList list = documents_of(query, answer, request_.documents);
            const bool full = answer.hits.size() >= wanted[i].chunks;
            if (full && list.hits.size() < request_.documents && wanted[i].chunks < kMaxChunks) {
                again.push_back({wanted[i].query, std::min(wanted[i].chunks * 2, kMaxChunks)});
                continue;
            }
            note(answer);
            outcome_.run.lists[wanted[i].query] = std::move(list);
        }
        return again;
    }

    void note(const Answer& answer) {
        if (!answer.complete) ++outcome_.incomplete;
        for (const std::string& text : answer.warnings) count(without_numbers(text));
        for (const std::string& key : answer.unused) count("\"" + key + "\" has no effect here");
    }

    void count(const std::string& warning) {
        const bool known = outcome_.warnings.contains(warning);
        if (known || outcome_.warnings.size() < kMaxWarnings) ++outcome_.warnings[warning];
    }

    std::span<const Query> queries_;
    const RunRequest& request_;
    const AnswerBatch& answer_;
    RunOutcome outcome_;
};

Value statistics_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::ranges::sort(values);
    double sum = 0;
    for (const double value : values) sum += value;
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    };
    return Object{{"mean_ms", sum / static_cast<double>(values.size())},
                  {"p50_ms", at(0.5)},
                  {"p99_ms", at(0.99)},
                  {"max_ms", values.back()}};
}

}  // namespace

Result<RunOutcome> run_queries(std::span<const Query> queries, const RunRequest& request,
                               const AnswerBatch& answer) {
    if (queries.empty()) return invalid_argument("there are no queries");
    if (request.documents == 0 || request.batch == 0) {
        return invalid_argument("documents and batch must be 1 or more");
    }
    if (!request.vectors.empty() && request.vectors.size() != queries.size()) {
        return invalid_argument("there are " + std::to_string(queries.size()) + " queries, but " +
                                std::to_string(request.vectors.size()) + " query vectors");
    }
    return QueryRunner(queries, request, answer).run();
}

Value timings_to_value(const RunOutcome& outcome) {
    Object legs;
    for (const auto& [name, member] :
         {std::pair("embed", &Timings::embed_ms), std::pair("dense", &Timings::dense_ms),
          std::pair("sparse", &Timings::sparse_ms), std::pair("fusion", &Timings::fusion_ms),
          std::pair("hydrate", &Timings::hydrate_ms), std::pair("total", &Timings::total_ms)}) {
        std::vector<double> values;
        values.reserve(outcome.timings.size());
        for (const Timings& timings : outcome.timings) values.push_back(timings.*member);
        legs.set(name, statistics_of(std::move(values)));
    }
    Object warnings;
    for (const auto& [text, count] : outcome.warnings) warnings.set(text, count);
    const auto queries = static_cast<double>(outcome.timings.size());
    return Object{{"run", Value(outcome.run.name)},
                  {"queries", outcome.timings.size()},
                  {"seconds", outcome.seconds},
                  {"queries_per_second", outcome.seconds > 0 ? queries / outcome.seconds : 0.0},
                  {"incomplete", outcome.incomplete},
                  {"legs", std::move(legs)},
                  {"warnings", std::move(warnings)}};
}

}  // namespace braid::eval
