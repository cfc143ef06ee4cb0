#include "braid/cli/commands/bench/index.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
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

constexpr const char* kComplete = "complete";

/// Does the work, and notes its time as that of `what`.
Result<> timed(BenchIndex& built, const std::string& what, const std::function<Result<>()>& work) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    BRAID_CHECK(work());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    built.facts.set(what + "_seconds", seconds.count());
    built.facts.set(what + "_cpu_seconds",
                    static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
    built.facts.set("index_bytes", built.folder.bytes());
    const auto before = static_cast<std::uint64_t>(built.facts.find("resident_before")->as_int());
    const std::uint64_t now = core::resident_bytes();
    built.facts.set("memory_bytes", now > before ? now - before : 0);
    return {};
}

Result<> fill(const Session& session, Database& database, std::uint64_t rows,
              const MakeChunk& make) {
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
    return {};
}

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
    const std::string kept = session.arguments.text_or("index", "");
    BRAID_TRY(auto folder, kept.empty()
                               ? ScratchFolder::create(session.arguments.text_or("scratch", ""))
                               : ScratchFolder::keep(kept));
    const std::filesystem::path path = folder.path() / "data";
    Object facts{{"resident_before", core::resident_bytes()}};
    if (std::filesystem::exists(folder.path() / kComplete)) {
        BRAID_TRY(auto database, Database::open(path, {.create = false, .read_only = true}));
        facts.set("index_bytes", folder.bytes());
        return BenchIndex{std::move(folder), std::move(database), std::move(facts), true};
    }
    if (std::filesystem::exists(path)) {
        return invalid_argument(path.string() +
                                " is incomplete, or not an index built by \"braid bench\"");
    }
    BRAID_TRY(auto database, Database::open(path));
    BRAID_CHECK(database.create_collection(kBenchCollection, schema));
    BenchIndex built{std::move(folder), std::move(database), std::move(facts)};
    BRAID_CHECK(timed(built, "build", [&] { return fill(session, built.database, rows, make); }));
    return built;
}

Result<> finish_bench(BenchIndex& built, const std::function<Result<>()>& work) {
    if (built.opened) return {};
    if (work) BRAID_CHECK(timed(built, "learn", work));
    std::ofstream(built.folder.path() / kComplete) << "complete\n";
    return {};
}

}  // namespace braid::cli
