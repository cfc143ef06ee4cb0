#include "braid/embed/onnx_embedder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "braid/core/parallel.hpp"
#include "braid/core/sha256.hpp"
#include "braid/embed/cpu_level.hpp"
#include "braid/embed/model_file.hpp"
#include "braid/embed/onnx_session.hpp"
#include "braid/embed/ort_api.hpp"
#include "braid/embed/wordpiece.hpp"

namespace braid::embed {
namespace {

constexpr std::string_view kRuntimeFile = "runtime/libonnxruntime.so.1.31.1";
constexpr std::array<std::pair<Pooling, std::string_view>, 3> kPoolingNames{
    {{Pooling::Cls, "cls"}, {Pooling::Mean, "mean"}, {Pooling::None, "none"}}};

/// What an input of the model is fed with.
enum class Feed { Ids, Ones, Zeros };

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::string text = "[";
    for (const std::int64_t extent : shape) {
        if (text.size() > 1) text += ", ";
        text += extent < 0 ? "any" : std::to_string(extent);
    }
    return text + "]";
}

Result<> normalize(std::vector<float>& vector) {
    double squares = 0;
    for (const float x : vector) squares += static_cast<double>(x) * static_cast<double>(x);
    if (!std::isfinite(squares)) {
        return fail(ErrorCode::InvalidArgument, "the model's output is not finite");
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
    OnnxEmbedder(OnnxSession session, WordPiece tokenizer, Pooling pooling, std::size_t workers)
        : session_(std::move(session)),
          tokenizer_(std::move(tokenizer)),
          pooling_(pooling),
          workers_(workers) {}

    /// Checks inputs, outputs and dimension against the options; fills in the fingerprint.
    Result<> adopt(const OnnxEmbedderOptions& options, std::string model_hash,
                   const std::string& runtime_version);

    const EmbedderFingerprint& fingerprint() const override { return fingerprint_; }
    Result<std::vector<Embedding>> embed(std::span<const std::string_view> texts, TextRole role,
                                         const CallLimits& limits) const override;
    std::size_t count_tokens(std::string_view text) const override;

private:
    Result<> bind_inputs();
    Result<> bind_output(const std::string& wanted);
    Result<> try_extremes() const;
    Result<OnnxTensor> run(const std::vector<std::int64_t>& ids) const;
    Result<Embedding> embed_one(std::string_view text, TextRole role) const;
    std::string prefixed(std::string_view text, TextRole role) const;

    OnnxSession session_;
    WordPiece tokenizer_;
    Pooling pooling_;
    std::size_t workers_;
    std::vector<Feed> feeds_;
    std::size_t output_ = 0;
    EmbedderFingerprint fingerprint_;
};

Result<> OnnxEmbedder::bind_inputs() {
    bool has_ids = false;
    bool has_mask = false;
    for (const OnnxPort& input : session_.inputs()) {
        if (input.name == "input_ids") {
            feeds_.push_back(Feed::Ids);
            has_ids = true;
        } else if (input.name == "attention_mask") {
            feeds_.push_back(Feed::Ones);
            has_mask = true;
        } else if (input.name == "token_type_ids") {
            feeds_.push_back(Feed::Zeros);
        } else {
            return fail(ErrorCode::InvalidArgument,
                        "the model has an input '" + input.name +
                            "'; expected input_ids, attention_mask and perhaps token_type_ids");
        }
        const bool any_length = input.shape.size() == 2 && input.shape[1] < 0 &&
                                (input.shape[0] < 0 || input.shape[0] == 1);
        if (input.element_type != ort::kInt64 || !any_length) {
            return fail(ErrorCode::InvalidArgument,
                        "the model's input '" + input.name + "' has shape " +
                            shape_text(input.shape) + " and element type " +
                            std::to_string(input.element_type) +
                            "; expected [any, any] of 64-bit integers (type 7)");
        }
    }
    if (has_ids && has_mask) return {};
    return fail(ErrorCode::InvalidArgument, std::string("the model has no input ") +
                                                (has_ids ? "attention_mask" : "input_ids"));
}

Result<> OnnxEmbedder::bind_output(const std::string& wanted) {
    const std::vector<OnnxPort>& outputs = session_.outputs();
    const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const OnnxPort& output) {
        return wanted.empty() || output.name == wanted;
    });
    if (found == outputs.end()) {
        std::string names;
        for (const OnnxPort& output : outputs) names += (names.empty() ? "" : ", ") + output.name;
        return fail(ErrorCode::InvalidArgument,
                    "the model has no output '" + wanted + "'; it has " + names);
    }
    const std::size_t rank = pooling_ == Pooling::None ? 2 : 3;
    if (found->element_type != ort::kFloat || found->shape.size() != rank) {
        return fail(ErrorCode::InvalidArgument,
                    "the model's output '" + found->name + "' has shape " +
                        shape_text(found->shape) + " and element type " +
                        std::to_string(found->element_type) + "; expected " + std::to_string(rank) +
                        " dimensions of floats (type 1) for pooling '" +
                        std::string(name_of(pooling_)) + "'");
    }
    output_ = static_cast<std::size_t>(found - outputs.begin());
    return {};
}

