#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/answer.hpp"
#include "braid/collection.hpp"
#include "braid/result.hpp"
#include "braid/text/analyzer.hpp"
#include "braid/types.hpp"

namespace braid::index {

/// The words of what a principal sees.
class Words {
public:
    virtual ~Words() = default;

    /// At least every term that a visible chunk holds, in any order, some perhaps several times.
    virtual Result<> each(const std::function<Result<>(std::string_view)>& visit) const = 0;

    struct Seen {
        std::uint64_t chunks = 0;  // visible ones that hold the term
        std::string first;         // the smallest of their ids
    };
    virtual Result<Seen> seen(std::string_view term) const = 0;
    virtual Result<Chunk> chunk(const std::string& id) const = 0;
};

/// For each word of the text that no visible chunk holds, up to `limit` words that some do hold and
/// that may have been meant, nearest first, then the most frequent.
Result<std::vector<Suggestion>> suggest_words(const Words& words, const Schema& schema,
                                              const text::Analyzer& analyzer, std::string_view text,
                                              std::size_t limit, const CallLimits& limits);

}  // namespace braid::index
