#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "braid/cli/args/arguments.hpp"
#include "braid/cli/commands/query_file.hpp"
#include "braid/cli/session.hpp"
#include "braid/eval/feature_lists.hpp"
#include "braid/eval/measures.hpp"
#include "braid/eval/trec.hpp"
#include "braid/result.hpp"

namespace braid::cli {

inline constexpr FlagSpec kJudgementsFlag{.name = "qrels",
                                          .kind = FlagKind::Text,
                                          .value = "FILE",
                                          .help = "judgements: a TREC or BEIR file"};
inline constexpr FlagSpec kCandidatesFlag{.name = "candidates",
                                          .kind = FlagKind::Integer,
                                          .value = "N",
                                          .help = "candidates per query (default: 100)"};

inline constexpr FlagSpec kClicksFlag{.name = "clicks",
                                      .kind = FlagKind::Text,
                                      .value = "FILE",
                                      .help = "clicks instead of queries and judgements"};
inline constexpr FlagSpec kClickBiasFlag{.name = "click-bias",
                                         .kind = FlagKind::Text,
                                         .value = "B",
                                         .help = "a click at rank r counts r^B (default: 1)"};

inline constexpr FlagSpec kMeasureFlag{.name = "measure",
                                       .kind = FlagKind::Text,
                                       .value = "NAME",
                                       .help = "measure to maximise (default: nDCG@10)"};
inline constexpr FlagSpec kFoldsFlag{.name = "folds",
                                     .kind = FlagKind::Integer,
                                     .value = "N",
                                     .help = "folds of the cross-validation (default: 5)"};
inline constexpr FlagSpec kFoldSeedFlag{.name = "seed",
                                        .kind = FlagKind::Integer,
                                        .value = "N",
                                        .help = "seed of the assignment to folds"};

/// What --measure, --folds and --seed say, or the defaults.
struct Folding {
    eval::Measure measure;
    std::size_t folds = 5;
    std::uint64_t seed = 1;
};
Result<Folding> read_folding(const Arguments& arguments);

/// The same as the options of something that is tried out by cross-validation.
template <class Options>
Result<Options> folding_options(const Arguments& arguments) {
    Options options;
    BRAID_TRY(const Folding folding, read_folding(arguments));
    options.measure = folding.measure;
    options.folds = folding.folds;
    options.compare.seed = folding.seed;
    return options;
}

/// Queries and the judgements of their documents.
struct Judged {
    QueryFile file;
    eval::Qrels qrels;
    bool from_clicks = false;
};

/// Of --queries and --qrels, or of --clicks: the judged queries that can be searched for.
/// InvalidArgument if there are none.
Result<Judged> read_judged(const Session& session);

/// How a learned ranking finds its candidates: as the flags say, with the fusion "auto" unless they
/// name one.
Result<Request> candidates_request(const Session& session);
Result<std::size_t> candidates_flag(const Arguments& arguments);

/// The features of every query's candidates.
Result<std::vector<eval::FeatureList>> collect(const Session& session,
                                               const service::Service& service,
                                               const Request& request, std::size_t candidates,
                                               const QueryFile& file);

}  // namespace braid::cli
