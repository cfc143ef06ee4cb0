#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "braid/core/base64.hpp"
#include "braid/docs/probes_codec.hpp"
#include "braid/index/write_rules.hpp"
#include "braid/net/client/retry.hpp"
#include "braid/rank/model_json.hpp"
#include "braid/remote/kept.hpp"
#include "braid/remote/remote_backend.hpp"
#include "braid/store/bytes.hpp"

namespace braid::remote {
namespace {

constexpr std::size_t kLooks = 5;  // at an index without a copy, before it counts as damaged

std::string status_in(const Value& health) {
    const Value* const status = health.find("status");
    return status != nullptr && status->is_string() ? status->as_string() : "unknown";
}

/// One entry for each index of ours; those dropped meanwhile are missing.
Result<std::map<std::string, std::string>> statuses(const ClusterCore& core,
                                                    const CallLimits& limits) {
    std::map<std::string, std::string> found;
    for (std::size_t attempt = 1;; ++attempt) {
        found.clear();
        BRAID_TRY(const Value health,
                  core.client().ask("GET",
                                    "/_cluster/health/" + core.options().prefix + "*?level=indices",
                                    "", limits));
        bool red = false;
        if (const Value* const indices = health.find("indices"); indices != nullptr) {
            for (const auto& [name, one] : indices->as_object()) {
                red |= (found[name] = status_in(one)) == "red";
            }
        }
        // An index created a moment ago is red until its shards exist.
        if (!red || attempt >= kLooks) return found;
        BRAID_CHECK(net::pause(core.client().retries(), attempt, limits));
    }
}

}  // namespace

Result<> RemoteBackend::set_ranker(const std::string& collection, const std::string& model) {
    if (!model.empty()) BRAID_CHECK(rank::read_model(model));
    BRAID_TRY(const RemoteCollectionPtr found, core_->find_now(collection, {}));
    return write_kept(*core_, *found, kRankerName, model, {});
}

Result<> RemoteBackend::set_probes(const std::string& collection, const std::string& namespace_,
                                   const LegProbes& probes) {
    BRAID_TRY(const RemoteCollectionPtr found, core_->find_now(collection, {}));
    store::ByteWriter bytes;
    docs::write_probes(bytes, probes);
    return write_kept(*core_, *found, probes_name(namespace_), core::encode_base64(bytes.view()),
                      {});
}

BackendHealth RemoteBackend::health() const {
    BackendHealth health;
    CallLimits limits;
    limits.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    limits.interactive = true;
    const auto answer = core_->client().ask(
        "GET",
        "/_cluster/health/" + core_->options().prefix + "*?timeout=1s&cluster_manager_timeout=1s",
        "", limits);
    if (!answer) {
        health.refusing.push_back({"", answer.error()});
    } else if (status_in(*answer) == "red") {
        health.refusing.push_back(
            {"", {ErrorCode::Unavailable, "the cluster is red: some shards have no copy"}});
    }
    return health;
}

Result<CheckReport> RemoteBackend::check(const CallLimits& limits) const {
    CheckReport report;
    BRAID_TRY(const auto infos, collections({}));
    BRAID_TRY(const auto found, statuses(*core_, limits));
    for (const CollectionInfo& info : infos) {
        ++report.collections;
        const std::string named = "collection \"" + info.name + "\": ";
        if (info.damage == index::kUnfilled) {
            report.unfinished.push_back(named + info.damage);
            continue;
        }
        if (!info.damage.empty()) {
            report.problems.push_back(named + info.damage);
            continue;
        }
        report.chunks += info.chunks;
        report.bytes += info.bytes_on_disk;
        const auto index = found.find(index_name(core_->options().prefix, info.name));
        if (index == found.end()) continue;
        const std::string& status = index->second;
        if (status == "yellow") {
            report.notes.push_back(named + "some shards lack a copy");
        } else if (status != "green") {
            report.problems.push_back(named + "its index is " + status +
                                      ": some shards cannot be read");
        }
    }
    return report;
}

Result<CheckReport> RemoteBackend::backup(const std::filesystem::path& path,
                                          const CallLimits& limits) const {
    (void)path, (void)limits;
    return fail(
        ErrorCode::Unsupported,
        "a cluster cannot be copied into a directory: use its own snapshots, or \"braid migrate\"");
}

Result<std::unique_ptr<Rewrite>> RemoteBackend::rewrite(const std::string& collection,
                                                        const Schema& schema) {
    (void)schema;
    return fail(ErrorCode::Unsupported,
                "collection \"" + collection +
                    "\" is in a cluster and cannot be rewritten in place: migrate it to a folder, "
                    "rewrite it there and migrate it back, or ingest it again");
}

Result<std::unique_ptr<Rewrite>> RemoteBackend::compaction(const std::string& collection) {
    return fail(ErrorCode::Unsupported, "collection \"" + collection +
                                            "\" is in a cluster, which compacts by itself "
                                            "(to force it: POST _forcemerge)");
}

}  // namespace braid::remote
