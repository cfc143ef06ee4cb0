#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "braid/result.hpp"

namespace braid::eval {

struct ScoredDocument {
    std::string document;
    double score;  // finite

    friend bool operator==(const ScoredDocument&, const ScoredDocument&) = default;
};

struct RankedList {
    std::string query;
    std::vector<ScoredDocument> hits;  // best first, a document at most once

    friend bool operator==(const RankedList&, const RankedList&) = default;
};

/// What one system retrieved, a list per query; a query at most once.
struct Run {
    std::string name;  // the tag, in a file
    std::vector<RankedList> lists;

    friend bool operator==(const Run&, const Run&) = default;
};

/// The run's lists; they must stay.
std::unordered_map<std::string_view, const RankedList*> lists_by_query(const Run& run);

struct Judgement {
    std::string document;
    std::int32_t relevance;  // at most a million either way; below 1: judged and not relevant

    friend bool operator==(const Judgement&, const Judgement&) = default;
};

struct JudgedQuery {
    std::string query;
    std::vector<Judgement> judgements;  // by document id (bytes), a document at most once

    friend bool operator==(const JudgedQuery&, const JudgedQuery&) = default;
};

/// Relevance judgements, in the order in which the queries appear; a query at most once.
struct Qrels {
    std::vector<JudgedQuery> queries;

    friend bool operator==(const Qrels&, const Qrels&) = default;
};

/// Reads a TREC run: lines of `query Q0 document rank score tag`, between spaces or tabs, queries
/// in any order. The rank only has to be an integer: hits are put in order of falling score, equal
/// ones by smaller document id (bytes). The name is the first line's tag.
///
/// `source` stands in messages for the file. InvalidArgument if a line does not have these six
/// fields, a score is no finite number, or a document is listed twice for a query (the message
/// names both lines). A text without lines is an empty run.
Result<Run> parse_run(std::string_view text, std::string_view source);
Result<Run> read_run(const std::string& path);

/// Reads relevance judgements: TREC's lines of `query iteration document relevance`, or, if the
/// first line is the header `query-id corpus-id score`, BEIR's lines of these three (between tabs,
/// or spaces where a line has no tab). Fails as parse_run does, if a relevance is no integer of at
/// most a million either way, and if there is not one judgement.
Result<Qrels> parse_qrels(std::string_view text, std::string_view source);
Result<Qrels> read_qrels(const std::string& path);

/// What write_run does about equal scores, which every evaluation program breaks in its own way:
/// trec_eval by document id, ignoring ranks and comparing scores in single precision.
enum class ScoreGap {
    None,    // scores as they are
    Double,  // a score not below the one written before becomes the next double below that one
    Single,  // the same with the next float, so that trec_eval sees our order too
};

/// Lines of a TREC run, ranks from 1, scores with the fewest digits that read back as the same
/// double, the run's name as tag ("braid" if it is empty). Whatever the gap, the order is kept and
/// only scores that have to move do.
///
/// InvalidArgument if the hits of a query are not in order of falling score, a score is not finite
/// (for ScoreGap::Single: beyond the range of a float), or an id or the name is empty or holds
/// white space.
Result<std::string> write_run(const Run& run, ScoreGap gap = ScoreGap::Single);

}  // namespace braid::eval
