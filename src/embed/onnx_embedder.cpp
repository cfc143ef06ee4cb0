#include "braid/embed/onnx_embedder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "braid/embed/cpu_level.hpp"
#include "braid/embed/onnx_encoder.hpp"

namespace braid::embed {
namespace {

constexpr std::array<std::pair<Pooling, std::string_view>, 3> kPoolingNames{
    {{Pooling::Cls, "cls"}, {Pooling::Mean, "mean"}, {Pooling::None, "none"}}};

Result<> normalize(std::vector<float>& vector) {
    double squares = 0;
    for (const float x : vector) squares += static_cast<double>(x) * static_cast<double>(x);
    if (!std::isfinite(squares)) {
        return invalid_argument("the model's output is not finite");
    }
    if (squares == 0) return {};
    const double scale = 1 / std::sqrt(squares);
    for (float& x : vector) x = static_cast<float>(static_cast<double>(x) * scale);
    return {};
}

/// One vector from [1, tokens, d] or [1, d].
std::vector<float> pool(const OnnxTensor& tensor, Pooling pooling) {
    const auto d = static_cast<std::size_t>(tensor.shape.back());
    const auto begin = tensor.data.begin();
    if (pooling != Pooling::Mean) return {begin, begin + static_cast<std::ptrdiff_t>(d)};
    const std::size_t tokens = tensor.data.size() / d;
    std::vector<double> sums(d);
    for (std::size_t t = 0; t < tokens; ++t) {
        for (std::size_t i = 0; i < d; ++i) sums[i] += static_cast<double>(tensor.data[t * d + i]);
    }
    std::vector<float> mean(d);
    for (std::size_t i = 0; i < d; ++i) {
        mean[i] = static_cast<float>(sums[i] / static_cast<double>(tokens));
    }
    return mean;
}

class OnnxEmbedder final : public Embedder {
public:
    OnnxEmbedder(OnnxEncoder encoder, Pooling pooling, std::size_t workers)
        : encoder_(std::move(encoder)), pooling_(pooling), workers_(workers) {}

    /// Checks output and dimension against the options; fills in the fingerprint.
    Result<> adopt(const OnnxEmbedderOptions& options);

    const EmbedderFingerprint& fingerprint() const override { return fingerprint_; }
    Result<std::vector<Embedding>> embed(std::span<const std::string_view> texts, TextRole role,
                                         const CallLimits& limits) const override;
    std::size_t count_tokens(std::string_view text) const override;

private:
    Result<> try_extremes() const;
    Result<Embedding> embed_one(std::string_view text, TextRole role) const;
    std::string prefixed(std::string_view text, TextRole role) const;
    /// The rank of the model's output: tokens kept apart, or one vector.
    std::size_t rank() const { return pooling_ == Pooling::None ? 2 : 3; }

