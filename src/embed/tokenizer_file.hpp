#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/result.hpp"

namespace braid::embed {

using TokenId = std::int32_t;

/// What a tokenizer.json says, as far as BERT's tokenizer needs it.
struct TokenizerFile {
    using Token = std::pair<std::string, TokenId>;

    std::vector<Token> vocabulary;
    std::vector<Token> added;  // matched in the raw text: "[SEP]"
    std::string continuation_prefix;
    TokenId unknown = 0;
    TokenId begin = 0;  // [CLS]
    TokenId end = 0;    // [SEP]
    std::size_t max_word_characters = 0;
    bool clean_text = true;
    bool space_chinese = true;
    bool strip_accents = true;
    bool lowercase = true;
};

/// Unsupported if the file describes a tokenizer other than BERT's, InvalidArgument if it is
/// damaged.
Result<TokenizerFile> parse_tokenizer_file(std::string_view json);

}  // namespace braid::embed
