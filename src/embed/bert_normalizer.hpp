#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace braid::embed {

/// What a BERT tokenizer does to characters before it looks for words.
struct BertNormalizer {
    bool clean_text = true;
    bool space_chinese = true;
    bool strip_accents = true;
    bool lowercase = true;

    /// Appends the normalised characters of `text`, which must be UTF-8, to `out`.
    void append(std::string_view text, std::u32string& out) const;
};

}  // namespace braid::embed
