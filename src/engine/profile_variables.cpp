#include "braid/engine/profile_variables.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "braid/core/vocabulary.hpp"
#include "braid/retrieval/plan.hpp"

namespace braid::engine {
namespace {

constexpr std::string_view kDefaultProfile = "default";
constexpr std::string_view kService = "service";
constexpr double kLargest = 1e9;

void set_dense_weight(Profile& profile, double weight) {
    if (!profile.sparse_weight) profile.sparse_weight = 1 - profile.dense_weight;
    profile.dense_weight = weight;
}

constexpr auto kVariables = std::to_array<core::ProfileVariable>({
    {.name = "RETRIEVAL_TOP_K",
     .profile = kService,
     .whole = true,
     .min = 1,
     .max = 10'000,
     .set = [](Profile& p, double n) { p.top_k = static_cast<std::size_t>(n); }},
    {.name = "RETRIEVAL_VECTOR_WEIGHT",
     .profile = kService,
     .max = kLargest,
     .set = set_dense_weight},
    {.name = "RETRIEVAL_BM25_WEIGHT",
     .profile = kService,
     .max = kLargest,
     .set = [](Profile& p, double n) { p.sparse_weight = n; }},
});

Result<double> read_number(const core::ProfileVariable& variable, const std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && after == end && number >= variable.min && number <= variable.max &&
        (!variable.whole || number == std::floor(number))) {
        return number;
    }
    return invalid_argument(
        std::string(variable.name) + " must be " + (variable.whole ? "an integer" : "a number") +
        " from " + std::to_string(static_cast<std::int64_t>(variable.min)) + " to " +
        std::to_string(static_cast<std::int64_t>(variable.max)) + ", got \"" + text + "\"");
}

/// The one of that name, which is put there if it is not.
Profile& profile_in(std::vector<Profile>& profiles, std::string_view name,
                    const core::Vocabulary& vocabulary) {
    const auto found = std::ranges::find(profiles, name, &Profile::name);
    if (found != profiles.end()) return *found;
    const auto known = core::known_profiles(vocabulary);
    return profiles.emplace_back(*std::ranges::find(known, name, &Profile::name));
}

}  // namespace

Result<ConfiguredProfiles> configure_profiles(std::vector<Profile> profiles,
                                              const core::Vocabulary& vocabulary,
                                              const VariableLookup& variable) {
    ConfiguredProfiles out{std::move(profiles), std::string(kDefaultProfile)};
    std::vector<core::ProfileVariable> all(kVariables.begin(), kVariables.end());
    all.insert(all.end(), vocabulary.variables.begin(), vocabulary.variables.end());
    for (const core::ProfileVariable& each : all) {
        const auto text = variable(each.name);
        if (!text || text->empty()) continue;
        BRAID_TRY(const double number, read_number(each, *text));
        each.set(profile_in(out.profiles, each.profile, vocabulary), number);
        if (each.profile == kService) out.default_profile = kService;
    }
    const auto chosen = variable("BRAID_PROFILE");
    if (!chosen || chosen->empty()) return out;
    auto known = profile_named(*chosen, out.profiles, vocabulary);
    if (!known) return invalid_argument("BRAID_PROFILE: " + known.error().message);
    out.default_profile = *chosen;
    return out;
}

Result<Profile> profile_named(std::string_view name, std::span<const Profile> profiles,
                              const core::Vocabulary& vocabulary) {
    return retrieval::find_profile(name, profiles, vocabulary);
}

}  // namespace braid::engine
