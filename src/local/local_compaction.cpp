#include <algorithm>

#include "braid/local/backend.hpp"
#include "braid/local/memory_left.hpp"

namespace braid::local {

bool LocalBackend::wants_compaction(const Collection& collection) const {
    const AutoCompaction& rule = options_.compaction;
    if (!rule.enabled || options_.read_only || collection.unfinished()) return false;
    if (collection.has_segments_engine()) return false;  // its log goes with every flush
    const std::uint64_t bytes = collection.log_bytes();
    const std::uint64_t dead = bytes - std::min(bytes, collection.live_bytes());
    if (dead <= rule.min_void_bytes ||
        static_cast<double>(dead) <= rule.min_void_share * static_cast<double>(bytes)) {
        return false;
    }
    const std::scoped_lock lock(mutex_);
    const auto failed = failed_at_bytes_.find(collection.name());
    if (failed == failed_at_bytes_.end()) return true;
    return bytes >= failed->second + std::max(rule.min_void_bytes, failed->second / 4);
}

void LocalBackend::compact_by_itself(const std::string& name, const std::stop_token& stop) {
    const auto found = find(name);
    // Since it was queued it may have been dropped, or compacted by somebody else.
    if (!found || !wants_compaction(**found)) return;
    const std::uint64_t before = (*found)->log_bytes();
    const auto done = compact_now(**found, stop);
    if (done) {
        ++compacted_;
        {
            const std::scoped_lock lock(mutex_);
            failed_at_bytes_.erase(name);
        }
        const auto next = find(name);
        tell(LogEvent::Level::Info, "log_compacted",
             "the log of collection \"" + name + "\" was compacted from " + std::to_string(before) +
                 " bytes to " + std::to_string(next ? (*next)->log_bytes() : 0));
        return;
    }
    const ErrorCode code = done.error().code;
    // Not now: the database is closing, or somebody else is rewriting or has dropped the
    // collection.
    if (code == ErrorCode::Cancelled || code == ErrorCode::Conflict ||
        code == ErrorCode::NotFound) {
        return;
    }
    ++failed_compactions_;
    {
        const std::scoped_lock lock(mutex_);
        failed_at_bytes_[name] = before;
    }
    tell(LogEvent::Level::Warning, "compaction_failed",
         "the log of collection \"" + name +
             "\" could not be compacted, and stays as it is: " + done.error().message);
}

void LocalBackend::flush_by_itself(const std::string& name, const std::stop_token&) {
    const auto found = find(name);
    if (!found || !(*found)->flush_due()) return;
    // Not to be stopped: it is short, and would have to be done again.
    const auto flushed = with_memory_left([&] { return (*found)->flush({}); });
    if (!flushed) {
        note_failed_job("flushed", name, flushed.error());
        return;
    }
    if ((*found)->merge_due()) merges_due_.add(name);
    if ((*found)->flush_due()) flushes_due_.add(name);
    if ((*found)->derivation_due()) derivations_due_.add(name);
}

void LocalBackend::merge_by_itself(const std::string& name, const std::stop_token& stop) {
    const auto found = find(name);
    if (!found) return;
    while (!stop.stop_requested()) {
        const auto merged = with_memory_left([&] { return (*found)->merge(stop); });
        if (!merged) note_failed_job("merged", name, merged.error());
        if (!merged || !*merged) break;
        ++compacted_;
    }
    if ((*found)->derivation_due()) derivations_due_.add(name);
}

void LocalBackend::note_failed_job(const std::string& what, const std::string& name,
                                   const Error& error) {
    if (error.code == ErrorCode::Cancelled) return;  // the database is closing
    ++failed_compactions_;
    tell(LogEvent::Level::Warning, "compaction_failed",
         "collection \"" + name + "\" could not be " + what +
             ", and stays as it is: " + error.message);
}

}  // namespace braid::local
