#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/answer.hpp"
#include "braid/collection.hpp"
#include "braid/filter.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid {

namespace rank {
class Model;
}

enum class LegKind { Dense, Sparse };
std::string_view name_of(LegKind kind) noexcept;  // "dense", "sparse"

/// BM25's statistics of the chunks a principal may see, in one collection or several.
struct TextStatistics {
    std::uint64_t chunks = 0;
    double total_length = 0;
    /// How many chunks contain each term: of the query; with Bm25Variant::Okapi, of every term.
    std::map<std::string, std::uint64_t, std::less<>> frequencies;

    void add(const TextStatistics& other) {
        chunks += other.chunks;
        total_length += other.total_length;
        for (const auto& [term, count] : other.frequencies) frequencies[term] += count;
    }
};

/// Where a search found a chunk, for the database that searched; nothing to anybody else.
struct FoundAt {
    std::uint64_t among = 0;  // 0: it does not say
    std::uint32_t row = 0;
};

struct LegHit {
    std::string chunk_id;
    double score = 0;
    FoundAt found_at = {};

    friend bool operator==(const LegHit& a, const LegHit& b) {
        return a.chunk_id == b.chunk_id && a.score == b.score;
    }
};

/// A chunk by its id, which is borrowed, and by where a search found it, if that is known.
struct FoundChunk {
    std::string_view chunk_id;
    FoundAt found_at = {};
};

/// A parsed query of the query language: a word, a pattern, a phrase, or a group of such clauses.
/// Its texts are not analysed yet. A group matches where all of its Must clauses and none of its
/// Not clauses do; without a Must, where at least one Optional clause does. See
/// docs/query-language.md.
struct QueryClause {
    enum class Kind { Word, Prefix, Fuzzy, Phrase, Group };
    enum class Occur { Optional, Must, Not };

    Kind kind = Kind::Word;
    Occur occur = Occur::Optional;
    std::string text;                  // not of a Group
    std::string field;                 // a text field of the schema; empty: any. Not of a Group
    double boost = 1;                  // not of a Group
    std::uint32_t distance = 0;        // Fuzzy: wrong letters; Phrase: words in between
    std::vector<QueryClause> clauses;  // of a Group

    friend bool operator==(const QueryClause&, const QueryClause&) = default;
};

/// One dense or sparse search of one collection.
struct Leg {
    LegKind kind = LegKind::Sparse;
    ReadScope scope;
    /// Sparse: the terms of each phrasing of the query, as Reader::analyze gives them; a chunk
    /// keeps its best score.
    std::vector<std::vector<std::string>> phrasings;
    /// Sparse: a query in the query language, instead of phrasings, where `query_language` is
    /// promised.
    std::shared_ptr<const QueryClause> clause;
    std::vector<float> vector;  // Dense
    /// Sparse: statistics to weight terms by; none: the scope's own.
    std::shared_ptr<const TextStatistics> statistics;
    /// Sparse: instead of what the collection has, where `bm25_choice` is promised. InvalidArgument
    /// for a text field that the collection has not.
    Bm25Choice bm25;
    std::size_t depth = 50;
    /// Continues below the last hit of an earlier search with the same leg and snapshot.
    std::optional<LegHit> after;
    bool exact = false;            // Dense: by exact scan
    double recall = kUsualRecall;  // Dense, not exact: the share of the exact hits to find
};

/// How many chunks match, whatever the depth.
struct MatchCount {
    enum class Relation { Exact, AtLeast };

    std::uint64_t count = 0;
    Relation relation = Relation::Exact;

    friend bool operator==(const MatchCount&, const MatchCount&) = default;
};

/// Ranked by score, then smaller id; at most `depth` hits.
struct LegResult {
    std::vector<LegHit> hits;
    MatchCount matched;
    bool exhausted = false;  // no chunk that matches ranks below these hits
    bool exact = true;
    std::string method;
    double time_ms = 0;
    std::vector<std::string> warnings;
    std::vector<PatternWords> patterns;  // of Leg::clause
    /// Sparse, of Leg::phrasings: the terms that no chunk contains, by the statistics of the search
    /// and whatever the filter, each once. None if they are not known.
    std::optional<std::vector<std::string>> absent;
};

/// Chunks `index - before` ... `index + after` of a document.
struct NeighborRange {
    std::string document_id;
    std::int64_t index = 0;
    std::size_t before = 0;
    std::size_t after = 0;
};

class Reader;
using ReaderPtr = std::shared_ptr<const Reader>;

/// A snapshot: some collections as they were at one point in time, read within one call's limits.
/// Its answers do not change while it is held, but holding it keeps old data alive. Safe for
/// concurrent use.
///
/// A collection outside it is NotFound. A chunk the principal may not see is treated as one that
/// does not exist. Every read checks the limits now and then, and fails with DeadlineExceeded or
/// Cancelled.
class Reader {
public:
    virtual ~Reader() = default;

