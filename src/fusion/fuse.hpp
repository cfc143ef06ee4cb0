#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "braid/fusion/presets.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::fusion {

struct Entry {
    /// Position of an entry that was scored afterwards (fill_scores): it has no rank.
    static constexpr std::size_t kUnranked = static_cast<std::size_t>(-1);

    std::string_view id;
    double score = 0;
    std::size_t position = 0;  // in its list, from 0: the rank, whatever the scores say
};

/// One list to fuse, best first.
struct RankedList {
    std::string_view source;
    double weight = 1;
    std::span<const Entry> entries;
};

struct Options {
    FusionMethod method = FusionMethod::Rrf;
    double k = 60;
    int rank_base = 1;
    Preset preset = Preset::None;  // whose formula; preset_options() fills in what goes with it
};

/// What one list gave to one fused hit. Lists that do not hold it have no part.
struct Part {
    double score = 0;
    double contribution = 0;
    std::optional<double> normalized;
    std::uint32_t rank = 0;  // from the rank base; 0 if it has none
    std::uint16_t list = 0;  // index into the lists
    bool filled = false;
};

struct FusedHit {
    std::string_view id;  // borrowed from the entry
    double score = 0;
    std::span<const Part> parts;  // in the order of the lists; borrowed from Fused
};

/// Of one list: statistics where the method uses them.
struct ListStatistics {
    double weight = 1;  // as the formula used it
    std::optional<double> min, max, mean, std;
};

/// The result: by score, then smaller id. Views borrow from the entries' ids and from `parts`.
struct Fused {
    std::vector<FusedHit> hits;
    std::vector<ListStatistics> lists;
    std::vector<Part> parts;  // storage
};

/// Fuses ranked lists by the formulas of the design's section 3:
///   rrf           sum of w / (k + rank)
///   weighted_sum  sum of w * (x - min) / (max - min); a list of equal scores gives 1
///   dbsf          mean over the lists that hold it of sigmoid((x - mean) / std); std 0 gives 0.5
/// or by those of the options' preset. Terms are added in the order of the lists. InvalidArgument:
/// a negative or infinite weight, k + rank not above 0, an id twice in one list (langchain counts
/// it twice), a score that is not finite, an entry without a rank in rrf, a method the preset
/// lacks, more than 65,535 lists.
Result<Fused> fuse(std::span<const RankedList> lists, const Options& options);

}  // namespace braid::fusion
