#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::segment {

/// Strings in ascending order of bytes, each once, one by one.
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
    /// The present one, until the next call.
    virtual std::string_view text() const noexcept = 0;
    /// How many there are, if that is known without a look at them.
    virtual std::optional<std::uint64_t> size() const noexcept { return std::nullopt; }
};
using AscendingPtr = std::unique_ptr<Ascending>;

/// Strings in any order, some perhaps several times. They must stay.
AscendingPtr ascending(std::vector<std::string_view> strings);

/// How many different strings there are in all lists together: one walk over each, nothing copied.
Result<std::uint64_t> count_distinct(std::vector<AscendingPtr> lists, const CallLimits& limits);

}  // namespace braid::segment
