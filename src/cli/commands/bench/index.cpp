#include "braid/cli/commands/bench/index.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "braid/core/numbers.hpp"
#include "braid/core/resident_memory.hpp"
#include "braid/ingest/file_handle.hpp"
#include "braid/ingest/line_reader.hpp"
#include "braid/ingest/npy.hpp"

namespace braid::cli {
namespace {

constexpr std::size_t kBatch = 1000;
constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;

}  // namespace

Result<std::vector<std::string>> read_bench_lines(const std::string& path) {
    BRAID_TRY(auto file, ingest::FileHandle::open(path));
    ingest::LineReader reader(std::move(file), kMaxLineBytes);
    std::vector<std::string> lines;
    while (true) {
        BRAID_TRY(const auto line, reader.next());
        if (!line) break;
        lines.resize(reader.number() - 1);  // blank lines count as rows
        lines.emplace_back(*line);
    }
    if (lines.empty()) return invalid_argument(path + " holds no lines");
    return lines;
}

Result<std::vector<std::vector<float>>> read_bench_rows(const std::string& path) {
    BRAID_TRY(const auto file, ingest::NpyFile::open(path));
    if (file.rows() == 0) return invalid_argument(path + " holds no rows");
    return file.all_rows();
}

Result<BenchIndex> build_bench(const Session& session, const Schema& schema, std::uint64_t rows,
                               const MakeChunk& make) {
    BRAID_TRY(auto folder, ScratchFolder::create(session.arguments.text_or("scratch", "")));
    BRAID_TRY(auto database, Database::open(folder.path() / "data"));
    BRAID_CHECK(database.create_collection(kBenchCollection, schema));
    const std::uint64_t memory = core::resident_bytes();
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t first = 0; first < rows; first += kBatch) {
        std::vector<Chunk> chunks;
        chunks.reserve(kBatch);
        for (std::uint64_t i = first; i < std::min(first + kBatch, rows); ++i) {
            BRAID_TRY(Chunk chunk, make(i));
            chunk.chunk_id = std::to_string(i);
            chunks.push_back(std::move(chunk));
        }
        BRAID_CHECK(database.add(kBenchCollection, std::move(chunks)));
        if (session.out.notes_on_terminal() && !session.quiet()) {
            session.out.status("building: " + core::grouped(std::min(first + kBatch, rows)) +
                               " of " + core::grouped(rows));
        }
    }
    session.out.status({});
    // Nothing is left to be done later: one segment, as after an ingest that was given its time.
    BRAID_CHECK(database.compact(kBenchCollection));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::uint64_t after = core::resident_bytes();
    Object facts{{"build_seconds", seconds},
                 {"index_bytes", folder.bytes()},
                 {"memory_bytes", after > memory ? after - memory : 0}};
    return BenchIndex{std::move(folder), std::move(database), std::move(facts)};
}

}  // namespace braid::cli