Result<> OnnxEmbedder::adopt(const OnnxEmbedderOptions& options, std::string model_hash,
                             const std::string& runtime_version) {
    BRAID_CHECK(bind_inputs());
    BRAID_CHECK(bind_output(options.output));
    fingerprint_ = {
        .model = options.name.empty() ? options.model.filename().string() : options.name,
        .model_hash = std::move(model_hash),
        .dimension = 0,
        .pooling = std::string(name_of(options.pooling)),
        .query_prefix = options.query_prefix,
        .passage_prefix = options.passage_prefix,
        .token_limit = options.token_limit,
        .runtime = "onnxruntime " + runtime_version,
        .cpu_level = std::string(cpu_level())};
    BRAID_TRY(const Embedding probe, embed_one("probe", TextRole::Passage));
    if (options.dimension != 0 && probe.vector.size() != options.dimension) {
        return fail(ErrorCode::InvalidArgument,
                    "the model's vectors have " + std::to_string(probe.vector.size()) +
                        " dimensions, expected " + std::to_string(options.dimension));
    }
    fingerprint_.dimension = probe.vector.size();
    // Known bytes were tried when they were pinned.
    return options.model_sha256.empty() ? try_extremes() : Result<>();
}

Result<> OnnxEmbedder::try_extremes() const {
    // A model with fewer positions or a smaller vocabulary refuses this here, not at some document.
    auto longest =
        run(std::vector<std::int64_t>(fingerprint_.token_limit, tokenizer_.largest_id()));
    if (!longest) {
        return fail("the model cannot read " + std::to_string(fingerprint_.token_limit) +
                        " tokens (token_limit) of id " + std::to_string(tokenizer_.largest_id()) +
                        " (the tokenizer's largest)",
                    std::move(longest).error());
    }
    const auto dimension = static_cast<std::size_t>(longest->shape.back());
    if (dimension == fingerprint_.dimension) return {};
    return fail(ErrorCode::InvalidArgument, "the model's vectors have " +
                                                std::to_string(fingerprint_.dimension) +
                                                " dimensions for a short text and " +
                                                std::to_string(dimension) + " for a long one");
}

std::string OnnxEmbedder::prefixed(std::string_view text, TextRole role) const {
    std::string whole =
        role == TextRole::Query ? fingerprint_.query_prefix : fingerprint_.passage_prefix;
    whole += text;
    return whole;
}

Result<OnnxTensor> OnnxEmbedder::run(const std::vector<std::int64_t>& ids) const {
    const std::vector<std::int64_t> ones(ids.size(), 1);
    const std::vector<std::int64_t> zeros(ids.size(), 0);
    std::vector<std::span<const std::int64_t>> rows;
    rows.reserve(feeds_.size());
    for (const Feed feed : feeds_) {
        rows.emplace_back(feed == Feed::Ids ? ids : (feed == Feed::Ones ? ones : zeros));
    }
    return session_.run(rows, output_);
}

