#include <utility>

#include "braid/local/backend.hpp"

namespace braid::local {
namespace {

using Names = std::vector<std::pair<std::string, std::string>>;  // namespace, chunk id

constexpr std::size_t kCompactionBatch = 256;
/// Up to this many chunks are copied while writers wait: under a stream of writes some are always
/// left.
constexpr std::size_t kMostRest = 64;

/// Takes up to `limit` chunks of one namespace from the end of the list; none if the list is empty.
Result<Rewrite::Batch> take_batch(const Collection& source, Names& names, std::size_t limit) {
    Rewrite::Batch batch;
    while (!names.empty() && batch.chunks.empty()) {
        batch.namespace_ = names.back().first;
        std::vector<std::string> ids;
        while (!names.empty() && ids.size() < limit && names.back().first == batch.namespace_) {
            ids.push_back(std::move(names.back().second));
            names.pop_back();
        }
        const auto pin = source.pin();
        const ReadScope scope{source.name(), batch.namespace_, {}, std::nullopt};
        BRAID_TRY(auto chunks, source.fetch(pin->at(), scope, ids, true, {}));
        for (auto& chunk : chunks) {
            if (chunk) batch.chunks.push_back(*std::move(chunk));
        }
    }
    return batch;
}

}  // namespace

/// A rewrite of one collection; see Maintenance::rewrite.
class LocalRewrite final : public Rewrite {
public:
    LocalRewrite(LocalBackend& backend, std::shared_ptr<Collection> source,
                 std::shared_ptr<Collection> next, std::shared_ptr<RewriteProgress> progress)
        : backend_(backend),
          source_(std::move(source)),
          next_(std::move(next)),
          progress_(std::move(progress)) {}

    /// A compaction that is abandoned, perhaps for want of space, leaves nothing behind; new
    /// vectors took work, which the next attempt continues.
    ~LocalRewrite() override {
        if (progress_->compacts && !finished_) backend_.give_up(*source_, *next_);
    }
    LocalRewrite(const LocalRewrite&) = delete;
    LocalRewrite& operator=(const LocalRewrite&) = delete;
    LocalRewrite(LocalRewrite&&) = delete;
    LocalRewrite& operator=(LocalRewrite&&) = delete;

    Result<Batch> pending(std::size_t limit) override {
        if (queue_.empty()) BRAID_CHECK(refill());
        return take_batch(*source_, queue_, limit);
    }

    Result<> put(Batch batch) override {
        BRAID_CHECK(next_->put_copies(batch.namespace_, std::move(batch.chunks)));
        if (next_->flush_due()) BRAID_CHECK(next_->flush({}));
        while (next_->merge_due()) BRAID_CHECK(next_->merge({}));
        progress_->done = progress_->total - queue_.size();
        return {};
    }

    Result<bool> finish() override { return finish(0); }
    /// Copies up to `may_copy` pending chunks first, while writers wait.
    Result<bool> finish(std::size_t may_copy) {
        BRAID_TRY(finished_, backend_.switch_over(source_, next_, may_copy));
        return finished_;
    }

    std::uint64_t done() const override { return progress_->done; }
    std::uint64_t total() const override { return progress_->total; }

private:
    Result<> refill() {
        BRAID_TRY(Collection::Difference difference, source_->difference(*next_));
        queue_ = std::move(difference.to_copy);
        progress_->total = difference.chunks;
        progress_->done = difference.chunks - queue_.size();
        return {};
    }

    LocalBackend& backend_;
    std::shared_ptr<Collection> source_;
    std::shared_ptr<Collection> next_;
    std::shared_ptr<RewriteProgress> progress_;
    Names queue_;
    bool finished_ = false;
};

namespace {

/// Compacts segments: everything in memory goes into files, all files become one, deleted chunks
/// are dropped, and the vectors get their graph.
class SegmentCompaction final : public Rewrite {
public:
    SegmentCompaction(std::shared_ptr<Collection> collection,
                      std::shared_ptr<RewriteProgress> progress)
        : collection_(std::move(collection)), progress_(std::move(progress)) {}

