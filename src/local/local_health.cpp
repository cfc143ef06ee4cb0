#include <utility>

#include "braid/local/backend.hpp"

namespace braid::local {
namespace {

/// Errors of the storage, not of what was to be written.
bool is_of_storage(ErrorCode code) {
    return code == ErrorCode::StorageFull || code == ErrorCode::IoError ||
           code == ErrorCode::ReadOnly || code == ErrorCode::ResourceExhausted;
}

}  // namespace

void LocalBackend::note_write(const Collection& collection, const Result<WriteReport>& report) {
    if (!report) {
        if (!is_of_storage(report.error().code)) return;
        ++failed_writes_;
    }
    note_trouble(collection);
    if (report && wants_compaction(collection)) compactions_due_.add(collection.name());
}

void LocalBackend::note_trouble(const Collection& collection) const {
    const std::optional<Error> cause = collection.refusal();
    {
        const std::scoped_lock lock(mutex_);
        const bool changed = cause ? refusing_.insert(collection.name()).second
                                   : refusing_.erase(collection.name()) > 0;
        if (!changed) return;
    }
    const std::string name = "collection \"" + collection.name() + "\"";
    if (cause) {
        tell(LogEvent::Level::Error, "writes_refused",
             name + " takes no writes: " + cause->message);
    } else {
        tell(LogEvent::Level::Warning, "writes_resumed", name + " takes writes again");
    }
}

BackendHealth LocalBackend::health() const {
    BackendHealth health;
    health.failed_writes = failed_writes_;
    health.compactions = compacted_;
    health.failed_compactions = failed_compactions_;
    std::vector<std::shared_ptr<Collection>> open;
    {
        const std::scoped_lock lock(mutex_);
        for (const auto& [name, collection] : collections_) open.push_back(collection);
    }
    health.open_collections = open.size();
    for (const auto& collection : open) {
        if (!collection->refusal()) continue;
        collection->try_space();
        note_trouble(*collection);
        if (auto cause = collection->refusal()) {
            health.refusing.push_back({collection->name(), *std::move(cause)});
        }
    }
    return health;
}

}  // namespace braid::local
