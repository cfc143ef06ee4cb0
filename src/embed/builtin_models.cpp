#include <array>
#include <string>

#include "braid/embed/onnx_embedder.hpp"

namespace braid::embed {
namespace {

struct BuiltinModel {
    std::string_view name;
    std::string_view alias;
    std::string_view directory;
    Pooling pooling;
    std::string_view query_prefix;
    std::string_view model_sha256;
    std::string_view tokenizer_sha256;
};

constexpr std::size_t kDimension = 384;
constexpr std::size_t kMaxTokens = 512;

// As pinned by tools/fetch_models.
constexpr std::array<BuiltinModel, 2> kModels{{
    {"bge-small-en-v1.5", "bge", "bge-small-en-v1.5", Pooling::Cls,
     "Represent this sentence for searching relevant passages: ",
     "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
     "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"},
    {"minilm", "all-MiniLM-L6-v2", "minilm", Pooling::Mean, "",
     "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
     "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"},
}};

}  // namespace

Result<std::shared_ptr<const Embedder>> make_builtin_embedder(
    std::string_view name, const ModelLocator& locator, const BuiltinEmbedderOptions& options) {
    for (const BuiltinModel& model : kModels) {
        if (name != model.name && name != model.alias) continue;
        if (options.token_limit > kMaxTokens) {
            return invalid_argument("token_limit " + std::to_string(options.token_limit) + ": " +
                                    std::string(model.name) + " reads at most " +
                                    std::to_string(kMaxTokens) + " tokens");
        }
        const std::string directory(model.directory);
        OnnxEmbedderOptions full;
        BRAID_TRY(full.model, locator.find(directory + "/model.onnx"));
        BRAID_TRY(full.tokenizer, locator.find(directory + "/tokenizer.json"));
        full.name = model.name;
        full.pooling = model.pooling;
        full.query_prefix = model.query_prefix;
        full.token_limit = options.token_limit;
        full.dimension = kDimension;
        full.workers = options.workers;
        full.model_sha256 = model.model_sha256;
        full.tokenizer_sha256 = model.tokenizer_sha256;
        return make_onnx_embedder(full, locator);
    }
    std::string known;
    for (const BuiltinModel& model : kModels) {
        known += (known.empty() ? "" : ", ") + std::string(model.name);
    }
    return fail(ErrorCode::NotFound,
                "no built-in model '" + std::string(name) + "'; there are " + known);
}

}  // namespace braid::embed
