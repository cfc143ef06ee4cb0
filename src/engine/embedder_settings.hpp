#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "braid/database.hpp"

namespace braid::engine {

/// A model of the user's own: an ONNX encoder with its tokenizer.json.
struct OwnModel {
    std::string name;
    std::filesystem::path model;
    std::filesystem::path tokenizer;
    std::string pooling = "mean";  // "cls", "mean" or "none"
    std::string query_prefix;
    std::string passage_prefix;
    std::size_t token_limit = 256;
    std::size_t dimension = 0;  // 0: taken from the model
};

/// Where vectors come from; read from the configuration by the program.
struct EmbedderSettings {
    std::string openai_base_url = "https://api.openai.com/v1";
    std::string openai_api_key;
    std::string openai_model = "text-embedding-3-small";
    std::size_t openai_dimensions = 0;  // 0: as the model gives them
    std::vector<OwnModel> own_models;
    std::size_t token_limit = 256;  // of the built-in models
    bool offline = false;           // true forbids every outgoing call
};

/// Where LightGBM's library is, beside the models. NotFound says how to get it.
Result<std::filesystem::path> find_lightgbm();

/// Makes the embedders that collections name: "bge-small-en-v1.5" (or "bge"), "minilm", "openai",
/// or one of the user's own models by its name. NotFound lists them.
EmbedderFactory make_embedder_factory(EmbedderSettings settings);

/// The name under which collections keep an embedder: "bge" is "bge-small-en-v1.5", and
/// "all-MiniLM-L6-v2" is "minilm"; all other names stay as they are.
std::string full_embedder_name(std::string name);

/// The built-in models whose files are present.
std::vector<std::string> installed_models();

/// The names it knows apart from own models, for help texts and errors.
std::vector<std::string> builtin_embedders();

}  // namespace braid::engine
