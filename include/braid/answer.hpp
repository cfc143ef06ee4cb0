#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/types.hpp"

namespace braid {

struct Receipt;

/// What one ranked list contributed to one hit.
struct ReceiptSource {
    std::string source;                // "dense", "sparse", or a collection's name
    double score = 0;                  // raw, higher is better
    std::optional<double> distance;    // Euclidean only: -score
    std::size_t rank = 0;              // from the list's rank base
    std::optional<double> normalized;  // methods that normalise
    double weight = 1;
    double contribution = 0;
    bool filled = false;  // not in the list, so without a rank; scored later (fill_scores)
    std::shared_ptr<Receipt> nested;      // the receipt within a collection's own list
    std::optional<std::string> chunk_id;  // the chunk's id in that collection
    bool corrected = false;               // sparse: by similar words too, Answer::corrections

    friend bool operator==(const ReceiptSource& a, const ReceiptSource& b);
};

/// Statistics a normalising method took from one list.
struct ReceiptList {
    std::string source;
    std::optional<double> min, max, mean, std;

    friend bool operator==(const ReceiptList&, const ReceiptList&) = default;
};

/// One signal "auto" looked at. It moves the weight by coefficient * (value - usual).
struct ReceiptSignal {
    std::string name;
    double value = 0;
    double usual = 0;
    double coefficient = 0;

    friend bool operator==(const ReceiptSignal&, const ReceiptSignal&) = default;
};

/// How "auto" chose its weights: the dense leg starts at `base`, each signal moves it in this
/// order, within `lowest` and `highest`; the sparse leg gets the rest of 1.
struct ReceiptChoice {
    double base = 0;
    std::vector<ReceiptSignal> signals;
    double lowest = 0;
    double highest = 1;
    double dense_weight = 0;

    friend bool operator==(const ReceiptChoice&, const ReceiptChoice&) = default;
};

/// What one stage did to the score.
struct ReceiptStage {
    std::string stage;
    std::string operation;  // "multiply", "divide", "add", "replace"; "keep": met the value
    double value = 0;
    double score = 0;  // afterwards
    Object detail;     // the numbers behind the value

    friend bool operator==(const ReceiptStage&, const ReceiptStage&) = default;
};

/// The arithmetic behind one score: recomputing it from these fields gives the same bits.
struct Receipt {
    std::string method = "none";               // "none": one list, its scores as they are
    std::optional<std::string> preset;         // whose formula, if not braid's own
    std::optional<double> k;                   // rrf
    std::optional<int> rank_base;              //
    std::optional<std::size_t> sources_fused;  // rrf of the preset "haystack": how many lists
    std::vector<ReceiptList> lists;
    std::optional<ReceiptChoice> choice;  // auto
    std::vector<ReceiptSource> sources;   // contributions are added in this order
    double fused = 0;
    std::vector<ReceiptStage> stages;
    double score = 0;

    friend bool operator==(const Receipt&, const Receipt&) = default;
};

/// A chunk's rank and score in one leg, however deep.
struct LegStanding {
    std::string source;                 // "dense" or "sparse"
    std::optional<double> score;        // none: it has no vector
    std::optional<std::uint64_t> rank;  // from 1; none: the leg does not find it
    std::size_t depth = 0;              // how deep the leg searched

    friend bool operator==(const LegStanding&, const LegStanding&) = default;
};

/// Characters [begin, end) of a text, counted in code points.
struct TextRange {
    std::size_t begin = 0;
    std::size_t end = 0;

    friend bool operator==(const TextRange&, const TextRange&) = default;
};

/// One retrieved chunk: its fields, where it came from, and why it ranks where it does.
struct Hit {
    std::string collection;
    std::string namespace_;
    Chunk chunk;
    double score = 0;
    std::size_t rank = 0;  // from 1
    Strategy strategy = Strategy::Hybrid;
    std::optional<double> dense_score;
    std::optional<double> sparse_score;
    std::optional<std::string> expanded;  // text with neighbours, if requested
    std::vector<LegStanding> legs;        // its place in each leg, if `explain` is set
    std::vector<TextRange> matches;       // the query's words in chunk.content, in order
    Receipt receipt;

    friend bool operator==(const Hit&, const Hit&) = default;
};

/// The words that a pattern of the query language (`prefix*`, `fuzy~1`) matched in one collection.
struct PatternWords {
    std::string pattern;
    std::vector<std::string> words;  // searched, as the index keeps them, most frequent first
    std::uint64_t matching = 0;      // words that match; may be more than were searched

    friend bool operator==(const PatternWords&, const PatternWords&) = default;
};

/// What one leg did for the answer.
struct SourceReport {
    std::string source;  // "dense" or "sparse"
    std::string collection;
    bool ran = false;
    std::size_t candidates = 0;  // handed to fusion
    std::size_t depth = 0;       // requested
    std::uint64_t matched = 0;   // chunks that could have been candidates
    bool exact = true;
    double time_ms = 0;
    std::string method;             // "exact scan", "exhaustive"
    std::string error;              // why it failed or did not run; empty if it did
    bool matched_at_least = false;  // `matched` is a bound: there may be more
    std::vector<PatternWords> patterns;

