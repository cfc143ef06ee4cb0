#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "braid/core/utf8.hpp"
#include "braid/text/analyzer.hpp"

namespace braid::text {

/// Overwrites a vector of tokens one by one, so that their strings keep their memory.
class TokenWriter {
public:
    explicit TokenWriter(std::vector<Token>& out) noexcept : out_(out) {}

    /// Cuts the term to kMaxTermBytes. An empty one is not written.
    void write(std::string_view term, std::uint32_t position, std::uint32_t begin,
               std::uint32_t end) {
        if (term.empty()) return;
        if (size_ == out_.size()) out_.emplace_back();
        Token& token = out_[size_++];
        token.term = core::cut_at_most(term, kMaxTermBytes);
        token.position = position;
        token.begin = begin;
        token.end = end;
    }

    /// Drops the tokens that were there before and not overwritten.
    void finish() { out_.resize(size_); }

private:
    std::vector<Token>& out_;
    std::size_t size_ = 0;
};

}  // namespace braid::text
