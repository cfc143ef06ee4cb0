// `braid check`, `backup` and `restore`.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
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
using braid::testing::RunOptions;
using braid::testing::RunResult;
using braid::testing::TemporaryFolder;

/// A database with the collections "notes" and "mail".
class Care : public ::testing::Test {
protected:
    Care() {
        for (const std::string name : {"notes", "mail"}) {
            for (const std::string id : {"a", "b", "c"}) {
                RunOptions options;
                options.input = json::print(Object{{"_id", id}, {"text", "some words of " + id}});
                EXPECT_EQ(run({"add", "--collection", name}, options).exit_code, 0);
            }
        }
    }
    RunResult run(std::vector<std::string> arguments, const RunOptions& options = {}) const {
        arguments.insert(arguments.begin(), {"--data", data()});
        return run_braid(arguments, options);
    }
    std::string data() const { return folder / "data"; }
    std::string log_of(const std::string& name) const {
        return folder / ("data/collections/" + name + "/log-000001");
    }
    /// Another byte in the middle of a file.
    static void damage(const std::string& path) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2));
        file.put('\x7f');
        EXPECT_TRUE(file.good());
    }
    Value report(const RunResult& result) const {
        const auto json = json::parse(result.output);
        EXPECT_TRUE(json) << result.output;
        return json.value_or(Value(Object()));
    }

    TemporaryFolder folder;
};

TEST_F(Care, CheckSaysThatAllIsWell) {
    const RunResult plain = run({"check"});
    EXPECT_EQ(plain.exit_code, 0) << plain.errors;
    EXPECT_TRUE(has(plain.output, "Clean: 2 collections, 6 chunks, 6 records, ")) << plain.output;
    EXPECT_EQ(plain.errors, "");
    const RunResult json = run({"check", "--json"});
    EXPECT_EQ(json.exit_code, 0);
    EXPECT_EQ(*report(json).find("clean"), Value(true));
    EXPECT_EQ(run({"check", "--quiet"}).output, "");
    EXPECT_EQ(run_braid({"check", "--data", folder / "nowhere"}).exit_code, 3);
}

TEST_F(Care, CheckNamesEveryDamageAndExitsWithFour) {
    damage(log_of("notes"));
    const RunResult plain = run({"check"});
    EXPECT_EQ(plain.exit_code, 4);
    EXPECT_TRUE(has(plain.output, "collection \"notes\": ")) << plain.output;
    EXPECT_TRUE(has(plain.output, "notes/log-000001, offset ")) << plain.output;
    EXPECT_FALSE(has(plain.output, "mail")) << plain.output;
    EXPECT_TRUE(has(plain.errors, "the database is damaged: 1 problem in 2 collections"))
        << plain.errors;
    const RunResult json = run({"check", "--json"});
    EXPECT_EQ(json.exit_code, 4);
    EXPECT_EQ(*report(json).find("clean"), Value(false));
    EXPECT_EQ(report(json).find("problems")->as_array().size(), 1U);
    damage(folder / "data/collections/mail/manifest");
    EXPECT_TRUE(has(run({"check"}).output, "mail/manifest")) << run({"check"}).output;
}

/// The whole of a file, changed.
void rewrite_file(const std::string& path, const std::function<void(std::string&)>& change) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    change(bytes);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST_F(Care, AByteLessABitFlippedInTheLastRecordOrAMissingEndIsNeverClean) {
    const std::string log = log_of("notes");
    const std::size_t record = (std::filesystem::file_size(log) - 40) / 3;
    const std::function<void(std::string&)> changes[] = {
        [](std::string& bytes) { bytes.erase(60, 1); },
        [](std::string& bytes) { bytes.back() = static_cast<char>(bytes.back() ^ 1); },
        [&](std::string& bytes) { bytes.resize(bytes.size() - record); },
    };
    const std::string whole = folder / "whole";
    ASSERT_EQ(run({"backup", whole}).exit_code, 0);
    for (const auto& change : changes) {
        std::filesystem::remove_all(data());
        ASSERT_EQ(run({"restore", whole}).exit_code, 0);
        rewrite_file(log, change);
        const auto size = std::filesystem::file_size(log);
        const RunResult checked = run({"check"});
        EXPECT_EQ(checked.exit_code, 4) << checked.output;
        EXPECT_TRUE(has(checked.output, "is lost")) << checked.output;
        const std::size_t warned = checked.errors.find("cannot be read");
        EXPECT_NE(warned, std::string::npos) << checked.errors;
        EXPECT_EQ(checked.errors.find("cannot be read", warned + 1), std::string::npos)
            << "said once: " << checked.errors;
        EXPECT_EQ(run({"backup", folder / "none"}).exit_code, 4);
        EXPECT_EQ(run({"get", "a", "--collection", "notes"}).exit_code, 4);
        EXPECT_EQ(run({"get", "a", "--collection", "mail"}).exit_code, 0);
        EXPECT_EQ(run({"add", "--collection", "notes", "--text", "more"}).exit_code, 4);
        EXPECT_EQ(std::filesystem::file_size(log), size) << "nothing is cut";
        const RunResult repaired = run({"repair"});
        EXPECT_EQ(repaired.exit_code, 4);
        EXPECT_TRUE(has(repaired.output, "2 records could be read")) << repaired.output;
        EXPECT_EQ(run({"check"}).exit_code, 0);
    }
}

