// `braid ingest` of folders: nothing is lost, whoever has the database.

#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;
using braid::testing::run_braid;
using braid::testing::RunningBraid;
using braid::testing::RunResult;
using braid::testing::TemporaryFolder;

class IngestFolders : public ::testing::Test {
protected:
    IngestFolders() {
        folder.write("p1/README.md", "Foxes hunt at dusk.");
        folder.write("p2/README.md", "Owls hunt at night.");
    }
    RunResult run(const std::vector<std::string>& arguments, const std::string& in = {}) {
        std::vector<std::string> all{"--data", folder / "data"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return run_braid(all, {.folder = in});
    }
    void expect_both_are_kept() {
        const RunResult first = run({"ingest", folder / "p1", folder / "p2"});
        ASSERT_EQ(first.exit_code, 0) << first.errors;
        EXPECT_TRUE(has(first.errors, "p2/README.md")) << first.errors;
        EXPECT_TRUE(has(run({"retrieve", "dusk"}).output, "Foxes"));
        EXPECT_TRUE(has(run({"retrieve", "night"}).output, "Owls"));
        // From another folder, by relative paths, in another order, alone.
        for (const auto& paths : std::vector<std::vector<std::string>>{
                 {"ingest", ".", "../p1", "--json"}, {"ingest", "README.md", "--json"}}) {
            const RunResult again = run(paths, folder / "p2");
            ASSERT_EQ(again.exit_code, 0) << again.errors;
            const auto report = json::parse(again.output);
            ASSERT_TRUE(report) << again.output;
            EXPECT_EQ(*report->find("chunks"), Value(0));
            EXPECT_EQ(*report->find("unchanged_files"), *report->find("text_files"));
        }
    }

    TemporaryFolder folder;
};

TEST_F(IngestFolders, KeepFilesOfTheSameName) {
    expect_both_are_kept();
}

TEST_F(IngestFolders, KeepFilesOfTheSameNameInADatabaseThatIsServed) {
    RunningBraid server({"--data", folder / "data", "serve", "--port", "0", "--json"});
    ASSERT_TRUE(server.read_line());
    expect_both_are_kept();
    server.signal(SIGTERM);
    EXPECT_EQ(server.finish().exit_code, 0);
}

}  // namespace
}  // namespace braid::cli
