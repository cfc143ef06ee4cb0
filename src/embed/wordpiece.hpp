#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "braid/result.hpp"

namespace braid::embed {

/// A text as a model reads it.
struct TokenizedText {
    std::vector<std::int64_t> ids;  // [CLS] ... [SEP], at most as many as the limit
    std::size_t tokens = 0;         // how many `ids` would hold without a limit
    bool truncated = false;
};

/// BERT's tokenizer: gives the same ids as Hugging Face `tokenizers` for the same tokenizer.json.
/// Immutable, safe for concurrent use.
class WordPiece {
public:
    /// Reads a tokenizer.json. Unsupported if its normalizer, pre-tokenizer, model or template is
    /// not BERT's; InvalidArgument if it is damaged. Truncation and padding settings in the file
    /// are ignored: the caller decides.
    static Result<WordPiece> parse(std::string_view tokenizer_json);

    ~WordPiece();
    WordPiece(WordPiece&&) noexcept;
    WordPiece& operator=(WordPiece&&) noexcept;
    WordPiece(const WordPiece&) = delete;
    WordPiece& operator=(const WordPiece&) = delete;

    /// Requires limit >= 2. InvalidArgument if `text` is not UTF-8.
    Result<TokenizedText> encode(std::string_view text, std::size_t limit) const;

    /// The largest id encode() may return.
    std::int64_t largest_id() const noexcept;

private:
    struct Tables;
    explicit WordPiece(std::unique_ptr<const Tables> tables) noexcept;
    std::unique_ptr<const Tables> tables_;
};

}  // namespace braid::embed
