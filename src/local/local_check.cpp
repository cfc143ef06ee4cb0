#include <algorithm>
#include <array>
#include <utility>

#include "braid/core/limits.hpp"
#include "braid/local/backend.hpp"
#include "braid/local/file_check.hpp"
#include "braid/store/section_file.hpp"

namespace braid::local {
namespace {

// Names in a database's directory used by a program that serves it.
constexpr std::string_view kSocketName = "braid.sock";
constexpr std::string_view kSocketPlaceName = "braid.sock.path";

/// Checks a collection that another program created after this one opened the database.
bool has_manifest(const store::Directory& parent, const std::string& name) {
    const auto files = parent.open_subdirectory(name);
    return files && (*files)->open(kManifestName);
}

/// A collection that could not be opened: what is wrong with its files.
Result<> check_damaged(const store::Directory& parent, const std::string& name, const Error& error,
                       CheckReport& report) {
    core::Findings findings("collection \"" + name + "\"", report);
    ++report.collections;
    const auto files = parent.open_subdirectory(name);
    if (files && (*files)->open(kManifestName)) {
        if (const auto manifest = check_manifest(**files, findings)) {
            for (const std::string& log : manifest->logs()) {
                BRAID_CHECK(
                    check_log_file(**files, log, manifest->format, {}, only_decode, findings));
            }
            for (const std::string& file : segment_files(*manifest)) {
                const auto opened = store::SectionFile::open(**files, file);
                if (!opened) findings.problem(opened.error().message);
            }
            check_other_files(**files, *manifest, false, findings);
        }
    }
    if (findings.problems() == 0) findings.problem(error.message);
    return {};
}

}  // namespace

void LocalBackend::note_unknown_names(const std::vector<store::DirectoryEntry>& collections,
                                      CheckReport& report) const {
    core::Findings findings("database", report);
    const auto in_root = root_->list();
    if (!in_root) findings.problem(in_root.error().message);
    for (const auto& entry : in_root.value_or(std::vector<store::DirectoryEntry>())) {
        const std::array known{kLockName, kCollectionsName, kSocketPlaceName};
        if (std::ranges::find(known, entry.name) != known.end()) continue;
        findings.note(root_->path() + "/" + entry.name + " does not belong to braid");
    }
    note_strange_names(*root_, kSocketName, findings);
    if (!directory_) return;
    for (const store::DirectoryEntry& entry : collections) {
        const bool collection = entry.is_directory && validate_collection_name(entry.name);
        if (collection && options_.read_only && has_manifest(*directory_, entry.name)) continue;
        findings.note(directory_->path() + "/" + entry.name +
                      (collection ? " holds no collection; perhaps its creation was interrupted"
                                  : " does not belong to braid"));
    }
    note_strange_names(*directory_, "", findings);
}

Result<CheckReport> LocalBackend::check(const CallLimits& limits) const {
    BRAID_CHECK(core::check_limits(limits));
    const std::shared_lock nothing_is_removed(files_mutex_);
    CheckReport report;
    std::set<std::string> present;
    std::map<std::string, Error> damaged;
    std::vector<store::DirectoryEntry> others;
    {
        const std::scoped_lock lock(mutex_);
        present = names();
        damaged = damaged_;
        if (directory_) {
            BRAID_TRY(others, directory_->list());
        }
        std::erase_if(others, [&](const store::DirectoryEntry& entry) {
            return present.contains(entry.name) || damaged_.contains(entry.name);
        });
    }
    for (const std::string& name : present) {
        const auto collection = find(name);
        if (!collection) {
            damaged.emplace(name, collection.error());
            continue;
        }
        BRAID_CHECK(
            (*collection)->check((*collection)->extent(), (*collection)->files(), report, limits));
    }
    for (const auto& [name, error] : damaged) {
        BRAID_CHECK(core::check_limits(limits));
        BRAID_CHECK(check_damaged(*directory_, name, error, report));
    }
    note_unknown_names(others, report);
    return report;
}

}  // namespace braid::local
