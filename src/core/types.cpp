#include "braid/types.hpp"

#include <array>

#include "braid/backend.hpp"
#include "braid/embedder.hpp"

namespace braid {
namespace {

template <class T>
struct Named {
    std::string_view name;
    T value;
};

// The first name of a value is used for writing; the others are only read.
constexpr std::array<Named<Strategy>, 6> kStrategies{{{"dense", Strategy::Dense},
                                                      {"sparse", Strategy::Sparse},
                                                      {"hybrid", Strategy::Hybrid},
                                                      {"multi_hop", Strategy::MultiHop},
                                                      {"semantic", Strategy::Dense},
                                                      {"keyword", Strategy::Sparse}}};
constexpr std::array<Named<FusionMethod>, 4> kFusions{{{"rrf", FusionMethod::Rrf},
                                                       {"weighted_sum", FusionMethod::WeightedSum},
                                                       {"dbsf", FusionMethod::Dbsf},
                                                       {"auto", FusionMethod::Auto}}};
constexpr std::array<Named<Metric>, 3> kMetrics{
    {{"cosine", Metric::Cosine}, {"dot", Metric::Dot}, {"euclidean", Metric::Euclidean}}};
constexpr std::array<Named<Precision>, 3> kPrecisions{
    {{"f32", Precision::F32}, {"f16", Precision::F16}, {"int8", Precision::Int8}}};

template <class T, std::size_t N>
std::string_view name_in(const std::array<Named<T>, N>& table, T value) noexcept {
    for (const Named<T>& row : table) {
        if (row.value == value) return row.name;
    }
    return "?";
}

template <class T, std::size_t N>
std::optional<T> value_in(const std::array<Named<T>, N>& table, std::string_view name) noexcept {
    for (const Named<T>& row : table) {
        if (row.name == name) return row.value;
    }
    return std::nullopt;
}

}  // namespace

std::string_view name_of(Strategy strategy) noexcept {
    return name_in(kStrategies, strategy);
}
std::optional<Strategy> strategy_by_name(std::string_view name) noexcept {
    return value_in(kStrategies, name);
}
std::string_view name_of(FusionMethod method) noexcept {
    return name_in(kFusions, method);
}
std::optional<FusionMethod> fusion_by_name(std::string_view name) noexcept {
    return value_in(kFusions, name);
}
std::string_view name_of(Across across) noexcept {
    return across == Across::Ranks ? "ranks" : "scores";
}
std::optional<Across> across_by_name(std::string_view name) noexcept {
    if (name == "ranks") return Across::Ranks;
    if (name == "scores") return Across::Scores;
    return std::nullopt;
}
std::string_view name_of(Metric metric) noexcept {
    return name_in(kMetrics, metric);
}
std::optional<Metric> metric_by_name(std::string_view name) noexcept {
    return value_in(kMetrics, name);
}
std::string_view name_of(Precision precision) noexcept {
    return name_in(kPrecisions, precision);
}
std::optional<Precision> precision_by_name(std::string_view name) noexcept {
    return value_in(kPrecisions, name);
}
std::string_view name_of(LegKind kind) noexcept {
    return kind == LegKind::Dense ? "dense" : "sparse";
}

bool EmbedderFingerprint::hard_equal(const EmbedderFingerprint& other) const {
    return model == other.model && model_hash == other.model_hash && dimension == other.dimension &&
           pooling == other.pooling && query_prefix == other.query_prefix &&
           passage_prefix == other.passage_prefix && token_limit == other.token_limit;
}

}  // namespace braid
