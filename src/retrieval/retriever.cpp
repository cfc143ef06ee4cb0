#include "braid/retrieval/retriever.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <unordered_set>
#include <utility>

#include "braid/retrieval/plan.hpp"
#include "braid/retrieval/receipt.hpp"

namespace braid::retrieval {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// One leg of the request and what became of it.
struct LegRun {
    LegKind kind = LegKind::Sparse;
    double weight = 1;
    Leg leg;
    std::optional<LegResult> result;
    std::optional<Error> error;
    bool failure_reported = false;
    double time_ms = 0;
    std::size_t candidates = 0;  // of the first band
};

/// A hit before its chunk is fetched.
struct Candidate {
    std::string chunk_id;
    Receipt receipt;
};

/// The work on one request.
class Retrieval {
public:
    Retrieval(const Backend& backend, const QueryEmbedder& embedder, const LogSink& log,
              const Request& request, const Principal& principal, CallLimits limits)
        : backend_(backend),
          embedder_(embedder),
          log_(log),
          request_(request),
          principal_(principal),
          limits_(std::move(limits)) {}

    Result<Answer> run(const Profile& profile) {
        const auto start = Clock::now();
        BRAID_TRY(const std::string collection, collection_of(request_, profile));
        const std::vector<std::string> names{collection};
        BRAID_TRY(snapshot_, backend_.snapshot(names));
        BRAID_TRY(schema_, backend_.schema(snapshot_, collection));
        BRAID_TRY(plan_, make_plan(request_, profile, schema_));
        answer_.query = request_.query;
        answer_.strategy_used = plan_.strategy;
        answer_.warnings = plan_.warnings;
        answer_.unused = plan_.unused;

        if (auto note = backend_.rewriting(collection)) {
            answer_.warnings.push_back(*std::move(note));
        }
        prepare_legs();
        BRAID_CHECK(search_legs());
        BRAID_CHECK(collect());
        report_sources();
        BRAID_CHECK(hydrate());
        answer_.timings.total_ms = milliseconds_since(start);
        log_finished();
        return std::move(answer_);
    }

private:
    void prepare_legs() {
        const auto add = [&](LegKind kind, std::size_t depth, double weight) -> LegRun& {
            LegRun& run = legs_.emplace_back();
            run.kind = kind;
            run.weight = weight;
            run.leg.kind = kind;
            run.leg.scope = {plan_.collection, plan_.namespace_, principal_, plan_.filter};
            run.leg.depth = depth;
            run.leg.exact = request_.exact;
            return run;
        };
        if (plan_.dense) {
            LegRun& run = add(LegKind::Dense, plan_.dense_depth, plan_.dense_weight);
            if (auto vector = query_vector()) {
                run.leg.vector = *std::move(vector);
            } else {
                run.error = std::move(vector).error();
            }
        }
        if (plan_.sparse) {
            LegRun& run = add(LegKind::Sparse, plan_.sparse_depth, plan_.sparse_weight);
            run.leg.texts = {request_.query};
            run.leg.query_syntax = request_.query_syntax;
        }
    }

    Result<std::vector<float>> query_vector() {
        if (!request_.query_embedding.empty()) return request_.query_embedding;
        if (schema_.vectors.embedder == "external") {
            return fail(ErrorCode::InvalidArgument,
                        "the vectors of collection \"" + plan_.collection +
                            "\" come from outside: pass \"query_embedding\"");
        }
        const auto start = Clock::now();
        auto embedded = embedder_(schema_, request_.query, limits_);
        answer_.timings.embed_ms = milliseconds_since(start);
        if (!embedded) return fail("embedding the query", std::move(embedded).error());
        answer_.query_embedding_cached = embedded->cached;
        std::ranges::move(embedded->warnings, std::back_inserter(answer_.warnings));
        return std::move(embedded->vector);
    }

    /// Runs the legs that can run. An error only if no leg is left.
    Result<> search_legs() {
        std::vector<Leg> legs;
        std::vector<LegRun*> runs;
        for (LegRun& run : legs_) {
            if (run.error) continue;
            legs.push_back(run.leg);
            runs.push_back(&run);
        }
        auto results = backend_.search(snapshot_, legs, limits_);
        for (std::size_t i = 0; i < results.size(); ++i) {
            if (results[i]) {
                runs[i]->time_ms += results[i]->time_ms;
                runs[i]->result = *std::move(results[i]);
            } else {
                runs[i]->error = std::move(results[i]).error();
            }
        }
        const bool none = std::ranges::none_of(legs_, [](const LegRun& r) { return !r.error; });
        if (none) return tl::unexpected(*legs_.front().error);
        for (LegRun& run : legs_) {
            if (!run.error || std::exchange(run.failure_reported, true)) continue;
            answer_.complete = false;
            const std::string message =
                "the " + std::string(name_of(run.kind)) +
                " leg failed, the answer rests on the other: " + run.error->message;
            answer_.warnings.push_back(message);
            if (log_) log_({LogEvent::Level::Warning, "leg_failed", message});
        }
        return {};
    }

