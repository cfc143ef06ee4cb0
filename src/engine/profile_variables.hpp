#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/request.hpp"
#include "braid/result.hpp"

namespace braid::engine {

/// A variable that changes a number of a built-in profile: RETRIEVAL_TOP_K, RRF_CONSTANT.
struct ProfileVariable {
    std::string_view name;
    std::string_view profile;
    bool whole = false;  // no fractions
    double min = 0;
    double max = 0;
    void (*set)(Profile& profile, double value) = nullptr;
};
std::span<const ProfileVariable> profile_variables();

/// What a variable holds; nullopt: it is not set.
using VariableLookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Profiles as a database is opened with them.
struct ConfiguredProfiles {
    std::vector<Profile> profiles;
    std::string default_profile;  // of requests that name none
};

/// Puts the variables over `profiles`, and over built-in ones that are not among them. Requests
/// that name no profile use that of BRAID_PROFILE; else "service" if one of its variables,
/// RETRIEVAL_*, is set; else "default". InvalidArgument for a value that does not fit, or a profile
/// that there is not.
Result<ConfiguredProfiles> configure_profiles(std::vector<Profile> profiles,
                                              const VariableLookup& variable);

/// The profile of that name among these and the built-in ones; NotFound lists them.
Result<Profile> profile_named(std::string_view name, std::span<const Profile> profiles);

}  // namespace braid::engine
