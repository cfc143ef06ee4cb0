#pragma once

#include <optional>
#include <string>

#include "braid/database.hpp"
#include "values.hpp"

namespace braid::python {

/// What `braid.open` is given, in native form. Needs the GIL.
struct Opening {
    OpenOptions options;
    std::optional<ClusterEndpoint> cluster;  // instead of a directory
    std::string embedder;                    // of collections that a write creates
};

/// Reads the keys "create", "read_only", "durability", "relaxed_ms", "write_memory_mb", "embedder",
/// "embedders", "stages", "reranker", "profiles", "openai", "llm", "offline", "cluster" and "log";
/// all of them are there.
Opening read_options(nb::dict options);

}  // namespace braid::python
