// What the `braid` program says and leaves behind when something is wrong.

#include <csignal>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/program_fixture.hpp"
#include "cli/program_run.hpp"
#include "ingest/npy_writer.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;
using braid::testing::kAnimals;
using braid::testing::npy_of;
using braid::testing::RunningBraid;
using braid::testing::RunResult;

class ProgramFailure : public braid::testing::ProgramTest {};

TEST_F(ProgramFailure, AMissingPathIsNotFoundAndCreatesNothing) {
    expect_failure({"ingest", folder / "none.jsonl"}, 3, "none.jsonl");
    EXPECT_FALSE(std::filesystem::exists(data()));
}

TEST_F(ProgramFailure, AnEmptyFileIsNotAnError) {
    for (const std::string& path :
         {folder.write("e.jsonl", ""), folder.write("b.jsonl", "\n\n"), folder.write("e.md", "")}) {
        const RunResult result = run({"ingest", path});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_TRUE(has(result.output, "Skipped: 1 empty.")) << result.output;
    }
}

TEST_F(ProgramFailure, InvalidUtf8NamesLineAndByte) {
    expect_failure({"ingest", "--strict",
                    folder.write("u.jsonl", "{\"text\": \"ok\"}\n{\"text\": \"\xFF\"}\n")},
                   2, "u.jsonl:2: not valid UTF-8: byte 0xff at byte 11");
}

TEST_F(ProgramFailure, ALineOfTwoHundredMegabytesIsPassedOverInBoundedMemory) {
    const std::string path = folder.write("l.jsonl", kAnimals + "{\"text\": \"");
    std::filesystem::resize_file(path, 200'000'000);  // sparse: NUL bytes without a line break
    const RunResult stored = run({"ingest", path});
    EXPECT_EQ(stored.exit_code, 2);
    EXPECT_TRUE(has(stored.errors, "l.jsonl:4: the line is longer than the limit of 64 MiB"));
    EXPECT_TRUE(has(stored.output, "Stored 3 chunks")) << stored.output;
}

TEST_F(ProgramFailure, JsonWithoutTextIsRefused) {
    expect_failure({"ingest", "--strict", folder.write("t.jsonl", kAnimals + "{\"_id\": \"x\"}\n")},
                   2, "t.jsonl:4: no text");
    expect_failure({"ingest", folder.write("j.jsonl", "{\"text\": \n")}, 2, "j.jsonl:1: ");
    expect_failure({"add"}, 2, "no text", {.input = "{\"_id\": \"x\"}"});
}

TEST_F(ProgramFailure, WhatWasStoredBeforeABadLineStays) {
    const RunResult result =
        run({"ingest", "--strict", "--batch", "2", folder.write("p.jsonl", kAnimals + "{}\n")});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(has(result.errors, "2 chunks were stored")) << result.errors;
    EXPECT_EQ(*json({"stats"}).find("chunks"), Value(2));
}

TEST_F(ProgramFailure, VectorsOfTheWrongLengthAreRefused) {
    const std::string path =
        folder.write("v.jsonl",
                     "{\"_id\": \"a\", \"text\": \"x\", \"vector\": [1, 0]}\n"
                     "{\"_id\": \"b\", \"text\": \"y\", \"vector\": [1, 0, 0]}\n");
    const RunResult result = run({"ingest", path, "--embedder", "external"});
    EXPECT_EQ(result.exit_code, 2) << result.errors;
    EXPECT_TRUE(has(result.errors, "\"b\"")) << result.errors;
    json({"add", "--id", "a", "--text", "x", "--vector", "[1, 0]", "--embedder", "external"});
    EXPECT_EQ(run({"add", "--id", "b", "--text", "x", "--vector", "[1]"}).exit_code, 2);
    EXPECT_EQ(run({"retrieve", "--query-vector", "[1]", "--strategy", "dense"}).exit_code, 2);
    EXPECT_EQ(*json({"stats"}).find("chunks"), Value(1));
}

TEST_F(ProgramFailure, NumbersThatAreNotFiniteAreRefused) {
    expect_failure({"ingest", folder.write("n.jsonl", R"({"text": "x", "vector": [NaN]})")}, 2,
                   "n.jsonl:1: ");
    const std::string corpus = folder.write("m.jsonl", kAnimals);
    folder.write("m.npy",
                 npy_of<float>("<f4", 3, 1, {1, std::numeric_limits<float>::quiet_NaN(), 2}));
    expect_failure({"ingest", "--strict", corpus}, 2, "row 1");
    EXPECT_FALSE(std::filesystem::exists(data()));
}

