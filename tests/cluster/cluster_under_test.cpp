#include "cluster/cluster_under_test.hpp"

#include <atomic>
#include <cstdlib>
#include <sstream>

#include <unistd.h>

#include "backend/helpers.hpp"
#include "braid/forwarding.hpp"

namespace braid::testing {
namespace {

class Disposable final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;
    ~Disposable() override {
        const auto left = inner().collections({});
        if (!left) return;
        for (const CollectionInfo& info : *left) (void)inner().drop_collection(info.name);
    }
    Disposable(const Disposable&) = delete;
    Disposable& operator=(const Disposable&) = delete;
    Disposable(Disposable&&) = delete;
    Disposable& operator=(Disposable&&) = delete;
};

}  // namespace

std::vector<std::string> cluster_urls() {
    const char* const given = std::getenv("BRAID_CLUSTER_URL");
    std::vector<std::string> urls;
    std::istringstream in(given != nullptr ? given : "");
    for (std::string url; std::getline(in, url, ',');) urls.push_back(url);
    EXPECT_FALSE(urls.empty()) << "BRAID_CLUSTER_URL names no node";
    return urls;
}

std::unique_ptr<Backend> make_cluster_backend(const remote::RemoteOptions& options) {
    static std::atomic<int> number{0};
    remote::RemoteOptions own = options;
    if (own.urls.empty()) own.urls = cluster_urls();
    if (options.prefix == remote::RemoteOptions{}.prefix) {
        own.prefix = "t" + std::to_string(getpid()) + "-" + std::to_string(++number) + "-";
    }
    if (cluster_urls().size() == 1) own.replicas = 0;
    return std::make_unique<Disposable>(must(remote::open_remote_backend(own)));
}

}  // namespace braid::testing
