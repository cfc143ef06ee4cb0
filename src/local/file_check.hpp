#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "braid/core/findings.hpp"
#include "braid/local/manifest.hpp"
#include "braid/store/append_log.hpp"
#include "braid/store/directory.hpp"

namespace braid::local {

/// Reads a collection's manifest; none, and a problem, if that cannot be done.
std::optional<Manifest> check_manifest(const store::Directory& files, core::Findings& findings);

/// How much of a log must be intact.
struct LogExtent {
    /// How much was acknowledged when the check began. None: unknown, and an unfinished write at
    /// the end is worth a note.
    std::optional<std::uint64_t> acknowledged;
    bool growing = false;  // what follows may be a write in progress, and is not looked at
};

/// Checks a log's mark, and the checksums and order of its records, and passes every readable one
/// to `replay` (may be empty). If that returns Corruption, that is a problem too; any other error
/// stops the check.
Result<> check_log_file(const store::Directory& files, const std::string& log,
                        std::uint32_t manifest_format, const LogExtent& extent,
                        const store::AppendLog::ReplayFn& replay, core::Findings& findings);

/// For check_log_file: a record must decode; nothing more is done with it.
Result<> only_decode(std::uint64_t sequence, std::span<const std::byte> payload);

/// Reports a copy of the manifest that cannot be read; there may be none, or an outdated one.
void check_copy(const store::Directory& files, core::Findings& findings);

/// Notes every file and directory that is not the collection's, and an unfinished rewrite; returns
/// whether the collection itself is unfinished. `in_use`: by this process, which may be writing
/// logs and segments that the manifest does not name yet, or no longer.
void check_other_files(const store::Directory& files, const Manifest& manifest, bool in_use,
                       core::Findings& findings);

/// Notes what `Directory::list` leaves out: left-overs of crashes, and anything that is not ours.
/// `expected` may be there; where this process writes (`in_use`), so may its unfinished files.
void note_strange_names(const store::Directory& directory, std::string_view expected,
                        core::Findings& findings, bool in_use = false);

/// "1 byte", "2 bytes".
std::string counted(std::uint64_t count, std::string_view what);

}  // namespace braid::local
