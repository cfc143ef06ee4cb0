#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "braid/types.hpp"

namespace braid::testing {

/// A command of tests/cluster/cluster, which BRAID_CLUSTER names: "kill 2", "node 2".
void cluster(const std::string& command);

/// What a node answers; empty if it does not.
std::string ask_node(const std::string& url, const std::string& method, const std::string& path,
                     const std::string& body = "");
/// The first node that answers.
std::string ask_cluster(const std::string& method, const std::string& path,
                        const std::string& body = "");

/// Polls until every node is there and every copy is in place.
void wait_until_green();

/// The number of the node that manages the others.
std::string manager();
/// The numbers of nodes that hold copies of a shard of an index.
std::vector<std::string> holders(const std::string& index, int shard);

CallLimits within(std::chrono::milliseconds time);

}  // namespace braid::testing
