#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/request.hpp"
#include "braid/result.hpp"

namespace braid::core {
struct Vocabulary;
}

namespace braid::engine {

/// What a variable holds; nullopt: it is not set.
using VariableLookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Profiles as a database is opened with them.
struct ConfiguredProfiles {
    std::vector<Profile> profiles;
    std::string default_profile;  // of requests that name none
};

/// Applies the variables, RETRIEVAL_* and the vocabulary's, to `profiles` and to built-in ones not
/// among them. Requests that name no profile use the one BRAID_PROFILE names; else "service" if one
/// of its variables, RETRIEVAL_*, is set; else "default". InvalidArgument for an invalid value, or
/// a profile that does not exist.
Result<ConfiguredProfiles> configure_profiles(std::vector<Profile> profiles,
                                              const core::Vocabulary& vocabulary,
                                              const VariableLookup& variable);

/// The profile of that name among these, the built-in ones and the vocabulary's; NotFound lists
/// them.
Result<Profile> profile_named(std::string_view name, std::span<const Profile> profiles,
                              const core::Vocabulary& vocabulary);

}  // namespace braid::engine
