#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::segment {

/// Strings in ascending byte order, each once, one at a time.
class Ascending {
public:
    Ascending() = default;
    Ascending(const Ascending&) = delete;
    Ascending& operator=(const Ascending&) = delete;
    Ascending(Ascending&&) = delete;
    Ascending& operator=(Ascending&&) = delete;
    virtual ~Ascending() = default;

    /// False at the end.
    virtual Result<bool> next() = 0;
    /// The current one, valid until the next call.
    virtual std::string_view text() const noexcept = 0;
    /// How many there are, if that is known without walking them.
    virtual std::optional<std::uint64_t> size() const noexcept { return std::nullopt; }
};
using AscendingPtr = std::unique_ptr<Ascending>;

/// Strings in any order, possibly repeated. They must stay where they are.
AscendingPtr ascending(std::vector<std::string_view> strings);

/// How many different strings all lists hold together. Walks each list once and copies nothing.
Result<std::uint64_t> count_distinct(std::vector<AscendingPtr> lists, const CallLimits& limits);

}  // namespace braid::segment
