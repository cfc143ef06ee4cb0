#include "braid/local/file_check.hpp"

#include <algorithm>
#include <utility>

#include "braid/store/log_check.hpp"
#include "braid/store/log_format.hpp"

namespace braid::local {
namespace {

std::string place(const store::Directory& files, std::string_view name) {
    return files.path() + "/" + std::string(name);
}

/// What follows what was acknowledged: a write that a crash interrupted, if it is not a whole one.
void note_unfinished_end(std::span<const std::byte> file, std::uint64_t acknowledged,
                         const std::string& path, Findings& findings) {
    if (file.size() <= acknowledged) return;
    const auto header = store::decode_log_header(file, path);
    if (!header || !*header) return;
    if (store::read_record(file, (*header)->log_id, acknowledged).record) return;
    findings.note(path + ", offset " + std::to_string(acknowledged) + ": " +
                  counted(file.size() - acknowledged, "byte") +
                  " of an unfinished write; the next program that writes cuts them off");
}

void add_log_problems(const store::LogCheck& check, const std::string& path,
                      const LogExtent& extent, Findings& findings) {
    for (const store::LogProblem& problem : check.problems) {
        std::string text = path + ", offset " + std::to_string(problem.offset) + ": " +
                           (problem.message.empty() ? "damaged" : problem.message);
        if (problem.bytes > 0) {
            text += "; " + counted(problem.bytes, "byte") + " cannot be read";
        }
        if (problem.acknowledged || extent.acknowledged) {
            findings.problem(text);
        } else {
            findings.note(text + " (an unfinished write; it is cut off when the log is opened)");
        }
    }
    if (check.problem_count > check.problems.size()) {
        findings.problem(path + ": damage at " +
                         std::to_string(check.problem_count - check.problems.size()) +
                         " more places");
    }
}

}  // namespace

std::string counted(std::uint64_t count, std::string_view what) {
    return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::optional<Manifest> check_manifest(const store::Directory& files, Findings& findings) {
    const auto file = files.open(kManifestName);
    if (!file) {
        findings.problem(file.error().message);
        return std::nullopt;
    }
    findings.report().bytes += (*file)->bytes().size();
    auto manifest = read_manifest((*file)->bytes(), place(files, kManifestName));
    if (!manifest) {
        findings.problem(manifest.error().message);
        return std::nullopt;
    }
    if (const auto valid = validate(manifest->schema); !valid) {
        findings.problem(place(files, kManifestName) + ": " + valid.error().message);
        return std::nullopt;
    }
    return *std::move(manifest);
}

Result<> check_log_file(const store::Directory& files, const std::string& name,
                        const LogExtent& extent, const store::AppendLog::ReplayFn& replay,
                        Findings& findings) {
    const std::string path = place(files, name);
    const auto view = files.open(name);
    if (!view) {
        findings.problem(view.error().message);
        return {};
    }
    std::span<const std::byte> file = (*view)->bytes();
    if (!extent.growing && extent.acknowledged) {
        note_unfinished_end(file, *extent.acknowledged, path, findings);
    }
    const std::uint64_t expected = extent.acknowledged.value_or(store::kLogHeaderBytes);
    if (file.size() < expected) {
        findings.problem(path + ": cut short: " + counted(file.size(), "byte") +
                         " are left of at least " + std::to_string(expected));
    } else if (extent.acknowledged) {
        file = file.first(static_cast<std::size_t>(expected));
    }
    findings.report().bytes += file.size();
    std::optional<Error> stopped;
    const auto take = [&](std::uint64_t sequence, std::span<const std::byte> payload) -> Result<> {
        if (!replay) return {};
        const auto done = replay(sequence, payload);
        if (done) return {};
        if (done.error().code != ErrorCode::Corruption) {
            stopped = done.error();
            return tl::unexpected<Error>(done.error());
        }
        findings.problem(path + ", record " + std::to_string(sequence) + ": " +
                         done.error().message);
        return {};
    };
    const auto check = store::salvage_log(file, path, take);
    if (stopped) return tl::unexpected<Error>(*std::move(stopped));
    if (!check) {
        findings.problem(check.error().message);
        return {};
    }
    findings.report().records += check->records;
    add_log_problems(*check, path, extent, findings);
    return {};
}

void note_strange_names(const store::Directory& directory, std::string_view expected,
                        Findings& findings) {
    const auto names = directory.list_others();
    if (!names) {
        findings.note(names.error().message);
        return;
    }
    for (const std::string& name : *names) {
        if (name == expected) continue;
        findings.note(place(directory, name) + (store::is_leftover_name(name)
                                                    ? " is left over from a crash"
                                                    : " is not braid's"));
    }
}

void check_other_files(const store::Directory& files, const Manifest& manifest,
                       Findings& findings) {
    const auto entries = files.list();
    if (!entries) {
        findings.problem(entries.error().message);
        return;
    }
    std::string compact_log;
    if (const auto file = files.open(kCompactManifestName)) {
        const auto compact = read_manifest((*file)->bytes(), place(files, kCompactManifestName));
        if (compact && compact->log != manifest.log) compact_log = compact->log;
        findings.note("a compaction is under way, or was interrupted");
    }
    std::string next_log;
    if (const auto file = files.open(kNextManifestName)) {
        const auto next = read_manifest((*file)->bytes(), place(files, kNextManifestName));
        if (!next) {
            findings.note("a rewrite is unfinished and will be begun anew: " +
                          next.error().message);
        } else if (next->log != manifest.log) {
            next_log = next->log;
            findings.note("a rewrite is unfinished; run `braid reembed` to go on with it");
        }
    }
    if (files.open(kUnfinishedMark)) {
        findings.note(
            "filling it, by an import, is under way or was interrupted; it cannot be read");
    }
    for (const store::DirectoryEntry& entry : *entries) {
        const bool ours = entry.name == kManifestName || entry.name == kUnfinishedMark ||
                          entry.name == kNextManifestName || entry.name == kCompactManifestName ||
                          entry.name == manifest.log || entry.name == next_log ||
                          entry.name == compact_log;
        if (ours && !entry.is_directory) continue;
        const bool old_log = !entry.is_directory && log_number(entry.name).has_value();
        findings.note(place(files, entry.name) +
                      (old_log ? " is left over from a rewrite" : " is not braid's"));
    }
    note_strange_names(files, "", findings);
}

}  // namespace braid::local