    friend bool operator==(const SourceReport&, const SourceReport&) = default;
};

struct Timings {
    double preprocess_ms = 0;  // a language model's work on the query
    double load_ms = 0;        // loading an embedder on its first use
    double embed_ms = 0;
    double dense_ms = 0;
    double sparse_ms = 0;
    double fusion_ms = 0;
    double hydrate_ms = 0;
    double total_ms = 0;

    friend bool operator==(const Timings&, const Timings&) = default;
};

/// A word of the query that no chunk contains, and a similar one that some do.
struct Suggestion {
    std::string word;
    std::string instead;
    std::uint64_t chunks = 0;  // that contain it and that the principal may see

    friend bool operator==(const Suggestion&, const Suggestion&) = default;
};

/// A word of the query that no chunk contains, and a similar one that was searched too.
struct Correction {
    std::string collection;
    std::string word;     // as it was written
    std::string instead;  // as a chunk has it
    double weight = 0;    // relative to a word of the query, which has 1

    friend bool operator==(const Correction&, const Correction&) = default;
};

/// Which side of an experiment made an answer.
struct ExperimentSide {
    std::string experiment;
    std::string side;  // "a" or "b"; "both": interleaved
    std::string id;    // of the answer, to report clicks by

    friend bool operator==(const ExperimentSide&, const ExperimentSide&) = default;
};

struct Answer {
    std::string query;
    std::optional<std::string> query_understood;  // query_syntax: how it was read; none: as words
    std::vector<std::string> phrasings;           // from a model, searched along with the query
    std::optional<std::string> hypothetical_answer;  // from a model, embedded instead of the query
    std::vector<Hit> hits;                           // "chunks" in JSON
    std::string profile = "default";
    Strategy strategy_used = Strategy::Hybrid;
    std::size_t total_candidates = 0;
    std::size_t dense_candidates = 0;
    std::size_t sparse_candidates = 0;
    std::vector<SourceReport> sources;
    bool complete = true;  // every requested leg ran; no match is missing for lack of one
    std::vector<std::string> warnings;
    std::vector<std::string> unused;      // parameters given that the chosen method does not use
    std::vector<Suggestion> suggestions;  // only if there are no hits
    std::vector<Correction> corrections;  // made, unless "typos" is "off"
    std::optional<std::string> cursor;    // for the next page; none: this is the last
    std::optional<bool> query_embedding_cached;  // none: the embedder was not asked
    std::optional<ExperimentSide> experiment;    // a server's, docs/experiments.md
    Timings timings;

    friend bool operator==(const Answer&, const Answer&) = default;
};

/// One chunk's way through a request, traced with the same phrasings and hypothetical answer as the
/// request's own answer.
struct Explanation {
    std::string collection;
    std::string chunk_id;
    std::vector<LegStanding> legs;
    std::optional<Hit> hit;  // its place in the whole ranking, and why; none: it is not ranked
    bool shown = false;      // the request's own answer shows it
    // As in that answer:
    std::optional<std::string> query_understood;
    std::vector<std::string> phrasings;
    std::optional<std::string> hypothetical_answer;
    bool complete = true;
    std::vector<std::string> warnings;
    std::vector<std::string> unused;

    friend bool operator==(const Explanation&, const Explanation&) = default;
};

/// A change to the request; a null value removes the key.
struct SuggestedChange {
    std::string key;
    Value value;

    friend bool operator==(const SuggestedChange&, const SuggestedChange&) = default;
};

/// Why a chunk is not in an answer.
struct WhyNot {
    Explanation explanation;
    /// "filter", "not_reached", "depth", "fused_out" (a leg alone would show it), "deduplicated",
    /// "threshold", "stage" or "cut"; empty if the answer shows it.
    std::string lost_at;
    std::string reason;                     // for people
    std::optional<SuggestedChange> change;  // the smallest found that brings it in; tested

    friend bool operator==(const WhyNot&, const WhyNot&) = default;
};

/// Neighbouring chunks of one document as one text, cited by its marker.
struct ContextPassage {
    std::string marker;  // "[1]"
    std::string collection;
    std::string document_id;
    std::vector<std::string> chunk_ids;  // in the order of the text
    std::optional<std::string> title;
    std::optional<std::string> section_title;  // of the first chunk
    std::string source;  // metadata.source or metadata.url, else the document's id
    std::string
        trust;  // metadata.trust, else "untrusted": retrieved text is data, not instructions
    std::string text;
    std::size_t tokens = 0;
    std::size_t rank = 0;  // of its best chunk in the answer; 0: only neighbours
    double score = 0;

    friend bool operator==(const ContextPassage&, const ContextPassage&) = default;
};

/// An answer prepared for a prompt: passages that fit a token budget, best document first, in
/// document order within it.
struct Context {
    std::string query;
    std::string text;  // the passages below their markers, ready to paste
    std::vector<ContextPassage> passages;
    std::size_t budget = 0;
    std::size_t tokens = 0;         // of `text`
    bool tokens_estimated = false;  // no tokenizer available: four bytes count as one token
    std::size_t left_out = 0;       // hits that did not fit
    // As in the answer it was made from:
    std::vector<std::string> phrasings;
    std::optional<std::string> hypothetical_answer;
    bool complete = true;
    std::vector<std::string> warnings;
    std::vector<std::string> unused;
    Timings timings;

    friend bool operator==(const Context&, const Context&) = default;
};

}  // namespace braid