Result<Embedding> OnnxEmbedder::embed_one(std::string_view text, TextRole role) const {
    BRAID_TRY(const TokenizedText tokenized,
              tokenizer_.encode(prefixed(text, role), fingerprint_.token_limit));
    BRAID_TRY(const OnnxTensor output, run(tokenized.ids));
    const std::vector<std::int64_t>& shape = output.shape;
    const std::size_t rank = pooling_ == Pooling::None ? 2 : 3;
    if (shape.size() != rank || shape.front() != 1 || shape.back() < 1 || output.data.empty() ||
        (rank == 3 && static_cast<std::size_t>(shape[1]) != tokenized.ids.size()) ||
        (fingerprint_.dimension != 0 &&
         static_cast<std::size_t>(shape.back()) != fingerprint_.dimension)) {
        return fail(ErrorCode::InvalidArgument, "the model answered " +
                                                    std::to_string(tokenized.ids.size()) +
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
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    std::mutex mutex;
    Error error{ErrorCode::Cancelled, ""};
    const auto give_up = [&](Error reason) {
        const std::scoped_lock lock(mutex);
        if (!failed.exchange(true)) error = std::move(reason);
    };
    const auto work = [&](std::size_t /*worker*/) {
        for (std::size_t i = next++; i < texts.size() && !failed; i = next++) {
            if (limits.stopped()) {
                return give_up({ErrorCode::Cancelled, "embedding was cancelled"});
            }
            if (limits.expired()) {
                return give_up({ErrorCode::DeadlineExceeded, "no time left to embed"});
            }
            try {
                auto one = embed_one(texts[i], role);
                if (!one) return give_up(std::move(one).error());
                embeddings[i] = *std::move(one);
            } catch (const std::exception& exception) {  // out of memory
                return give_up({ErrorCode::ResourceExhausted, exception.what()});
            }
        }
    };
    core::run_parallel(std::min(workers_, texts.size()), work);
    if (failed) return tl::unexpected<Error>(std::move(error));
    return embeddings;
}

std::size_t OnnxEmbedder::count_tokens(std::string_view text) const {
    const auto tokenized = tokenizer_.encode(prefixed(text, TextRole::Passage),
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

Result<std::filesystem::path> runtime_path(const OnnxEmbedderOptions& options,
                                           const ModelLocator& locator) {
    if (!options.runtime.empty()) return options.runtime;
    auto found = locator.find(kRuntimeFile);
    if (!found) return fail("embedding needs ONNX Runtime", std::move(found).error());
    return found;
}

Result<std::shared_ptr<const Embedder>> load(const OnnxEmbedderOptions& options,
                                             const ModelLocator& locator) {
    BRAID_CHECK(check_options(options));
    BRAID_TRY(const ModelFile tokenizer_file,
              read_model_file(options.tokenizer, options.tokenizer_sha256));
    BRAID_TRY(const std::filesystem::path library, runtime_path(options, locator));
    BRAID_TRY(ModelFile model_file, read_model_file(options.model, options.model_sha256));
    BRAID_TRY(WordPiece tokenizer, WordPiece::parse(tokenizer_file.text()));
    BRAID_TRY(const auto runtime, OnnxRuntime::load(library));
    BRAID_TRY(OnnxSession session, OnnxSession::open(runtime, model_file.bytes));
    model_file.bytes = {};

    const std::string both = model_file.sha256 + tokenizer_file.sha256;
    const std::size_t workers = options.workers != 0
                                    ? options.workers
                                    : std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
    auto embedder = std::make_shared<OnnxEmbedder>(std::move(session), std::move(tokenizer),
                                                   options.pooling, workers);
    BRAID_CHECK(embedder->adopt(options, core::sha256_hex(std::as_bytes(std::span(both))),
                                runtime->version()));
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
