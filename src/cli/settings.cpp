#include "braid/cli/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>

#include "braid/cli/arguments.hpp"
#include "braid/cli/env_file.hpp"
#include "braid/core/nearest.hpp"
#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/profile_json.hpp"

namespace braid::cli {
namespace {

constexpr auto kSpecs = std::to_array<SettingSpec>({
    {.name = "data",
     .variable = "BRAID_DATA",
     .otherwise = "./braid-data",
     .help = "where the database is"},
    {.name = "embedder",
     .variable = "BRAID_EMBEDDER",
     .otherwise = "bge-small-en-v1.5",
     .help = "vectors of new collections: a model's name, external, or none"},
    {.name = "durability",
     .variable = "BRAID_DURABILITY",
     .otherwise = "full",
     .help = "full, or relaxed: the last writes may be lost when the machine fails",
     .choices = "full|relaxed"},
    {.name = "retrieval.top_k",
     .variable = "RETRIEVAL_TOP_K",
     .otherwise = "20",
     .kind = SettingKind::Integer,
     .min = 1,
     .max = 10'000,
     .help = "profile service: number of chunks to retrieve"},
    {.name = "retrieval.vector_weight",
     .variable = "RETRIEVAL_VECTOR_WEIGHT",
     .otherwise = "0.5",
     .kind = SettingKind::Number,
     .min = 0,
     .max = 1e9,
     .help = "profile service: weight of the vector search"},
    {.name = "retrieval.bm25_weight",
     .variable = "RETRIEVAL_BM25_WEIGHT",
     .otherwise = "0.5",
     .kind = SettingKind::Number,
     .min = 0,
     .max = 1e9,
     .help = "profile service: weight of the BM25 search"},
    {.name = "artifacts.rrf_constant",
     .variable = "RRF_CONSTANT",
     .otherwise = "60",
     .kind = SettingKind::Number,
     .min = 1,
     .max = 1e9,
     .help = "profile artifacts: k of rank fusion"},
    {.name = "artifacts.overfetch_multiplier",
     .variable = "OVERFETCH_MULTIPLIER",
     .otherwise = "3",
     .kind = SettingKind::Integer,
     .min = 1,
     .max = 1000,
     .help = "profile artifacts: candidates per leg for each hit asked for"},
    {.name = "artifacts.max_results",
     .variable = "MAX_HYBRID_SEARCH_RESULTS",
     .otherwise = "50",
     .kind = SettingKind::Integer,
     .min = 1,
     .max = 10'000,
     .help = "profile artifacts: largest number of hits"},
    {.name = "openai.apiKey",
     .variable = "BRAID_OPENAI_API_KEY",
     .otherwise = "",
     .help = "key of the embedding endpoint",
     .secret = true,
     .also = "OPENAI_API_KEY"},
    {.name = "openai.baseUrl",
     .variable = "BRAID_OPENAI_BASE_URL",
     .otherwise = "https://api.openai.com/v1",
     .help = "embedder openai: the endpoint, or one like it"},
    {.name = "openai.embeddingModel",
     .variable = "BRAID_OPENAI_EMBEDDING_MODEL",
     .otherwise = "text-embedding-3-small",
     .help = "embedder openai: the model"},
    {.name = "openai.dimensions",
     .variable = "BRAID_OPENAI_DIMENSIONS",
     .otherwise = "0",
     .kind = SettingKind::Integer,
     .min = 0,
     .max = 65'536,
     .help = "embedder openai: length of the vectors; 0: as the model gives them"},
    {.name = "llm.apiKey",
     .variable = "BRAID_LLM_API_KEY",
     .otherwise = "",
     .help = "key of the chat endpoint",
     .secret = true,
     .also = "OPENAI_API_KEY"},
    {.name = "llm.baseUrl",
     .variable = "BRAID_LLM_BASE_URL",
     .otherwise = "https://api.openai.com/v1",
     .help = "expand_query, use_hyde: the chat endpoint"},
    {.name = "llm.model",
     .variable = "BRAID_LLM_MODEL",
     .otherwise = "",
     .help = "expand_query, use_hyde: the model; empty: none"},
    {.name = "llm.timeoutMs",
     .variable = "BRAID_LLM_TIMEOUT_MS",
     .otherwise = "8000",
     .kind = SettingKind::Integer,
     .min = 1,
     .max = 3'600'000,
     .help = "milliseconds to wait for it before the plain query is searched"},
    {.name = "reranker.model",
     .variable = "BRAID_RERANKER_MODEL",
     .otherwise = "",
     .help = "stage rerank: a cross-encoder's ONNX file; empty: none"},
    {.name = "reranker.tokenizer",
     .variable = "BRAID_RERANKER_TOKENIZER",
     .otherwise = "",
     .help = "its tokenizer.json; empty: the one beside it"},
    {.name = "reranker.tokenLimit",
     .variable = "BRAID_RERANKER_TOKEN_LIMIT",
     .otherwise = "512",
     .kind = SettingKind::Integer,
     .min = 8,
     .max = 32'768,
     .help = "tokens it reads of query and passage together"},
    {.name = "offline",
     .variable = "BRAID_OFFLINE",
     .otherwise = "false",
     .kind = SettingKind::Switch,
     .help = "true forbids every outgoing call"},
    {.name = "serve.host",
     .variable = "BRAID_HOST",
     .otherwise = "127.0.0.1",
     .help = "braid serve: the address; one that others reach needs API keys"},
    {.name = "serve.port",
     .variable = "BRAID_PORT",
     .otherwise = "27243",
     .kind = SettingKind::Integer,
     .min = 0,
     .max = 65'535,
     .help = "braid serve: the TCP port; 0: any that is free"},
    {.name = "serve.key_file",
     .variable = "BRAID_KEY_FILE",
     .otherwise = "",
     .help = "braid serve: file of the API keys"},
    {.name = "serve.tls_cert",
     .variable = "BRAID_TLS_CERT",
     .otherwise = "",
     .help = "braid serve: certificate chain, PEM"},
    {.name = "serve.tls_key",
     .variable = "BRAID_TLS_KEY",
     .otherwise = "",
     .help = "braid serve: its private key, PEM"},
    {.name = "serve.metrics_port",
     .variable = "BRAID_METRICS_PORT",
     .otherwise = "0",
     .kind = SettingKind::Integer,
     .min = 0,
     .max = 65'535,
     .help = "braid serve: a port for /metrics alone; 0: none"},
    {.name = "serve.memory_mb",
     .variable = "BRAID_MEMORY_MB",
     .otherwise = "512",
     .kind = SettingKind::Integer,
     .min = 1,
     .max = 1e9,
     .help = "braid serve: MiB for all requests and answers together"},
    {.name = "serve.answer_mb",
     .variable = "BRAID_ANSWER_MB",
     .otherwise = "64",
     .kind = SettingKind::Integer,
     .min = 1,
     .max = 1e9,
     .help = "braid serve: MiB of text in one answer, or one batch"},
    {.name = "token_limit",
     .variable = "BRAID_TOKEN_LIMIT",
     .otherwise = "256",
     .kind = SettingKind::Integer,
     .min = 8,
     .max = 512,
     .help = "built-in models: tokens read of a text"},
    {.name = "models",
     .variable = "BRAID_MODELS",
     .otherwise = "",
     .help = "folder of the embedding models, searched first",
     .exported = true},
    {.name = "cpu",
     .variable = "BRAID_CPU",
     .otherwise = "",
     .help = "forces a CPU level: scalar, avx2 or avx512",
     .exported = true},
});

std::optional<double> number_from(const std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || after != end || !std::isfinite(number)) return std::nullopt;
    return number;
}

std::string shown_number(double number) {
    std::ostringstream out;
    out << std::setprecision(15) << number;
    return out.str();
}

/// What a value must be, if it is not; empty if it is fine.
std::string expectation(const SettingSpec& spec, const std::string& value) {
    switch (spec.kind) {
        case SettingKind::Text:
            if (spec.choices.empty() || is_choice(spec.choices, value)) return {};
            return "one of " + std::string(spec.choices);
        case SettingKind::Switch:
            return value == "true" || value == "false" ? "" : "true or false";
        case SettingKind::Integer:
        case SettingKind::Number:
            break;
    }
    const auto number = number_from(value);
    const bool whole = spec.kind == SettingKind::Integer;
    if (number && *number >= spec.min && *number <= spec.max &&
        (!whole || *number == std::floor(*number))) {
        return {};
    }
    return std::string(whole ? "an integer from " : "a number from ") + shown_number(spec.min) +
           " to " + shown_number(spec.max);
}

Result<std::optional<std::string>> file_text(const std::filesystem::path& path) {
    std::error_code ignored;
    if (path.empty() || !std::filesystem::exists(path, ignored)) return std::nullopt;
    const std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    if (!file) return fail(ErrorCode::IoError, "cannot read " + path.string());
    return text.str();
}

/// The settings of config.json, by name; reads the profiles too.
class ConfigFile {
public:
    static Result<ConfigFile> read(const std::filesystem::path& path) {
        ConfigFile config;
        BRAID_TRY(const auto text, file_text(path));
        if (!text) return config;
        auto json = json::parse(*text);
        if (!json) return invalid_argument(path.string() + ": " + json.error().message);
        auto done = config.read_members(*json);
        if (!done) return fail(path.string(), std::move(done).error());
        return config;
    }

