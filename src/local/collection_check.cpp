#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "braid/core/limits.hpp"
#include "braid/local/collection.hpp"
#include "braid/local/file_check.hpp"
#include "braid/local/log_reading.hpp"
#include "braid/local/manifest_recovery.hpp"
#include "braid/local/segment_files.hpp"
#include "braid/store/durable_mark.hpp"
#include "braid/store/file_writer.hpp"
#include "braid/store/mapped_file.hpp"

namespace braid::local {

Collection::Extent Collection::extent() const {
    const std::scoped_lock nothing_is_flushed(flush_mutex_);
    Extent extent;
    extent.pin = pin();
    const std::scoped_lock lock(files_mutex_);
    extent.files = copying_.lock();
    if (!extent.files) {
        extent.files = std::make_shared<int>(0);
        copying_ = extent.files;
    }
    extent.manifest = present_manifest_locked();
    extent.log_bytes = log_->size_bytes();  // everything the pin shows is in there
    const std::shared_lock state_lock(state_mutex_);
    extent.versions = versions_;
    return extent;
}

Result<> Collection::check(const Extent& extent, const store::Directory& files, CheckReport& report,
                           const CallLimits& limits) const {
    BRAID_CHECK(core::check_limits(limits));
    core::Findings findings("collection \"" + name_ + "\"", report);
    ++report.collections;
    if (const auto failure = log()->failure()) {
        findings.note("it has refused writes since an error: " + failure->message);
    }
    // A read-only process cannot keep others from changing the files; a copy belongs to nobody
    // else.
    const bool own = &files == directory_.get();
    const bool may_change = read_only_ && own;
    const auto gone = files.open(kManifestName);
    if (may_change && !gone && gone.error().code == ErrorCode::NotFound) {
        findings.note("another program dropped it meanwhile; it was not checked");
        return {};
    }
    const std::optional<Manifest> manifest = check_manifest(files, findings);
    if (!manifest) return {};
    // A flush or a merge may have written another manifest since; the files that the extent names
    // are kept.
    if (*manifest != extent.manifest && !(own && manifest_is_in_place())) {
        if (may_change) {
            findings.note("another program replaced it meanwhile; it was not checked");
        } else if (displaced_) {
            findings.note("an error interrupted a rewrite; reopen the database to check it");
        } else if (own && doubtful_) {
            findings.note("after an error either manifest may be in place; both are valid");
            return check_files(extent, files, findings, limits);
        } else {
            findings.problem(files.path() + "/" + std::string(kManifestName) +
                             ": it is not the manifest written last");
        }
        return {};
    }
    if (!may_change) return check_files(extent, files, findings, limits);
    // Another program may flush or merge meanwhile and remove what is being checked.
    CheckReport before = report;
    BRAID_CHECK(check_files(extent, files, findings, limits));
    const auto file = files.open(kManifestName);
    const auto now = file ? read_manifest((*file)->bytes(), kManifestName)
                          : Result<Manifest>(tl::unexpected(file.error()));
    if (findings.problems() > 0 && (!now || *now != *manifest)) {
        findings.take_back(std::move(before));
        findings.note("another program changed it meanwhile; it was not checked");
    }
    return {};
}

bool Collection::manifest_is_in_place() const {
    const std::scoped_lock lock(files_mutex_);
    const auto file = directory_->open(manifest_name_);
    if (!file) return false;
    const auto manifest = read_manifest((*file)->bytes(), manifest_name_);
    return manifest && *manifest == present_manifest_locked();
}

bool Collection::is_behind() const {
    if (!manifest_is_in_place()) return true;
    constexpr std::chrono::seconds patience{1};  // the whole log is read again
    if (std::chrono::steady_clock::now() - opened_at_ < patience) return false;
    const auto entries = directory_->list();
    if (!entries) return false;
    const auto log = std::ranges::find(*entries, log_name_, &store::DirectoryEntry::name);
    return log != entries->end() && log->size != log_bytes();
}

Result<> Collection::check_files(const Extent& extent, const store::Directory& files,
                                 core::Findings& findings, const CallLimits& limits) const {
    const Manifest& manifest = extent.manifest;
    const Sequence at = extent.pin->at().sequence;
    BRAID_TRY(const std::uint64_t dead,
              check_segments(files, manifest, analyzer_, findings, limits));
    LogReading reading(extent.versions, at);
    if (findings.problems() == 0) {
        BRAID_CHECK(begin_reading(files, manifest, analyzer_, segments_ == nullptr, reading));
    }
    const auto take = [&](Sequence sequence, std::span<const std::byte> payload) -> Result<> {
        BRAID_CHECK(core::check_limits(limits));  // a record may be long
        return reading.add(sequence, payload);
    };
    for (const std::string& older : manifest.older_logs) {
        reading.use(Versions(log_id_of(files, older), extent.versions.base()));
        BRAID_CHECK(check_log_file(files, older, manifest.format, {}, take, findings));
    }
    reading.use(extent.versions);
    const LogExtent expected{.acknowledged = extent.log_bytes, .growing = !read_only_};
    BRAID_CHECK(check_log_file(files, manifest.log, manifest.format, expected, take, findings));
    check_other_files(files, manifest, !read_only_ && &files == directory_.get(), findings);
    const Sequence last = std::max(reading.taken(), manifest.flushed);
    if (findings.problems() == 0 && last != at) {
        findings.problem(files.path() + "/" + manifest.log + ": it ends with record " +
                         std::to_string(last) + ", but record " + std::to_string(at) +
                         " was acknowledged");
    }
    findings.report().superseded += reading.superseded() + dead;
    if (findings.problems() > 0) return {};  // the index would only differ in the same places
    BRAID_TRY(const std::uint64_t replaced, reading.replaced());
    findings.report().superseded += replaced;
    return check_index(reading, at, findings, limits);
}

Result<> Collection::check_index(const LogReading& reading, Sequence at, core::Findings& findings,
                                 const CallLimits& limits) const {
    for (const auto& [space, chunks] : reading.namespaces()) {
        const auto check = index_->check(space, at, dimension(), findings);
        core::StepCounter steps;
        for (const auto& [id, chunk] : chunks) {
            if (steps.due(16)) BRAID_CHECK(core::check_limits(limits));
            check->compare(prepare(chunk));
        }
        BRAID_CHECK(check->finish(limits));
    }
    const Principal everybody;
    for (const std::string& space : index_->namespaces()) {
        BRAID_TRY(const auto view,
                  index_->view(
                      {.namespace_ = space, .principal = everybody, .at = at, .limits = limits}));
        BRAID_TRY(const std::uint64_t chunks, view->count());
        findings.report().chunks += chunks;
        if (may_expire()) {
            // Leaves out what nobody can read any more but is still in the files.
            BRAID_TRY(const auto shown, index_->view({.namespace_ = space,
                                                      .principal = everybody,
                                                      .at = at,
                                                      .now = now(),
                                                      .limits = limits}));
            BRAID_TRY(const std::uint64_t visible, shown->count());
            findings.report().superseded += chunks - visible;
        }
        if (reading.namespaces().contains(space)) continue;
        BRAID_CHECK(index_->check(space, at, dimension(), findings)->finish(limits));
    }
    return {};
}

Result<> Collection::copy_files(const Extent& extent, store::Directory& copy) const {
    const Manifest& from = extent.manifest;
    const auto changed = [&](const Error& error) -> Result<> {
        if (!read_only_ || error.code != ErrorCode::NotFound) return tl::unexpected<Error>(error);
        return fail(ErrorCode::Unavailable, "collection \"" + name_ +
                                                "\" was changed by another program while it was "
                                                "being copied; try again");
    };
    for (const std::string& name : segment_files(from)) {
        if (const auto copied = copy_file(*directory_, name, copy); !copied) {
            return changed(copied.error());
        }
    }
    // Without these the copy makes its own.
    std::vector<std::string> derived = derived_files(from);
    derived.emplace_back(segment::kCalibrationName);
    derived.emplace_back(kProbesName);
    for (const std::string& name : derived) (void)copy_file(*directory_, name, copy);
    if (const auto copied = copy_file(*directory_, std::string(kRankerName), copy);
        !copied && copied.error().code != ErrorCode::NotFound) {
        return copied;
    }
    for (const std::string& older : from.older_logs) {
        for (const std::string& name : {store::durable_mark_name(older), older}) {
            if (const auto copied = copy_file(*directory_, name, copy); !copied) {
                return changed(copied.error());
            }
        }
    }
    const auto view = directory_->open(from.log);
    if (!view) return changed(view.error());
    const auto file = (*view)->bytes();
    if (file.size() < extent.log_bytes) {
        return fail(ErrorCode::Corruption, directory_->path() + "/" + from.log + ": " +
                                               std::to_string(file.size()) + " bytes are left of " +
                                               std::to_string(extent.log_bytes));
    }
    const store::DurableLength length{.log_id = log_id_of(*directory_, from.log),
                                      .bytes = extent.log_bytes,
                                      .next_sequence = extent.pin->at().sequence + 1};
    BRAID_CHECK(
        copy.create(store::durable_mark_name(from.log), store::encode_durable_mark(length)));
    // The manifest last: without it there is no collection.
    BRAID_CHECK(copy.create(from.log, file.first(static_cast<std::size_t>(extent.log_bytes))));
    Manifest manifest = from;
    manifest.format = std::max(from.format, kManifestFormat);  // the log now has its mark
    const auto bytes = write_manifest(manifest);
    BRAID_CHECK(copy.create(kManifestName, bytes));
    return keep_copy(copy, bytes);
}

}  // namespace braid::local
