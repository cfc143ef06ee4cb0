#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "braid/backend.hpp"
#include "braid/fusion/fuse.hpp"
#include "braid/result.hpp"
#include "braid/retrieval/other_words.hpp"
#include "braid/retrieval/query_vectors.hpp"
#include "braid/retrieval/work.hpp"

namespace braid::retrieval {

/// One leg of the request and what became of it.
struct LegRun {
    double weight = 1;
    Leg leg;
    std::optional<LegResult> result;
    std::optional<Error> error;
    bool failure_reported = false;
    double time_ms = 0;
    std::size_t first_depth = 0;  // of the first band
    std::size_t wanted = 0;       // hits in all, as far as it was searched
    std::size_t candidates = 0;   // of the first band
};

/// The legs of one collection.
struct CollectionRun {
    std::size_t index = 0;  // in the plan
    std::vector<LegRun> legs;
    std::unordered_set<std::string> seen;  // chunks of earlier lists
    std::vector<Candidate> hops;           // multi_hop: all that it found

    bool down() const;  // no leg found anything out
};

/// Corruption if a list cannot be trusted: a score that is no number, a chunk twice. A backend gone
/// wrong must not spoil what the other leg found.
Result<> check_list(const LegResult& result);

/// The query in the terms of a collection, phrasing by phrasing.
Result<std::vector<std::vector<std::string>>> analyze(const Reader& snapshot,
                                                      const std::string& collection,
                                                      std::span<const std::string> phrasings);

/// What a sparse leg looks for: the query's phrasings, or what it says in the query language, if
/// the request asks for that and it can be read so. Returns what an answer should say about it.
Result<std::vector<std::string>> set_words(const Reader& snapshot, const Schema& schema,
                                           const Request& request, const Capabilities& can,
                                           std::span<const std::string> variants, Leg& leg);

/// Runs the legs of every collection and turns those of each into one list.
class LegSearch {
public:
    explicit LegSearch(Work& work) : work_(work), vectors_(work) {}

    /// Runs all legs that can run, in parallel: words at once, while the query is embedded, vectors
    /// as soon as there are some. An error only if no leg is left.
    Result<> start(OtherWords& words);

    /// Whether a deeper search could find more.
    bool can_go_deeper() const;
    /// Goes on with all legs that are not exhausted, to twice the depth.
    Result<> go_deeper();

    /// The collection's own list: by score, then id, without what earlier lists held.
    Result<std::vector<Candidate>> next_list(std::size_t collection);
    /// One list of all collections, each leg's hits ranked together by their scores: what one
    /// collection that held all the chunks would give.
    Result<std::vector<Candidate>> next_pooled_list();

    /// Adds what every leg did to the answer.
    void report();

    /// The query in the forms that the legs searched.
    QueryForms forms() const;
    const std::vector<CollectionRun>& runs() const { return runs_; }

private:
    void prepare(std::size_t collection);
    void search_words();
    void correct_words();
    void await_vectors();
    /// Those of one kind, or all, that have not failed.
    void search(std::optional<LegKind> kind);
    void share_statistics();
    Result<> check_failures();
    std::optional<Error> callers_mistake() const;
    void run_hops();
    std::vector<Candidate> single_list(CollectionRun& run);
    Result<std::vector<Candidate>> fused_list(CollectionRun& run);
    Result<std::vector<std::vector<fusion::Entry>>> unseen_entries(const CollectionRun& run);
    Result<std::vector<Candidate>> fused_pool();
    fusion::Options fusing() const;
    std::optional<ReceiptChoice> weigh(std::vector<fusion::RankedList>& lists) const;
    std::shared_ptr<const Receipt> common_to(const fusion::Fused& fused,
                                             std::span<const fusion::RankedList> lists,
                                             const std::optional<ReceiptChoice>& choice) const;
    Result<> fill_scores(const CollectionRun& run,
                         std::vector<std::vector<fusion::Entry>>& entries);
    Result<> do_without_scores(Error error, std::vector<std::vector<fusion::Entry>>& entries);

    Work& work_;
    QueryVectors vectors_;
    std::vector<CollectionRun> runs_;
    std::map<LegKind, std::size_t> pooled_;  // hits of earlier pooled lists
};

}  // namespace braid::retrieval