TEST_F(ProgramFailure, RepeatedIdsInOneFileNameBothLines) {
    expect_failure({"ingest", "--strict", folder.write("d.jsonl", kAnimals + kAnimals)}, 2,
                   "d.jsonl:4: the id \"fox\" is already in line 1");
    EXPECT_FALSE(std::filesystem::exists(data()));
}

TEST_F(ProgramFailure, UnknownCollectionsAndDatabasesAreNotFound) {
    expect_failure({"retrieve", "x"}, 3, data());
    expect_failure({"stats"}, 3, data());
    expect_failure({"update", "--id", "a", "--sensitivity", "public"}, 3, data());
    EXPECT_FALSE(std::filesystem::exists(data()));
    ingest_corpus();
    expect_failure({"retrieve", "x", "--collection", "nots"}, 3, "nots");
    expect_failure({"stats", "--collection", "nots"}, 3, "nots");
    expect_failure({"delete", "--id", "a", "--collection", "nots"}, 3, "nots");
    EXPECT_EQ(json({"collections"}).find("collections")->as_array().size(), 1U);
}

TEST_F(ProgramFailure, ADatabaseInUseIsExitCodeFive) {
    RunningBraid writer({"--data", data(), "ingest", "-", "--batch", "1", "--ack"});
    writer.write("{\"_id\": \"a\", \"text\": \"first\"}\n");
    ASSERT_EQ(writer.read_line(), "acknowledged 1");
    expect_failure({"add", "--text", "second"}, 5, "in use");
    EXPECT_EQ(*json({"stats"}).find("chunks"), Value(1));
    writer.write("{\"_id\": \"b\", \"text\": \"third\"}\n");
    EXPECT_EQ(writer.finish().exit_code, 0);
    EXPECT_EQ(*json({"stats"}).find("chunks"), Value(2));
}

TEST_F(ProgramFailure, AnInterruptStopsBetweenBatches) {
    RunningBraid writer({"--data", data(), "ingest", "-", "--batch", "1", "--ack"});
    writer.write("{\"_id\": \"a\", \"text\": \"first\"}\n");
    ASSERT_EQ(writer.read_line(), "acknowledged 1");
    writer.signal(SIGINT);
    // The input stays open: only the signal can end the program.
    EXPECT_EQ(writer.read_line(), std::nullopt);
    const RunResult result = writer.finish();
    EXPECT_EQ(result.exit_code, 130);
    EXPECT_TRUE(has(result.errors, "1 chunk was stored")) << result.errors;
    EXPECT_EQ(*json({"stats"}).find("chunks"), Value(1));
}

TEST_F(ProgramFailure, FlagsThatDoNotFitTheCollectionAreRefused) {
    ingest_corpus();
    expect_failure({"ingest", folder / "corpus.jsonl", "--embedder", "external"}, 2, "embedder");
    expect_failure({"ingest", folder / "corpus.jsonl", "--language", "de"}, 2, "german");
    EXPECT_EQ(run({"ingest", folder / "corpus.jsonl", "--language", "en"}).exit_code, 0);
}

TEST_F(ProgramFailure, OutputThatCannotBeWrittenIsAnError) {
    ingest_corpus();
    const RunResult full = run({"get", "fox"}, {.output_file = "/dev/full"});
    EXPECT_EQ(full.exit_code, 1);
    EXPECT_TRUE(has(full.errors, "cannot write")) << full.errors;
}

TEST_F(ProgramFailure, AReaderThatWentAwayEndsItQuietly) {
    ingest_corpus();
    const RunResult result = run({"get", "fox"}, {.nobody_reads = true});
    EXPECT_EQ(result.exit_code, 141);
    EXPECT_EQ(result.errors, "");
    // Storing is worth more than reporting it.
    const RunResult stored =
        run({"ingest", "--ack", "--batch", "1", folder / "corpus.jsonl"}, {.nobody_reads = true});
    EXPECT_EQ(stored.exit_code, 141);
    EXPECT_EQ(*json({"stats"}).find("chunks"), Value(3));
}

}  // namespace
}  // namespace braid::cli
