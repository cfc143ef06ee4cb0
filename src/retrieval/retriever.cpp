#include "braid/retrieval/retriever.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "braid/retrieval/collections.hpp"
#include "braid/retrieval/hydrate.hpp"
#include "braid/retrieval/legs.hpp"
#include "braid/retrieval/plan.hpp"
#include "braid/retrieval/stages.hpp"
#include "braid/retrieval/work.hpp"

namespace braid::retrieval {
namespace {

Timestamp system_now() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

/// The work on one request.
class Retrieval {
public:
    Retrieval(Work work, std::span<const CustomStage> custom, Timestamp now)
        : work_(std::move(work)), custom_(custom), now_(now), legs_(work_), merge_(work_) {}

    Result<Answer> run(const Profile& profile) {
        const auto start = Clock::now();
        BRAID_CHECK(open(profile));
        BRAID_CHECK(legs_.start());
        BRAID_CHECK(rank());
        report();
        const auto hydrate_start = Clock::now();
        const std::size_t shown = std::min(ranked_.size(), work_.plan.top_k);
        BRAID_CHECK(add_hits(work_, std::span(ranked_).first(shown), 0));
        Timings& timings = work_.answer.timings;
        timings.hydrate_ms = milliseconds_since(hydrate_start);
        timings.total_ms = milliseconds_since(start);
        log_finished();
        return std::move(work_.answer);
    }

private:
    /// Pins the collections and plans what to do with them.
    Result<> open(const Profile& profile) {
        BRAID_TRY(stages_, StagePipeline::create(work_.request.stages, custom_));
        BRAID_TRY(const auto names, collections_of(work_.request, profile));
        BRAID_TRY(OpenedCollections opened, open_collections(work_.backend, names));
        work_.snapshot = std::move(opened.snapshot);
        BRAID_TRY(work_.plan, make_plan(work_.request, profile, names, std::move(opened.found),
                                        stages_.leg_filters(now_)));
        Answer& answer = work_.answer;
        answer.query = work_.request.query;
        answer.strategy_used = work_.plan.strategy;
        answer.warnings = work_.plan.warnings;
        answer.unused = work_.plan.unused;
        for (const std::string& name : opened.missing) {
            answer.warnings.push_back("there is no collection \"" + name +
                                      "\": only the others were searched");
        }
        for (const auto& [name, error] : opened.broken) {
            work_.fell_short("collection_failed",
                             "collection \"" + name + "\" cannot be read: " + error.message);
            broken_.emplace_back(name, error.message);
        }
        for (const std::string& reason : work_.plan.shortfalls) {
            work_.fell_short("collection_failed", reason);
        }
        for (const CollectionPlan& collection : work_.plan.collections) {
            if (auto note = work_.backend.rewriting(collection.name)) {
                answer.warnings.push_back(*std::move(note));
            }
        }
        return {};
    }

    /// Ranks what the legs found; while that is too little and more chunks match, goes deeper. Hits
    /// of a deeper band rank below all that came before, whose scores stay as they are.
    Result<> rank() {
        const auto start = Clock::now();
        BRAID_CHECK(add_band());
        const std::size_t first_band = ranked_.size();
        const std::size_t wanted = work_.plan.top_k;
        double deeper_ms = 0;
        while (ranked_.size() < wanted && !ended_ && legs_.can_go_deeper()) {
            const auto search_start = Clock::now();
            BRAID_CHECK(legs_.go_deeper());
            deeper_ms += milliseconds_since(search_start);
            BRAID_CHECK(add_band());
        }
        if (ranked_.size() > first_band && first_band < wanted) {
            work_.answer.warnings.push_back("hits from rank " + std::to_string(first_band + 1) +
                                            " on lie below the depth of the legs and rank after "
                                            "the others, whatever their score");
        }
        work_.answer.timings.fusion_ms = milliseconds_since(start) - deeper_ms;
        return {};
    }

