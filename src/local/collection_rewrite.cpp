#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "braid/docs/chunk_codec.hpp"
#include "braid/index/write_rules.hpp"
#include "braid/local/collection.hpp"
#include "braid/local/manifest_recovery.hpp"
#include "braid/local/records.hpp"
#include "braid/store/durable_mark.hpp"

namespace braid::local {

Result<std::string> Collection::next_log(const store::Directory& directory,
                                         const std::string& present) {
    std::uint64_t number = log_number(present).value_or(0);
    BRAID_TRY(const auto entries, directory.list());
    for (const store::DirectoryEntry& entry : entries) {
        // Counts a log that is gone but has left its mark.
        const std::string log = log_of_file(entry.name).value_or("");
        number = std::max(number, log_number(log).value_or(0));
    }
    return log_name(number + 1);
}

Result<> Collection::create_next(const Schema& schema, std::string_view manifest_name) const {
    BRAID_TRY(const std::string log, next_log(*directory_, present_manifest().log));
    return create_files(*directory_, schema, manifest_name, log);
}

bool Collection::has_next() const {
    const auto file = directory_->open(kNextManifestName);
    if (!file) return false;
    const auto next = read_manifest((*file)->bytes(), kNextManifestName);
    // The same log: a crash came after taking the collection's place and before clearing up.
    return next && next->log != present_manifest().log;
}

void Collection::remove_old_files() {
    if (!renew_copy(*directory_, manifest_)) return;  // the copy may name some of them
    (void)directory_->remove(kCompactManifestName);   // its files are old ones too
    const auto entries = directory_->list();
    if (!entries) return;
    Manifest next;
    if (const auto file = directory_->open(kNextManifestName)) {
        const auto read = read_manifest((*file)->bytes(), kNextManifestName);
        if (!read) return;
        next = *read;
        if (next.log == manifest_.log) (void)directory_->remove(kNextManifestName);
    }
    std::set<std::string> named;
    for (const Manifest* manifest : std::initializer_list<const Manifest*>{&manifest_, &next}) {
        for (const std::string& log : manifest->logs()) named.insert(log);
        for (const std::string& file : segment_files(*manifest)) named.insert(file);
        for (const std::string& file : derived_files(*manifest)) named.insert(file);
    }
    for (const store::DirectoryEntry& entry : *entries) {
        if (const auto generation = generation_of_file(entry.name)) {
            // No number is given twice, not even that of a file that nothing names.
            next_generation_ = std::max<std::uint64_t>(next_generation_, *generation + 1);
            if (!named.contains(entry.name)) (void)directory_->remove(entry.name);
            continue;
        }
        const auto log = log_of_file(entry.name);
        if (!log || named.contains(*log)) continue;
        (void)store::remove_log(*directory_, *log);  // if it stays behind, it does no harm
    }
}

Result<> Collection::put_copies(const std::string& namespace_, std::vector<Chunk> chunks) {
    if (chunks.empty()) return {};
    const std::unique_lock alone(write_gate_);
    std::size_t expected = dimension();
    if (expected == 0) expected = chunks.front().vector.size();
    auto out = start_record(kCopy, namespace_, chunks.size());
    std::vector<index::PreparedChunk> prepared;
    BRAID_CHECK(raise_format_for(chunks));
    for (Chunk& chunk : chunks) {
        BRAID_CHECK(index::check_chunk(chunk, manifest_.schema));
        BRAID_CHECK(accept_vector(chunk, expected, {}));
        out.u64(chunk.version);
        docs::write_chunk(out, chunk);
        prepared.push_back(prepare(std::move(chunk)));
    }
    BRAID_CHECK(commit(out.view(), [&](Stamp stamp) {
        return apply_upsert(namespace_, std::move(prepared), stamp, now());
    }));
    return {};
}

Result<Collection::Difference> Collection::difference(const Collection& next) const {
    Difference difference;
    for (const std::string& namespace_ : index_->namespaces()) {
        BRAID_TRY(const ViewPtr here, present(namespace_, {}));
        BRAID_TRY(const ViewPtr there, next.present(namespace_, {}));
        std::unordered_map<std::string, Version> copied;
        BRAID_CHECK(there->each_version(
            [&](const std::string& id, Version version) { copied.emplace(id, version); }));
        BRAID_CHECK(here->each_version([&](const std::string& id, Version version) {
            ++difference.chunks;
            const auto copy = copied.find(id);
            if (copy == copied.end() || copy->second != version) {
                difference.to_copy.emplace_back(namespace_, id);
            }
        }));
    }
    for (const std::string& namespace_ : next.index_->namespaces()) {
        BRAID_TRY(const ViewPtr here, present(namespace_, {}));
        BRAID_TRY(const ViewPtr there, next.present(namespace_, {}));
        std::unordered_set<std::string> kept;
        BRAID_CHECK(here->each_version([&](const std::string& id, Version) { kept.insert(id); }));
        BRAID_CHECK(there->each_version([&](const std::string& id, Version) {
            if (!kept.contains(id)) difference.to_remove.emplace_back(namespace_, id);
        }));
    }
    return difference;
}

void Collection::discard(Collection& next) const {
    (void)next.close_for_good();
    const auto file = directory_->open(kManifestName);
    if (!file) return;
    const auto present = read_manifest((*file)->bytes(), kManifestName);
    const Manifest copy = next.present_manifest();
    if (!present || present->log == copy.log) return;
    // What cannot be removed now goes when the database is next opened.
    (void)directory_->remove(next.manifest_name_);
    remove_named(copy);
}

void Collection::remove_named(const Manifest& manifest) const {
    for (const std::string& log : manifest.logs()) (void)store::remove_log(*directory_, log);
    for (const std::string& file : segment_files(manifest)) (void)directory_->remove(file);
    for (const std::string& file : derived_files(manifest)) (void)directory_->remove(file);
}

/// After an error the other manifest may be in place, for now or for good. Anything written to this
/// log or to the other could then be lost: neither takes writes until the database is opened again.
void Collection::give_up_if_replaced() {
    const auto file = directory_->open(kManifestName);
    if (file) {
        const auto present = read_manifest((*file)->bytes(), kManifestName);
        if (present && present->log == present_manifest().log) return;
    }
    displaced_ = true;
    (void)close_for_good();
}

Result<> Collection::replace_by(Collection& next) {
    // From here on nothing of this one is flushed or merged: the manifest is no longer its own.
    stop_jobs();
    std::unique_lock not_flushing(next.flush_mutex_);
    Manifest manifest = next.present_manifest();
    {
        const std::unique_lock lock(state_mutex_);
        const std::unique_lock next_lock(next.state_mutex_);
        manifest.version_base = versions_.base() + applied_;
        next.versions_.set_base(manifest.version_base);
    }
    if (const auto replaced = directory_->replace(kManifestName, write_manifest(manifest));
        !replaced) {
        not_flushing.unlock();
        give_up_if_replaced();
        if (displaced_) (void)next.close_for_good();
        if (!displaced_) {  // carry on as before
            jobs_ = std::stop_source();
            jobs_ended_ = false;
        }
        return replaced;
    }
    // From here on the next one is the collection; anything left over does no harm.
    const bool copied = renew_copy(*directory_, manifest);
    (void)close_for_good();
    {
        const std::scoped_lock lock(next.files_mutex_);
        (void)directory_->remove(std::exchange(next.manifest_name_, kManifestName));
    }
    if (copied) remove_named(present_manifest());         // otherwise the copy may name them
    (void)directory_->remove(segment::kCalibrationName);  // of vectors that no longer exist
    (void)directory_->remove(kProbesName);
    return {};
}

}  // namespace braid::local
