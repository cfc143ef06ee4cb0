#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/database.hpp"
#include "braid/ingest/chunker.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// A file that can be read as text: .md, .markdown, .txt, .text.
struct SourceFile {
    std::filesystem::path path;
    std::string below;            // the path below the directory, with '/'
    std::filesystem::path place;  // absolute, without links
    std::uint64_t bytes = 0;
};

/// Files below `root` (or `root` itself), by their path below it. Hidden ones and links are left
/// out.
/// NotFound if there is no such path.
Result<std::vector<SourceFile>> list_text_files(const std::filesystem::path& root);

struct DirectoryProgress {
    std::size_t files_done = 0;
    std::size_t files = 0;
    std::uint64_t chunks = 0;
};

struct DirectoryOptions {
    std::string collection{kDefaultCollection};
    std::string namespace_{kDefaultNamespace};
    ChunkingOptions chunking;  // tokens as the collection's embedder counts, unless it says how
    std::uint64_t max_file_bytes = std::uint64_t{64} << 20;
    bool replace = false;  // what other files stored under the ids of these
    std::function<void(const DirectoryProgress&)> progress;
    std::stop_token stop;
};

struct DirectoryReport {
    std::size_t files = 0;      // found
    std::size_t unchanged = 0;  // skipped
    std::size_t written = 0;
    std::uint64_t chunks = 0;           // written
    std::uint64_t removed = 0;          // chunks that a changed file no longer has
    std::vector<std::string> failed;    // files that could not be read, and why
    std::vector<std::string> renamed;   // new documents whose path below the folder was taken
    std::vector<std::string> warnings;  // said by the writes, and about ids
};

/// The collection and namespace that the chunks go to.
class DirectoryTarget {
public:
    virtual ~DirectoryTarget() = default;

    virtual Result<std::string> embedder() = 0;
    virtual Result<std::optional<TokenCounter>> token_counter() = 0;
    /// One entry for each id, none where there is no such chunk.
    virtual Result<std::vector<std::optional<Chunk>>> get(
        const std::vector<std::string>& chunk_ids) = 0;
    /// How many chunks match a filter.
    virtual Result<std::uint64_t> count(const Value& filter) = 0;
    /// The chunks of one document, in place of all it had.
    virtual Result<WriteReport> replace(std::vector<Chunk> chunks) = 0;
    virtual Result<> update(std::vector<MetadataUpdate> updates) = 0;
    /// Says how many there were.
    virtual Result<std::uint64_t> remove(const std::vector<std::string>& chunk_ids) = 0;
};

/// Cuts every text file below `roots` into chunks and writes them, a file at a time, all or none. A
/// file whose text, chunking and embedder are those of the last run is skipped. A file that cannot
/// be read is reported and does not stop the others. Chunks carry `source_path`, `source_key` and
/// `source_fingerprint` in their metadata.
///
/// A document's id is the file's path below its root. A file that is stored already keeps its id,
/// whichever root it is found by; where another file has the id, names of the folders above are put
/// before it until none has (document_ids.hpp), and the report says so.
Result<DirectoryReport> ingest_directory(DirectoryTarget& target,
                                         const std::vector<std::filesystem::path>& roots,
                                         const DirectoryOptions& options);
/// The same into a collection of a database.
Result<DirectoryReport> ingest_directory(Database& database,
                                         const std::vector<std::filesystem::path>& roots,
                                         const DirectoryOptions& options);

}  // namespace braid::ingest
