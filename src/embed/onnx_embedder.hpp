#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "braid/embed/model_locator.hpp"
#include "braid/embedder.hpp"
#include "braid/result.hpp"

namespace braid::embed {

/// How the vectors of a text's tokens become one.
enum class Pooling {
    Cls,   // the first token's
    Mean,  // the average over all tokens
    None,  // the model's output is already one vector per text
};

/// "cls", "mean", "none".
std::string_view name_of(Pooling pooling) noexcept;
std::optional<Pooling> pooling_by_name(std::string_view name) noexcept;

/// A BERT-like encoder in one ONNX file with its tokenizer.json. Inputs `input_ids`,
/// `attention_mask` and, if the model has it, `token_type_ids`; the output is [texts, tokens, d]
/// or [texts, d], as float.
struct OnnxEmbedderOptions {
    std::filesystem::path model;
    std::filesystem::path tokenizer;
    std::string name;  // for the fingerprint; empty: the model's file name
    Pooling pooling = Pooling::Mean;
    std::string query_prefix;
    std::string passage_prefix;
    std::size_t token_limit = 256;  // including [CLS] and [SEP]; longer texts are cut
    std::size_t dimension = 0;      // 0: taken from the model
    std::string output;             // empty: the model's first output
    /// How many texts one call embeds in parallel; 0: as many as there are cores.
    std::size_t workers = 0;
    /// ONNX Runtime's library; empty: the one the locator finds.
    std::filesystem::path runtime;
    /// The SHA-256 that the files must have; empty: any.
    std::string model_sha256;
    std::string tokenizer_sha256;
};

/// Loads the model and checks it against the options by embedding a probe. InvalidArgument says
/// what was expected and what was found; Corruption (a file's SHA-256), NotFound (a file, the
/// runtime) or Unsupported (tokenizer, runtime too old).
///
/// The embedder runs one text at a time per worker on one shared session, so a text's vector does
/// not depend on what is embedded beside it. Vectors have length 1. `Embedding::tokens` and
/// `count_tokens` include the prefix and the two markers, so a text is cut exactly if it has more
/// tokens than `token_limit`; `count_tokens` counts as for a passage.
Result<std::shared_ptr<const Embedder>> make_onnx_embedder(const OnnxEmbedderOptions& options,
                                                           const ModelLocator& locator);

struct BuiltinEmbedderOptions {
    std::size_t token_limit = 256;  // up to 512
    std::size_t workers = 0;        // 0: as many as there are cores
};

/// "bge-small-en-v1.5" (alias "bge") or "minilm", as fetched by tools/fetch_models. NotFound for
/// other names; otherwise as make_onnx_embedder.
Result<std::shared_ptr<const Embedder>> make_builtin_embedder(
    std::string_view name, const ModelLocator& locator, const BuiltinEmbedderOptions& options = {});

}  // namespace braid::embed
