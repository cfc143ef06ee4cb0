#include "braid/request.hpp"

namespace braid {

const std::vector<Profile>& builtin_profiles() {
    static const std::vector<Profile> kProfiles{
        {.name = "default"},
        {.name = "service",
         .dense_weight = 0.5,
         .sparse_weight = 0.5,
         .depth_per_hit = 1,
         .top_k = 20},
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
    return kProfiles;
}

}  // namespace braid
