#include "open_options.hpp"

#include <cstdlib>
#include <map>
#include <utility>

#include <nanobind/stl/string.h>

#include "braid/apps/vocabulary.hpp"
#include "braid/engine/embedder_settings.hpp"
#include "braid/engine/profile_variables.hpp"
#include "braid/json/fields.hpp"
#include "braid/wire/profile_json.hpp"
#include "callables.hpp"

namespace braid::python {
namespace {

using json::Fields;

constexpr std::int64_t kMostShards = 1024;
constexpr std::int64_t kMostReplicas = 100;

std::optional<std::string> environment_variable(std::string_view name) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): GIL
    const char* const value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
}

/// The endpoint's key: given, or OpenAI's from the environment, which goes to OpenAI alone.
std::string key_for(const std::string& url, std::optional<std::string> given) {
    if (given) return *std::move(given);
    if (url != ChatEndpoint().base_url) return {};
    return environment_variable("OPENAI_API_KEY").value_or(std::string());
}

Result<engine::EmbedderSettings> read_embedder_settings(const Value& openai, bool offline) {
    engine::EmbedderSettings settings;
    settings.offline = offline;
    const Object none;
    Fields fields(openai.is_object() ? openai.as_object() : none, "openai");
    BRAID_TRY(const auto url, fields.string("base_url"));
    if (url) settings.openai_base_url = *url;
    BRAID_TRY(auto key, fields.string("api_key"));
    settings.openai_api_key = key_for(settings.openai_base_url, std::move(key));
    BRAID_TRY(const auto model, fields.string("model"));
    if (model) settings.openai_model = *model;
    BRAID_TRY(const auto dimensions, fields.integer("dimensions", 0, kMaxDimension));
    settings.openai_dimensions = static_cast<std::size_t>(dimensions.value_or(0));
    BRAID_CHECK(fields.finish());
    return settings;
}

Result<std::shared_ptr<const QueryPreprocessor>> read_chat(const Value& llm, bool offline) {
    if (llm.is_null()) return nullptr;
    BRAID_TRY(Fields fields, Fields::of(llm, "llm"));
    ChatEndpoint endpoint;
    endpoint.offline = offline;
    BRAID_TRY(const auto url, fields.string("base_url"));
    if (url) endpoint.base_url = *url;
    BRAID_TRY(auto key, fields.string("api_key"));
    endpoint.api_key = key_for(endpoint.base_url, std::move(key));
    BRAID_TRY(endpoint.model, fields.required("model", fields.string("model")));
    BRAID_TRY(const auto timeout, fields.integer("timeout_ms", 1));
    if (timeout) endpoint.timeout_ms = *timeout;
    BRAID_CHECK(fields.finish());
    return make_chat_preprocessor(endpoint);
}

Result<std::optional<ClusterEndpoint>> read_cluster(const Value& cluster, bool offline) {
    if (cluster.is_null()) return std::nullopt;
    BRAID_TRY(Fields fields, Fields::of(cluster, "cluster"));
    ClusterEndpoint endpoint;
    endpoint.offline = offline;
    BRAID_TRY(endpoint.urls, fields.required("url", fields.strings("url")));
    BRAID_TRY(auto key, fields.string("key"));
    if (key) endpoint.key = *std::move(key);
    BRAID_TRY(auto ca_file, fields.string("ca_file"));
    if (ca_file) endpoint.ca_file = *std::move(ca_file);
    BRAID_TRY(auto prefix, fields.string("prefix"));
    if (prefix) endpoint.prefix = *std::move(prefix);
    BRAID_TRY(const auto shards, fields.integer("shards", 1, kMostShards));
    if (shards) endpoint.shards = static_cast<std::size_t>(*shards);
    BRAID_TRY(const auto replicas, fields.integer("replicas", 0, kMostReplicas));
    if (replicas) endpoint.replicas = static_cast<std::size_t>(*replicas);
    BRAID_CHECK(fields.finish());
    return endpoint;
}

