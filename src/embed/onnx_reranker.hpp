#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/embed/model_locator.hpp"
#include "braid/embed/onnx_encoder.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::embed {

struct OnnxRerankerOptions {
    OnnxEncoderFiles files;
    std::size_t token_limit = 512;  // query and passage together, with their three markers
    std::string output;             // empty: the model's first output
    std::size_t workers = 0;        // pairs scored side by side; 0: as many as there are cores
};

/// A cross-encoder: reads a query and a passage together and scores how well they match. Each pair
/// is run alone, so its score does not depend on the others. Safe for concurrent use.
class OnnxReranker {
public:
    /// Loads the model and tries it on a pair. Errors as in OnnxEncoder::load; also InvalidArgument
    /// if the output is not one number per pair.
    static Result<std::shared_ptr<const OnnxReranker>> load(const OnnxRerankerOptions& options,
                                                            const ModelLocator& locator);

    /// The model's score for each passage, in order: higher is better. A query may use half of the
    /// tokens; passages are cut to what remains. Fails as a whole.
    Result<std::vector<float>> score(std::string_view query,
                                     std::span<const std::string_view> passages,
                                     const CallLimits& limits) const;

    OnnxReranker(OnnxEncoder encoder, const OnnxRerankerOptions& options)
        : encoder_(std::move(encoder)),
          token_limit_(options.token_limit),
          workers_(options.workers) {}

private:
    Result<float> score_one(std::span<const std::int64_t> query, std::string_view passage) const;

    OnnxEncoder encoder_;
    std::size_t token_limit_;
    std::size_t workers_;
};

}  // namespace braid::embed
