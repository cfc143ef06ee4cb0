#include "braid/fusion/presets.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "braid/core/nearest.hpp"
#include "braid/fusion/formula.hpp"
#include "braid/fusion/fuse.hpp"

namespace braid::fusion {
namespace {

using enum Formula::Weight;
using enum Formula::Scale;
using enum Formula::Equal;
using enum Formula::Combine;

constexpr auto kFormulas = std::to_array<Formula>({
    {.preset = Preset::None, .method = FusionMethod::Rrf},
    {.preset = Preset::None, .method = FusionMethod::WeightedSum, .scale = MinMax},
    {.preset = Preset::None,
     .method = FusionMethod::Dbsf,
     .weight = Ignored,
     .scale = Sigmoid,
     .equal = Half,
     .combine = Mean},
    {.preset = Preset::Qdrant,
     .method = FusionMethod::Rrf,
     .k = 2,
     .rank_base = 0,
     .weight = InsideRank},
    {.preset = Preset::Qdrant,
     .method = FusionMethod::Dbsf,
     .weight = Ignored,
     .scale = ThreeSigmaSample,
     .equal = Half},
    {.preset = Preset::Elastic, .method = FusionMethod::Rrf},
    {.preset = Preset::Elastic,
     .method = FusionMethod::WeightedSum,
     .scale = MinMax,
     .equal = Score,
     .equal_within = 1e-6},
    {.preset = Preset::LangChain, .method = FusionMethod::Rrf, .repeats = true},
    {.preset = Preset::LlamaIndex, .method = FusionMethod::Rrf, .rank_base = 0, .weight = Ignored},
    {.preset = Preset::LlamaIndex,
     .method = FusionMethod::WeightedSum,
     .scale = MinMax,
     .equal = OneIfPositive},
    {.preset = Preset::LlamaIndex,
     .method = FusionMethod::Dbsf,
     .scale = ThreeSigma,
     .equal = OneIfPositive},
    {.preset = Preset::Haystack,
     .method = FusionMethod::Rrf,
     .k = 61,
     .rank_base = 0,
     .weight = Share,
     .combine = ShareOfBest},
    {.preset = Preset::Haystack,
     .method = FusionMethod::Dbsf,
     .weight = Ignored,
     .scale = ThreeSigma,
     .equal = Zero,
     .combine = Largest},
});

// In the order of the enumeration, without None.
constexpr std::array<std::string_view, 5> kNames{"qdrant", "elastic", "langchain", "llamaindex",
                                                 "haystack"};

}  // namespace

const Formula* formula_of(Preset preset, FusionMethod method) noexcept {
    const auto* const found = std::ranges::find_if(kFormulas, [&](const Formula& formula) {
        return formula.preset == preset && formula.method == method;
    });
    return found == kFormulas.end() ? nullptr : found;
}

std::string_view name_of(Preset preset) noexcept {
    return preset == Preset::None ? "" : kNames[static_cast<std::size_t>(preset) - 1];
}

std::span<const std::string_view> preset_names() noexcept {
    return kNames;
}

Result<Options> preset_options(std::string_view name, FusionMethod method) {
    const auto* const found = std::ranges::find(kNames, name);
    if (found == kNames.end()) {
        std::string message = "there is no fusion preset \"" + std::string(name) + "\"";
        if (const auto near = core::nearest(name, kNames)) {
            message += "; did you mean \"" + std::string(*near) + "\"?";
        }
        message += " The presets are";
        for (const std::string_view known : kNames) message += " " + std::string(known);
        return invalid_argument(std::move(message));
    }
    const auto preset = static_cast<Preset>(found - kNames.begin() + 1);
    const Formula* const formula = formula_of(preset, method);
    if (formula == nullptr) {
        std::string message = "the fusion preset \"" + std::string(name) + "\" has no \"" +
                              std::string(braid::name_of(method)) + "\"; it has";
        for (const Formula& other : kFormulas) {
            if (other.preset == preset) message += " " + std::string(braid::name_of(other.method));
        }
        return invalid_argument(std::move(message));
    }
    return Options{method, formula->k, formula->rank_base, preset};
}

bool uses_weights(const Options& options) noexcept {
    const Formula* const formula = formula_of(options.preset, options.method);
    return formula != nullptr && formula->weight != Ignored;
}

}  // namespace braid::fusion
