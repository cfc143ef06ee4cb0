#pragma once

#include <span>
#include <string_view>

namespace braid::cli {

/// A stage as help describes it.
struct StageNote {
    std::string_view name;
    std::string_view help;
    std::string_view parameters{};  // with their defaults
};

/// Every stage there is, in the order of retrieval's own list, and `rerank`.
std::span<const StageNote> stage_notes();

}  // namespace braid::cli
