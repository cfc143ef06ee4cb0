// `braid ingest` killed at any moment: the next run makes of it what an undisturbed one does.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"

namespace braid::cli {
namespace {

namespace fs = std::filesystem;
using braid::testing::run_braid;
using braid::testing::RunningBraid;
using braid::testing::RunResult;
using braid::testing::TemporaryFolder;
using Clock = std::chrono::steady_clock;

constexpr int kFiles = 300;

/// BRAID_KILLS, or 20.
int kills() {
    const char* const given = std::getenv("BRAID_KILLS");  // NOLINT(concurrency-mt-unsafe)
    return given == nullptr ? 20 : std::atoi(given);       // NOLINT(cert-err34-c)
}

/// The chunks of a collection as `export` writes them, without what differs from run to run.
std::set<std::string> exported(const std::string& data, const std::string& collection) {
    const RunResult result = run_braid({"--data", data, "export", "--collection", collection});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    std::set<std::string> chunks;
    std::istringstream lines(result.output);
    for (std::string line; std::getline(lines, line);) {
        auto chunk = json::parse(line);
        if (!chunk || chunk->find("chunk_id") == nullptr) continue;
        chunk->as_object().erase("version");
        chunks.insert(json::print(*chunk));
    }
    return chunks;
}

class IngestKilled : public ::testing::Test {
protected:
    IngestKilled() {
        for (int i = 0; i < kFiles; ++i) write(i, "first");
    }

    void write(int i, const std::string& word) {
        const std::string name = std::to_string(i);
        folder.write("many/d" + std::to_string(i % 7) + "/f" + name + ".md",
                     "# File " + name + "\n\nThe " + word + " text of it.\n\n## Part\n\nMore.\n");
    }
    std::vector<std::string> command(const std::string& data) const {
        return {"--data", data, "ingest", folder / "many", "--documents", "whole", "--prune"};
    }
    /// Kills a run after a part of the time that a whole one takes; whether it was still at work.
    bool kill_one(const std::string& data, std::mt19937& random) {
        RunningBraid run(command(data));
        const double part = std::uniform_real_distribution<>(0, 1.1)(random);
        std::this_thread::sleep_for(part * whole_run);
        run.signal(SIGKILL);
        return run.finish().exit_code != 0;
    }
    void expect_same_after_kills(const std::string& data, const std::string& undisturbed,
                                 std::mt19937& random) {
        for (unsigned left = 1 + random() % 2; left > 0; --left) killed += kill_one(data, random);
        const RunResult resumed = run_braid(command(data));
        ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
        for (const std::string collection : {"default", "whole"}) {
            EXPECT_EQ(exported(data, collection), exported(undisturbed, collection));
        }
    }

    TemporaryFolder folder;
    std::chrono::duration<double> whole_run{};
    int killed = 0;
};

TEST_F(IngestKilled, IsResumedToTheSameResult) {
    const Clock::time_point start = Clock::now();
    ASSERT_EQ(run_braid(command(folder / "first")).exit_code, 0);
    whole_run = Clock::now() - start;
    ASSERT_EQ(exported(folder / "first", "whole").size(), std::size_t{kFiles});

    // Half of the trials begin with nothing, half with files of which some then change or go.
    const int trials = kills();
    for (int seed = 0; seed < trials / 2; ++seed) {
        SCOPED_TRACE(::testing::Message() << "new, seed " << seed);
        std::mt19937 random(static_cast<unsigned>(seed));
        expect_same_after_kills(folder / "new", folder / "first", random);
        fs::remove_all(folder / "new");
    }
    fs::copy(folder / "first", folder / "before", fs::copy_options::recursive);
    for (int i = 0; i < kFiles; i += 2) write(i, "second");
    for (int i = 1; i < kFiles; i += 10) {
        fs::remove(folder.path() / "many" / ("d" + std::to_string(i % 7)) /
                   ("f" + std::to_string(i) + ".md"));
    }
    ASSERT_EQ(run_braid(command(folder / "first")).exit_code, 0);
    for (int seed = trials / 2; seed < trials; ++seed) {
        SCOPED_TRACE(::testing::Message() << "changed, seed " << seed);
        std::mt19937 random(static_cast<unsigned>(seed));
        fs::copy(folder / "before", folder / "changed", fs::copy_options::recursive);
        expect_same_after_kills(folder / "changed", folder / "first", random);
        fs::remove_all(folder / "changed");
    }
    RecordProperty("killed_at_work", killed);
    EXPECT_GT(killed, 0);
}

}  // namespace
}  // namespace braid::cli