TEST_F(Care, ASnapshotIsADatabaseAndCanBeRestored) {
    const std::string copy = folder / "copy";
    const RunResult copied = run({"backup", copy});
    EXPECT_EQ(copied.exit_code, 0) << copied.errors;
    EXPECT_TRUE(has(copied.output, "Copied 6 chunks of 2 collections")) << copied.output;
    EXPECT_EQ(run_braid({"check", "--data", copy}).exit_code, 0);
    EXPECT_EQ(run({"backup", copy}).exit_code, 1) << "it is not empty any more";

    EXPECT_EQ(run({"collections", "drop", "notes", "--yes"}).exit_code, 0);
    EXPECT_EQ(run({"restore", copy}).exit_code, 1) << "there is a database";
    const std::string again = folder / "again";
    const RunResult restored = run_braid({"restore", copy, "--data", again, "--json"});
    EXPECT_EQ(restored.exit_code, 0) << restored.errors;
    EXPECT_EQ(*report(restored).find("chunks"), Value(6));
    EXPECT_EQ(run_braid({"get", "a", "--collection", "notes", "--data", again}).exit_code, 0);
    RunOptions more;
    more.input = R"({"_id": "d", "text": "more"})";
    EXPECT_EQ(run_braid({"add", "--collection", "notes", "--data", again}, more).exit_code, 0);
    const std::string empty = folder / "empty";
    std::filesystem::create_directories(empty);
    const RunResult nothing = run_braid({"restore", empty, "--data", folder / "new"});
    EXPECT_EQ(nothing.exit_code, 3) << nothing.output;
    EXPECT_FALSE(std::filesystem::exists(folder / "new"));
    const RunResult inside = run({"backup", data() + "/copies/monday"});
    EXPECT_EQ(inside.exit_code, 2) << inside.errors;
    EXPECT_TRUE(has(inside.errors, "inside the database")) << inside.errors;
    EXPECT_FALSE(std::filesystem::exists(data() + "/copies"));
    EXPECT_EQ(run_braid({"restore", folder / "nowhere", "--data", folder / "new"}).exit_code, 3);
}

TEST_F(Care, NothingDamagedIsCopied) {
    const std::string copy = folder / "copy";
    EXPECT_EQ(run({"snapshot", copy}).exit_code, 0);
    damage(copy + "/collections/mail/log-000001");
    const RunResult restored = run_braid({"restore", copy, "--data", folder / "new"});
    EXPECT_EQ(restored.exit_code, 4) << restored.errors;
    EXPECT_TRUE(has(restored.errors, "mail/log-000001")) << restored.errors;
    EXPECT_FALSE(std::filesystem::exists(folder / "new"));
    damage(log_of("notes"));
    const RunResult copied = run({"backup", folder / "other"});
    EXPECT_EQ(copied.exit_code, 4);
    EXPECT_TRUE(has(copied.errors, "\"notes\"")) << copied.errors;
    EXPECT_FALSE(std::filesystem::exists(folder / "other/collections"));
}