    /// Fuses the lists; while they hold too few hits and more chunks match, goes deeper. Hits of a
    /// deeper band rank below all that came before, whose scores stay as they are.
    Result<> collect() {
        const auto start = Clock::now();
        for (LegRun& run : legs_) {
            if (run.result) run.candidates = run.result->hits.size();
        }
        BRAID_CHECK(add_band());
        const std::size_t first_band = candidates_.size();
        double deeper_ms = 0;
        while (candidates_.size() < plan_.top_k && !below_threshold_ && can_go_deeper()) {
            const auto search_start = Clock::now();
            for (LegRun& run : legs_) run.leg.depth *= 2;
            BRAID_CHECK(search_legs());
            deeper_ms += milliseconds_since(search_start);
            BRAID_CHECK(add_band());
        }
        if (candidates_.size() > first_band && first_band < plan_.top_k) {
            answer_.warnings.push_back("hits from rank " + std::to_string(first_band + 1) +
                                       " on lie below the depth of the legs and rank after the "
                                       "others, whatever their score");
        }
        if (candidates_.size() > plan_.top_k) candidates_.resize(plan_.top_k);
        answer_.timings.fusion_ms = milliseconds_since(start) - deeper_ms;
        return {};
    }

    bool can_go_deeper() const {
        return std::ranges::any_of(legs_, [](const LegRun& run) {
            return run.result && run.result->hits.size() < run.result->matched;
        });
    }

    /// Adds the hits of the lists that no earlier band held.
    Result<> add_band() {
        if (plan_.strategy != Strategy::Hybrid) {
            add_single_list();
            return {};
        }
        std::vector<std::vector<fusion::Entry>> entries;
        std::vector<fusion::RankedList> lists;
        for (const LegRun& run : legs_) {
            auto& list = entries.emplace_back();
            if (!run.result) continue;
            const std::vector<LegHit>& hits = run.result->hits;
            for (std::size_t i = 0; i < hits.size(); ++i) {
                if (!seen_.contains(hits[i].chunk_id)) {
                    list.push_back({hits[i].chunk_id, hits[i].score, i});
                }
            }
        }
        if (plan_.fill_scores) BRAID_CHECK(fill_scores(entries));
        for (std::size_t i = 0; i < legs_.size(); ++i) {
            lists.push_back({name_of(legs_[i].kind), legs_[i].weight, entries[i]});
        }
        BRAID_TRY(const fusion::Fused fused, fusion::fuse(lists, plan_.fusion));
        for (const fusion::FusedHit& hit : fused.hits) {
            add_candidate(std::string(hit.id),
                          receipt_of(fused, hit, lists, plan_.fusion, schema_.vectors.metric));
        }
        return {};
    }

    void add_single_list() {
        const LegRun& run = legs_.front();
        const std::vector<LegHit>& hits = run.result->hits;
        for (std::size_t i = 0; i < hits.size(); ++i) {
            if (seen_.contains(hits[i].chunk_id)) continue;
            add_candidate(hits[i].chunk_id, plain_receipt(name_of(run.kind), hits[i].score, i + 1,
                                                          schema_.vectors.metric));
        }
    }

    void add_candidate(std::string id, Receipt receipt) {
        seen_.insert(id);
        if (plan_.score_threshold && receipt.fused < *plan_.score_threshold) {
            below_threshold_ = true;
            return;
        }
        candidates_.push_back({std::move(id), std::move(receipt)});
    }

    /// Gives every chunk that some list holds its true score in the lists that do not.
    Result<> fill_scores(std::vector<std::vector<fusion::Entry>>& entries) {
        std::vector<std::string_view> all;
        std::unordered_set<std::string_view> known;
        for (const auto& list : entries) {
            for (const fusion::Entry& entry : list) {
                if (known.insert(entry.id).second) all.push_back(entry.id);
            }
        }
        for (std::size_t i = 0; i < legs_.size(); ++i) {
            if (!legs_[i].result) continue;
            std::unordered_set<std::string_view> present;
            for (const fusion::Entry& entry : entries[i]) present.insert(entry.id);
            std::vector<std::string> missing;
            for (const std::string_view id : all) {
                if (!present.contains(id)) missing.emplace_back(id);
            }
            BRAID_TRY(const auto scores, backend_.score(snapshot_, legs_[i].leg, missing));
            for (std::size_t m = 0; m < missing.size(); ++m) {
                if (!scores[m]) continue;
                const std::string_view id = filled_ids_.emplace_back(missing[m]);
                entries[i].push_back({id, *scores[m], fusion::Entry::kUnranked});
            }
        }
        return {};
    }