    const std::map<std::string, std::string, std::less<>>& values() const { return values_; }
    const std::vector<Profile>& profiles() const { return profiles_; }
    const Object& embedders() const { return embedders_; }

private:
    Result<> read_members(const Value& json) {
        BRAID_TRY(auto root, json::Fields::of(json));
        std::map<std::string, json::Fields> groups;
        for (const SettingSpec& spec : kSpecs) {
            const std::size_t dot = spec.name.find('.');
            if (dot == std::string_view::npos) {
                BRAID_CHECK(read_setting(root, spec.name, spec));
                continue;
            }
            const std::string group(spec.name.substr(0, dot));
            if (!groups.contains(group)) {
                BRAID_TRY(auto members, root.fields(group));
                if (!members) continue;
                groups.emplace(group, *std::move(members));
            }
            BRAID_CHECK(read_setting(groups.at(group), spec.name.substr(dot + 1), spec));
        }
        BRAID_TRY(const Object* const profiles, root.object("profiles"));
        if (profiles != nullptr) {
            for (const auto& [name, profile] : *profiles) {
                BRAID_TRY(auto read, wire::profile_from_value(name, profile, builtin_profiles()));
                profiles_.push_back(std::move(read));
            }
        }
        BRAID_TRY(const Object* const embedders, root.object("embedders"));
        if (embedders != nullptr) embedders_ = *embedders;
        for (const auto& [name, members] : groups) BRAID_CHECK(members.finish());
        return root.finish();
    }