TEST_F(Care, AServedDatabaseIsCheckedAndCopiedToo) {
    RunningBraid server({"--data", data(), "serve", "--port", "0", "--json", "--quiet"});
    ASSERT_TRUE(server.read_line().has_value());
    EXPECT_EQ(run({"add", "--collection", "notes", "--text", "through the server"}).exit_code, 0);
    const RunResult checked = run({"check", "--verbose"});
    EXPECT_EQ(checked.exit_code, 0) << checked.errors;
    EXPECT_TRUE(has(checked.errors, "through the server")) << checked.errors;
    EXPECT_TRUE(has(checked.output, "7 chunks")) << checked.output;
    const std::string copy = folder / "copy";
    const RunResult copied = run({"backup", copy});
    EXPECT_EQ(copied.exit_code, 0) << copied.errors;
    EXPECT_TRUE(has(copied.output, "7 chunks")) << copied.output;
    EXPECT_EQ(run({"restore", copy}).exit_code, 5);
    damage(log_of("mail"));
    const RunResult damaged = run({"check"});
    EXPECT_EQ(damaged.exit_code, 4);
    EXPECT_TRUE(has(damaged.output, "mail/log-000001")) << damaged.output;
    server.signal(SIGTERM);
    EXPECT_EQ(server.finish().exit_code, 0);
    EXPECT_EQ(run_braid({"check", "--data", copy}).exit_code, 0);
}

TEST_F(Care, PurgeLeavesNothingDeletedInTheFiles) {
    const auto holds = [&](const std::string& words) {
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(data() + "/collections")) {
            if (!entry.is_regular_file()) continue;
            std::ifstream file(entry.path(), std::ios::binary);
            const std::string text((std::istreambuf_iterator<char>(file)), {});
            if (has(text, words)) return true;
        }
        return false;
    };
    EXPECT_EQ(run({"delete", "--id", "b", "--collection", "notes"}).exit_code, 0);
    EXPECT_EQ(run({"delete", "--id", "b", "--collection", "mail"}).exit_code, 0);
    EXPECT_TRUE(holds("some words of b"));
    const RunResult left = run({"check", "--deleted"});
    EXPECT_EQ(left.exit_code, 1);
    EXPECT_TRUE(has(left.errors, "braid purge")) << left.errors;
    const RunResult compacted = run({"compact", "--collection", "mail"});
    EXPECT_EQ(compacted.exit_code, 0) << compacted.errors;
    const RunResult purged = run({"purge"});
    EXPECT_EQ(purged.exit_code, 0) << purged.errors;
    EXPECT_FALSE(holds("some words of b"));
    EXPECT_TRUE(holds("some words of a"));
    EXPECT_EQ(run({"check", "--deleted"}).exit_code, 0);
    EXPECT_EQ(run({"compact", "--collection", "none"}).exit_code, 3);
    EXPECT_EQ(run({"purge", "--collection", "none"}).exit_code, 3);
}

TEST_F(Care, RepairSavesWhatCanBeRead) {
    EXPECT_EQ(run({"repair"}).output, "Nothing is damaged.\n");
    damage(log_of("notes"));
    EXPECT_EQ(run({"check"}).exit_code, 4);
    const RunResult mended = run({"repair", "--json"});
    EXPECT_EQ(mended.exit_code, 4) << "a loss is no success: " << mended.errors;
    const Value json = report(mended);
    const Array& list = json.find("repaired")->as_array();
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].find("collection")->as_string(), "notes");
    EXPECT_EQ(list[0].find("chunks")->as_int(), 2);
    EXPECT_TRUE(std::filesystem::exists(list[0].find("kept")->as_string()));
    EXPECT_EQ(run({"check"}).exit_code, 0);
    const RunResult got = run({"get", "a", "b", "c", "--collection", "notes"});
    EXPECT_TRUE(has(got.output, "some words of a") && has(got.output, "some words of c"))
        << got.output;
    EXPECT_EQ(run({"repair"}).output, "Nothing is damaged.\n");
    damage(folder / "data/collections/mail/manifest");
    const RunResult put_back = run({"repair"});
    EXPECT_EQ(put_back.exit_code, 4);
    EXPECT_TRUE(has(put_back.output, "mail") && has(put_back.output, "nothing is lost"))
        << put_back.output;
    EXPECT_EQ(run({"check"}).exit_code, 0);
    damage(folder / "data/collections/mail/manifest");
    damage(folder / "data/collections/mail/manifest-copy");
    const RunResult beyond = run({"repair"});
    EXPECT_EQ(beyond.exit_code, 4);
    EXPECT_TRUE(has(beyond.errors, "mail")) << beyond.errors;
}

}  // namespace
}  // namespace braid::cli
