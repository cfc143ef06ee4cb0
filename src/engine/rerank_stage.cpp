#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "braid/core/errand.hpp"
#include "braid/database.hpp"
#include "braid/embed/model_locator.hpp"
#include "braid/embed/onnx_reranker.hpp"
#include "braid/retrieval/parameters.hpp"

namespace braid {
namespace {

constexpr std::string_view kName = "rerank";

struct RerankParameters {
    std::size_t candidates = 0;
    double deadline_ms = 0;  // 0: the request's own
};

Result<RerankParameters> read_parameters(const Object& object) {
    retrieval::Parameters parameters(kName, object);
    BRAID_TRY(const double candidates, parameters.number("candidates", 50, 1, 1000));
    BRAID_TRY(const double deadline_ms, parameters.number("deadline_ms", 0, 0, 600'000));
    BRAID_CHECK(parameters.finish());
    return RerankParameters{static_cast<std::size_t>(candidates), deadline_ms};
}

/// Loads the model when it is first needed, without making anybody wait longer than he can; a
/// failure is remembered.
class LazyReranker {
public:
    using Loaded = std::shared_ptr<const embed::OnnxReranker>;

    explicit LazyReranker(embed::OnnxRerankerOptions options) : options_(std::move(options)) {}

    Result<Loaded> get(const CallLimits& limits) {
        std::call_once(once_, [this] {
            loading_.emplace(crew_.send<Loaded>({}, [options = options_](const CallLimits&) {
                return embed::OnnxReranker::load(options, embed::ModelLocator::standard());
            }));
        });
        auto loaded = loading_->wait(limits);
        if (loaded || loading_->done()) return loaded;
        return fail("the model is still loading", std::move(loaded).error());
    }

private:
    embed::OnnxRerankerOptions options_;
    std::once_flag once_;
    std::optional<core::Errand<Loaded>> loading_;
    core::Crew crew_;
};

CallLimits limits_of(const StageInput& input, const RerankParameters& parameters) {
    CallLimits limits = input.limits;
    if (parameters.deadline_ms > 0) {
        const auto own = std::chrono::steady_clock::now() +
                         std::chrono::microseconds(std::llround(parameters.deadline_ms * 1000));
        limits.deadline = limits.deadline ? std::min(*limits.deadline, own) : own;
    }
    return limits;
}

Result<> check_file(const std::filesystem::path& path) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return {};
    return fail(ErrorCode::NotFound, "the reranker's file " + path.string() + " does not exist");
}

Result<std::vector<StageEffect>> rerank(LazyReranker& lazy, const StageInput& input,
                                        const Object& object) {
    BRAID_TRY(const RerankParameters parameters, read_parameters(object));
    const CallLimits limits = limits_of(input, parameters);
    BRAID_TRY(const auto reranker, lazy.get(limits));
    const auto best = input.hits.first(std::min(input.hits.size(), parameters.candidates));
    std::vector<std::string_view> passages;
    passages.reserve(best.size());
    for (const StageHit& hit : best) passages.emplace_back(hit.chunk.content);
    BRAID_TRY(const std::vector<float> scores, reranker->score(input.query, passages, limits));
    std::vector<StageEffect> effects(input.hits.size());
    for (std::size_t i = 0; i < effects.size(); ++i) {
        if (i < scores.size()) {
            effects[i].kind = StageEffect::Kind::Replace;
            effects[i].value = static_cast<double>(scores[i]);
        } else {
            effects[i].below = true;
        }
    }
    return effects;
}

}  // namespace

Result<CustomStage> make_rerank_stage(const RerankerModel& model) {
    embed::OnnxRerankerOptions options;
    options.files.model = model.model;
    options.files.tokenizer =
        model.tokenizer.empty() ? model.model.parent_path() / "tokenizer.json" : model.tokenizer;
    options.token_limit = model.token_limit;
    BRAID_CHECK(check_file(options.files.model));
    BRAID_CHECK(check_file(options.files.tokenizer));
    CustomStage stage;
    stage.name = kName;
    stage.run = [lazy = std::make_shared<LazyReranker>(std::move(options))](
                    const StageInput& input, const Object& parameters) {
        return rerank(*lazy, input, parameters);
    };
    stage.check = [](const Object& parameters) -> Result<> {
        BRAID_CHECK(read_parameters(parameters));
        return {};
    };
    return stage;
}

}  // namespace braid
