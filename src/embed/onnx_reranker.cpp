#include "braid/embed/onnx_reranker.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace braid::embed {

Result<std::shared_ptr<const OnnxReranker>> OnnxReranker::load(const OnnxRerankerOptions& options,
                                                               const ModelLocator& locator) {
    const auto load = [&]() -> Result<std::shared_ptr<const OnnxReranker>> {
        if (options.token_limit < 8 || options.token_limit > 32'768) {
            return invalid_argument("token_limit " + std::to_string(options.token_limit) +
                                    " is not between 8 and 32768");
        }
        BRAID_TRY(OnnxEncoder encoder, OnnxEncoder::load(options.files, locator));
        BRAID_CHECK(encoder.use_output(options.output, 2, "a score of each pair"));
        // A model with fewer positions or a smaller vocabulary is rejected here, not at some
        // passage.
        const std::vector<std::int64_t> longest(options.token_limit,
                                                encoder.tokenizer().largest_id());
        if (auto tried = encoder.run(longest); !tried) {
            return fail("the model cannot read " + std::to_string(options.token_limit) + " tokens",
                        std::move(tried).error());
        }
        auto reranker = std::make_shared<const OnnxReranker>(std::move(encoder), options);
        const std::string_view passage = "probe";
        BRAID_CHECK(reranker->score("probe", std::span(&passage, 1), {}));
        return reranker;
    };
    auto loaded = load();
    if (!loaded) {
        return fail("cannot load the reranker " + options.files.model.string(),
                    std::move(loaded).error());
    }
    return loaded;
}

Result<std::vector<float>> OnnxReranker::score(std::string_view query,
                                               std::span<const std::string_view> passages,
                                               const CallLimits& limits) const {
    BRAID_TRY(const TokenizedText asked, encoder_.tokenizer().encode(query, token_limit_ / 2));
    std::vector<float> scores(passages.size());
    BRAID_CHECK(run_each(workers_, passages.size(), limits, [&](std::size_t i) -> Result<> {
        BRAID_TRY(scores[i], score_one(asked.ids, passages[i]));
        return {};
    }));
    return scores;
}

/// [CLS] query [SEP] passage [SEP], the passage as token type 1.
Result<float> OnnxReranker::score_one(std::span<const std::int64_t> query,
                                      std::string_view passage) const {
    const std::size_t room = token_limit_ - query.size() + 1;  // its own [CLS] is dropped
    BRAID_TRY(const TokenizedText text, encoder_.tokenizer().encode(passage, room));
    std::vector<std::int64_t> ids(query.begin(), query.end());
    ids.insert(ids.end(), text.ids.begin() + 1, text.ids.end());
    std::vector<std::int64_t> types(ids.size(), 1);
    std::fill_n(types.begin(), query.size(), 0);
    BRAID_TRY(const OnnxTensor output, encoder_.run(ids, types));
    if (output.data.size() != 1) {
        return invalid_argument("the model answers a pair with shape " + shape_text(output.shape) +
                                "; expected one number");
    }
    if (!std::isfinite(output.data.front())) {
        return invalid_argument("the model's score is not a finite number");
    }
    return output.data.front();
}

}  // namespace braid::embed
