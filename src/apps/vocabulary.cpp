#include "braid/apps/vocabulary.hpp"

#include <cstddef>

#include "braid/database.hpp"

namespace braid::apps {
namespace {

using core::HitMember;

std::vector<Profile> profiles() {
    return {
        {.name = "decisions",
         .collections = {"decisions"},
         .strategy = Strategy::Dense,
         .method = FusionMethod::WeightedSum,
         .depth_per_hit = 2},
        {.name = "topic",
         .method = FusionMethod::WeightedSum,
         .dense_weight = 0.6,
         .depth = 200,
         .top_k = 30},
        {.name = "artifacts",
         .collections = {"artifacts", "artifact_chunks"},
         .method = FusionMethod::WeightedSum,  // of the legs; collections by rrf (decision 0023)
         .rank_base = 0,
         .depth = 1,
         .depth_per_hit = 3,
         .top_k = 5,
         .max_top_k = 50},
        {.name = "doctrine", .namespace_ = "arcnet_doctrine", .dense_weight = 0.6},
    };
}

std::vector<core::ProfileVariable> variables() {
    return {
        {.name = "RRF_CONSTANT",
         .profile = "artifacts",
         .min = 1,
         .max = 1e9,
         .set = [](Profile& p, double n) { p.k = n; }},
        {.name = "OVERFETCH_MULTIPLIER",
         .profile = "artifacts",
         .whole = true,
         .min = 1,
         .max = 1000,
         .set = [](Profile& p, double n) { p.depth_per_hit = static_cast<std::size_t>(n); }},
        {.name = "MAX_HYBRID_SEARCH_RESULTS",
         .profile = "artifacts",
         .whole = true,
         .min = 1,
         .max = 10'000,
         .set = [](Profile& p, double n) { p.max_top_k = static_cast<std::size_t>(n); }},
    };
}

core::Vocabulary make_vocabulary() {
    return {
        .profiles = profiles(),
        .variables = variables(),
        .keys = {{"retrieval_mode", "strategy"},  // decisions
                 {"hybrid_weight", "dense_weight"},
                 {"topicId", "namespace"},  // topics
                 {"alpha", "dense_weight"},
                 {"kSemantic", "dense_top_k"},
                 {"kLexical", "sparse_top_k"},
                 {"kContext", "top_k"}},
        .shorthands = {{"artifact_type", "artifact_type"},
                       {"category", "category"},  // decisions
                       {"stakes", "stakes"},
                       {"project", "project"},
                       {"mos_codes", "mos_code", true}},  // doctrine
        .hits = {{"topic",
                  {{"chunkId", HitMember::ChunkId},
                   {"documentId", HitMember::DocumentId},
                   {"topicId", HitMember::Namespace},
                   {"chunkIndex", HitMember::ChunkIndex},
                   {"text", HitMember::Content},
                   {"hybridScore", HitMember::Score},
                   {"semanticScore", HitMember::DenseNormalized},
                   {"lexicalScore", HitMember::SparseNormalized}}}},
        .shared_documents = {{{"artifacts", "artifact_chunks"}, "artifact_chunks"}},
        .document_key = "artifact_id",
    };
}

}  // namespace

const core::Vocabulary& vocabulary() {
    static const core::Vocabulary kVocabulary = make_vocabulary();
    return kVocabulary;
}

}  // namespace braid::apps

namespace braid {

core::VocabularyPtr application_vocabulary() {
    return {core::VocabularyPtr(), &apps::vocabulary()};  // nobody has to free it
}

}  // namespace braid