    OnnxEncoder encoder_;
    Pooling pooling_;
    std::size_t workers_;
    EmbedderFingerprint fingerprint_;
};

Result<> OnnxEmbedder::adopt(const OnnxEmbedderOptions& options) {
    BRAID_CHECK(encoder_.use_output(options.output, rank(),
                                    "pooling '" + std::string(name_of(pooling_)) + "'"));
    fingerprint_ = {
        .model = options.name.empty() ? options.model.filename().string() : options.name,
        .model_hash = encoder_.hash(),
        .dimension = 0,
        .pooling = std::string(name_of(options.pooling)),
        .query_prefix = options.query_prefix,
        .passage_prefix = options.passage_prefix,
        .token_limit = options.token_limit,
        .runtime = "onnxruntime " + encoder_.runtime_version(),
        .cpu_level = std::string(cpu_level())};
    // A model with a pinned checksum was tried when it was pinned.
    if (!options.model_sha256.empty() && options.dimension != 0) {
        fingerprint_.dimension = options.dimension;
        return {};
    }
    BRAID_TRY(const Embedding probe, embed_one("probe", TextRole::Passage));
    if (options.dimension != 0 && probe.vector.size() != options.dimension) {
        return invalid_argument("the model's vectors have " + std::to_string(probe.vector.size()) +
                                " dimensions, expected " + std::to_string(options.dimension));
    }
    fingerprint_.dimension = probe.vector.size();
    return try_extremes();
}

Result<> OnnxEmbedder::try_extremes() const {
    // A model with fewer positions or a smaller vocabulary is rejected here, not at some document.
    const std::int64_t largest = encoder_.tokenizer().largest_id();
    auto longest = encoder_.run(std::vector<std::int64_t>(fingerprint_.token_limit, largest));
    if (!longest) {
        return fail("the model cannot read " + std::to_string(fingerprint_.token_limit) +
                        " tokens (token_limit) of id " + std::to_string(largest) +
                        " (the tokenizer's largest)",
                    std::move(longest).error());
    }
    const auto dimension = static_cast<std::size_t>(longest->shape.back());
    if (dimension == fingerprint_.dimension) return {};
    return invalid_argument("the model's vectors have " + std::to_string(fingerprint_.dimension) +
                            " dimensions for a short text and " + std::to_string(dimension) +
                            " for a long one");
}

std::string OnnxEmbedder::prefixed(std::string_view text, TextRole role) const {
    std::string whole =
        role == TextRole::Query ? fingerprint_.query_prefix : fingerprint_.passage_prefix;
    whole += text;
    return whole;
}

Result<Embedding> OnnxEmbedder::embed_one(std::string_view text, TextRole role) const {
    BRAID_TRY(const TokenizedText tokenized,
              encoder_.tokenizer().encode(prefixed(text, role), fingerprint_.token_limit));
    BRAID_TRY(const OnnxTensor output, encoder_.run(tokenized.ids));
    const std::vector<std::int64_t>& shape = output.shape;
    if (shape.size() != rank() || shape.front() != 1 || shape.back() < 1 || output.data.empty() ||
        (rank() == 3 && static_cast<std::size_t>(shape[1]) != tokenized.ids.size()) ||
        (fingerprint_.dimension != 0 &&
         static_cast<std::size_t>(shape.back()) != fingerprint_.dimension)) {
        return invalid_argument("the model answered " + std::to_string(tokenized.ids.size()) +
                                " tokens with shape " + shape_text(shape));
    }
    Embedding embedding{.vector = pool(output, pooling_),
                        .tokens = tokenized.tokens,
                        .truncated = tokenized.truncated};
    BRAID_CHECK(normalize(embedding.vector));
    return embedding;
}

Result<std::vector<Embedding>> OnnxEmbedder::embed(std::span<const std::string_view> texts,
                                                   TextRole role, const CallLimits& limits) const {
    std::vector<Embedding> embeddings(texts.size());
    // Longest first, so that no worker is left with a long text when the others are done.
    std::vector<std::size_t> order(texts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t i) { return texts[i].size(); });
    BRAID_CHECK(run_each(workers_, texts.size(), limits, [&](std::size_t turn) -> Result<> {
        const std::size_t i = order[turn];
        BRAID_TRY(embeddings[i], embed_one(texts[i], role));
        return {};
    }));
    return embeddings;
}

std::size_t OnnxEmbedder::count_tokens(std::string_view text) const {
    const auto tokenized = encoder_.tokenizer().encode(prefixed(text, TextRole::Passage),
                                                       std::numeric_limits<std::size_t>::max());
    return tokenized ? tokenized->tokens : 0;
}

Result<> check_options(const OnnxEmbedderOptions& options) {
    if (options.token_limit < 2 || options.token_limit > 32'768) {
        return fail(
            ErrorCode::InvalidArgument,
            "token_limit " + std::to_string(options.token_limit) + " is not between 2 and 32768");
    }
    return {};
}

Result<std::shared_ptr<const Embedder>> load(const OnnxEmbedderOptions& options,
                                             const ModelLocator& locator) {
    BRAID_CHECK(check_options(options));
    BRAID_TRY(OnnxEncoder encoder, OnnxEncoder::load({.model = options.model,
                                                      .tokenizer = options.tokenizer,
                                                      .runtime = options.runtime,
                                                      .model_sha256 = options.model_sha256,
                                                      .tokenizer_sha256 = options.tokenizer_sha256},
                                                     locator));
    auto embedder =
        std::make_shared<OnnxEmbedder>(std::move(encoder), options.pooling, options.workers);
    BRAID_CHECK(embedder->adopt(options));
    return embedder;
}

}  // namespace

std::string_view name_of(Pooling pooling) noexcept {
    return kPoolingNames[static_cast<std::size_t>(pooling)].second;
}

std::optional<Pooling> pooling_by_name(std::string_view name) noexcept {
    for (const auto& [pooling, known] : kPoolingNames) {
        if (known == name) return pooling;
    }
    return std::nullopt;
}

Result<std::shared_ptr<const Embedder>> make_onnx_embedder(const OnnxEmbedderOptions& options,
                                                           const ModelLocator& locator) {
    auto embedder = load(options, locator);
    if (!embedder) {
        return fail("cannot load the model " + options.model.string(), std::move(embedder).error());
    }
    return embedder;
}

}  // namespace braid::embed
