#pragma once

#include <memory>

#include "braid/cli/config/settings.hpp"
#include "braid/database.hpp"
#include "braid/result.hpp"
#include "braid/service/operations.hpp"

namespace braid::cli {

/// Makes embedders according to the configuration. InvalidArgument names the invalid key of
/// config.json's "embedders".
Result<EmbedderFactory> embedder_factory(const Settings& settings);

/// Whether the endpoint of the embedder "openai" was configured for this program: it is the
/// embedder of new collections, or has an address or a key of its own. OPENAI_API_KEY alone, which
/// other programs read too, means nothing.
bool is_openai_configured(const Settings& settings);

/// What a door over the database offers: the configured embedders, and the built-in ones whose
/// models are present.
service::ServiceOptions service_options(const Settings& settings);

/// The language model for queries; null if the configuration names none.
Result<std::shared_ptr<const QueryPreprocessor>> query_preprocessor(const Settings& settings);

/// "rerank", if a model is configured for it.
Result<std::vector<CustomStage>> own_stages(const Settings& settings);

}  // namespace braid::cli