    /// The same snapshot within the limits of another call. Cheap.
    virtual ReaderPtr with(const CallLimits& limits) const = 0;

    /// The same snapshot for a holder that may never come back, such as a cursor: it may lapse when
    /// keeping it would be costly. Read it only through `resume`. By default it never lapses.
    virtual ReaderPtr lapsing() const { return with({}); }
    /// A lapsing snapshot within the limits of a call; NotFound if it has lapsed.
    virtual Result<ReaderPtr> resume(const CallLimits& limits) const { return with(limits); }

    /// The collection's schema. Cheap, unlike Catalog::describe. Do not show it to principals: it
    /// may reveal the dimension of vectors they may not see.
    virtual Result<Schema> schema(const std::string& collection) const = 0;

    /// The collection's learned ranking, for the stage "rank"; null if it has none.
    virtual Result<std::shared_ptr<const rank::Model>> ranker(const std::string& collection) const {
        (void)collection;
        return nullptr;
    }

    /// The terms of a text, as a sparse leg searches them: in order, with repetitions.
    virtual Result<std::vector<std::string>> analyze(const std::string& collection,
                                                     std::string_view text) const = 0;

    /// Runs all legs; one result per leg, in order, each failing on its own. See search_each.
    virtual std::vector<Result<LegResult>> search(std::span<const Leg> legs) const = 0;
    Result<LegResult> search_leg(const Leg& leg) const {
        return std::move(search(std::span(&leg, 1)).front());
    }

    /// The statistics of a sparse leg's scope, to add to those of other collections.
    virtual Result<TextStatistics> text_statistics(const Leg& leg) const {
        (void)leg;
        return fail(ErrorCode::Unsupported, "this database does not share its text statistics");
    }

    /// Exact scores of named chunks for the leg's query; none for a chunk that cannot be seen or
    /// has no vector. A chunk with none of the terms scores 0.
    virtual Result<std::vector<std::optional<double>>> score(
        const Leg& leg, std::span<const std::string> chunk_ids) const = 0;
    /// The same of chunks that other legs found, which need not be looked up by their ids where
    /// this database said where they are. A place is taken for a hint: what is no longer there is
    /// looked up. By default all are.
    virtual Result<std::vector<std::optional<double>>> score_found(
        const Leg& leg, std::span<const FoundChunk> chunks) const {
        std::vector<std::string> ids;
        ids.reserve(chunks.size());
        for (const FoundChunk& chunk : chunks) ids.emplace_back(chunk.chunk_id);
        return score(leg, ids);
    }
    /// Ranks (from 1) in the leg's whole list, however deep; none if it does not match. Unsupported
    /// unless `whole_ranking` is promised.
    virtual Result<std::vector<std::optional<std::uint64_t>>> rank_of(
        const Leg& leg, std::span<const std::string> chunk_ids) const {
        (void)leg, (void)chunk_ids;
        return fail(ErrorCode::Unsupported, "this database cannot rank whole lists");
    }

    /// One entry per id, in order; none where there is no such chunk. Vectors only on request.
    /// Here and in neighbors() and scan(), each chunk counts against the limits' `bytes` before it
    /// is copied (InvalidArgument, Unavailable).
    virtual Result<std::vector<std::optional<Chunk>>> fetch(const ReadScope& scope,
                                                            std::span<const std::string> chunk_ids,
                                                            bool with_vectors) const = 0;
    /// The chunks of each range that exist, by index.
    virtual Result<std::vector<std::vector<Chunk>>> neighbors(
        const ReadScope& scope, std::span<const NeighborRange> ranges) const = 0;
    virtual Result<std::uint64_t> count(const ReadScope& scope) const = 0;
    /// The field's most frequent values, ties by value; lists count each element once. For the
    /// field "": the names of the fields.
    virtual Result<std::vector<FacetCount>> facets(const ReadScope& scope, const std::string& field,
                                                   std::size_t limit) const = 0;
    virtual Result<CollectionStats> stats(const ReadScope& scope) const = 0;
    /// For each word of the text that no visible chunk of the namespace contains, up to `limit`
    /// similar words that some do, nearest first, then most frequent. Ignores the scope's filter.
    virtual Result<std::vector<Suggestion>> suggest(const ReadScope& scope, std::string_view text,
                                                    std::size_t limit) const {
        (void)scope, (void)text, (void)limit;
        return std::vector<Suggestion>();
    }
    /// Up to `limit` matching chunks after the id `after`, in id order.
    virtual Result<std::vector<Chunk>> scan(const ReadScope& scope, const std::string& after,
                                            std::size_t limit, bool with_vectors) const = 0;
};

/// Implements Reader::search by a function that searches one leg. Runs the legs in parallel; an
/// exception fails its own leg only.
std::vector<Result<LegResult>> search_each(
    std::span<const Leg> legs, const std::function<Result<LegResult>(const Leg&)>& search_leg);

}  // namespace braid
