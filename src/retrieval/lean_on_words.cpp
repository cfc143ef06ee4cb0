#include <algorithm>
#include <cctype>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "braid/retrieval/plan.hpp"
#include "braid/text/language.hpp"

namespace braid::retrieval {
namespace {

/// The dense leg's share where its model does not know the language: of scores, which say how poor
/// a hit is, and of ranks, which do not. 0092 has the figures.
constexpr double kForeignShareOfScores = 0.1;
constexpr double kForeignShareOfRanks = 0.01;

bool knows_english_alone(const CollectionPlan& collection, std::span<const std::string> english) {
    return std::ranges::find(english, collection.schema.vectors.embedder) != english.end();
}

/// The language that all collections searched by vectors are analysed as, if it is not English.
std::optional<std::string_view> analysed_as(std::span<const CollectionPlan> collections) {
    std::optional<std::string_view> language;
    for (const CollectionPlan& collection : collections) {
        if (!collection.dense) continue;
        const std::string& own = collection.schema.language;
        if (own == "english" || own == "none" || own == "auto" || (language && *language != own))
            return {};
        language = own;
    }
    return language;
}

/// Why to think that a model of English is of little use; nothing if it may be.
std::optional<std::string> unknown_language(const Request& request, const Plan& plan) {
    if (const auto guessed = text::foreign_language(request.query)) {
        return "the question looks like " + std::string(*guessed);
    }
    // The question may be of names, or of words that are English too.
    const auto analysed = analysed_as(plan.collections);
    if (!analysed) return std::nullopt;
    std::string name(*analysed);
    name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
    return "the texts are analysed as " + name;
}

}  // namespace

void lean_on_words(const Request& request, std::span<const std::string> english, Plan& plan) {
    if (!request.query_embedding.empty()) return;
    const auto dense = [](const CollectionPlan& collection) { return collection.dense; };
    const auto searched = std::ranges::find_if(plan.collections, dense);
    if (searched == plan.collections.end()) return;
    const bool known = std::ranges::any_of(plan.collections, [&](const auto& collection) {
        return collection.dense && !knows_english_alone(collection, english);
    });
    if (known) return;
    const auto language = unknown_language(request, plan);
    if (!language) return;
    std::string warning =
        *language + ", and \"" + searched->schema.vectors.embedder + "\" understands English: ";
    const bool weighs =
        plan.strategy == Strategy::Hybrid &&
        (fusion::uses_weights(plan.fusion) || plan.fusion.method == FusionMethod::Auto);
    if (!weighs || request.dense_weight || !request.weights.empty()) {
        plan.warnings.push_back(warning + "search by meaning is poor here; search by words works");
        return;
    }
    const double both = plan.dense_weight + plan.sparse_weight;
    const double share =
        plan.fusion.method == FusionMethod::Rrf ? kForeignShareOfRanks : kForeignShareOfScores;
    plan.dense_weight = std::min(plan.dense_weight, share * both);
    plan.sparse_weight = both - plan.dense_weight;
    plan.most_dense_weight = share;
    plan.warnings.push_back(warning + "words count for more (\"dense_weight\" sets it)");
}

}  // namespace braid::retrieval
