#include <algorithm>
#include <array>
#include <utility>

#include "braid/core/nearest.hpp"
#include "braid/retrieval/builtin_stages.hpp"
#include "braid/retrieval/stages.hpp"

namespace braid::retrieval {
namespace {

constexpr auto kBuiltin = std::to_array<std::pair<std::string_view, StageMaker>>({
    {"filter_by_recency", make_filter_by_recency},
    {"boost_section_matches", make_boost_section_matches},
    {"decay_by_age", make_decay_by_age},
    {"boost_fields", make_boost_fields},
    {"mmr", make_mmr},
    {"collapse_duplicates", make_collapse_duplicates},
    {"min_score", make_min_score},
    {"relative_score", make_relative_score},
    {"largest_gap", make_largest_gap},
    {"features", make_features},
    {"rank", make_rank},
});

/// A callable of the user's, with the parameters of one request.
class FunctionStage final : public Stage {
public:
    FunctionStage(const CustomStage& custom, Object parameters)
        : custom_(custom), parameters_(std::move(parameters)) {}

    Result<std::vector<StageEffect>> run(const StageInput& input) override {
        return custom_.run(input, parameters_);
    }
    bool wants_vectors() const override { return custom_.wants_vectors; }

private:
    const CustomStage& custom_;  // the retriever's
    Object parameters_;
};

Error unknown_stage(const std::string& name, std::span<const CustomStage> custom) {
    std::vector<std::string_view> known(builtin_stage_names().begin(), builtin_stage_names().end());
    for (const CustomStage& stage : custom) known.emplace_back(stage.name);
    std::string message = "there is no stage \"" + name + "\"";
    if (const auto near = core::nearest(name, known)) {
        message += "; did you mean \"" + std::string(*near) + "\"?";
    }
    message += " There are";
    for (const std::string_view other : known) message += " " + std::string(other);
    return {ErrorCode::InvalidArgument, std::move(message)};
}

}  // namespace

std::span<const std::string_view> builtin_stage_names() noexcept {
    static const auto kNames = [] {
        std::array<std::string_view, kBuiltin.size()> names;
        std::ranges::transform(kBuiltin, names.begin(),
                               [](const auto& entry) { return entry.first; });
        return names;
    }();
    return kNames;
}

Result<std::unique_ptr<Stage>> make_stage(const StageChoice& choice,
                                          std::span<const CustomStage> custom) {
    const auto own = std::ranges::find(custom, choice.name, &CustomStage::name);
    if (own != custom.end()) {
        if (own->check) BRAID_CHECK(own->check(choice.parameters));
        return std::make_unique<FunctionStage>(*own, choice.parameters);
    }
    const auto* const found = std::ranges::find_if(
        kBuiltin, [&](const auto& entry) { return entry.first == choice.name; });
    if (found == kBuiltin.end()) return tl::unexpected(unknown_stage(choice.name, custom));
    const StageMaker make = found->second;
    Parameters parameters(choice.name, choice.parameters);
    BRAID_TRY(auto made, make(parameters));
    BRAID_CHECK(parameters.finish());
    return made;
}

}  // namespace braid::retrieval