    /// Adds the hits that no earlier band held.
    Result<> add_band() {
        BRAID_TRY(std::vector<Candidate> band, next_band());
        cut_below_threshold(band);
        BRAID_CHECK(stages_.apply(work_, now_, band));
        ended_ = ended_ || stages_.ended();
        std::ranges::move(band, std::back_inserter(ranked_));
        return {};
    }

    Result<std::vector<Candidate>> next_band() {
        if (!work_.plan.several) return legs_.next_list(0);
        std::vector<std::vector<Candidate>> lists(work_.plan.collections.size());
        for (std::size_t i = 0; i < lists.size(); ++i) {
            auto list = legs_.next_list(i);
            if (list) {
                lists[i] = *std::move(list);
            } else {
                work_.fell_short("collection_failed",
                                 "the legs of collection \"" + work_.plan.collections[i].name +
                                     "\" cannot be fused: " + list.error().message);
            }
        }
        return merge_.merge(std::move(lists));
    }

    void cut_below_threshold(std::vector<Candidate>& band) {
        const auto& threshold = work_.plan.score_threshold;
        if (!threshold) return;
        const auto below = [&](const Candidate& c) { return c.receipt.fused < *threshold; };
        if (std::erase_if(band, below) > 0) ended_ = true;
    }

    void report() {
        legs_.report();
        for (const auto& [name, message] : broken_) {
            const bool words = work_.plan.strategy == Strategy::Sparse;
            SourceReport& report = work_.answer.sources.emplace_back();
            report.source = name_of(words ? LegKind::Sparse : LegKind::Dense);
            report.collection = name;
            report.error = message;
        }
    }

    void log_finished() const {
        const Timings& t = work_.answer.timings;
        work_.log(LogEvent::Level::Info, "retrieval_completed",
                  "vector_search_ms=" + std::to_string(t.dense_ms) + " bm25_search_ms=" +
                      std::to_string(t.sparse_ms) + " fusion_ms=" + std::to_string(t.fusion_ms) +
                      " total_ms=" + std::to_string(t.total_ms) +
                      " hits=" + std::to_string(work_.answer.hits.size()));
    }

    Work work_;
    std::span<const CustomStage> custom_;
    Timestamp now_;
    StagePipeline stages_;
    LegSearch legs_;
    CollectionMerge merge_;
    std::vector<Candidate> ranked_;
    std::vector<std::pair<std::string, std::string>> broken_;  // collections, and what ails them
    bool ended_ = false;                                       // what follows lies below a cut
};

}  // namespace

Retriever::Retriever(const Backend& backend, QueryEmbedder embedder, RetrieverOptions options)
    : backend_(backend), embedder_(std::move(embedder)), options_(std::move(options)) {
    if (!options_.now) options_.now = system_now;
}

Retriever::Retriever(const Backend& backend, QueryEmbedder embedder, std::vector<Profile> profiles,
                     LogSink log)
    : Retriever(backend, std::move(embedder),
                RetrieverOptions{std::move(profiles), std::move(log), {}, {}}) {}

Result<Answer> Retriever::retrieve(const Request& request, const Principal& principal,
                                   const CallLimits& limits) const {
    BRAID_TRY(const Profile profile, find_profile(request.profile, options_.profiles));
    CallLimits own = limits;
    if (request.deadline_ms) {
        if (*request.deadline_ms < 1) {
            return fail(ErrorCode::InvalidArgument, "\"deadline_ms\" must be 1 or more");
        }
        const auto deadline = Clock::now() + std::chrono::milliseconds(*request.deadline_ms);
        if (!own.deadline || deadline < *own.deadline) own.deadline = deadline;
    }
    Work work{backend_, embedder_, options_.log, request, principal, std::move(own), {}, {}, {}};
    return Retrieval(std::move(work), options_.stages, options_.now()).run(profile);
}

}  // namespace braid::retrieval
