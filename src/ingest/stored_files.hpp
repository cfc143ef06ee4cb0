#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/ingest/directory.hpp"
#include "braid/ingest/document_ids.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// Metadata of chunks of a file some of whose lines could not be read: how many.
inline constexpr std::string_view kFailedLinesKey = "source_failed_lines";

/// A document as it is stored before its file is read again.
struct StoredFile {
    std::optional<DocumentId> document;  // none: there is no id for the file
    std::string key;                     // of the file
    std::optional<Chunk> first;          // chunk; none: it is new
};

/// What a collection holds of files, and which ids the files of this run have.
class StoredFiles {
public:
    /// `target` outlives it. `replace`: ids of files that are not of this run may be taken over.
    StoredFiles(DirectoryTarget& target, bool replace) : target_(target), replace_(replace) {}

    /// What is there of some files, one entry each, in one read. Their ids are theirs from now on.
    Result<std::vector<StoredFile>> find(std::span<const SourceFile* const> files);

    /// Every chunk is there with this fingerprint: the last run finished. Notes the file and its
    /// folder in chunks that do not say so yet.
    Result<bool> is_unchanged(const StoredFile& stored, const SourceFile& file,
                              const std::string& fingerprint, bool dry_run);

    /// The documents found below `root` by an earlier run that are not among the files of this one;
    /// if `missing_only`, only those whose files do not exist.
    Result<std::vector<std::string>> gone_from(const std::string& root, bool missing_only);

private:
    Result<bool> is_others(const std::string& id);

    DirectoryTarget& target_;
    bool replace_;
    std::optional<std::uint64_t> others_;  // chunks that came from no file, once counted
    std::set<std::string> claimed_;        // ids that files of this run have
};

}  // namespace braid::ingest
