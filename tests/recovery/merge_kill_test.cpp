// kill -9 at random moments of a process that flushes and merges all the time: what it acknowledged
// is there afterwards, and nothing else. Here some rounds, in the program merge_kill 200.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/helpers.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/store/posix_directory.hpp"
#include "core/temporary_folder.hpp"

#ifndef BRAID_KILL_ROUNDS
#define BRAID_KILL_ROUNDS 20
#endif

namespace braid::testing {
namespace {

constexpr unsigned kSeed = 20261118;

/// By chunk id: content, second component of the vector, "n" of the metadata.
struct Stored {
    std::string content;
    float place = 0;
    std::int64_t n = 0;

    friend bool operator==(const Stored&, const Stored&) = default;
};
using Contents = std::map<std::string, Stored>;

/// The changes of one round, the same in the process that makes them and in the one that knows what
/// they should leave.
class Script {
public:
    explicit Script(unsigned round) : rng_(kSeed + round), round_(round) {}

    /// Makes the next change in both; in a backend only if there is one.
    Result<> step(Backend* backend, Contents& contents) {
        ++step_;
        const std::uint64_t kind = rng_() % 10;
        if (kind == 0) return remove(backend, contents);
        if (kind == 1) return update(backend, contents);
        std::vector<Chunk> chunks;
        const std::uint64_t first = rng_();
        for (std::uint64_t i = 0; i <= rng_() % 3; ++i) {
            const std::string id = id_of(first + i * 7);
            const std::string content = "all of " + std::to_string(round_) + " step " +
                                        std::to_string(step_) + std::string(rng_() % 200, 'x');
            const auto place = static_cast<float>(rng_() % 1000);
            chunks.push_back(make_chunk(id, content, {1, place}));
            contents[id] = {content, place, 0};
        }
        if (backend == nullptr) return {};
        BRAID_CHECK(backend->upsert("c", "default", std::move(chunks), {}));
        return {};
    }

private:
    static std::string id_of(std::uint64_t i) { return "c" + std::to_string(i % 300); }

    Result<> remove(Backend* backend, Contents& contents) {
        const Ids ids{id_of(rng_()), id_of(rng_())};
        for (const std::string& id : ids) contents.erase(id);
        if (backend != nullptr) BRAID_CHECK(backend->remove(scope_of("c"), by_ids(ids), {}));
        return {};
    }
    Result<> update(Backend* backend, Contents& contents) {
        MetadataUpdate change;
        change.chunk_id = id_of(rng_());
        change.metadata = {{"n", static_cast<std::int64_t>(step_)}};
        const auto found = contents.find(change.chunk_id);
        if (found != contents.end()) found->second.n = static_cast<std::int64_t>(step_);
        // An update of what is not there is an error, and changes nothing.
        if (backend != nullptr && found != contents.end()) {
            BRAID_CHECK(backend->update("c", "default", {change}, {}));
        }
        return {};
    }

    std::mt19937_64 rng_;
    unsigned round_;
    std::uint64_t step_ = 0;
};

Result<std::unique_ptr<Backend>> open_at(const std::string& path, bool background) {
    local::LocalOptions options;
    options.flush_rows = 6;
    options.flush_on_close_rows = 1'000'000;
    options.compaction.background = background;
    BRAID_TRY(auto directory, store::open_posix_directory(path, store::OpenMode::CreateIfMissing));
    BRAID_TRY(auto opened, local::open_local_backend(std::move(directory), options));
    return std::move(opened.backend);
}

/// Writes for as long as it lives; a byte through the pipe for each acknowledged step.
[[noreturn]] void write_until_killed(const std::string& path, unsigned round, Contents contents,
                                     int acknowledged) {
    const auto backend = open_at(path, true);
    Script script(round);
    while (backend && script.step(backend->get(), contents)) {
        if (::write(acknowledged, "+", 1) != 1) break;
    }
    ::_exit(1);
}

Contents contents_of(const Backend& backend) {
    const std::vector<std::string> names{"c"};
    const ReaderPtr snapshot = must(backend.snapshot(names, {}));
    Contents contents;
    for (const Chunk& chunk : must(snapshot->scan(scope_of("c"), "", 100'000, true))) {
        const Value* const n = chunk.metadata.find("n");
        contents[chunk.chunk_id] = {chunk.content, chunk.vector.at(1),
                                    n == nullptr ? 0 : n->as_int()};
    }
    EXPECT_EQ(must(snapshot->search_leg(words_leg(scope_of("c"), {"all"}))).matched.count,
              contents.size());
    EXPECT_EQ(must(snapshot->search_leg(vector_leg(scope_of("c"), {1, 1}))).matched.count,
              contents.size());
    return contents;
}

/// Whether a flush or a merge was interrupted: something is there that no manifest names.
bool has_half_written_files(const std::string& path) {
    std::size_t segments = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path + "/collections/c")) {
        const std::string name = entry.path().filename();
        if (name.starts_with(".tmp-")) return true;
        segments += name.starts_with("log-") && !name.ends_with("-durable") ? 1U : 0U;
    }
    return segments > 1;
}

TEST(KillNineWhileMerging, LeavesWhatWasAcknowledged) {
    const TemporaryFolder folder;
    const std::string path = folder / "data";
    must(must(open_at(path, false))->create_collection("c", vectors_schema(2)));
    Contents before;
    unsigned in_the_middle = 0;
    std::uint64_t steps = 0;
    std::mt19937_64 rng(kSeed);
    for (unsigned round = 0; round < BRAID_KILL_ROUNDS; ++round) {
        SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", round " << round);
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            ::close(ends[0]);
            write_until_killed(path, round, before, ends[1]);
        }
        ::close(ends[1]);
        // Mostly in the middle of its work; now and then while it opens.
        std::uint64_t acknowledged = 0;
        char byte = 0;
        const std::uint64_t wanted = rng() % 8 == 0 ? 0 : 1 + rng() % 120;
        while (acknowledged < wanted && ::read(ends[0], &byte, 1) == 1) ++acknowledged;
        std::this_thread::sleep_for(std::chrono::microseconds(rng() % 3000));
        ::kill(child, SIGKILL);
        while (::read(ends[0], &byte, 1) == 1) ++acknowledged;
        ::close(ends[0]);
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status)) << "it failed by itself";
        if (has_half_written_files(path)) ++in_the_middle;
        steps += acknowledged;

        Script script(round);
        Contents expected = before;
        for (std::uint64_t i = 0; i < acknowledged; ++i) must(script.step(nullptr, expected));
        const auto backend = must(open_at(path, false));
        before = contents_of(*backend);
        if (before != expected)
            must(script.step(nullptr, expected));  // one may have been on its way
        ASSERT_TRUE(before == expected) << "after " << acknowledged << " acknowledged steps";
        if (round % 5 != 4) continue;
        ASSERT_EQ(must(backend->check({})).problems, std::vector<std::string>());
    }
    std::cout << BRAID_KILL_ROUNDS << " rounds, " << steps << " steps, " << in_the_middle
              << " times in the middle of a flush or a merge\n";
}

}  // namespace
}  // namespace braid::testing
