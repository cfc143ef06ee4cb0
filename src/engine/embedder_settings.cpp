#include "braid/engine/embedder_settings.hpp"

#include <algorithm>

#include "braid/embed/http_embedder.hpp"
#include "braid/embed/model_locator.hpp"
#include "braid/embed/onnx_embedder.hpp"

namespace braid::engine {
namespace {

using EmbedderPtr = std::shared_ptr<const Embedder>;

Result<EmbedderPtr> make_own(const OwnModel& own) {
    const auto pooling = embed::pooling_by_name(own.pooling);
    if (!pooling) {
        return invalid_argument("embedder \"" + own.name + "\": pooling \"" + own.pooling +
                                "\" is not cls, mean or none");
    }
    return embed::make_onnx_embedder({.model = own.model,
                                      .tokenizer = own.tokenizer,
                                      .name = own.name,
                                      .pooling = *pooling,
                                      .query_prefix = own.query_prefix,
                                      .passage_prefix = own.passage_prefix,
                                      .token_limit = own.token_limit,
                                      .dimension = own.dimension},
                                     embed::ModelLocator::standard());
}

Result<EmbedderPtr> make_openai(const EmbedderSettings& settings) {
    // Other providers' endpoints may need none.
    if (settings.openai_api_key.empty() && !settings.offline &&
        settings.openai_base_url.find("://api.openai.com") != std::string::npos) {
        return invalid_argument(
            "the embedder \"openai\" needs an API key: set OPENAI_API_KEY (or "
            "BRAID_OPENAI_BASE_URL, for an endpoint that needs none)");
    }
    return embed::make_http_embedder({.base_url = settings.openai_base_url,
                                      .api_key = settings.openai_api_key,
                                      .model = settings.openai_model,
                                      .dimension = settings.openai_dimensions,
                                      .send_dimension = settings.openai_dimensions != 0,
                                      .offline = settings.offline});
}

Result<EmbedderPtr> make_embedder(const EmbedderSettings& settings, const std::string& name) {
    const auto own = std::ranges::find(settings.own_models, name, &OwnModel::name);
    if (own != settings.own_models.end()) return make_own(*own);
    if (name == "openai") return make_openai(settings);
    const auto builtin = builtin_embedders();
    const std::string full_name = full_embedder_name(name);
    if (std::ranges::find(builtin, full_name) != builtin.end()) {
        return embed::make_builtin_embedder(full_name, embed::ModelLocator::standard(),
                                            {.token_limit = settings.token_limit});
    }
    std::string message = "there is no embedder \"" + name + "\"; the embedders are none, external";
    for (const std::string& known : builtin) message += ", " + known;
    for (const OwnModel& known : settings.own_models) message += ", " + known.name;
    return fail(ErrorCode::NotFound, std::move(message));
}

}  // namespace

std::string full_embedder_name(std::string name) {
    if (name == "bge") return "bge-small-en-v1.5";
    if (name == "all-MiniLM-L6-v2") return "minilm";
    return name;
}

std::vector<std::string> builtin_embedders() {
    return {"bge-small-en-v1.5", "minilm", "openai"};
}

std::vector<std::string> installed_models() {
    const auto locator = embed::ModelLocator::standard();
    std::vector<std::string> names = builtin_embedders();
    std::erase_if(names, [&](const std::string& name) {
        return !locator.find(name + "/model.onnx") || !locator.find(name + "/tokenizer.json");
    });
    return names;
}

Result<std::filesystem::path> find_lightgbm() {
    constexpr std::string_view kLibrary = "lightgbm/lib_lightgbm.so";
    const auto locator = embed::ModelLocator::standard();
    auto found = locator.find(kLibrary);
    if (found) return found;
    std::string places;
    for (const std::filesystem::path& place : locator.places()) {
        places += "\n  " + (place / kLibrary).string();
    }
    return fail(ErrorCode::NotFound,
                "learning a ranking needs LightGBM, and its library was not found: run "
                "tools/fetch_lightgbm, or name it in BRAID_LIGHTGBM (pip install lightgbm has it "
                "as lightgbm/lib/lib_lightgbm.so); looked for" +
                    places);
}

EmbedderFactory make_embedder_factory(EmbedderSettings settings) {
    return [settings = std::move(settings)](const VectorSpec& spec) {
        return make_embedder(settings, spec.embedder);
    };
}

}  // namespace braid::engine
