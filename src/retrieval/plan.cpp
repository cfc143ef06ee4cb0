#include "braid/retrieval/plan.hpp"

#include <algorithm>
#include <cmath>

#include "braid/core/blank.hpp"
#include "braid/core/vocabulary.hpp"
#include "braid/retrieval/unused.hpp"

namespace braid::retrieval {
namespace {

constexpr std::size_t kMaxDepth = 100'000;
constexpr std::size_t kMaxTopK = 10'000;
/// What "auto" weighs is how the scores of both legs are distributed; its constants are for lists
/// of this length.
constexpr std::size_t kAutoDepth = 200;
constexpr std::size_t kMaxHops = 100;

/// Why the strategy cannot search a collection at all; empty if it can.
std::string obstacle(const CollectionPlan& collection, Strategy strategy) {
    const VectorSpec& vectors = collection.schema.vectors;
    if (strategy != Strategy::Dense && strategy != Strategy::MultiHop) return {};
    if (!vectors.has_vectors()) {
        return "collection \"" + collection.name +
               "\" holds no vectors, so it cannot be searched with the strategy \"" +
               std::string(name_of(strategy)) + "\"; use \"sparse\"";
    }
    if (strategy == Strategy::MultiHop && vectors.embedder == "external") {
        return "the vectors of collection \"" + collection.name +
               "\" come from outside: \"multi_hop\" has to embed what each hop finds, which only "
               "the collection's own embedder can do";
    }
    return {};
}

void warn_of_words_alone(Plan& plan) {
    if (plan.strategy != Strategy::Hybrid) return;
    for (const CollectionPlan& collection : plan.collections) {
        if (collection.dense) continue;
        plan.warnings.push_back("collection \"" + collection.name +
                                "\" holds no vectors: only words were searched");
    }
}

Result<> plan_legs(const Request& request, Plan& plan) {
    const bool blank = core::is_blank(request.query);
    const bool wants_sparse =
        plan.strategy == Strategy::Sparse || plan.strategy == Strategy::Hybrid;
    if (blank && plan.strategy == Strategy::Sparse) return invalid_argument("\"query\" is blank");
    bool any_dense = false;
    std::erase_if(plan.collections, [&](const CollectionPlan& collection) {
        std::string reason = obstacle(collection, plan.strategy);
        if (reason.empty()) return false;
        plan.shortfalls.push_back(std::move(reason));
        return true;
    });
    if (plan.collections.empty()) return invalid_argument(std::move(plan.shortfalls.front()));
    for (CollectionPlan& collection : plan.collections) {
        collection.dense =
            plan.strategy != Strategy::Sparse && collection.schema.vectors.has_vectors();
        collection.sparse = wants_sparse && !blank;
        any_dense = any_dense || collection.dense;
    }
    // Words alone are all there is to a collection without vectors: that is said only to those who
    // asked for more.
    if (any_dense || request.strategy || !request.query_embedding.empty())
        warn_of_words_alone(plan);
    if (blank && (request.query_embedding.empty() || !any_dense)) {
        return invalid_argument("\"query\" is blank, and no query_embedding was given");
    }
    std::erase_if(plan.collections, [](const CollectionPlan& c) { return !c.dense && !c.sparse; });
    if (blank && wants_sparse) {
        plan.warnings.emplace_back("the query is blank: only the vector was searched");
    }
    return {};
}

bool has_field(const Schema& schema, const TextField& field) {
    return std::ranges::find(schema.text_fields, field.name, &TextField::name) !=
           schema.text_fields.end();
}

/// Of several collections each takes the fields that it has; one of them must have what the request
/// names.
Result<> plan_bm25(const Request& request, const Profile& profile, Plan& plan) {
    const Bm25Choice choice = chosen_bm25(request, profile);
    if (choice.empty()) return {};
    for (const TextField& field : request.bm25.text_fields) {
        if (std::ranges::none_of(plan.collections, [&](const CollectionPlan& collection) {
                return has_field(collection.schema, field);
            })) {
            return invalid_argument("\"bm25\": no collection searched has a text field \"" +
                                    field.name + "\"");
        }
    }
    for (CollectionPlan& collection : plan.collections) {
        collection.bm25 = for_schema(choice, collection.schema);
        BRAID_TRY(collection.schema, with_choice(std::move(collection.schema), collection.bm25));
    }
    return {};
}

bool is_auto(const Request& request, const Profile& profile) {
    return request.fusion.method.value_or(profile.method) == FusionMethod::Auto;
}

/// Scores of several collections mean the same only if they are made in the same way.
Result<> check_comparable(const Plan& plan) {
    const auto differ = [](const CollectionPlan& a, const CollectionPlan& b,
                           std::string_view what) {
        return invalid_argument("\"across\": \"scores\" needs collections with the same " +
                                std::string(what) + ": those of \"" + a.name + "\" and \"" +
                                b.name + "\" differ; use \"ranks\"");
    };
    const CollectionPlan* dense = nullptr;
    const CollectionPlan* sparse = nullptr;
    for (const CollectionPlan& collection : plan.collections) {
        if (collection.dense) {
            if (dense == nullptr) dense = &collection;
            const VectorSpec& a = dense->schema.vectors;
            const VectorSpec& b = collection.schema.vectors;
            const bool other_model = a.fingerprint && b.fingerprint &&  // none: no vector yet
                                     !a.fingerprint->hard_equal(*b.fingerprint);
            if (a.embedder != b.embedder || a.metric != b.metric || other_model) {
                return differ(*dense, collection, "embedder and metric");
            }
        }
        if (collection.sparse) {
            if (sparse == nullptr) sparse = &collection;
            const Schema& a = sparse->schema;
            const Schema& b = collection.schema;
            if (a.text_fields != b.text_fields || a.analyzer != b.analyzer ||
                a.language != b.language || a.stop_words != b.stop_words || a.bm25 != b.bm25) {
                return differ(*sparse, collection, "text fields, analyzer and BM25 parameters");
            }
        }
    }
    return {};
}

/// How the collections compare. "auto" weighs scores, so it compares theirs wherever it can.
Result<> plan_across(const Request& request, const Profile& profile, Plan& plan) {
    if (!plan.several) return {};
    if (request.across.value_or(profile.across) == Across::Scores) {
        plan.by_scores = true;
        return check_comparable(plan);
    }
    const bool weighs_collections = std::ranges::any_of(request.weights, [](const auto& weight) {
        return weight.first != "dense" && weight.first != "sparse";
    });
    if (request.across || weighs_collections || plan.strategy != Strategy::Hybrid ||
        !is_auto(request, profile)) {
        return {};
    }
    const auto comparable = check_comparable(plan);
    plan.by_scores = comparable.has_value();
    if (!comparable) {
        plan.warnings.push_back("the collections were compared by ranks: " +
                                comparable.error().message);
    }
    return {};
}

/// The weight of a collection among several; false if it is none of those asked for.
bool weigh_collection(const std::string& name, double weight, std::span<const std::string> names,
                      Plan& plan) {
    if (!plan.several || std::ranges::find(names, name) == names.end()) return false;
    for (CollectionPlan& collection : plan.collections) {
        if (collection.name == name) collection.weight = weight;
    }
    return true;
}

std::string unusable_weights(const Request& request, const Plan& plan) {
    if (plan.strategy != Strategy::Hybrid) {
        return "\"weights\" of legs can only be used with the strategy \"hybrid\"";
    }
    std::string message = "\"weights\" of legs cannot be used with the fusion \"" +
                          std::string(name_of(plan.fusion.method)) + "\"";
    if (request.fusion.preset) message += " of the preset \"" + *request.fusion.preset + "\"";
    return message;
}

Result<> plan_weights(const Request& request, const Profile& profile,
                      std::span<const std::string> names, Plan& plan) {
    plan.dense_weight = profile.dense_weight;
    plan.sparse_weight = profile.sparse_weight.value_or(1 - profile.dense_weight);
    const bool used = plan.strategy == Strategy::Hybrid && fusion::uses_weights(plan.fusion);
    if (request.dense_weight) {
        if (!request.weights.empty()) {
            return invalid_argument("give \"dense_weight\" or \"weights\", not both");
        }
        if (!(*request.dense_weight >= 0 && *request.dense_weight <= 1)) {
            return invalid_argument("\"dense_weight\" must be from 0 to 1");
        }
        plan.dense_weight = *request.dense_weight;
        plan.sparse_weight = 1 - *request.dense_weight;
    }
    for (const auto& [source, weight] : request.weights) {
        if (!std::isfinite(weight) || weight < 0) {
            return invalid_argument("the weight of \"" + source + "\" must be 0 or more");
        }
        if (source == "dense" || source == "sparse") {
            if (!used) return invalid_argument(unusable_weights(request, plan));
            (source == "dense" ? plan.dense_weight : plan.sparse_weight) = weight;
        } else if (plan.by_scores && std::ranges::find(names, source) != names.end()) {
            return invalid_argument(
                "\"weights\" of collections cannot be used with \"across\": "
                "\"scores\", which compares all chunks as if they were in one collection");
        } else if (!weigh_collection(source, weight, names, plan)) {
            std::string message = "\"weights\" names an unknown source \"" + source +
                                  "\"; the sources are dense and sparse";
            if (plan.several) {
                for (const std::string& name : names) message += ", " + name;
            }
            return invalid_argument(std::move(message));
        }
    }
    return {};
}

Result<> plan_fusion(const Request& request, const Profile& profile, Plan& plan) {
    // Ranks cannot compare scores: where nobody asked for them, the scores themselves are added.
    const bool add_scores =
        plan.by_scores && profile.method == FusionMethod::Rrf && !request.fusion.preset;
    plan.fusion.method =
        request.fusion.method.value_or(add_scores ? FusionMethod::WeightedSum : profile.method);
    if (request.fusion.preset) {
        BRAID_TRY(plan.fusion, fusion::preset_options(*request.fusion.preset, plan.fusion.method));
        if (request.fusion.rank_base.value_or(plan.fusion.rank_base) != plan.fusion.rank_base) {
            return invalid_argument(
                "the fusion preset \"" + *request.fusion.preset + "\" counts ranks from " +
                std::to_string(plan.fusion.rank_base) + ", not from \"rank_base\"");
        }
        plan.fusion.k = request.fusion.k.value_or(plan.fusion.k);
    } else {
        plan.fusion.k = request.fusion.k.value_or(profile.k);
        // Rank base 0 belongs to the fusion of collections; the legs of one count from 1.
        plan.fusion.rank_base = request.fusion.rank_base.value_or(1);
    }
    plan.across = {.k = request.fusion.k.value_or(profile.k), .rank_base = 0};
    const bool chooses = plan.fusion.method == FusionMethod::Auto;
    plan.fill_scores = request.fusion.fill_scores.value_or(chooses);
    if (plan.fusion.rank_base != 0 && plan.fusion.rank_base != 1) {
        return invalid_argument("\"rank_base\" must be 0 or 1");
    }
    if (plan.several && !plan.by_scores && (!std::isfinite(plan.across.k) || plan.across.k <= 0)) {
        return invalid_argument("\"k\" must be above 0 for the fusion of collections");
    }
    if (plan.strategy != Strategy::Hybrid) return {};
    if (chooses && !plan.fill_scores) {
        return invalid_argument(
            "the fusion \"auto\" needs the scores of both legs: leave \"fill_scores\" out");
    }
    if (plan.fusion.method == FusionMethod::Rrf) {
        if (plan.fill_scores)
            return invalid_argument("\"fill_scores\" cannot be used with the fusion \"rrf\"");
        if (!std::isfinite(plan.fusion.k) || plan.fusion.k + plan.fusion.rank_base <= 0) {
            return invalid_argument("\"k\" must be above " +
                                    std::to_string(-plan.fusion.rank_base));
        }
    }
    return {};
}

Result<> plan_sizes(const Request& request, const Profile& profile, Plan& plan) {
    plan.top_k = request.top_k.value_or(profile.top_k);
    if (plan.top_k < 1 || plan.top_k > kMaxTopK) {
        return invalid_argument("\"top_k\" must be from 1 to " + std::to_string(kMaxTopK));
    }
    if (profile.max_top_k != 0 && plan.top_k > profile.max_top_k) {
        plan.warnings.push_back("top_k was cut from " + std::to_string(plan.top_k) + " to " +
                                std::to_string(profile.max_top_k) + ", the most the profile \"" +
                                profile.name + "\" allows");
        plan.top_k = profile.max_top_k;
    }
    std::size_t depth = std::max(profile.depth, profile.depth_per_hit * plan.top_k);
    if (plan.fusion.method == FusionMethod::Auto && plan.strategy == Strategy::Hybrid) {
        depth = std::max(depth, kAutoDepth);
    }
    plan.dense_depth = request.dense_top_k.value_or(depth);
    plan.sparse_depth = request.sparse_top_k.value_or(depth);
    for (const auto& [name, value] : {std::pair("dense_top_k", plan.dense_depth),
                                      std::pair("sparse_top_k", plan.sparse_depth)}) {
        if (value < 1 || value > kMaxDepth) {
            return invalid_argument("\"" + std::string(name) + "\" must be from 1 to " +
                                    std::to_string(kMaxDepth));
        }
    }
    if (request.score_threshold && !std::isfinite(*request.score_threshold)) {
        return invalid_argument("\"score_threshold\" must be a finite number");
    }
    plan.score_threshold = request.score_threshold;
    if (request.recall && !(*request.recall > 0 && *request.recall <= 1)) {
        return invalid_argument("\"recall\" must be above 0 and at most 1");
    }
    return {};
}

Result<> plan_hops(const Request& request, const Profile& profile, Plan& plan) {
    plan.max_hops = request.max_hops.value_or(profile.max_hops);
    plan.hop_top_k = request.hop_top_k.value_or(profile.hop_top_k);
    if (plan.strategy != Strategy::MultiHop) return {};
    if (plan.max_hops < 1 || plan.max_hops > kMaxHops) {
        return invalid_argument("\"max_hops\" must be from 1 to " + std::to_string(kMaxHops));
    }
    if (plan.hop_top_k < 1 || plan.hop_top_k > kMaxTopK) {
        return invalid_argument("\"hop_top_k\" must be from 1 to " + std::to_string(kMaxTopK));
    }
    return {};
}

}  // namespace

Result<Profile> find_profile(std::string_view name, std::span<const Profile> profiles,
                             const core::Vocabulary& vocabulary) {
    const std::span<const Profile> builtin(builtin_profiles());
    for (const auto& list : {profiles, builtin, std::span<const Profile>(vocabulary.profiles)}) {
        const auto found = std::ranges::find(list, name, &Profile::name);
        if (found != list.end()) return *found;
    }
    std::string message = "there is no profile \"" + std::string(name) + "\"; there are";
    for (const Profile& profile : core::known_profiles(vocabulary)) message += " " + profile.name;
    for (const Profile& profile : profiles) message += " " + profile.name;
    return fail(ErrorCode::NotFound, std::move(message));
}

Bm25Choice chosen_bm25(const Request& request, const Profile& profile) {
    Bm25Choice choice = profile.bm25;
    if (request.bm25.k1) choice.k1 = request.bm25.k1;
    if (request.bm25.b) choice.b = request.bm25.b;
    for (const TextField& field : request.bm25.text_fields) {
        std::erase_if(choice.text_fields,
                      [&](const TextField& other) { return other.name == field.name; });
        choice.text_fields.push_back(field);
    }
    return choice;
}

Bm25Choice for_schema(Bm25Choice choice, const Schema& schema) {
    std::erase_if(choice.text_fields,
                  [&](const TextField& field) { return !has_field(schema, field); });
    return choice;
}

Result<std::vector<std::string>> collections_of(const Request& request, const Profile& profile) {
    const auto& names = request.collections.empty() ? profile.collections : request.collections;
    if (names.empty()) return std::vector<std::string>{std::string(kDefaultCollection)};
    for (auto name = names.begin(); name != names.end(); ++name) {
        if (std::find(names.begin(), name, *name) != name) {
            return invalid_argument("\"collections\" names \"" + *name + "\" twice");
        }
    }
    return names;
}

Result<Plan> make_plan(const Request& request, const Profile& profile,
                       std::span<const std::string> names, std::vector<CollectionPlan> found,
                       std::vector<Filter> stage_filters) {
    Plan plan;
    // A profile made for several merges also the one that is left of them.
    plan.several = names.size() > 1 || profile.collections.size() > 1;
    plan.collections = std::move(found);
    plan.namespace_ = request.namespace_.value_or(profile.namespace_);
    plan.strategy = request.strategy.value_or(profile.strategy);
    plan.expand_neighbors = request.expand_neighbors;
    BRAID_CHECK(plan_legs(request, plan));
    BRAID_CHECK(plan_bm25(request, profile, plan));
    BRAID_CHECK(plan_across(request, profile, plan));
    BRAID_CHECK(plan_fusion(request, profile, plan));
    BRAID_CHECK(plan_weights(request, profile, names, plan));
    BRAID_CHECK(plan_sizes(request, profile, plan));
    BRAID_CHECK(plan_hops(request, profile, plan));
    plan.filter = whole_filter(request, std::move(stage_filters));
    plan.unused = unused_keys(request, plan);
    return plan;
}

std::optional<Filter> whole_filter(const Request& request, std::vector<Filter> stage_filters) {
    std::vector<Filter> clauses = std::move(stage_filters);
    if (request.filter) clauses.push_back(*request.filter);
    if (request.document_ids) {
        Array ids(request.document_ids->begin(), request.document_ids->end());
        clauses.push_back(Filter::compare(Filter::Op::In, "document_id", Value(std::move(ids))));
    }
    if (clauses.empty()) return std::nullopt;
    if (clauses.size() == 1) return std::move(clauses.front());
    return Filter::all_of(std::move(clauses));
}

}  // namespace braid::retrieval