    void report_sources() {
        for (const LegRun& run : legs_) {
            SourceReport& report = answer_.sources.emplace_back();
            report.source = name_of(run.kind);
            report.collection = plan_.collection;
            report.depth = run.kind == LegKind::Dense ? plan_.dense_depth : plan_.sparse_depth;
            report.ran = run.result.has_value();
            report.time_ms = run.time_ms;
            report.candidates = run.candidates;
            if (run.result) {
                report.matched = run.result->matched;
                report.exact = run.result->exact;
                report.method = run.result->method;
                std::ranges::copy(run.result->warnings, std::back_inserter(answer_.warnings));
            }
            if (run.error) report.error = run.error->message;
            answer_.total_candidates += report.candidates;
            if (run.kind == LegKind::Dense) {
                answer_.dense_candidates = report.candidates;
                answer_.timings.dense_ms = report.time_ms;
            } else {
                answer_.sparse_candidates = report.candidates;
                answer_.timings.sparse_ms = report.time_ms;
            }
        }
    }

    /// Fetches the chunks of the hits that are left.
    Result<> hydrate() {
        const auto start = Clock::now();
        const ReadScope scope{plan_.collection, plan_.namespace_, principal_, std::nullopt};
        std::vector<std::string> ids;
        for (const Candidate& candidate : candidates_) ids.push_back(candidate.chunk_id);
        BRAID_TRY(auto chunks, backend_.fetch(snapshot_, scope, ids, false));
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            if (!chunks[i]) continue;
            Hit& hit = answer_.hits.emplace_back();
            hit.collection = plan_.collection;
            hit.namespace_ = plan_.namespace_;
            hit.chunk = *std::move(chunks[i]);
            hit.strategy = plan_.strategy;
            hit.rank = answer_.hits.size();
            hit.receipt = std::move(candidates_[i].receipt);
            hit.score = hit.receipt.score;
            for (const ReceiptSource& source : hit.receipt.sources) {
                (source.source == "dense" ? hit.dense_score : hit.sparse_score) = source.score;
            }
            if (plan_.expand_neighbors > 0) BRAID_CHECK(expand(scope, hit));
        }
        answer_.timings.hydrate_ms = milliseconds_since(start);
        return {};
    }

    /// Puts the chunks before and after around the hit's text; no index, no expansion.
    Result<> expand(const ReadScope& scope, Hit& hit) {
        if (!hit.chunk.chunk_index) return {};
        BRAID_TRY(
            const auto chunks,
            backend_.neighbors(snapshot_, scope, hit.chunk.document_id, *hit.chunk.chunk_index,
                               plan_.expand_neighbors, plan_.expand_neighbors));
        std::string text;
        for (const Chunk& chunk : chunks) {
            if (!text.empty()) text += "\n[CHUNK BOUNDARY]\n";
            text += chunk.content;
        }
        hit.expanded = std::move(text);
        return {};
    }

    void log_finished() const {
        if (!log_) return;
        const Timings& t = answer_.timings;
        log_({LogEvent::Level::Info, "retrieval_completed",
              "vector_search_ms=" + std::to_string(t.dense_ms) + " bm25_search_ms=" +
                  std::to_string(t.sparse_ms) + " fusion_ms=" + std::to_string(t.fusion_ms) +
                  " total_ms=" + std::to_string(t.total_ms) +
                  " hits=" + std::to_string(answer_.hits.size())});
    }

    const Backend& backend_;
    const QueryEmbedder& embedder_;
    const LogSink& log_;
    const Request& request_;
    const Principal& principal_;
    const CallLimits limits_;

    SnapshotPtr snapshot_;
    Schema schema_;
    Plan plan_;
    std::vector<LegRun> legs_;
    std::vector<Candidate> candidates_;
    std::unordered_set<std::string> seen_;
    std::deque<std::string> filled_ids_;  // ids that entries borrow
    bool below_threshold_ = false;
    Answer answer_;
};

}  // namespace

Retriever::Retriever(const Backend& backend, QueryEmbedder embedder, std::vector<Profile> profiles,
                     LogSink log)
    : backend_(backend),
      embedder_(std::move(embedder)),
      profiles_(std::move(profiles)),
      log_(std::move(log)) {}

Result<Answer> Retriever::retrieve(const Request& request, const Principal& principal,
                                   const CallLimits& limits) const {
    BRAID_TRY(const Profile profile, find_profile(request.profile, profiles_));
    CallLimits own = limits;
    if (request.deadline_ms) {
        if (*request.deadline_ms < 1) {
            return fail(ErrorCode::InvalidArgument, "\"deadline_ms\" must be 1 or more");
        }
        const auto deadline = Clock::now() + std::chrono::milliseconds(*request.deadline_ms);
        if (!own.deadline || deadline < *own.deadline) own.deadline = deadline;
    }
    return Retrieval(backend_, embedder_, log_, request, principal, std::move(own)).run(profile);
}

}  // namespace braid::retrieval
