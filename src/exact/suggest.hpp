#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "braid/answer.hpp"
#include "braid/collection.hpp"
#include "braid/exact/visible_rows.hpp"
#include "braid/text/analyzer.hpp"

namespace braid::exact {

/// For each word of the text that no visible row holds, up to `limit` words near it that some
/// do: one letter off for words of up to four bytes, two for longer ones; nearest first, then the
/// most frequent. Words are shown as they stand in a text, not as the analyzer cuts them. Reads
/// every term of the partition; rows that are not visible change nothing.
/// DeadlineExceeded or Cancelled when the limits say so.
Result<std::vector<Suggestion>> suggest_words(const VisibleRows& visible,
                                              const text::Analyzer& analyzer, std::string_view text,
                                              std::size_t limit, const CallLimits& limits);

}  // namespace braid::exact
