#include "braid/local/file_check.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "braid/local/probes_file.hpp"
#include "braid/local/ranker_file.hpp"
#include "braid/local/records.hpp"
#include "braid/segment/calibrations.hpp"
#include "braid/store/durable_mark.hpp"
#include "braid/store/log_check.hpp"
#include "braid/store/log_format.hpp"

namespace braid::local {
namespace {

std::string place(const store::Directory& files, std::string_view name) {
    return files.path() + "/" + std::string(name);
}

/// Notes what follows the acknowledged part: a write that a crash interrupted, unless it is
/// complete.
void note_unfinished_end(std::span<const std::byte> file, std::uint64_t acknowledged,
                         const std::string& path, core::Findings& findings) {
    if (file.size() <= acknowledged) return;
    const auto header = store::decode_log_header(file, path);
    if (!header || !*header) return;
    if (store::read_record(file, (*header)->log_id, acknowledged).record) return;
    findings.note(path + ", offset " + std::to_string(acknowledged) + ": " +
                  counted(file.size() - acknowledged, "byte") +
                  " of an unfinished write; the next program that writes cuts them off");
}

/// Somebody replaced the log that the mark was written for.
void note_foreign_mark(std::span<const std::byte> file,
                       const std::optional<store::DurableLength>& durable, const std::string& path,
                       core::Findings& findings) {
    const auto header = store::decode_log_header(file, path);
    if (!durable || durable->log_id == 0 || !header || !*header) return;
    if ((*header)->log_id == durable->log_id) return;
    findings.note(
        path + ": its recorded length belongs to another log, so a missing end would go unnoticed");
}

void tell_missing_mark(std::span<const std::byte> file, std::uint32_t manifest_format,
                       const std::string& path, core::Findings& findings) {
    if (manifest_format >= kMarkedFormat) {
        findings.problem(store::missing_mark(path).value().message);
    } else if (file.size() > store::kLogHeaderBytes) {
        findings.note(path +
                      ": written by an older version, it does not record its length, so a missing "
                      "end would go unnoticed");
    }
}

std::string lost_records(const store::LogProblem& problem) {
    const std::string first = std::to_string(problem.first_lost);
    if (problem.lost == 1) return "record " + first + " is lost";
    return "records " + first + " to " + std::to_string(problem.first_lost + problem.lost - 1) +
           " are lost";
}

void add_log_problems(const store::LogCheck& check, const std::string& path,
                      const LogExtent& extent, core::Findings& findings) {
    for (const store::LogProblem& problem : check.problems) {
        std::string text = path + ", offset " + std::to_string(problem.offset) + ": " +
                           (problem.message.empty() ? "damaged" : problem.message);
        if (problem.bytes > 0) {
            text += "; " + counted(problem.bytes, "byte") + " cannot be read";
        }
        if (problem.lost > 0) text += "; " + lost_records(problem);
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

/// Notes a file in a collection's folder that is not in use.
std::string what_it_is(const store::DirectoryEntry& entry) {
    if (entry.is_directory) return " does not belong to braid";
    if (log_of_file(entry.name))
        return " belongs to a rewrite or a flush that is under way or was interrupted";
    if (generation_of_file(entry.name))
        return " belongs to a flush or a merge that is under way or was interrupted";
    if (entry.name.starts_with("cut-log-")) {
        return " keeps what was cut from the end of a log, an unfinished write; it can be removed";
    }
    if (entry.name.starts_with("damaged-log-")) {
        return " keeps a log that was damaged before a repair; it can be removed";
    }
    if (entry.name.starts_with("damaged-manifest")) {
        return " keeps a manifest that was damaged before a repair; it can be removed";
    }
    if (entry.name.starts_with("damaged-segment-")) {
        return " keeps a segment that was damaged before a repair; it can be removed";
    }
    return " does not belong to braid";
}

}  // namespace

Result<> only_decode(std::uint64_t, std::span<const std::byte> payload) {
    BRAID_CHECK(decode_record(payload));
    return {};
}

void check_copy(const store::Directory& files, core::Findings& findings) {
    const auto file = files.open(kManifestCopyName);
    if (!file && file.error().code == ErrorCode::NotFound)
        return;  // an older version's, or a crash's
    const auto copy = file ? read_manifest((*file)->bytes(), place(files, kManifestCopyName))
                           : Result<Manifest>(tl::unexpected(file.error()));
    if (!copy) findings.problem(copy.error().message);
}

std::string counted(std::uint64_t count, std::string_view what) {
    return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::optional<Manifest> check_manifest(const store::Directory& files, core::Findings& findings) {
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

Result<> check_log_file(const store::Directory& files, const std::string& log,
                        std::uint32_t manifest_format, const LogExtent& extent,
                        const store::AppendLog::ReplayFn& replay, core::Findings& findings) {
    const std::string path = place(files, log);
    // Before the log, so that it is not ahead of it.
    auto durable = store::read_durable_mark(files, log);
    const auto view = files.open(log);
    if (!view) {
        findings.problem(view.error().message);
        return {};
    }
    std::span<const std::byte> file = (*view)->bytes();
    if (!durable) tell_missing_mark(file, manifest_format, path, findings);
    if (!extent.growing && extent.acknowledged) {
        note_unfinished_end(file, *extent.acknowledged, path, findings);
    }
    if (file.size() < store::kLogHeaderBytes) {
        const std::uint64_t expected =
            std::max<std::uint64_t>(durable ? durable->bytes : 0, store::kLogHeaderBytes);
        findings.problem(path + ": cut short: " + counted(file.size(), "byte") +
                         " are left of at least " + std::to_string(expected));
    }
    if (extent.acknowledged) {
        // Another writer may have got further by now; what it writes is not looked at.
        durable = {.log_id = 0, .bytes = *extent.acknowledged, .next_sequence = 0};
        file = file.first(std::min<std::size_t>(file.size(), *extent.acknowledged));
    }
    note_foreign_mark(file, durable, path, findings);
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
    const auto check = store::salvage_log(file, path, durable, take);
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
                        core::Findings& findings, bool in_use) {
    const auto names = directory.list_others();
    if (!names) {
        findings.note(names.error().message);
        return;
    }
    for (const std::string& name : *names) {
        if (name == expected || (in_use && store::is_leftover_name(name))) continue;
        findings.note(place(directory, name) + (store::is_leftover_name(name)
                                                    ? " is being written, or left over from a crash"
                                                    : " does not belong to braid"));
    }
}

void check_other_files(const store::Directory& files, const Manifest& manifest, bool in_use,
                       core::Findings& findings) {
    const auto entries = files.list();
    if (!entries) {
        findings.problem(entries.error().message);
        return;
    }
    check_copy(files, findings);
    Manifest compact;
    if (const auto file = files.open(kCompactManifestName)) {
        const auto read = read_manifest((*file)->bytes(), place(files, kCompactManifestName));
        if (read && read->log != manifest.log) compact = *read;
        findings.note("a compaction is under way, or was interrupted");
    }
    Manifest next;
    if (const auto file = files.open(kNextManifestName)) {
        const auto read = read_manifest((*file)->bytes(), place(files, kNextManifestName));
        if (!read) {
            findings.note("a rewrite is unfinished and will be restarted: " + read.error().message);
        } else if (read->log != manifest.log) {
            next = *read;
            findings.note("a rewrite is unfinished; run `braid reembed` to continue");
        }
    }
    if (files.open(kUnfinishedMark)) {
        findings.unfinished("its import is under way or was interrupted; it cannot be read");
    }
    std::set<std::string, std::less<>> ours{std::string(kManifestName),
                                            std::string(kManifestCopyName),
                                            std::string(kCountsName),
                                            std::string(kUnfinishedMark),
                                            std::string(kNextManifestName),
                                            std::string(kCompactManifestName),
                                            std::string(segment::kCalibrationName),
                                            std::string(kProbesName),
                                            std::string(kRankerName)};
    for (const Manifest* one : std::initializer_list<const Manifest*>{&manifest, &next, &compact}) {
        for (const std::string& log : one->logs()) {
            ours.insert(log);
            ours.insert(store::durable_mark_name(log));
        }
        for (std::string& file : segment_files(*one)) ours.insert(std::move(file));
        for (std::string& file : derived_files(*one)) ours.insert(std::move(file));
    }
    if (const auto ranker = read_ranker(files); !ranker) findings.problem(ranker.error().message);
    for (const store::DirectoryEntry& entry : *entries) {
        if (ours.contains(entry.name) && !entry.is_directory) continue;
        if (in_use && (log_of_file(entry.name) || generation_of_file(entry.name))) continue;
        findings.note(place(files, entry.name) + what_it_is(entry));
    }
    note_strange_names(files, "", findings, in_use);
}

}  // namespace braid::local
