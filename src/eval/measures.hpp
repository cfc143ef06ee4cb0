#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/eval/trec.hpp"
#include "braid/result.hpp"

namespace braid::eval {

enum class MeasureKind { NDcg, Ap, Rr, Precision, Recall, Success, Judged };

/// A measure by the name that the Python package ir-measures gives it: `nDCG@10`, `P(rel=2)@5`.
struct Measure {
    MeasureKind kind = MeasureKind::NDcg;
    std::int32_t cutoff = 0;     // hits looked at, from the top; 0: all
    std::int32_t relevance = 1;  // the least judgement that counts as relevant

    friend bool operator==(const Measure&, const Measure&) = default;
};

/// Reads `KIND`, `KIND@cutoff`, `KIND(rel=n)` or `KIND(rel=n)@cutoff`, where KIND is nDCG, AP, RR,
/// P, R, Success or Judged, or one of ir-measures' other names for them (NDCG, MAP, MRR, Precision,
/// Recall). P, R and Success need a cutoff; nDCG and Judged take no rel. InvalidArgument otherwise;
/// for an unknown kind the message names the nearest one.
Result<Measure> parse_measure(std::string_view name);

/// The same for several between commas. Repeated measures are dropped; an empty list is an error.
Result<std::vector<Measure>> parse_measures(std::string_view names);

/// What is computed if nobody asks for anything else.
std::vector<Measure> default_measures();

/// The one name that ir-measures prints for the measure; parse_measure reads it back.
std::string name_of(const Measure& measure);

/// A run measured on each judged query. Queries of the run that nobody judged count for nothing,
/// judged queries that the run lacks count 0.
struct Evaluation {
    std::vector<std::vector<double>> values;  // [measure][query], queries as in the judgements
    std::vector<double> means;                // [measure], over all judged queries
    std::size_t missing = 0;                  // judged queries that the run lacks
    std::size_t unjudged = 0;                 // queries of the run without judgements
};

/// Measures a run as ir-measures does with its default providers (measured with 0.4.3: equal to
/// 1e-9 on random runs, tests/eval/ir_measures_test.py), which fixes what formulas leave open:
///
/// - Order of the hits. RR with a cutoff and Judged: by score, equal ones by smaller document id.
///   All others (trec_eval): by the score rounded to single precision, equal ones by *larger* id.
/// - A negative judgement counts as judged, with gain 0.
/// - nDCG: gain = judgement, discount log2(rank + 1), the ideal list over all judged documents.
/// - P divides by the cutoff even if fewer hits were retrieved, Judged by the hits there are.
Evaluation evaluate(const Qrels& qrels, const Run& run, std::span<const Measure> measures);

/// The relevance of a document that nobody judged.
inline constexpr std::int32_t kUnjudged = INT32_MIN;

std::int32_t relevance_in(const JudgedQuery& judged, std::string_view document);

/// Relevance of the hits of one query, in trec_eval's order (see evaluate).
std::vector<std::int32_t> ranked_relevances(const JudgedQuery& judged, const RankedList& list);

}  // namespace braid::eval
