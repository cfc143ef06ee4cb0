#include "braid/retrieval/retriever.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "braid/core/charge.hpp"
#include "braid/core/clock.hpp"
#include "braid/core/errand.hpp"
#include "braid/retrieval/collections.hpp"
#include "braid/retrieval/copies.hpp"
#include "braid/retrieval/deadlines.hpp"
#include "braid/retrieval/filter_hints.hpp"
#include "braid/retrieval/hydrate.hpp"
#include "braid/retrieval/legs.hpp"
#include "braid/retrieval/matches.hpp"
#include "braid/retrieval/missing.hpp"
#include "braid/retrieval/other_words.hpp"
#include "braid/retrieval/plan.hpp"
#include "braid/retrieval/stages.hpp"
#include "braid/retrieval/standings.hpp"
#include "braid/retrieval/unused.hpp"
#include "braid/retrieval/why_not.hpp"
#include "braid/retrieval/work.hpp"

namespace braid::retrieval {
namespace {

/// The work on one request.
class Retrieval {
public:
    Retrieval(Work work, const RetrieverOptions& options, Timestamp now, Page page)
        : work_(std::move(work)),
          options_(options),
          now_(now),
          page_(std::move(page)),
          words_(work_),
          legs_(work_),
          merge_(work_, *options_.vocabulary) {}

    Result<Answer> run(const Profile& profile) {
        const auto start = Clock::now();
        BRAID_CHECK(open(profile));
        BRAID_CHECK(legs_.start(words_));
        BRAID_CHECK(rank());
        report();
        show_other_words();
        BRAID_CHECK(check_same_as_before());
        const auto hydrate_start = Clock::now();
        const std::size_t begin = std::min(ranked_.size(), page_.offset);
        end_ = begin + std::min(ranked_.size() - begin, work_.plan.top_k);
        more_ = end_ > begin && (end_ < ranked_.size() || (!ended_ && legs_.can_go_deeper()));
        BRAID_CHECK(add_hits(work_, std::span(ranked_).subspan(begin, end_ - begin), begin));
        if (work_.request.highlight) mark_matches(work_, legs_.runs());
        if (work_.request.explain) add_standings(work_, legs_.runs());
        if (work_.answer.hits.empty()) suggest();
        hint_at_unknown_keys(work_);
        name_what_was_missing(work_, more_);
        Timings& timings = work_.answer.timings;
        timings.hydrate_ms = milliseconds_since(hydrate_start);
        timings.total_ms = milliseconds_since(start);
        log_finished();
        return std::move(work_.answer);
    }

    /// Whether another page follows, and where it starts.
    bool more() const { return more_; }
    std::size_t end() const { return end_; }

    QueryForms forms() const { return legs_.forms(); }

    /// What the pages after the first need. The retrieval is of no use afterwards.
    Pinned pin(const Profile& profile) && {
        Pinned pinned;
        pinned.request = work_.request;
        pinned.principal = work_.principal;
        pinned.profile = profile;
        pinned.collections = std::move(opened_);
        pinned.collections.snapshot = pinned.collections.snapshot->lapsing();  // outlives the call
        pinned.now = now_;
        pinned.dense_depth = work_.plan.dense_depth;
        pinned.sparse_depth = work_.plan.sparse_depth;
        pinned.page_size = work_.plan.top_k;
        pinned.forms = legs_.forms();
        pinned.shortfalls = std::move(work_.shortfalls);
        return pinned;
    }

private:
    /// Pins the collections and plans what to do with them.
    Result<> open(const Profile& profile) {
        BRAID_TRY(stages_, StagePipeline::create(work_.request.stages, options_.stages));
        BRAID_TRY(const auto names, collections_of(work_.request, profile));
        if (page_.pinned) {
            opened_ = page_.pinned->collections;
            BRAID_TRY(opened_.snapshot, opened_.snapshot->resume(work_.limits));
            work_.forms = page_.pinned->forms;
        } else {
            BRAID_TRY(opened_, open_collections(work_.backend, names, work_.limits));
        }
        work_.snapshot = opened_.snapshot;
        BRAID_TRY(work_.plan, make_plan(work_.request, profile, names, opened_.found,
                                        stages_.leg_filters(now_)));
        lean_on_words(work_.request, options_.english_embedders, work_.plan);
        if (page_.pinned) {
            work_.plan.dense_depth = page_.pinned->dense_depth;
            work_.plan.sparse_depth = page_.pinned->sparse_depth;
        }
        Answer& answer = work_.answer;
        answer.query = work_.request.query;
        answer.profile = profile.name;
        answer.strategy_used = work_.plan.strategy;
        answer.warnings = work_.plan.warnings;
        answer.unused = work_.plan.unused;
        prepare_query();
        for (const std::string& name : opened_.missing) {
            answer.warnings.push_back("there is no collection \"" + name +
                                      "\": only the others were searched");
        }
        for (const auto& [name, error] : opened_.broken) {
            work_.fell_short("collection_failed",
                             "collection \"" + name + "\" cannot be read: " + error.message);
        }
        for (const std::string& reason : work_.plan.shortfalls) {
            work_.fell_short("collection_failed", reason);
        }
        for (const CollectionPlan& collection : work_.plan.collections) {
            if (auto note = work_.backend.rewriting(collection.name, work_.principal)) {
                answer.warnings.push_back(*std::move(note));
            }
        }
        return {};
    }

