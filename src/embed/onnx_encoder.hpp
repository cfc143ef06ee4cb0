#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/embed/model_locator.hpp"
#include "braid/embed/onnx_session.hpp"
#include "braid/embed/wordpiece.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::embed {

/// A BERT-like encoder in one ONNX file with its tokenizer.json.
struct OnnxEncoderFiles {
    std::filesystem::path model;
    std::filesystem::path tokenizer;
    /// ONNX Runtime's library; empty: the one the locator finds.
    std::filesystem::path runtime;
    /// The SHA-256 that the files must have; empty: any.
    std::string model_sha256;
    std::string tokenizer_sha256;
};

/// Tokens in, floats out, one text at a time. Safe for concurrent use.
class OnnxEncoder {
public:
    /// NotFound (a file, the runtime), Corruption (a file's SHA-256), Unsupported (tokenizer,
    /// runtime too old), InvalidArgument if the inputs are not `input_ids`, `attention_mask` and
    /// perhaps `token_type_ids`.
    static Result<OnnxEncoder> load(const OnnxEncoderFiles& files, const ModelLocator& locator);

    const WordPiece& tokenizer() const noexcept { return tokenizer_; }
    const std::string& runtime_version() const noexcept { return runtime_version_; }
    const std::string& hash() const noexcept { return hash_; }  // SHA-256 of both files

    /// Chooses what run() returns; empty: the first output. InvalidArgument if that does not
    /// consist of floats in `rank` dimensions, as `purpose` needs.
    Result<> use_output(const std::string& name, std::size_t rank, std::string_view purpose);

    /// `types` distinguishes the two texts of a pair; empty: all 0.
    Result<OnnxTensor> run(std::span<const std::int64_t> ids,
                           std::span<const std::int64_t> types = {}) const;

private:
    /// What an input of the model is given.
    enum class Feed { Ids, Ones, Types };

    OnnxEncoder(OnnxSession session, WordPiece tokenizer)
        : session_(std::move(session)), tokenizer_(std::move(tokenizer)) {}
    Result<> bind_inputs();

    OnnxSession session_;
    WordPiece tokenizer_;
    std::vector<Feed> feeds_;
    std::size_t output_ = 0;
    std::string runtime_version_;
    std::string hash_;
};

/// "[1, any, 384]"
std::string shape_text(const std::vector<std::int64_t>& shape);

/// Calls `work` for 0 to count - 1, `workers` of them in parallel (0: as many as there are cores);
/// stops at the first failure. Cancelled, DeadlineExceeded: the limits, checked before each.
Result<> run_each(std::size_t workers, std::size_t count, const CallLimits& limits,
                  const std::function<Result<>(std::size_t)>& work);

}  // namespace braid::embed
