#include <algorithm>
#include <string>

#include "braid/retrieval/plan.hpp"
#include "braid/text/language.hpp"

namespace braid::retrieval {
namespace {

/// The dense leg's share where its model does not know the language: 0087 has its origin.
constexpr double kForeignShare = 0.2;

bool knows_english_alone(const CollectionPlan& collection, std::span<const std::string> english) {
    return std::ranges::find(english, collection.schema.vectors.embedder) != english.end();
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
    const auto language = text::foreign_language(request.query);
    if (!language) return;
    std::string warning = "the question looks like " + std::string(*language) + ", and \"" +
                          searched->schema.vectors.embedder + "\" understands English: ";
    const bool weighs =
        plan.strategy == Strategy::Hybrid &&
        (fusion::uses_weights(plan.fusion) || plan.fusion.method == FusionMethod::Auto);
    if (!weighs || request.dense_weight || !request.weights.empty()) {
        plan.warnings.push_back(warning + "search by meaning is poor here, search by words is not");
        return;
    }
    const double both = plan.dense_weight + plan.sparse_weight;
    plan.dense_weight = std::min(plan.dense_weight, kForeignShare * both);
    plan.sparse_weight = both - plan.dense_weight;
    plan.most_dense_weight = kForeignShare;
    plan.warnings.push_back(warning + "words count for more (\"dense_weight\" sets it)");
}

}  // namespace braid::retrieval
