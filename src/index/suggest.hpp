#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
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

    struct Nearness {
        std::size_t most = 0;  // in edits, as core::edit_distance counts
        std::size_t exact_prefix = 0;
    };
    using Visit =
        std::function<void(std::string_view known, std::size_t distance, std::uint64_t chunks)>;
    /// Visits at least every term that occurs in a visible chunk, shares the first `exact_prefix`
    /// bytes of `term` and is at most `most` edits away from it, in any order and possibly more
    /// than once; the `chunks` of all its visits together are no fewer than the visible chunks with
    /// the term.
    virtual Result<> near(std::string_view term, const Nearness& nearness,
                          const Visit& visit) const = 0;

    /// These will be asked for: a chance to look for all of them at once.
    virtual Result<> expect(std::span<const std::string> terms) const {
        (void)terms;
        return {};
    }
    struct Seen {
        std::uint64_t chunks = 0;  // visible ones that hold the term
        std::string first;         // the smallest of their ids
    };
    virtual Result<Seen> seen(std::string_view term) const = 0;
    virtual Result<Chunk> chunk(const std::string& id) const = 0;
};

/// For each word of the text that no visible chunk contains, up to `limit` words that may have been
/// meant, most frequent first: one typing error away or, failing that, two, not counting the first
/// letter.
Result<std::vector<Suggestion>> suggest_words(const Words& words, const Schema& schema,
                                              const text::Analyzer& analyzer, std::string_view text,
                                              std::size_t limit, const CallLimits& limits);

}  // namespace braid::index
