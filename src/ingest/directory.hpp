#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/database.hpp"
#include "braid/ingest/chunker.hpp"
#include "braid/ingest/file_outcome.hpp"
#include "braid/ingest/walk.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

struct DirectoryProgress {
    std::size_t files_done = 0;
    std::size_t files = 0;
    std::uint64_t bytes_done = 0;
    std::uint64_t chunks = 0;
};

struct DirectoryOptions {
    std::string collection{kDefaultCollection};
    std::string namespace_{kDefaultNamespace};
    /// Another collection that stores each document whole, as one record; empty: none.
    std::string documents{};
    ChunkingOptions chunking;  // counts tokens as the collection's embedder does, unless set
    std::uint64_t max_file_bytes = std::uint64_t{64} << 20;
    WalkOptions walk;
    bool replace = false;  // replace what other files stored under these files' ids
    bool prune = false;    // remove documents whose files are gone from the folders given
    bool dry_run = false;  // only report
    bool strict = false;   // the first file or line that fails ends the run
    bool list_all = true;  // list stored and unchanged files in the outcomes too
    std::function<void(const DirectoryProgress&)> progress;
    std::stop_token stop;
};

/// Seconds spent on each part of the work; parts overlap.
struct DirectoryTimes {
    double reading = 0;
    double parsing = 0;  // includes cutting
    double storing = 0;  // includes embedding
};

struct DirectoryReport {
    std::size_t files = 0;      // found, in formats that can be read
    std::size_t unchanged = 0;  // not read again
    std::size_t written = 0;
    std::uint64_t chunks = 0;   // written
    std::uint64_t tokens = 0;   // of their texts, as the embedder counts, or estimated
    std::uint64_t removed = 0;  // chunks no longer in changed files, or of files that are gone
    std::vector<FileOutcome> outcomes;  // of every file and folder seen (list_all)
    std::vector<std::string> failed;    // files that could not be read, and why
    std::uint64_t failed_lines = 0;     // in readable files; the first are named in `warnings`
    std::vector<std::string> renamed;   // new documents whose path below the folder was taken
    std::vector<std::string> gone;      // documents whose files are gone; removed with `prune`
    std::vector<std::string> warnings;  // from the writes, and about ids
    DirectoryTimes times;
};

/// The collection and namespace that chunks are written to.
class DirectoryTarget {
public:
    virtual ~DirectoryTarget() = default;

    virtual Result<std::string> embedder() = 0;
    virtual Result<std::optional<TokenCounter>> token_counter() = 0;
    /// One entry per id; empty where there is no such chunk.
    virtual Result<std::vector<std::optional<Chunk>>> get(
        const std::vector<std::string>& chunk_ids) = 0;
    /// How many chunks match a filter.
    virtual Result<std::uint64_t> count(const Value& filter) = 0;
    /// Up to `limit` chunks that match a filter, after the id `after`, in id order.
    virtual Result<std::vector<Chunk>> scan(const Value& filter, const std::string& after,
                                            std::size_t limit) = 0;
    /// Writes the chunks of some documents, replacing everything the documents had.
    virtual Result<WriteReport> replace(std::vector<Chunk> chunks) = 0;
    /// Writes documents as one record each, into DirectoryOptions::documents.
    virtual Result<WriteReport> replace_whole(std::vector<Chunk> documents) = 0;
    virtual Result<> update(std::vector<MetadataUpdate> updates) = 0;
    /// Returns how many chunks they had. Their whole-document records are removed too.
    virtual Result<std::uint64_t> remove(const std::vector<std::string>& document_ids) = 0;
    /// Whether it can be read while being written to.
    virtual bool is_concurrent() const { return false; }
};

/// Metadata of a chunk cut from a file: the file's absolute path, the folder through which it was
/// found, and its path below that folder.
inline constexpr std::string_view kSource = "source";
inline constexpr std::string_view kSourceRoot = "source_root";
inline constexpr std::string_view kSourcePath = "source_path";

/// Cuts every readable file below `roots` (format.hpp) into chunks and writes them, each file's all
/// together or not at all, several files at a time. A file whose bytes, chunking and embedder are
/// unchanged since the last run is not read again. A file that cannot be read is reported and does
/// not stop the others. Chunks record where they came from in their metadata (kSource,
/// document_ids.hpp, chunker.hpp, read_source.hpp).
///
/// A document's id is the file's path below its root. A file that is stored already keeps its id,
/// whichever root it is found through; if another file has the id, names of the folders above are
/// prepended until none has (document_ids.hpp), and the report says so.
///
/// Documents that an earlier run found below one of these folders, and this run did not, are gone.
/// With patterns to include or exclude, only those whose files no longer exist are.
Result<DirectoryReport> ingest_directory(DirectoryTarget& target,
                                         const std::vector<std::filesystem::path>& roots,
                                         const DirectoryOptions& options);
/// The same into a collection of a database.
Result<DirectoryReport> ingest_directory(Database& database,
                                         const std::vector<std::filesystem::path>& roots,
                                         const DirectoryOptions& options);

}  // namespace braid::ingest
