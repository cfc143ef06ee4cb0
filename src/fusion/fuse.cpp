#include "braid/fusion/fuse.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

namespace braid::fusion {
namespace {

tl::unexpected<Error> bad(std::string message) {
    return fail(ErrorCode::InvalidArgument, "fusion: " + std::move(message));
}

Result<> check(std::span<const RankedList> lists, const Options& options) {
    for (const RankedList& list : lists) {
        if (!std::isfinite(list.weight) || list.weight < 0) {
            return bad("the weight of \"" + std::string(list.source) + "\" must be 0 or more");
        }
        for (const Entry& entry : list.entries) {
            if (options.method == FusionMethod::Rrf && entry.position == Entry::kUnranked) {
                return bad("rrf goes by ranks, \"" + std::string(entry.id) + "\" has none");
            }
            if (!std::isfinite(entry.score)) {
                return bad("\"" + std::string(list.source) + "\" gives \"" + std::string(entry.id) +
                           "\" a score that is not a finite number");
            }
        }
    }
    if (options.method == FusionMethod::Rrf) {
        if (!std::isfinite(options.k) || options.k + options.rank_base <= 0) {
            return bad("k + rank must be above 0; k is " + std::to_string(options.k) +
                       ", ranks start at " + std::to_string(options.rank_base));
        }
    }
    if (options.method == FusionMethod::Auto) {
        return bad("\"auto\" must be resolved to a method before lists are fused");
    }
    return {};
}

ListStatistics statistics_of(const RankedList& list, FusionMethod method) {
    ListStatistics statistics;
    if (list.entries.empty()) return statistics;
    if (method == FusionMethod::WeightedSum) {
        const auto [low, high] = std::ranges::minmax(list.entries, {}, &Entry::score);
        statistics.min = low.score;
        statistics.max = high.score;
    } else if (method == FusionMethod::Dbsf) {
        const auto n = static_cast<double>(list.entries.size());
        double sum = 0;
        for (const Entry& entry : list.entries) sum += entry.score;
        const double mean = sum / n;
        double squares = 0;
        for (const Entry& entry : list.entries) {
            squares += (entry.score - mean) * (entry.score - mean);
        }
        statistics.mean = mean;
        statistics.std = std::sqrt(squares / n);
        // Equal scores must count as such even where the mean is rounded.
        const auto [low, high] = std::ranges::minmax(list.entries, {}, &Entry::score);
        if (low.score == high.score) {
            statistics.mean = low.score;
            statistics.std = 0.0;
        }
    }
    return statistics;
}

Part part_of(std::size_t list_index, const RankedList& list, const Entry& entry,
             const ListStatistics& statistics, const Options& options) {
    const double score = entry.score;
    Part part{.list = list_index, .score = score, .filled = entry.position == Entry::kUnranked};
    if (!part.filled) part.rank = entry.position + static_cast<std::size_t>(options.rank_base);
    switch (options.method) {
        case FusionMethod::WeightedSum: {
            const double range = *statistics.max - *statistics.min;
            part.normalized = range > 0 ? (score - *statistics.min) / range : 1.0;
            part.contribution = list.weight * *part.normalized;
            break;
        }
        case FusionMethod::Dbsf:
            part.normalized =
                *statistics.std > 0
                    ? 1 / (1 + std::exp(-((score - *statistics.mean) / *statistics.std)))
                    : 0.5;
            part.contribution = *part.normalized;
            break;
        default:
            part.contribution = list.weight / (options.k + static_cast<double>(part.rank));
            break;
    }
    return part;
}

}  // namespace

Result<Fused> fuse(std::span<const RankedList> lists, const Options& options) {
    BRAID_CHECK(check(lists, options));
    Fused fused;
    std::size_t total = 0;
    for (const RankedList& list : lists) {
        total += list.entries.size();
        fused.lists.push_back(statistics_of(list, options.method));
    }

    // Parts of one hit stand together: hit h owns slots h * lists ... and uses the first `used[h]`.
    const std::size_t stride = lists.size();
    std::vector<Part> slots;
    std::vector<std::size_t> used;
    slots.reserve(total * stride);
    std::unordered_map<std::string_view, std::size_t> index;
    index.reserve(total);
    for (std::size_t l = 0; l < lists.size(); ++l) {
        for (const Entry& entry : lists[l].entries) {
            const std::string_view id = entry.id;
            const auto [found, inserted] = index.try_emplace(id, fused.hits.size());
            const std::size_t hit = found->second;
            if (inserted) {
                fused.hits.push_back({id, 0, {}});
                slots.resize(slots.size() + stride);
                used.push_back(0);
            } else if (used[hit] > 0 && slots[hit * stride + used[hit] - 1].list == l) {
                return bad("\"" + std::string(id) + "\" stands twice in \"" +
                           std::string(lists[l].source) + "\"");
            }
            slots[hit * stride + used[hit]++] =
                part_of(l, lists[l], entry, fused.lists[l], options);
        }
    }

    fused.parts = std::move(slots);
    for (std::size_t h = 0; h < fused.hits.size(); ++h) {
        FusedHit& hit = fused.hits[h];
        hit.parts = std::span<const Part>(fused.parts).subspan(h * stride, used[h]);
        for (const Part& part : hit.parts) hit.score += part.contribution;
        if (options.method == FusionMethod::Dbsf) {
            hit.score /= static_cast<double>(hit.parts.size());
        }
    }
    std::ranges::sort(fused.hits, [](const FusedHit& a, const FusedHit& b) {
        return a.score != b.score ? a.score > b.score : a.id < b.id;
    });
    return fused;
}

}  // namespace braid::fusion
