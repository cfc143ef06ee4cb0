#include "braid/cli/config/embedders.hpp"

#include <cstdint>

#include "braid/engine/embedder_settings.hpp"
#include "braid/json/fields.hpp"

namespace braid::cli {
namespace {

Result<engine::OwnModel> read_model(const std::string& name, const Value& json) {
    BRAID_TRY(auto fields, json::Fields::of(json, "embedders." + name));
    engine::OwnModel model;
    model.name = name;
    BRAID_TRY(model.model, fields.required("model", fields.string("model")));
    BRAID_TRY(model.tokenizer, fields.required("tokenizer", fields.string("tokenizer")));
    BRAID_TRY(auto pooling, fields.choice("pooling", {"cls", "mean", "none"}));
    BRAID_TRY(auto query_prefix, fields.string("query_prefix"));
    BRAID_TRY(auto passage_prefix, fields.string("passage_prefix"));
    BRAID_TRY(const auto token_limit, fields.integer("token_limit", 8, 1'000'000));
    BRAID_TRY(const auto dimension, fields.integer("dimension", 0, 65'536));
    BRAID_CHECK(fields.finish());
    if (pooling) model.pooling = *std::move(pooling);
    model.query_prefix = std::move(query_prefix).value_or("");
    model.passage_prefix = std::move(passage_prefix).value_or("");
    if (token_limit) model.token_limit = static_cast<std::size_t>(*token_limit);
    model.dimension = static_cast<std::size_t>(dimension.value_or(0));
    return model;
}

}  // namespace

Result<EmbedderFactory> embedder_factory(const Settings& settings) {
    engine::EmbedderSettings out;
    out.openai_base_url = settings.text("openai.baseUrl");
    out.openai_api_key = settings.text("openai.apiKey");
    out.openai_model = settings.text("openai.embeddingModel");
    out.openai_dimensions = static_cast<std::size_t>(settings.number("openai.dimensions"));
    out.token_limit = static_cast<std::size_t>(settings.number("token_limit"));
    out.offline = settings.on("offline");
    for (const auto& [name, json] : settings.embedders()) {
        BRAID_TRY(auto model, read_model(name, json));
        out.own_models.push_back(std::move(model));
    }
    return engine::make_embedder_factory(std::move(out));
}

bool is_openai_configured(const Settings& settings) {
    const Setting& key = settings.setting("openai.apiKey");
    const bool own_key = !key.value.empty() && key.variable != "OPENAI_API_KEY";
    return own_key || settings.text("embedder") == "openai" ||
           settings.text("openai.baseUrl") != settings.setting("openai.baseUrl").spec->otherwise;
}

service::ServiceOptions service_options(const Settings& settings) {
    service::ServiceOptions options;
    options.profiles = settings.profiles();
    options.embedder = settings.text("embedder");
    auto& names = options.embedders.emplace(engine::installed_models());
    for (const auto& [name, json] : settings.embedders()) names.push_back(name);
    if (is_openai_configured(settings) && !settings.on("offline")) names.emplace_back("openai");
    return options;
}

Result<std::shared_ptr<const QueryPreprocessor>> query_preprocessor(const Settings& settings) {
    ChatEndpoint endpoint;
    endpoint.model = settings.text("llm.model");
    if (endpoint.model.empty()) return std::shared_ptr<const QueryPreprocessor>();
    endpoint.base_url = settings.text("llm.baseUrl");
    endpoint.api_key = settings.text("llm.apiKey");
    endpoint.timeout_ms = static_cast<std::int64_t>(settings.number("llm.timeoutMs"));
    endpoint.offline = settings.on("offline");
    return make_chat_preprocessor(endpoint);
}

Result<std::vector<CustomStage>> own_stages(const Settings& settings) {
    std::vector<CustomStage> stages;
    RerankerModel model;
    model.model = settings.text("reranker.model");
    if (model.model.empty()) return stages;
    model.tokenizer = settings.text("reranker.tokenizer");
    model.token_limit = static_cast<std::size_t>(settings.number("reranker.tokenLimit"));
    BRAID_TRY(stages.emplace_back(), make_rerank_stage(model));
    return stages;
}

}  // namespace braid::cli
