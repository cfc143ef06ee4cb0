#pragma once

#include <memory>

#include "braid/result.hpp"
#include "braid/retrieval/parameters.hpp"
#include "braid/retrieval/stages.hpp"

namespace braid::retrieval {

/// Each reads its own parameters; the caller checks that no others were given.
using StageMaker = Result<std::unique_ptr<Stage>> (*)(Parameters& parameters);

/// Stages that change scores: sections, age, fields.
Result<std::unique_ptr<Stage>> make_filter_by_recency(Parameters& parameters);
Result<std::unique_ptr<Stage>> make_boost_section_matches(Parameters& parameters);
Result<std::unique_ptr<Stage>> make_decay_by_age(Parameters& parameters);
Result<std::unique_ptr<Stage>> make_boost_fields(Parameters& parameters);
/// Stages that look at the hits together: diversity, copies and cuts.
Result<std::unique_ptr<Stage>> make_mmr(Parameters& parameters);
Result<std::unique_ptr<Stage>> make_collapse_duplicates(Parameters& parameters);
Result<std::unique_ptr<Stage>> make_min_score(Parameters& parameters);
Result<std::unique_ptr<Stage>> make_relative_score(Parameters& parameters);
Result<std::unique_ptr<Stage>> make_largest_gap(Parameters& parameters);
/// A learned ranking, and the features it looks at.
Result<std::unique_ptr<Stage>> make_features(Parameters& parameters);
Result<std::unique_ptr<Stage>> make_rank(Parameters& parameters);

}  // namespace braid::retrieval