    Result<> read_setting(json::Fields& fields, std::string_view key, const SettingSpec& spec) {
        const Value* const value = fields.any(key);
        if (value == nullptr || value->is_null()) return {};
        const bool fits = spec.kind == SettingKind::Text     ? value->is_string()
                          : spec.kind == SettingKind::Switch ? value->is_bool()
                                                             : value->is_number();
        const std::string text = value->is_string() ? value->as_string() : json::print(*value);
        std::string expected = fits ? expectation(spec, text) : std::string();
        if (!fits) {
            expected = spec.kind == SettingKind::Text     ? "a string"
                       : spec.kind == SettingKind::Switch ? "true or false"
                                                          : "a number";
        }
        if (!expected.empty()) return invalid_argument(fields.complaint(key, expected));
        values_[std::string(spec.name)] = text;
        return {};
    }

    std::map<std::string, std::string, std::less<>> values_;
    std::vector<Profile> profiles_;
    Object embedders_;
};

/// `service` and `artifacts` take what was set for them.
std::vector<Profile> configured_profiles(const Settings& settings, std::vector<Profile> profiles) {
    const auto named = [&](std::string_view name) -> Profile& {
        auto found = std::ranges::find(profiles, name, &Profile::name);
        if (found == profiles.end()) {
            const auto known = std::ranges::find(builtin_profiles(), name, &Profile::name);
            Profile profile;
            if (known != builtin_profiles().end()) profile = *known;
            profile.name = name;
            found = profiles.insert(found, profile);
        }
        return *found;
    };
    const auto set = [&](std::string_view name, std::string_view profile, auto assign) {
        if (!settings.setting(name).is_default()) assign(named(profile), settings.number(name));
    };
    set("retrieval.top_k", "service",
        [](Profile& p, double n) { p.top_k = static_cast<std::size_t>(n); });
    set("retrieval.vector_weight", "service", [](Profile& p, double n) {
        if (!p.sparse_weight) p.sparse_weight = 1 - p.dense_weight;
        p.dense_weight = n;
    });
    set("retrieval.bm25_weight", "service", [](Profile& p, double n) { p.sparse_weight = n; });
    set("artifacts.rrf_constant", "artifacts", [](Profile& p, double n) { p.k = n; });
    set("artifacts.overfetch_multiplier", "artifacts",
        [](Profile& p, double n) { p.depth_per_hit = static_cast<std::size_t>(n); });
    set("artifacts.max_results", "artifacts",
        [](Profile& p, double n) { p.max_top_k = static_cast<std::size_t>(n); });
    return profiles;
}

std::vector<std::string> strange_names(const std::vector<EnvVariable>& variables,
                                       const std::string& file) {
    std::vector<std::string_view> known;
    known.reserve(kSpecs.size());
    for (const SettingSpec& spec : kSpecs) known.push_back(spec.variable);
    std::vector<std::string> warnings;
    for (const auto& [name, value] : variables) {
        if (!name.starts_with("BRAID_") || std::ranges::find(known, name) != known.end()) continue;
        std::string& warning = warnings.emplace_back(file);
        warning.append(": unknown variable ").append(name);
        if (const auto near = core::nearest(name, known)) {
            warning.append("; did you mean ").append(*near).append("?");
        }
    }
    return warnings;
}

std::optional<std::string> process_variable(std::string_view name) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read before threads start
    const char* const value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
}

}  // namespace

