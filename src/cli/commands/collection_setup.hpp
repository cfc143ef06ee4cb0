#pragma once

#include <array>
#include <memory>
#include <string>

#include "braid/cli/args/arguments.hpp"
#include "braid/cli/session.hpp"
#include "braid/result.hpp"
#include "braid/service/service.hpp"
#include "braid/value.hpp"

namespace braid::cli {

/// Flags that describe a new collection; their keys are those of a schema.
inline constexpr auto kSchemaFlags = std::to_array<FlagSpec>({
    {.name = "embedder",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "none, external (you bring vectors), or a model",
     .key = "embedder"},
    {.name = "dimension",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "length of external vectors (default: the first one's)",
     .key = "dimension"},
    {.name = "metric",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "cosine, dot or euclidean",
     .key = "metric",
     .choices = "cosine|dot|euclidean"},
    {.name = "precision",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "of stored vectors: f32, f16 or int8",
     .key = "precision",
     .choices = "f32|f16|int8"},
    {.name = "analyzer",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "how text becomes words: standard or simple",
     .key = "analyzer",
     .choices = "standard|simple"},
    {.name = "language",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "of the stemmer; none; auto: detected per chunk",
     .key = "language"},
});

/// The given flags, as the JSON of a schema. `has_vectors`: the data brings vectors, so the
/// embedder is "external" unless a flag says otherwise.
Result<Object> wanted_schema(const Session& session, bool has_vectors);

/// Creates the collection, or compares what the flags say with the one that exists:
/// InvalidArgument names the difference. True if it was created, like `form` where no flag says
/// otherwise.
Result<bool> ensure_collection(const Session& session, const service::Service& service,
                               const std::string& name, bool has_vectors, Object form = {});

/// For a dry run: the database if there is one with the collection, else an empty one.
Result<std::unique_ptr<service::Service>> service_to_look_at(const Session& session,
                                                             const std::string& collection);

}  // namespace braid::cli
