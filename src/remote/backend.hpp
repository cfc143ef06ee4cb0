#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "braid/backend.hpp"
#include "braid/result.hpp"

namespace braid::remote {

struct RemoteOptions {
    /// Nodes of one cluster, http or https, each with an optional path; tried in turn.
    std::vector<std::string> urls;
    /// "user:password", or a token; empty: none. Never part of an error or a log.
    std::string key;
    std::string ca_file;                        // empty: the system's certificates
    std::string prefix = "braid-";              // starts the names of its indexes; lower case
    std::size_t shards = 1;                     // of collections that are created
    std::size_t replicas = 1;                   // copies besides the first
    std::chrono::milliseconds timeout{60'000};  // of one request, if the call has no deadline
    std::size_t max_attempts = 6;               // of one request, over all nodes
    bool offline = false;                       // true forbids every outgoing call
};

/// A backend whose collections are indexes of a search cluster (docs/cluster.md). InvalidArgument
/// for options that cannot work. Does not contact the cluster yet.
Result<std::unique_ptr<Backend>> open_remote_backend(RemoteOptions options);

}  // namespace braid::remote
