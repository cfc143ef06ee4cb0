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
    if (report && collection.flush_due()) flushes_due_.add(collection.name());
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
        tell(LogEvent::Level::Error, "writes_refused", name + " refuses writes: " + cause->message);
    } else {
        tell(LogEvent::Level::Warning, "writes_resumed", name + " accepts writes again");
    }
}

Result<> LocalBackend::verify_lock() const {
    auto held = lock_->verify();
    if (!held && !told_of_lost_lock_.exchange(true)) {
        tell(LogEvent::Level::Error, "writes_refused", held.error().message);
    }
    return held;
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
    if (const auto held = options_.read_only ? Result<>() : verify_lock(); !held) {
        const std::scoped_lock lock(mutex_);
        for (const std::string& name : names()) health.refusing.push_back({name, held.error()});
        if (health.refusing.empty()) health.refusing.push_back({"", held.error()});
        return health;
    }
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
