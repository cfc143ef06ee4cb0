#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "braid/core/limits.hpp"
#include "braid/local/collection.hpp"
#include "braid/local/file_check.hpp"
#include "braid/local/log_reading.hpp"
#include "braid/store/durable_mark.hpp"

namespace braid::local {

Collection::Extent Collection::extent() const {
    Extent extent;
    extent.pin = pin();
    extent.log_bytes = log_->size_bytes();  // what the pin shows is in there
    const std::shared_lock lock(state_mutex_);
    extent.versions = versions_;
    return extent;
}

Manifest Collection::manifest_at(const Extent& extent) const {
    Manifest manifest = manifest_;
    manifest.version_base = extent.versions.base();
    manifest.format = format_;
    return manifest;
}

Result<> Collection::check(const Extent& extent, const store::Directory& files, CheckReport& report,
                           const CallLimits& limits) const {
    BRAID_CHECK(core::check_limits(limits));
    core::Findings findings("collection \"" + name_ + "\"", report);
    ++report.collections;
    if (const auto failure = log_->failure()) {
        findings.note("it takes no writes since an error: " + failure->message);
    }
    // Who only reads does not keep others from changing the files; a copy is nobody else's.
    const bool may_change = read_only_ && &files == directory_.get();
    const auto gone = files.open(kManifestName);
    if (may_change && !gone && gone.error().code == ErrorCode::NotFound) {
        findings.note("another program dropped it meanwhile; it was not checked");
        return {};
    }
    const std::optional<Manifest> manifest = check_manifest(files, findings);
    if (!manifest) return {};
    if (*manifest != manifest_at(extent)) {
        if (may_change) {
            findings.note("another program replaced it meanwhile; it was not checked");
        } else if (displaced_) {
            findings.note("an error interrupted a rewrite; open the database anew to check it");
        } else {
            findings.problem(files.path() + "/" + std::string(kManifestName) +
                             ": it is not the manifest that was written last");
        }
        return {};
    }
    const Sequence at = extent.pin->at();
    LogReading reading(extent.versions, at);
    const auto take = [&](Sequence sequence, std::span<const std::byte> payload) -> Result<> {
        BRAID_CHECK(core::check_limits(limits));  // a record may be long
        return reading.add(sequence, payload);
    };
    const LogExtent expected{.acknowledged = extent.log_bytes, .growing = !read_only_};
    BRAID_CHECK(check_log_file(files, *manifest, expected, take, findings));
    check_other_files(files, *manifest, findings);
    if (findings.problems() == 0 && reading.taken() != at) {
        findings.problem(files.path() + "/" + manifest->log + ": it ends with record " +
                         std::to_string(reading.taken()) + ", record " + std::to_string(at) +
                         " was acknowledged");
    }
    report.superseded += reading.superseded();
    if (findings.problems() > 0) return {};  // the index would only differ in the same places
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
        findings.report().chunks += chunks.size();
        BRAID_CHECK(check->finish(limits));
    }
    for (const std::string& space : index_->namespaces()) {
        if (reading.namespaces().contains(space)) continue;
        BRAID_CHECK(index_->check(space, at, dimension(), findings)->finish(limits));
    }
    return {};
}

Result<> Collection::copy_files(const Extent& extent, store::Directory& copy) const {
    const auto view = directory_->open(manifest_.log);
    if (!view && read_only_ && view.error().code == ErrorCode::NotFound) {
        return fail(ErrorCode::Unavailable, "collection \"" + name_ +
                                                "\" was changed by another program while it was "
                                                "being copied; try again");
    }
    if (!view) return tl::unexpected<Error>(view.error());
    const auto file = (*view)->bytes();
    if (file.size() < extent.log_bytes) {
        return fail(ErrorCode::Corruption, directory_->path() + "/" + manifest_.log + ": " +
                                               std::to_string(file.size()) + " bytes are left of " +
                                               std::to_string(extent.log_bytes));
    }
    const store::DurableLength length{
        .log_id = log_->id(), .bytes = extent.log_bytes, .next_sequence = extent.pin->at() + 1};
    BRAID_CHECK(
        copy.create(store::durable_mark_name(manifest_.log), store::encode_durable_mark(length)));
    // The manifest last: without it there is no collection.
    BRAID_CHECK(copy.create(manifest_.log, file.first(static_cast<std::size_t>(extent.log_bytes))));
    Manifest manifest = manifest_at(extent);
    manifest.format = kManifestFormat;  // with its mark
    return copy.create(kManifestName, write_manifest(manifest));
}

}  // namespace braid::local
