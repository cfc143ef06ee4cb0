#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "braid/collection.hpp"
#include "braid/ingest/directory.hpp"
#include "braid/ingest/document_ids.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// Metadata of a file's chunks if some of its lines could not be read: how many.
inline constexpr std::string_view kFailedLinesKey = "source_failed_lines";

/// A document as it is stored before its file is read again.
struct StoredFile {
    std::optional<DocumentId> document;  // none: the file has no id
    std::string key;                     // of the file
    std::optional<Chunk> first;          // the first chunk; none: the document is new
};

/// What a collection holds about files, and which ids the files of this run have.
class StoredFiles {
public:
    /// `target` must outlive it. `replace`: ids of files that do not belong to this run may be
    /// taken over.
    StoredFiles(DirectoryTarget& target, bool replace) : target_(target), replace_(replace) {}

    /// What is stored for some files, one entry each, in one read. Claims their ids for them.
    Result<std::vector<StoredFile>> find(std::span<const SourceFile* const> files);

    /// Whether every chunk is there with this fingerprint, that is, the last run finished. Records
    /// the file and its folder in chunks that lack them.
    Result<bool> is_unchanged(const StoredFile& stored, const SourceFile& file,
                              const std::string& fingerprint, bool dry_run);

    /// The documents found below `root` by an earlier run that are not among the files of this one;
    /// if `missing_only`, and of those found by a folder further down, only those whose files do
    /// not exist.
    Result<std::vector<std::string>> gone_from(const std::string& root, bool missing_only);

private:
    static std::size_t hash_of(std::string_view id) { return std::hash<std::string_view>()(id); }
    bool is_claimed(std::string_view id) const { return claimed_.contains(hash_of(id)); }
    Result<bool> is_others(const std::string& id);
    Result<> add_gone(std::vector<std::string>& gone, const Value& roots, bool missing_only);

    DirectoryTarget& target_;
    bool replace_;
    std::optional<std::uint64_t> others_;  // chunks that did not come from files, once counted
    /// Hashes of the ids that files of this run have: a long name takes no more than a short one.
    /// Of a million ids two share one with a chance of one in thirty million; then one of them
    /// gets its folder's name.
    std::unordered_set<std::size_t> claimed_;
};

}  // namespace braid::ingest
