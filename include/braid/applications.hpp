#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "braid/database.hpp"

namespace braid {

/// Searches that applications have their own names for. Each is a request with a profile and a few
/// members set: `Database::retrieve` with the profile "decisions", "topic", "artifacts" or
/// "doctrine" does the same.

/// Unset members come from the profile "topic".
struct TopicSearch {
    std::optional<double> alpha{};  // weight of the dense leg; the sparse one has 1 - alpha
    std::optional<std::size_t> k_semantic{};  // candidates from the dense leg
    std::optional<std::size_t> k_lexical{};   // candidates from the sparse leg
    std::optional<std::size_t> k_context{};   // hits
};

/// The profile "topic" over one topic, which is a namespace of `collection`.
Result<Answer> retrieve_topic(const Database& database, const std::string& topic_id,
                              const std::string& query, const TopicSearch& search = {},
                              const std::string& collection = std::string(kDefaultCollection),
                              const Principal& principal = {}, const CallLimits& limits = {});

/// Doctrine for a mission: the profile "doctrine" over `collection`, only chunks with one of the
/// codes. Without codes, any chunk.
Result<Answer> find_relevant_doctrine(
    const Database& database, const std::string& mission,
    const std::vector<std::string>& mos_codes = {},
    const std::string& collection = std::string(kDefaultCollection),
    const Principal& principal = {}, const CallLimits& limits = {});

}  // namespace braid
