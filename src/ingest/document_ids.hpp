#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"

namespace braid::ingest {

/// Metadata of a chunk cut from a file: identifies the file. It hides the path, and is the same
/// however the file was named: relative, absolute, through a link, or through a folder above it.
inline constexpr std::string_view kSourceKey = "source_key";
inline constexpr std::string_view kFingerprintKey = "source_fingerprint";

/// The ids a file may be stored under: every trailing part of its path, shortest first.
struct FileIds {
    std::string key;               // kSourceKey of its chunks
    std::vector<std::string> ids;  // "a.md", "sub/a.md", "notes/sub/a.md", …
    std::size_t preferred = 0;     // the path below the folder given
};

/// `place` is the file's absolute path without links, `below` its path below the folder given.
FileIds file_ids(const std::filesystem::path& place, std::string_view below);

struct DocumentId {
    std::string id;
    bool longer = false;    // longer than the path below the folder, which another file has
    bool unmarked = false;  // stored there by a version that did not record the file
};

/// The id that holds the file already; otherwise the first free one from the preferred one on.
/// `present[i]` is the first chunk of document ids[i]. `replace`: the preferred one, whichever file
/// has it, unless `claimed` says that that file belongs to this run. None if all are taken.
std::optional<DocumentId> choose_document_id(
    const FileIds& file, const std::vector<std::optional<Chunk>>& present, bool replace,
    const std::function<bool(const std::string&)>& claimed);

}  // namespace braid::ingest
