#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid {

/// What makes vectors comparable. The hard part of a collection and its embedder must match; a
/// difference in the soft part is a warning, checked on canary texts.
struct EmbedderFingerprint {
    // hard
    std::string model{};       // "bge-small-en-v1.5", "minilm", a path's file name, an API's model
    std::string model_hash{};  // of the weights and the tokenizer; empty for an API
    std::size_t dimension = 0;
    std::string pooling{};  // "cls", "mean", or "" when the endpoint decides
    std::string query_prefix{};
    std::string passage_prefix{};
    std::size_t token_limit = 0;  // 0: unknown
    // soft
    std::string runtime{};    // "onnxruntime 1.31.1"
    std::string cpu_level{};  // "avx512"

    bool hard_equal(const EmbedderFingerprint& other) const;
    friend bool operator==(const EmbedderFingerprint&, const EmbedderFingerprint&) = default;
};

/// Queries and passages may carry different prefixes.
enum class TextRole { Query, Passage };

struct Embedding {
    std::vector<float> vector{};
    std::size_t tokens = 0;  // of the whole text, before any cut; 0 if unknown
    bool truncated = false;  // the text was longer than the model reads
};

/// Text to vectors. Safe for concurrent use; a text's vector does not depend on its batch.
/// Implemented by src/embed (ONNX models, HTTP endpoints) and by users.
class Embedder {
public:
    virtual ~Embedder() = default;

    virtual const EmbedderFingerprint& fingerprint() const = 0;

    /// One embedding per text, in order, or one error: Unavailable (endpoint down), Cancelled,
    /// DeadlineExceeded, InvalidArgument (not UTF-8).
    virtual Result<std::vector<Embedding>> embed(std::span<const std::string_view> texts,
                                                 TextRole role, const CallLimits& limits) const = 0;

    /// Tokens of `text` as the model counts them; an estimate if the tokenizer is unknown.
    virtual std::size_t count_tokens(std::string_view text) const = 0;
};

/// Rewrites queries with a language model. Its texts are only searched for, as plain text: never
/// parsed as query language, run, or shown as an answer. Safe for concurrent use; must not throw.
class QueryPreprocessor {
public:
    virtual ~QueryPreprocessor() = default;

    /// One to three other phrasings of the query, best first, without the query itself.
    virtual Result<std::vector<std::string>> expand(std::string_view query,
                                                    const CallLimits& limits) const = 0;

    /// A paragraph that could answer the query, to be embedded instead of it (HyDE).
    virtual Result<std::string> hypothetical_answer(std::string_view query,
                                                    const CallLimits& limits) const = 0;
};

}  // namespace braid
