#include "cluster/cluster_control.hpp"

#include <cstdlib>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "braid/net/client/http_client.hpp"
#include "cluster/cluster_under_test.hpp"

namespace braid::testing {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

void cluster(const std::string& command) {
    const char* const script = std::getenv("BRAID_CLUSTER");
    ASSERT_NE(script, nullptr) << "BRAID_CLUSTER names no script";
    ASSERT_EQ(std::system((std::string(script) + " " + command).c_str()), 0) << command;
}

std::string ask_node(const std::string& url, const std::string& method, const std::string& path,
                     const std::string& body) {
    net::HttpClientOptions options;
    options.allow_private = true;
    options.total_timeout = milliseconds(5'000);
    net::HttpRequest request;
    request.method = method;
    request.url = url + path;
    request.body = body;
    if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
    const auto answer = net::HttpClient(options).send(request, {});
    return answer ? answer->body : std::string();
}

std::string ask_cluster(const std::string& method, const std::string& path,
                        const std::string& body) {
    for (const std::string& url : cluster_urls()) {
        std::string answer = ask_node(url, method, path, body);
        if (!answer.empty()) return answer;
    }
    return "";
}

void wait_until_green() {
    const std::string all = std::to_string(cluster_urls().size());
    for (const auto end = Clock::now() + seconds(240); Clock::now() < end;) {
        const std::string health =
            ask_cluster("GET", "/_cluster/health?wait_for_status=green&wait_for_nodes=" + all +
                                   "&wait_for_no_relocating_shards=true&timeout=1s");
        if (health.find("\"timed_out\":false") != std::string::npos) return;
        std::this_thread::sleep_for(milliseconds(500));
    }
    FAIL() << "the cluster did not become green again";
}

std::string manager() {
    const std::string name = ask_cluster("GET", "/_cat/cluster_manager?h=node");
    EXPECT_TRUE(name.size() > 1 && name.front() == 'n') << name;
    return name.size() > 1 ? name.substr(1, 1) : "0";
}

std::vector<std::string> holders(const std::string& index, int shard) {
    std::istringstream lines(ask_cluster("GET", "/_cat/shards/" + index + "?h=shard,node"));
    std::vector<std::string> nodes;
    int number = 0;
    for (std::string node; lines >> number >> node;) {
        if (number == shard) nodes.push_back(node.substr(1));
    }
    return nodes;
}

CallLimits within(milliseconds time) {
    CallLimits limits;
    limits.deadline = Clock::now() + time;
    return limits;
}

}  // namespace braid::testing