SettingSources SettingSources::of_process() {
    SettingSources sources;
    sources.variable = process_variable;
    sources.env_file = ".env";
    if (const auto config = process_variable("XDG_CONFIG_HOME"); config && !config->empty()) {
        sources.config_file = std::filesystem::path(*config) / "braid" / "config.json";
    } else if (const auto home = process_variable("HOME"); home && !home->empty()) {
        sources.config_file = std::filesystem::path(*home) / ".config" / "braid" / "config.json";
    }
    return sources;
}

Result<Settings> Settings::load(const SettingSources& sources) {
    std::vector<EnvVariable> env_variables;
    BRAID_TRY(const auto env_text, file_text(sources.env_file));
    if (env_text) {
        BRAID_TRY(env_variables, parse_env(*env_text, sources.env_file.string()));
    }
    BRAID_TRY(const ConfigFile config, ConfigFile::read(sources.config_file));

    Settings settings;
    for (const SettingSpec& spec : kSpecs) {
        Setting setting{&spec, std::string(spec.otherwise), "default", {}};
        if (const auto found = config.values().find(spec.name); found != config.values().end()) {
            setting.value = found->second;
            setting.origin = sources.config_file.string();
        }
        for (const std::string_view variable : {spec.also, spec.variable}) {
            const auto found = std::ranges::find(env_variables, variable, &EnvVariable::first);
            if (found == env_variables.end() || found->second.empty()) continue;
            setting.value = found->second;
            setting.origin = sources.env_file.string();
            setting.variable = variable;
        }
        for (const std::string_view variable : {spec.also, spec.variable}) {
            const auto found = variable.empty() ? std::nullopt : sources.variable(variable);
            if (!found || found->empty()) continue;
            setting.value = *found;
            setting.origin = "environment";
            setting.variable = variable;
        }
        const std::string expected =
            setting.is_default() ? std::string() : expectation(spec, setting.value);
        if (!expected.empty()) {
            return invalid_argument(std::string(spec.variable) + " (" + setting.origin +
                                    ") must be " + expected +
                                    (spec.secret ? "" : ", got \"" + setting.value + "\""));
        }
        settings.settings_.push_back(std::move(setting));
    }
    settings.embedders_ = config.embedders();
    settings.profiles_ = configured_profiles(settings, config.profiles());
    settings.warnings_ = strange_names(env_variables, sources.env_file.string());
    return settings;
}

const Setting& Settings::setting(std::string_view name) const {
    return *std::ranges::find_if(settings_, [&](const Setting& s) { return s.spec->name == name; });
}

double Settings::number(std::string_view name) const {
    return number_from(text(name)).value_or(0);
}

bool Settings::on(std::string_view name) const {
    return text(name) == "true";
}

void Settings::export_to_environment() const {
    for (const Setting& setting : settings_) {
        if (!setting.spec->exported || setting.is_default() || setting.origin == "environment") {
            continue;
        }
        // NOLINTNEXTLINE(concurrency-mt-unsafe): before threads start
        ::setenv(std::string(setting.spec->variable).c_str(), setting.value.c_str(), 0);
    }
}

std::span<const SettingSpec> setting_specs() {
    return kSpecs;
}

}  // namespace braid::cli
