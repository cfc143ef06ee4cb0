#include "braid/cli/config/cluster.hpp"

#include <sstream>

namespace braid::cli {

bool on_cluster(const Arguments& arguments, const Settings& settings) {
    return arguments.text_or("backend", settings.text("backend")) == "opensearch";
}

Result<ClusterEndpoint> cluster_endpoint(const Arguments& arguments, const Settings& settings,
                                         const std::string& urls) {
    ClusterEndpoint endpoint;
    std::istringstream in(urls);
    for (std::string url; std::getline(in, url, ',');) {
        if (!url.empty()) endpoint.urls.push_back(url);
    }
    if (const auto key = arguments.text("key")) {
        endpoint.key = *key;
    } else if (urls == settings.text("cluster.url")) {
        endpoint.key = settings.text("cluster.key");
    } else if (!settings.text("cluster.key").empty()) {
        return invalid_argument("the cluster's key is configured for \"" +
                                settings.text("cluster.url") + "\", not for \"" + urls +
                                "\": configure both in the same place, or give --key");
    }
    endpoint.ca_file = settings.text("cluster.caFile");
    endpoint.prefix = settings.text("cluster.prefix");
    endpoint.shards = static_cast<std::size_t>(settings.number("cluster.shards"));
    endpoint.replicas = static_cast<std::size_t>(settings.number("cluster.replicas"));
    endpoint.offline = settings.on("offline");
    return endpoint;
}

Result<ClusterEndpoint> cluster_endpoint(const Arguments& arguments, const Settings& settings) {
    return cluster_endpoint(arguments, settings,
                            arguments.text_or("url", settings.text("cluster.url")));
}

}  // namespace braid::cli
