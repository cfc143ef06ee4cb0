#include "braid/wire/profile_json.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "braid/core/nearest.hpp"
#include "braid/core/vocabulary.hpp"
#include "braid/json/fields.hpp"
#include "braid/wire/bm25_json.hpp"
#include "braid/wire/stage_json.hpp"

namespace braid::wire {
namespace {

using json::Fields;

constexpr double kNoLimit = std::numeric_limits<double>::max();

Result<Profile> base_of(Fields& fields, const std::string& otherwise,
                        std::span<const Profile> known) {
    BRAID_TRY(const auto base, fields.string("base"));
    const auto found = std::ranges::find(known, base.value_or(otherwise), &Profile::name);
    if (found != known.end()) return *found;
    if (!base) return Profile{};
    std::vector<std::string_view> names;
    for (const Profile& profile : known) names.emplace_back(profile.name);
    const auto near = core::nearest(*base, names);
    return invalid_argument("\"" + fields.path_of("base") + "\": there is no profile \"" + *base +
                            "\"" + (near ? "; did you mean \"" + std::string(*near) + "\"?" : ""));
}

Result<> read_size(Fields& fields, std::string_view key, std::int64_t min, std::size_t& out) {
    BRAID_TRY(const auto number, fields.integer(key, min, 100'000));
    if (number) out = static_cast<std::size_t>(*number);
    return {};
}

Result<> read_fusion(Fields& fields, Profile& profile) {
    BRAID_TRY(const auto strategy, fields.string("strategy"));
    if (strategy) {
        const auto known = strategy_by_name(*strategy);
        if (!known) {
            return invalid_argument(
                fields.complaint("strategy", "\"dense\", \"sparse\", \"hybrid\" or \"multi_hop\""));
        }
        profile.strategy = *known;
    }
    BRAID_TRY(const auto method, fields.choice("method", {"rrf", "weighted_sum", "dbsf", "auto"}));
    BRAID_TRY(const auto across, fields.choice("across", {"ranks", "scores"}));
    if (across) profile.across = across_by_name(*across).value_or(profile.across);
    if (method) profile.method = fusion_by_name(*method).value_or(profile.method);
    BRAID_TRY(const auto k, fields.number("k"));
    BRAID_TRY(const auto rank_base, fields.integer("rank_base", 0, 1));
    BRAID_TRY(const auto dense_weight, fields.number("dense_weight", 0, kNoLimit));
    BRAID_TRY(const auto sparse_weight, fields.number("sparse_weight", 0, kNoLimit));
    profile.k = k.value_or(profile.k);
    if (rank_base) profile.rank_base = static_cast<int>(*rank_base);
    profile.dense_weight = dense_weight.value_or(profile.dense_weight);
    if (sparse_weight) profile.sparse_weight = sparse_weight;
    if (profile.k + profile.rank_base <= 0) {
        return invalid_argument(fields.complaint("k", "large enough that k + rank is above 0"));
    }
    if (!profile.sparse_weight && profile.dense_weight > 1) {
        return invalid_argument(fields.complaint(
            "dense_weight", "a number from 0 to 1, unless \"sparse_weight\" is given too"));
    }
    return {};
}

/// Puts the members over `profile`.
Result<> read_members(Fields& fields, Profile& profile) {
    BRAID_TRY(auto collections, fields.strings("collections"));
    if (collections) profile.collections = *std::move(collections);
    BRAID_TRY(auto namespace_name, fields.string("namespace"));
    if (namespace_name) profile.namespace_ = *std::move(namespace_name);
    BRAID_CHECK(read_fusion(fields, profile));
    BRAID_TRY(auto bm25, read_bm25_choice(fields, "bm25"));
    if (bm25) profile.bm25 = *std::move(bm25);
    BRAID_CHECK(read_size(fields, "depth", 1, profile.depth));
    BRAID_CHECK(read_size(fields, "depth_per_hit", 0, profile.depth_per_hit));
    BRAID_CHECK(read_size(fields, "top_k", 1, profile.top_k));
    BRAID_CHECK(read_size(fields, "max_top_k", 0, profile.max_top_k));
    BRAID_CHECK(read_size(fields, "max_hops", 1, profile.max_hops));
    BRAID_CHECK(read_size(fields, "hop_top_k", 1, profile.hop_top_k));
    BRAID_TRY(auto stages, read_stages(fields, "stages"));
    if (stages) profile.stages = *std::move(stages);
    return fields.finish();
}

}  // namespace

Result<Profile> profile_from_value(const std::string& name, const Value& json,
                                   std::span<const Profile> known) {
    BRAID_TRY(Fields fields, Fields::of(json, "profiles." + name));
    BRAID_TRY(Profile profile, base_of(fields, name, known));
    profile.name = name;
    BRAID_CHECK(read_members(fields, profile));
    return profile;
}

Result<Profile> own_profile_from_value(const Value& json, const core::Vocabulary& vocabulary) {
    BRAID_TRY(Fields fields, Fields::of(json, "profile"));
    BRAID_TRY(Profile profile, base_of(fields, "", core::known_profiles(vocabulary)));
    BRAID_TRY(auto name, fields.string("name"));
    profile.name = std::move(name).value_or("request");
    BRAID_CHECK(read_members(fields, profile));
    return profile;
}

Value own_profile_to_value(const Profile& profile) {
    Value out = profile_to_value(profile);
    out.as_object().set("name", profile.name);
    return out;
}

Value profile_to_value(const Profile& profile) {
    Object out;
    if (!profile.collections.empty()) {
        out.set("collections", Array(profile.collections.begin(), profile.collections.end()));
    }
    out.set("namespace", profile.namespace_);
    out.set("strategy", name_of(profile.strategy));
    out.set("method", name_of(profile.method));
    out.set("k", profile.k);
    out.set("rank_base", profile.rank_base);
    out.set("across", name_of(profile.across));
    out.set("dense_weight", profile.dense_weight);
    if (profile.sparse_weight) out.set("sparse_weight", *profile.sparse_weight);
    if (!profile.bm25.empty()) out.set("bm25", bm25_choice_to_value(profile.bm25));
    out.set("depth", profile.depth);
    out.set("depth_per_hit", profile.depth_per_hit);
    out.set("top_k", profile.top_k);
    out.set("max_top_k", profile.max_top_k);
    out.set("max_hops", profile.max_hops);
    out.set("hop_top_k", profile.hop_top_k);
    if (!profile.stages.empty()) out.set("stages", stages_to_value(profile.stages));
    return out;
}

}  // namespace braid::wire
