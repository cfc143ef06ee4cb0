#include <chrono>
#include <string>
#include <utility>

#include "braid/remote/remote_backend.hpp"

namespace braid::remote {
namespace {

std::string status_in(const Value& health) {
    const Value* const status = health.find("status");
    return status != nullptr && status->is_string() ? status->as_string() : "unknown";
}

}  // namespace

BackendHealth RemoteBackend::health() const {
    BackendHealth health;
    CallLimits limits;
    limits.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    limits.interactive = true;
    const auto answer = core_->client().ask("GET", "/_cluster/health?timeout=1s", "", limits);
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
    for (const CollectionInfo& info : infos) {
        ++report.collections;
        const std::string named = "collection \"" + info.name + "\": ";
        if (info.damage == kUnfilled) {
            report.unfinished.push_back(named + info.damage);
            continue;
        }
        if (!info.damage.empty()) {
            report.problems.push_back(named + info.damage);
            continue;
        }
        report.chunks += info.chunks;
        report.bytes += info.bytes_on_disk;
        const std::string path =
            "/_cluster/health/" + index_path(core_->options().prefix, info.name) + "?timeout=1s";
        BRAID_TRY(const Value health, core_->client().ask("GET", path, "", limits));
        const std::string status = status_in(health);
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
    return fail(ErrorCode::Unsupported,
                "a cluster is not copied into a directory: use its own snapshots, or \"braid "
                "migrate\"");
}

}  // namespace braid::remote