Result<std::vector<Profile>> read_profiles(const Value& json) {
    std::vector<Profile> profiles;
    if (json.is_null()) return profiles;
    if (!json.is_object()) return invalid_argument("\"profiles\" must be a dict");
    std::vector<Profile> known = core::known_profiles(apps::vocabulary());
    for (const auto& [name, members] : json.as_object()) {
        BRAID_TRY(Profile profile, wire::profile_from_value(name, members, known));
        known.push_back(profile);
        profiles.push_back(std::move(profile));
    }
    return profiles;
}

/// Python's embedders by their names, the built-in ones by theirs.
EmbedderFactory make_factory(nb::dict embedders, engine::EmbedderSettings settings) {
    std::map<std::string, HeldPtr, std::less<>> own;
    for (const auto [name, embedder] : embedders) {
        own.emplace(nb::cast<std::string>(name),
                    std::make_shared<const Held>(nb::borrow(embedder)));
    }
    auto builtin = engine::make_embedder_factory(std::move(settings));
    return [own = std::move(own), builtin = std::move(builtin)](const VectorSpec& spec) {
        const auto found = own.find(spec.embedder);
        return found != own.end() ? make_embedder(found->second) : builtin(spec);
    };
}

void read_reranker(nb::handle reranker, std::vector<CustomStage>& stages) {
    if (reranker.is_none()) return;
    RerankerModel model;
    model.model = nb::cast<std::string>(nb::str(reranker));
    stages.push_back(value_or_raise(make_rerank_stage(model)));
}

}  // namespace

Opening read_options(nb::dict options) {
    Opening out;
    OpenOptions& open = out.options;
    open.create = nb::cast<bool>(options["create"]);
    open.read_only = nb::cast<bool>(options["read_only"]);
    const auto durability = nb::cast<std::string>(options["durability"]);
    if (durability != "full" && durability != "relaxed") {
        raise(ErrorCode::InvalidArgument,
              "durability must be \"full\" or \"relaxed\", got \"" + durability + "\"");
    }
    if (durability == "relaxed") open.durability = Durability::Relaxed;
    open.relaxed_ms = nb::cast<unsigned>(options["relaxed_ms"]);
    const auto memory = nb::cast<std::int64_t>(options["write_memory_mb"]);
    if (memory < 16 || memory > 1'000'000) {
        raise(ErrorCode::InvalidArgument,
              "write_memory_mb must be 16 to 1000000, got " + std::to_string(memory));
    }
    open.write_memory_mb = static_cast<std::uint64_t>(memory);
    auto profiles = value_or_raise(read_profiles(to_value(options["profiles"])));
    auto configured = value_or_raise(
        engine::configure_profiles(std::move(profiles), apps::vocabulary(), &environment_variable));
    open.profiles = std::move(configured.profiles);
    open.default_profile = std::move(configured.default_profile);
    const bool offline = nb::cast<bool>(options["offline"]);
    open.preprocessor = value_or_raise(read_chat(to_value(options["llm"]), offline));
    if (const nb::object own = options["preprocessor"]; !own.is_none()) {
        open.preprocessor = make_preprocessor(own);
    }
    open.embedders =
        make_factory(nb::cast<nb::dict>(options["embedders"]),
                     value_or_raise(read_embedder_settings(to_value(options["openai"]), offline)));
    for (const auto [name, stage] : nb::cast<nb::dict>(options["stages"])) {
        open.stages.push_back(make_stage(nb::cast<std::string>(name), nb::borrow(stage)));
    }
    read_reranker(options["reranker"], open.stages);
    out.cluster = value_or_raise(read_cluster(to_value(options["cluster"]), offline));
    if (const nb::object log = options["log"]; !log.is_none()) open.log = make_log_sink(log);
    out.embedder = engine::full_embedder_name(nb::cast<std::string>(options["embedder"]));
    return out;
}

}  // namespace braid::python