    /// Other words for the query, as far as they were asked for and can be used.
    void prepare_query() {
        const Request& request = work_.request;
        if (request.expand_query && request.query_syntax) {
            work_.answer.warnings.emplace_back(
                "\"expand_query\" has no effect with \"query_syntax\": phrasings are plain text");
        }
        if (!work_.forms.variants.empty()) return;  // found before
        work_.forms.variants = {request.query};
        words_.ask(options_.preprocessor, uses_phrasings(request, work_.plan),
                   uses_hypothetical_answer(request, work_.plan));
        words_.await_phrasings();
    }

    void show_other_words() {
        const QueryForms& forms = work_.forms;
        work_.answer.phrasings.assign(std::next(forms.variants.begin()), forms.variants.end());
        work_.answer.hypothetical_answer = forms.hypothetical_answer;
    }

    /// Ranks what the legs found; while that is too little and more chunks match, goes deeper. Hits
    /// of a deeper band rank below all that came before, whose scores stay as they are.
    Result<> rank() {
        const auto start = Clock::now();
        BRAID_CHECK(add_band());
        const std::size_t wanted = page_.offset + work_.plan.top_k;
        BRAID_CHECK(leave_out_copies(wanted));
        const std::size_t first_band = ranked_.size();
        double deeper_ms = 0;
        while (ranked_.size() < wanted && !ended_ && legs_.can_go_deeper()) {
            const auto search_start = Clock::now();
            BRAID_CHECK(legs_.go_deeper());
            deeper_ms += milliseconds_since(search_start);
            BRAID_CHECK(add_band());
            BRAID_CHECK(leave_out_copies(wanted));
        }
        if (ranked_.size() > std::max(first_band, page_.offset) && first_band < wanted) {
            work_.answer.warnings.push_back("hits from rank " + std::to_string(first_band + 1) +
                                            " on are below the depth of the legs and come after "
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
        if (ranked_.empty()) {  // the usual case; moving them one by one costs more than fusing
            ranked_ = std::move(band);
        } else {
            std::ranges::move(band, std::back_inserter(ranked_));
        }
        return {};
    }

    /// Of near-identical passages of a document only the best is shown, unless the request wants
    /// them all, or says itself what copies are. One more is looked at, to know whether it is the
    /// last page.
    Result<> leave_out_copies(std::size_t wanted) {
        const auto collapses = [](const StageChoice& stage) {
            return stage.name == "collapse_duplicates";
        };
        if (work_.request.keep_duplicates || std::ranges::any_of(work_.request.stages, collapses)) {
            return {};
        }
        return copies_.collapse(work_, wanted + 1, ranked_);
    }

    Result<std::vector<Candidate>> next_band() {
        if (!work_.plan.several) return legs_.next_list(0);
        if (work_.plan.by_scores) {
            BRAID_TRY(auto pooled, legs_.next_pooled_list());
            return merge_.collapse(std::move(pooled));
        }
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

    /// Other words to ask with, where words were searched and nothing was found.
    void suggest() {
        constexpr std::size_t per_word = 3;
        for (const CollectionPlan& collection : work_.plan.collections) {
            if (!collection.sparse) continue;
            auto found = work_.snapshot->suggest(work_.scope_of(collection.name),
                                                 work_.request.query, per_word);
            if (!found) continue;  // a courtesy: its failure changes nothing
            for (Suggestion& suggestion : *found) {
                auto& all = work_.answer.suggestions;
                if (std::ranges::find(all, suggestion) == all.end()) {
                    all.push_back(std::move(suggestion));
                }
            }
        }
    }

    void cut_below_threshold(std::vector<Candidate>& band) {
        const auto& threshold = work_.plan.score_threshold;
        if (!threshold) return;
        const auto below = [&](const Candidate& c) { return c.receipt.fused < *threshold; };
        if (std::erase_if(band, below) > 0) ended_ = true;
    }

    void report() {
        legs_.report();
        for (const auto& [name, error] : opened_.broken) {
            const bool words = work_.plan.strategy == Strategy::Sparse;
            SourceReport& report = work_.answer.sources.emplace_back();
            report.source = name_of(words ? LegKind::Sparse : LegKind::Dense);
            report.collection = name;
            report.error = error.message;
        }
    }

    /// A page made by other means than the first would not continue it.
    Result<> check_same_as_before() const {
        if (!page_.pinned || page_.pinned->shortfalls == work_.shortfalls) return {};
        const bool worse = work_.shortfalls.size() > page_.pinned->shortfalls.size();
        return fail(ErrorCode::Unavailable,
                    "this page would not continue the first, which was made differently (" +
                        (worse ? work_.shortfalls : page_.pinned->shortfalls).back() +
                        "); ask again from the first page");
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
    const RetrieverOptions& options_;
    Timestamp now_;
    const Page page_;
    StagePipeline stages_;
    OtherWords words_;
    LegSearch legs_;
    CollectionMerge merge_;
    std::vector<Candidate> ranked_;
    CopiesOfDocuments copies_;
    OpenedCollections opened_;
    std::size_t end_ = 0;
    bool more_ = false;
    bool ended_ = false;  // what follows lies below a cut
};

}  // namespace

Result<Profile> profile_of(const Request& request, const RetrieverOptions& options) {
    if (request.own_profile) return *request.own_profile;
    return find_profile(request.profile.empty() ? options.default_profile : request.profile,
                        options.profiles, *options.vocabulary);
}

Retriever::Retriever(const Backend& backend, QueryEmbedder embedder, RetrieverOptions options)
    : backend_(backend), embedder_(std::move(embedder)), options_(std::move(options)) {
    if (!options_.now) options_.now = core::system_now;
    if (!options_.vocabulary) options_.vocabulary = std::make_shared<const core::Vocabulary>();
    cursors_ = std::make_unique<CursorTable>(options_.cursors);
    crew_ = std::make_unique<core::Crew>();
}

Retriever::~Retriever() = default;

Result<Answer> Retriever::retrieve(const Request& request, const Principal& principal,
                                   const CallLimits& limits, QueryForms* forms) const {
    if (request.cursor.empty() && request.stages.empty()) {
        BRAID_TRY(const Profile profile, profile_of(request, options_));
        if (!profile.stages.empty()) {
            Request with_stages = request;
            with_stages.stages = profile.stages;
            return answer(with_stages, principal, limits, profile, {}, forms);
        }
    }
    return retrieve_own_stages(request, principal, limits, forms);
}

Result<Answer> Retriever::retrieve_own_stages(const Request& request, const Principal& principal,
                                              const CallLimits& limits, QueryForms* forms) const {
    if (request.cursor.empty()) {
        BRAID_TRY(const Profile profile, profile_of(request, options_));
        return answer(request, principal, limits, profile, {}, forms);
    }
    BRAID_TRY(Page page, cursors_->find(request.cursor, principal));
    BRAID_TRY(const Request whole, request_of_page(request, *page.pinned));
    const Profile profile = page.pinned->profile;
    return answer(whole, principal, limits, profile, std::move(page), nullptr);
}

Result<SearchTarget> Retriever::target_of(const Request& request,
                                          const Principal& principal) const {
    SearchTarget target;
    if (request.cursor.empty()) {
        BRAID_TRY(target.profile, profile_of(request, options_));
        BRAID_TRY(target.collections, collections_of(request, target.profile));
        target.namespace_ = request.namespace_.value_or(target.profile.namespace_);
        return target;
    }
    BRAID_TRY(const Page page, cursors_->find(request.cursor, principal));
    BRAID_TRY(const Request whole, request_of_page(request, *page.pinned));
    target.profile = page.pinned->profile;
    BRAID_TRY(target.collections, collections_of(whole, target.profile));
    target.namespace_ = whole.namespace_.value_or(target.profile.namespace_);
    return target;
}

Result<Explanation> Retriever::explain(const Request& request, const std::string& chunk_id,
                                       const Principal& principal, const CallLimits& limits) const {
    BRAID_TRY(const CallLimits own, limits_for(request, principal, limits));
    return ChunkTrace({*this, backend_, options_}, request, chunk_id, principal, own).explain();
}

Result<WhyNot> Retriever::why_not(const Request& request, const std::string& chunk_id,
                                  const Principal& principal, const CallLimits& limits) const {
    BRAID_TRY(const CallLimits own, limits_for(request, principal, limits));
    return ChunkTrace({*this, backend_, options_}, request, chunk_id, principal, own).why_not();
}

Result<Answer> Retriever::answer(const Request& request, const Principal& principal,
                                 const CallLimits& limits, const Profile& profile, Page page,
                                 QueryForms* forms) const {
    BRAID_TRY(CallLimits own, limits_for(request, principal, limits));
    const std::uint64_t id = page.id;
    const bool first = page.pinned == nullptr;
    const Timestamp now = first ? options_.now() : page.pinned->now;
    Work work{.backend = backend_,
              .embedder = embedder_,
              .hypothesis_embedder = options_.hypothesis_embedder,
              .remembered = options_.remembered,
              .crew = *crew_,
              .log_sink = options_.log,
              .request = request,
              .principal = principal,
              .limits = std::move(own)};
    work.copying = core::apart(work.hydrating());
    keep_time_to_answer(work);
    if (forms != nullptr) work.forms = *forms;
    Retrieval retrieval(std::move(work), options_, now, std::move(page));
    BRAID_TRY(Answer answer, retrieval.run(profile));
    if (forms != nullptr) *forms = retrieval.forms();
    if (!retrieval.more()) return answer;
    const std::size_t end = retrieval.end();
    if (first) {
        auto pinned = std::make_shared<Pinned>(std::move(retrieval).pin(profile));
        answer.cursor = cursors_->keep(std::move(pinned), end);
    } else {
        answer.cursor = CursorTable::next(id, end);
    }
    return answer;
}

}  // namespace braid::retrieval
