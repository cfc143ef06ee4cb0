#include "braid/cli/args/stage_notes.hpp"

#include <array>

namespace braid::cli {
namespace {

constexpr auto kStageNotes = std::to_array<StageNote>({
    {.name = "filter_by_recency",
     .help = "keeps only recent chunks",
     .parameters = "{\"days\": 30, \"keep_undated\": false}"},
    {.name = "boost_section_matches",
     .help = "multiplies the scores of some sections",
     .parameters = "{\"sections\": [\"overview\", ...], \"factor\": 1.2}"},
    {.name = "decay_by_age",
     .help = "lowers the scores of old chunks",
     .parameters = "{\"half_life_days\": 30, \"offset_days\": 0, \"floor\": 0}"},
    {.name = "boost_fields",
     .help = "multiplies the scores of matching hits",
     .parameters = "{\"filter\": {\"kind\": \"guide\"}, \"factor\": 1.2}"},
    {.name = "mmr",
     .help = "prefers hits unlike those above them",
     .parameters = "{\"lambda\": 0.5, \"candidates\": 100}"},
    {.name = "collapse_duplicates",
     .help = "keeps one of several hits with the same or similar text",
     .parameters = "{\"similarity\": 1, \"within\": \"all\"}"},
    {.name = "min_score",
     .help = "drops hits that score below a value",
     .parameters = "{\"value\": 0.01}"},
    {.name = "relative_score",
     .help = "drops hits that score below a fraction of the best",
     .parameters = "{\"fraction\": 0.5}"},
    {.name = "largest_gap",
     .help = "cuts at the largest gap between scores",
     .parameters = "{\"min_hits\": 1}"},
    {.name = "features", .help = "adds the features of a learned ranking to receipts"},
    {.name = "rank",
     .help = "applies a learned ranking (braid rank train)",
     .parameters = "{\"candidates\": 100, \"collection\": null}"},
    {.name = "rerank", .help = "reorders by a cross-encoder (BRAID_RERANKER_MODEL)"},
});

}  // namespace

std::span<const StageNote> stage_notes() {
    return kStageNotes;
}

}  // namespace braid::cli
