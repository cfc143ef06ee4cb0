#pragma once

#include <memory>

#include "braid/cli/settings.hpp"
#include "braid/database.hpp"
#include "braid/result.hpp"

namespace braid::cli {

/// Makes embedders as the configuration says. InvalidArgument names the key of config.json's
/// "embedders" that does not fit.
Result<EmbedderFactory> embedder_factory(const Settings& settings);

/// The language model for queries; null if the configuration names none.
Result<std::shared_ptr<const QueryPreprocessor>> query_preprocessor(const Settings& settings);

/// "rerank", if a model is configured for it.
Result<std::vector<CustomStage>> own_stages(const Settings& settings);

}  // namespace braid::cli
