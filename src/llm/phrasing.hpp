#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "braid/llm/chat_answer.hpp"

namespace braid::llm {

inline constexpr std::size_t kMostPhrasings = 3;
inline constexpr std::size_t kMostPhrasingBytes = 1024;
inline constexpr std::size_t kMostParagraphBytes = 4096;

/// The first kMostPhrasings phrasings in a model's reply, one per line: without numbering, bullets,
/// headings, emphasis, quotes, labels ("Query:"), code fences and announcements (lines that end in
/// a colon), without blank lines, duplicates and `query` itself (compared without regard to ASCII
/// case and closing punctuation). JSON lists are understood. The last line of a reply that was cut
/// counts only if it is the only one; a line of more than kMostPhrasingBytes is no phrasing. Each
/// is harmless as in plain_text.hpp; empty if the reply holds none.
std::vector<std::string> phrasings_in(const Completion& reply, std::string_view query);

/// The reply as one paragraph on one line, cleaned in the same way and cut to kMostParagraphBytes;
/// empty if it holds no words.
std::string paragraph_in(const Completion& reply);

}  // namespace braid::llm
