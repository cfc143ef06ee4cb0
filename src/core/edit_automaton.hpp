#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace braid::core {

/// Tells, byte by byte, how far a text is from a fixed word, as edit_distance counts. The text may
/// grow and shrink at its end: words in byte order share prefixes, whose states are kept. A byte
/// costs a few operations on whole machine words (Wu and Manber, 1992).
class EditAutomaton {
public:
    static constexpr std::size_t kMaxWordBytes = 63;
    static constexpr std::size_t kMaxDistance = 2;

    /// Requires a word of at most kMaxWordBytes and `most` of at most kMaxDistance.
    EditAutomaton(std::string_view word, std::size_t most);

    /// Keeps the text's first bytes.
    void shrink(std::size_t bytes) noexcept {
        if (bytes < states_.size() - 1) states_.resize(bytes + 1);
    }
    /// Requires that `text` begins with the text so far. Continues to its end and returns npos, or
    /// to where no text with this beginning can be near and returns how many bytes that takes.
    std::size_t grow(std::string_view text);
    /// More than `most` is most + 1.
    std::size_t distance() const noexcept;

private:
    /// [d], bit j: the word's first j bytes are d edits or fewer from the text.
    using State = std::array<std::uint64_t, kMaxDistance + 1>;

    std::uint64_t accepted_;  // the bit of the whole word
    std::uint64_t all_;       // it and those below
    std::size_t most_;
    std::array<std::uint64_t, 256> places_{};  // of each byte in the word
    std::vector<State> states_;                // after each byte of the text; the first: before it
};

}  // namespace braid::core
