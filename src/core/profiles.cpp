#include "braid/core/vocabulary.hpp"
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
    };
    return kProfiles;
}

std::vector<Profile> core::known_profiles(const Vocabulary& vocabulary) {
    std::vector<Profile> all = builtin_profiles();
    all.insert(all.end(), vocabulary.profiles.begin(), vocabulary.profiles.end());
    return all;
}

}  // namespace braid
