#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/backend.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::store {
class Directory;
}

namespace braid::local {

/// The file in a database's directory that its one writer holds.
inline constexpr std::string_view kLockName = "LOCK";

/// When a log is compacted unasked.
struct AutoCompaction {
    bool enabled = true;
    /// Void bytes, those of deleted and replaced chunks, must exceed this, and this share of the
    /// log.
    std::uint64_t min_void_bytes = std::uint64_t{4} << 20;
    double min_void_share = 0.5;
    /// Closing the database cancels a compaction of more live bytes than this, and waits for
    /// others.
    std::uint64_t max_bytes_on_close = std::uint64_t{4} << 20;
    /// False: only when LocalBackend::run_due_compactions is called. Applies to flushes and merges
    /// too.
    bool background = true;
};

/// What holds the chunks of a collection and finds them (src/index). Answers do not depend on it.
enum class Engine {
    Exact,    // all in memory, every search exhaustive: the reference
    Segment,  // immutable files with indexes: opened instantly, may exceed memory
};

struct LocalOptions {
    Engine engine = Engine::Segment;
    /// Segments: how many rows, or bytes, of new chunks are kept in memory before they are written
    /// to a file; and how many it takes to do so when the database is closed. What is in memory is
    /// also in the log.
    std::uint64_t flush_rows = 8192;
    std::uint64_t flush_bytes = std::uint64_t{32} << 20;
    std::uint64_t flush_on_close_rows = 256;
    /// Segments: how much cursors may keep alive of files and memory that have since been merged;
    /// beyond it the oldest cursors end. A snapshot that somebody holds never does.
    std::uint64_t cursor_bytes = std::uint64_t{64} << 20;
    /// Segments: with this many vectors in a namespace, a segment gets a graph, which is built in
    /// the background and speeds up dense search (docs/decisions/0054-graphs-beside-segments.md).
    std::uint64_t graph_vectors = 40'000;
    /// Segments: what unflushed chunks, a merge and the building of a graph may take together, not
    /// counting a batch, mapped files and some hundred bytes for each chunk of a merge
    /// (docs/decisions/0113-memory-of-writing.md).
    std::uint64_t write_memory_bytes = std::uint64_t{256} << 20;
    bool read_only = false;   // takes no lock, writes nothing
    unsigned relaxed_ms = 0;  // 0: acknowledged means on disk
    AutoCompaction compaction{};
    /// Collections kept open, unless more are in use at once.
    std::size_t max_open = 128;
    /// The clock by which chunks expire; none: the system's.
    std::function<Timestamp()> clock;
    LogSink log;
};

/// The embedded backend: a log per collection makes it durable.
struct OpenedBackend {
    std::unique_ptr<Backend> backend;
    std::vector<std::string> notes;  // unfinished writes cut off, collections that cannot be read
};

/// Opens the collections below `directory`, up to `max_open` of them; the rest are opened when
/// used. Damage to one is reported by `collections` and by every use of it, and does not stop the
/// others. NotFound, if read_only, where the creation of a database was interrupted. Locked if
/// another process is writing here.
Result<OpenedBackend> open_local_backend(std::unique_ptr<store::Directory> directory,
                                         const LocalOptions& options);

/// See Database::repair. Locked if another process is writing here.
Result<RepairReport> repair_database(store::Directory& root);

}  // namespace braid::local