    Result<Batch> pending(std::size_t) override { return Batch{}; }
    Result<> put(Batch) override { return {}; }
    Result<bool> finish() override {
        BRAID_CHECK(collection_->flush({}));
        BRAID_CHECK(collection_->merge({}, true));
        // Leave nothing to be done later.
        if (const auto derived = collection_->derive({}); !derived) {
            return fail("collection \"" + collection_->name() +
                            "\" is compacted, but its graphs for fast search could not be built",
                        derived.error());
        }
        progress_->done = progress_->total.load();
        return true;
    }
    std::uint64_t done() const override { return progress_->done; }
    std::uint64_t total() const override { return progress_->total; }

private:
    std::shared_ptr<Collection> collection_;
    std::shared_ptr<RewriteProgress> progress_;
};

}  // namespace

Result<std::shared_ptr<Collection>> LocalBackend::open_next(const std::string& collection,
                                                            std::string_view manifest_name) const {
    BRAID_TRY(auto directory, directory_->open_subdirectory(collection));
    Collection::OpenSettings settings = open_settings();
    settings.flushes_in_background = false;  // whoever fills it flushes it
    BRAID_TRY(auto opened,
              Collection::open(collection, std::move(directory), settings, manifest_name));
    return std::move(opened.collection);
}

Result<> LocalBackend::require_no_rewrite(const std::string& collection) const {
    const auto found = rewrites_.find(collection);
    if (found == rewrites_.end() || found->second.expired()) return {};
    return fail(ErrorCode::Conflict,
                "collection \"" + collection + "\" is already being rewritten");
}

Result<std::shared_ptr<RewriteProgress>> LocalBackend::begin_compaction(
    const std::string& collection) {
    BRAID_CHECK(require_no_rewrite(collection));
    auto progress = std::make_shared<RewriteProgress>();
    progress->compacts = true;
    rewrites_[collection] = progress;
    return progress;
}

Result<std::unique_ptr<Rewrite>> LocalBackend::compaction(const std::string& collection) {
    BRAID_CHECK(check_writable());
    BRAID_TRY(const auto source, find(collection));
    if (!source->compacts_segments()) {
        BRAID_TRY(std::unique_ptr<Rewrite> copy, log_compaction(collection));
        return copy;
    }
    const std::scoped_lock lock(mutex_);
    BRAID_TRY(auto progress, begin_compaction(collection));
    BRAID_TRY(const CollectionInfo info, source->info(source->pin()->at(), {}));
    progress->total = info.chunks;
    return std::make_unique<SegmentCompaction>(source, std::move(progress));
}

Result<std::unique_ptr<LocalRewrite>> LocalBackend::log_compaction(const std::string& collection) {
    BRAID_CHECK(check_writable());
    BRAID_TRY(const auto source, find(collection));
    const std::scoped_lock lock(mutex_);
    BRAID_TRY(auto progress, begin_compaction(collection));
    BRAID_CHECK(source->create_next(source->schema(), kCompactManifestName));
    BRAID_TRY(auto next, open_next(collection, kCompactManifestName));
    return std::make_unique<LocalRewrite>(*this, source, std::move(next), std::move(progress));
}

Result<std::unique_ptr<Rewrite>> LocalBackend::rewrite(const std::string& collection,
                                                       const Schema& schema) {
    BRAID_CHECK(check_writable());
    BRAID_TRY(const auto source, find(collection));
    const std::scoped_lock lock(mutex_);
    BRAID_CHECK(require_no_rewrite(collection));
    std::shared_ptr<Collection> next;
    if (source->has_next()) {
        // One with another schema, or a damaged one, is started over: it is only a copy.
        auto found = open_next(collection, kNextManifestName);
        if (found && (*found)->schema() == schema) next = *found;
    }
    if (!next) {
        BRAID_CHECK(source->create_next(schema, kNextManifestName));
        BRAID_TRY(next, open_next(collection, kNextManifestName));
    }
    auto progress = std::make_shared<RewriteProgress>();
    rewrites_[collection] = progress;
    unfinished_.insert(collection);
    return std::make_unique<LocalRewrite>(*this, source, next, std::move(progress));
}

Result<> LocalBackend::compact_now(const Collection& source, const std::stop_token& stop) {
    const bool may_be_cancelled = source.live_bytes() > options_.compaction.max_bytes_on_close;
    BRAID_TRY(const auto copy, log_compaction(source.name()));
    // Writers as fast as this copying would keep it from ending, so the rest they have to wait for
    // may grow each time.
    for (std::size_t rest = kMostRest;;) {
        if (may_be_cancelled && stop.stop_requested()) {
            return fail(ErrorCode::Cancelled, "the database is being closed");
        }
        BRAID_TRY(Rewrite::Batch batch, copy->pending(kCompactionBatch));
        if (batch.chunks.empty()) {
            BRAID_TRY(const bool finished, copy->finish(rest));
            if (finished) return {};
            rest *= 4;
            continue;
        }
        BRAID_CHECK(copy->put(std::move(batch)));
    }
}

std::optional<std::string> LocalBackend::rewriting(const std::string& collection,
                                                   const Principal& principal) const {
    const std::scoped_lock lock(mutex_);
    if (!unfinished_.contains(collection)) return std::nullopt;
    const auto found = rewrites_.find(collection);
    if (found != rewrites_.end()) {
        if (const auto progress = found->second.lock(); progress && !progress->compacts) {
            const std::string begin = "collection \"" + collection + "\" is being re-embedded";
            if (!principal.sees_everything()) {
                return begin + "; this answer uses the old vectors";
            }
            return begin + ": " + std::to_string(progress->done) + " of " +
                   std::to_string(progress->total) +
                   " chunks have their new vectors; this answer uses the old ones";
        }
    }
    return "re-embedding collection \"" + collection +
           "\" was not finished; this answer uses the old vectors; run `braid "
           "reembed` to continue";
}

void LocalBackend::give_up(const Collection& source, Collection& next) const {
    const std::shared_lock nothing_is_removed(files_mutex_);
    source.discard(next);
}

Result<bool> LocalBackend::switch_over(const std::shared_ptr<Collection>& source,
                                       const std::shared_ptr<Collection>& next,
                                       std::size_t may_copy) {
    const std::unique_lock nobody_reads_files(files_mutex_);
    const std::unique_lock nobody_writes(switch_mutex_);
    BRAID_TRY(const auto present, find(next->name()));
    if (present != source) {
        return fail(ErrorCode::Conflict,
                    "collection \"" + next->name() + "\" was dropped while it was being rewritten");
    }
    BRAID_TRY(Collection::Difference difference, source->difference(*next));
    if (difference.to_copy.size() > may_copy) return false;
    while (!difference.to_copy.empty()) {
        BRAID_TRY(Rewrite::Batch batch, take_batch(*source, difference.to_copy, kCompactionBatch));
        BRAID_CHECK(next->put_copies(batch.namespace_, std::move(batch.chunks)));
    }
    for (auto& [namespace_, id] : difference.to_remove) {
        const ReadScope scope{next->name(), namespace_, {}, std::nullopt};
        BRAID_CHECK(next->remove(scope, {.chunk_ids = {id}, .document_ids = {}, .filter = {}}, {}));
    }
    BRAID_CHECK(check_writable());
    BRAID_CHECK(source->replace_by(*next));
    const std::scoped_lock lock(mutex_);
    if (!next->has_next()) unfinished_.erase(next->name());
    collections_.insert_or_assign(next->name(), next);
    used_[next->name()] = ++uses_;
    if (next->derivation_due()) derivations_due_.add(next->name());
    return true;
}

}  // namespace braid::local
