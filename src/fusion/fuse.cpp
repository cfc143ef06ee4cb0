#include "braid/fusion/fuse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "braid/fusion/formula.hpp"
#include "braid/fusion/id_index.hpp"

namespace braid::fusion {
namespace {

using Weight = Formula::Weight;
using Scale = Formula::Scale;
using Equal = Formula::Equal;
using Combine = Formula::Combine;

tl::unexpected<Error> bad(std::string message) {
    return invalid_argument("fusion: " + std::move(message));
}

/// The formula with the options' own k and rank base, and what the lists have in common.
struct Setting {
    const Formula& formula;
    double k;
    int rank_base;
    double lists;           // how many
    double sum_of_weights;  // Weight::Share
};

Result<> check_k(std::span<const RankedList> lists, const Setting& setting) {
    if (!std::isfinite(setting.k) || setting.k + setting.rank_base <= 0) {
        return bad("k + rank must be above 0; k is " + std::to_string(setting.k) +
                   ", ranks start at " + std::to_string(setting.rank_base));
    }
    if (setting.formula.weight != Weight::InsideRank) return {};
    for (const RankedList& list : lists) {
        if (list.weight > 0 && setting.k + 1 / list.weight - 1 <= 0) {
            return bad("k + 1 / weight must be above 1; k is " + std::to_string(setting.k) +
                       ", the weight of \"" + std::string(list.source) + "\" is " +
                       std::to_string(list.weight));
        }
    }
    return {};
}

Result<> check(std::span<const RankedList> lists, const Setting& setting) {
    const bool by_rank = setting.formula.scale == Scale::Rank;
    for (const RankedList& list : lists) {
        if (!std::isfinite(list.weight) || list.weight < 0) {
            return bad("the weight of \"" + std::string(list.source) + "\" must be 0 or more");
        }
        for (const Entry& entry : list.entries) {
            if (by_rank && entry.position == Entry::kUnranked) {
                return bad("rrf needs ranks, but \"" + std::string(entry.id) + "\" has none");
            }
            if (!std::isfinite(entry.score)) {
                return bad("\"" + std::string(list.source) + "\" gives \"" + std::string(entry.id) +
                           "\" a score that is not a finite number");
            }
        }
    }
    if (setting.formula.weight == Weight::Share && !std::isfinite(setting.sum_of_weights)) {
        return bad("the weights are too large to add up");
    }
    return by_rank ? check_k(lists, setting) : Result<>{};
}

ListStatistics statistics_of(const RankedList& list, double weight, Scale scale) {
    ListStatistics statistics{.weight = weight};
    if (list.entries.empty() || scale == Scale::Rank) return statistics;
    const auto [low, high] = std::ranges::minmax(list.entries, {}, &Entry::score);
    if (scale == Scale::MinMax) {
        statistics.min = low.score;
        statistics.max = high.score;
        return statistics;
    }
    if (low.score == high.score) {  // must count as equal even where the mean is rounded
        statistics.mean = low.score;
        statistics.std = 0.0;
        return statistics;
    }
    const auto n = static_cast<double>(list.entries.size());
    double sum = 0;
    for (const Entry& entry : list.entries) sum += entry.score;
    const double mean = sum / n;
    double squares = 0;
    for (const Entry& entry : list.entries) {
        squares += (entry.score - mean) * (entry.score - mean);
    }
    statistics.mean = mean;
    statistics.std = std::sqrt(squares / (scale == Scale::ThreeSigmaSample ? n - 1 : n));
    return statistics;
}

double value_of_equals(Equal rule, double score, double largest) {
    switch (rule) {
        case Equal::Half:
            return 0.5;
        case Equal::Zero:
            return 0.0;
        case Equal::OneIfPositive:
            return largest > 0 ? 1.0 : 0.0;
        case Equal::Score:
            return score;
        default:
            return 1.0;
    }
}

double normalized(double score, const ListStatistics& statistics, const Formula& formula) {
    if (formula.scale == Scale::MinMax) {
        const double low = statistics.min.value_or(0);
        const double high = statistics.max.value_or(0);
        const double range = high - low;
        if (range <= 0 || range < formula.equal_within) {
            return value_of_equals(formula.equal, score, high);
        }
        return (score - low) / range;
    }
    const double mean = statistics.mean.value_or(0);
    const double std = statistics.std.value_or(0);
    if (std <= 0) return value_of_equals(formula.equal, score, mean);
    if (formula.scale == Scale::Sigmoid) return 1 / (1 + std::exp(-((score - mean) / std)));
    const double low = mean - 3 * std;
    const double high = mean + 3 * std;
    return high > low ? (score - low) / (high - low) : value_of_equals(formula.equal, score, mean);
}

double weight_of(const RankedList& list, const Setting& setting) {
    switch (setting.formula.weight) {
        case Weight::Ignored:
            return 1;
        case Weight::Share:
            return setting.sum_of_weights > 0 ? list.weight / setting.sum_of_weights : 0;
        default:
            return list.weight;
    }
}

double rank_contribution(double rank, double weight, const Setting& setting) {
    switch (setting.formula.weight) {
        case Weight::InsideRank:
            return weight > 0 ? 1 / (setting.k + (rank + 1) / weight - 1) : 0;
        case Weight::Share:
            return weight * setting.lists / (setting.k + rank);
        default:
            return weight / (setting.k + rank);
    }
}

/// In place: a part made elsewhere and copied costs as much again.
void write_part(Part& part, std::size_t list_index, const Entry& entry,
                const ListStatistics& statistics, const Setting& setting) {
    part.score = entry.score;
    part.list = static_cast<std::uint16_t>(list_index);
    part.filled = entry.position == Entry::kUnranked;
    if (!part.filled) {
        part.rank = static_cast<std::uint32_t>(entry.position) +
                    static_cast<std::uint32_t>(setting.rank_base);
    }
    if (setting.formula.scale == Scale::Rank) {
        part.contribution =
            rank_contribution(static_cast<double>(part.rank), statistics.weight, setting);
    } else {
        part.normalized = normalized(entry.score, statistics, setting.formula);
        part.contribution = statistics.weight * *part.normalized;
    }
}

double combined(std::span<const Part> parts, const Setting& setting) {
    if (setting.formula.combine == Combine::Largest) {
        return std::ranges::max(parts, {}, &Part::contribution).contribution;
    }
    double sum = 0;
    for (const Part& part : parts) sum += part.contribution;
    if (setting.formula.combine == Combine::Mean) return sum / static_cast<double>(parts.size());
    if (setting.formula.combine == Combine::ShareOfBest) return sum / (setting.lists / setting.k);
    return sum;
}

/// Finds the distinct ids; returns the hit that each entry belongs to, list after list.
Result<std::vector<std::uint32_t>> find_hits(std::span<const RankedList> lists,
                                             const Setting& setting, std::size_t total,
                                             Fused& fused) {
    std::vector<std::uint32_t> owners;
    owners.reserve(total);
    std::vector<std::uint16_t> last_list;  // by hit
    last_list.reserve(total);
    fused.hits.reserve(total);
    IdIndex index(total);
    const auto id_of = [&](std::uint32_t hit) { return fused.hits[hit].id; };
    for (std::size_t l = 0; l < lists.size(); ++l) {
        const auto list = static_cast<std::uint16_t>(l);
        for (const Entry& entry : lists[l].entries) {
            const std::size_t hit =
                index.add(entry.id, static_cast<std::uint32_t>(fused.hits.size()), id_of);
            if (hit == fused.hits.size()) {
                fused.hits.push_back({entry.id, 0, {}});
                last_list.push_back(list);
            } else if (std::exchange(last_list[hit], list) == list && !setting.formula.repeats) {
                return bad("\"" + std::string(entry.id) + "\" is listed twice in \"" +
                           std::string(lists[l].source) + "\"");
            }
            owners.push_back(static_cast<std::uint32_t>(hit));
        }
    }
    return owners;
}

/// Writes the parts of each hit side by side, in the order of the lists, and adds them up.
void fill_parts(std::span<const RankedList> lists, std::span<const std::uint32_t> owners,
                const Setting& setting, Fused& fused) {
    std::vector<std::uint32_t> ends(fused.hits.size() + 1, 0);  // of what is written, by hit
    for (const std::uint32_t owner : owners) ++ends[owner + 1];
    for (std::size_t h = 0; h < fused.hits.size(); ++h) ends[h + 1] += ends[h];
    fused.parts.resize(owners.size());
    std::size_t entries = 0;
    for (std::size_t l = 0; l < lists.size(); ++l) {
        for (const Entry& entry : lists[l].entries) {
            Part& part = fused.parts[ends[owners[entries++]]++];
            write_part(part, l, entry, fused.lists[l], setting);
        }
    }
    std::size_t begin = 0;
    for (std::size_t h = 0; h < fused.hits.size(); ++h) {
        FusedHit& hit = fused.hits[h];
        hit.parts = std::span<const Part>(fused.parts).subspan(begin, ends[h] - begin);
        hit.score = combined(hit.parts, setting);
        begin = ends[h];
    }
}

/// By score, then id. Hits come list by list, each nearly in order, which merging makes use of;
/// small keys are moved instead of hits.
void sort_hits(std::vector<FusedHit>& hits) {
    struct Key {
        double score;
        std::uint32_t hit;
    };
    std::vector<Key> keys(hits.size());
    for (std::size_t i = 0; i < hits.size(); ++i) {
        keys[i] = {hits[i].score, static_cast<std::uint32_t>(i)};
    }
    std::ranges::stable_sort(keys, [&](const Key& a, const Key& b) {
        return a.score != b.score ? a.score > b.score : hits[a.hit].id < hits[b.hit].id;
    });
    std::vector<FusedHit> sorted;
    sorted.reserve(hits.size());
    for (const Key& key : keys) sorted.push_back(hits[key.hit]);
    hits = std::move(sorted);
}

}  // namespace

Result<Fused> fuse(std::span<const RankedList> lists, const Options& options) {
    if (options.method == FusionMethod::Auto) {
        return bad("\"auto\" must be resolved to a method before lists are fused");
    }
    const Formula* const formula = formula_of(options.preset, options.method);
    if (formula == nullptr) {
        return bad("the preset \"" + std::string(name_of(options.preset)) + "\" has no \"" +
                   std::string(braid::name_of(options.method)) + "\"");
    }
    Setting setting{*formula, options.k, options.rank_base, static_cast<double>(lists.size()), 0};
    for (const RankedList& list : lists) setting.sum_of_weights += list.weight;
    BRAID_CHECK(check(lists, setting));
    std::size_t total = 0;
    for (const RankedList& list : lists) total += list.entries.size();
    if (lists.size() > std::numeric_limits<std::uint16_t>::max() ||
        total >= std::numeric_limits<std::uint32_t>::max()) {
        return bad("too many lists or entries");
    }
    Fused fused;
    fused.lists.reserve(lists.size());
    for (const RankedList& list : lists) {
        fused.lists.push_back(statistics_of(list, weight_of(list, setting), formula->scale));
    }
    BRAID_TRY(const auto owners, find_hits(lists, setting, total, fused));
    fill_parts(lists, owners, setting, fused);
    sort_hits(fused.hits);
    return fused;
}

}  // namespace braid::fusion
