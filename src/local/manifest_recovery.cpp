#include "braid/local/manifest_recovery.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "braid/store/append_log.hpp"
#include "braid/store/durable_mark.hpp"
#include "braid/store/log_format.hpp"

namespace braid::local {
namespace {

Result<Manifest> read_named(const store::Directory& files, std::string_view name) {
    BRAID_TRY(const auto file, files.open(name));
    return read_manifest(file->bytes(), files.path() + "/" + std::string(name));
}

/// 0 if it cannot be read.
std::uint64_t first_sequence(const store::Directory& files, const std::string& log) {
    const auto file = files.open(log);
    if (!file) return 0;
    const auto header = store::decode_log_header((*file)->bytes(), log);
    return header && *header ? (*header)->first_sequence : 0;
}

/// Whether one log continues another. One that does not is left over from a rewrite that was
/// flushed or abandoned.
bool follows(store::Directory& files, const std::string& before, const std::string& log) {
    const auto nothing = [](std::uint64_t, std::span<const std::byte>) { return Result<>(); };
    const store::AppendLogOptions options{.read_only = true, .must_exist = true};
    const auto opened = store::AppendLog::open(files, before, options, nothing);
    const std::uint64_t first = first_sequence(files, log);
    if (opened) return first == opened->log->next_sequence();
    return first > first_sequence(files, before);  // all that can be told of a damaged one
}

}  // namespace

Result<> keep_copy(store::Directory& files, std::span<const std::byte> manifest) {
    if (files.replace(kManifestCopyName, manifest)) return {};
    auto removed = files.remove(kManifestCopyName);
    if (!removed && removed.error().code == ErrorCode::NotFound) return {};
    return removed;
}

bool renew_copy(store::Directory& files, const Manifest& manifest) {
    const auto bytes = write_manifest(manifest);
    if (const auto copy = files.open(kManifestCopyName)) {
        if (std::ranges::equal((*copy)->bytes(), bytes)) return true;
    }
    return keep_copy(files, bytes).has_value();
}

Result<Manifest> recover_manifest(store::Directory& files) {
    BRAID_TRY(Manifest manifest, read_named(files, kManifestCopyName));
    std::set<std::string> others;  // logs of what has yet to become the collection
    for (const std::string_view name : {kNextManifestName, kCompactManifestName}) {
        const auto other = read_named(files, name);
        if (!other || other->log == manifest.log) continue;
        for (std::string& log : other->logs()) others.insert(std::move(log));
    }
    const std::uint64_t known = log_number(manifest.log).value_or(0);
    std::map<std::uint64_t, std::string> later;
    BRAID_TRY(const auto entries, files.list());
    for (const store::DirectoryEntry& entry : entries) {
        if (entry.is_directory) continue;
        if (const auto generation = generation_of_file(entry.name)) {
            manifest.next_generation = std::max(manifest.next_generation, *generation + 1);
        }
        const auto number = log_number(entry.name);
        if (!number || *number <= known || others.contains(entry.name)) continue;
        // Without its mark it was not finished, and took no records.
        if (store::read_durable_mark(files, entry.name)) later.emplace(*number, entry.name);
    }
    for (auto& [number, log] : later) {
        if (!follows(files, manifest.log, log)) continue;
        manifest.older_logs.push_back(std::exchange(manifest.log, std::move(log)));
    }
    // What was logged since may need the latest format.
    manifest.format = kDroppingFormat;
    return manifest;
}

Result<> require_no_records(store::Directory& files) {
    const auto lost = [&](const std::string& there) {
        return fail(ErrorCode::Corruption,
                    files.path() + ": the manifest is missing, but \"" + there);
    };
    const auto nothing = [](std::uint64_t, std::span<const std::byte>) { return Result<>(); };
    BRAID_TRY(const auto entries, files.list());
    for (const store::DirectoryEntry& entry : entries) {
        if (entry.is_directory) continue;
        const bool later_log = log_number(entry.name).value_or(1) > 1;
        if (later_log || generation_of_file(entry.name) || entry.name == kManifestCopyName) {
            return lost(entry.name + "\" is there");
        }
        if (!log_number(entry.name)) continue;
        const store::AppendLogOptions options{.read_only = true};
        BRAID_TRY(const auto opened, store::AppendLog::open(files, entry.name, options, nothing));
        if (opened.report.records == 0) continue;
        return lost(entry.name + "\" holds " + std::to_string(opened.report.records) + " records");
    }
    return {};
}

}  // namespace braid::local
