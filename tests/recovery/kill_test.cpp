// kill -9 at random moments of `braid ingest`: everything acknowledged is there afterwards.

#include <chrono>
#include <csignal>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "braid/database.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"

namespace braid {
namespace {

using braid::testing::RunningBraid;
using braid::testing::TemporaryFolder;

constexpr unsigned kRounds = 50;
constexpr std::size_t kLinesPerRound = 3000;
constexpr std::size_t kBatch = 20;

std::string id_of(unsigned round, std::size_t line) {
    return "r" + std::to_string(round) + "-" + std::to_string(line);
}

/// Different for every chunk, and found again from its id.
std::string content_of(unsigned round, std::size_t line) {
    return "word" + std::to_string(line % 97) + " of line " + std::to_string(line) + " in round " +
           std::to_string(round) + " " + std::string(line % 400, 'x');
}

std::vector<float> vector_of(unsigned round, std::size_t line) {
    return {static_cast<float>(round), static_cast<float>(line), 1.0F};
}

std::string corpus(unsigned round) {
    std::string text;
    for (std::size_t line = 0; line < kLinesPerRound; ++line) {
        const std::vector<float> vector = vector_of(round, line);
        text += R"({"_id": ")" + id_of(round, line) + R"(", "text": ")" + content_of(round, line) +
                R"(", "vector": [)" + std::to_string(round) + ", " + std::to_string(line) +
                ", 1]}\n";
    }
    return text;
}

/// Reads acknowledgements until the pipe closes; returns the last number.
std::size_t last_acknowledged(RunningBraid& running) {
    const std::string prefix = "acknowledged ";
    std::size_t last = 0;
    while (const auto line = running.read_line()) {
        if (line->starts_with(prefix)) last = std::stoul(line->substr(prefix.size()));
    }
    return last;
}

/// All lines up to `acknowledged` are there, later ones only in whole batches from the first on.
void check_round(const Database& database, unsigned round, std::size_t acknowledged) {
    std::vector<std::string> ids;
    ids.reserve(kLinesPerRound);
    for (std::size_t line = 0; line < kLinesPerRound; ++line) ids.push_back(id_of(round, line));
    const auto chunks = database.get({}, ids, true);
    ASSERT_TRUE(chunks) << chunks.error().message;
    std::size_t stored = 0;
    while (stored < kLinesPerRound && (*chunks)[stored]) ++stored;
    ASSERT_GE(stored, acknowledged);
    ASSERT_TRUE(stored % kBatch == 0 || stored == kLinesPerRound) << stored;
    for (std::size_t line = 0; line < kLinesPerRound; ++line) {
        const auto& chunk = (*chunks)[line];
        ASSERT_EQ(chunk.has_value(), line < stored) << "line " << line;
        if (!chunk) continue;
        ASSERT_EQ(chunk->content, content_of(round, line));
        ASSERT_EQ(chunk->vector, vector_of(round, line));
    }
}

TEST(KillNine, WhatIngestAcknowledgedSurvives) {
    const unsigned seed = 20240817;
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 rng(seed);
    const TemporaryFolder folder;
    const std::string data = folder / "data";
    std::uint64_t expected = 0;
    unsigned interrupted = 0;
    for (unsigned round = 0; round < kRounds; ++round) {
        SCOPED_TRACE(::testing::Message() << "round " << round);
        const std::string path = folder.write("round.jsonl", corpus(round));
        RunningBraid running({"--data", data, "ingest", path, "--embedder", "external", "--metric",
                              "dot", "--batch", std::to_string(kBatch), "--ack", "--quiet"});
        // Mostly once it writes; now and then while it opens.
        if (rng() % 5 != 0) (void)running.read_line();
        std::this_thread::sleep_for(std::chrono::microseconds(rng() % 60'000));
        running.signal(SIGKILL);
        const std::size_t acknowledged = last_acknowledged(running);
        if (running.finish().exit_code == 128 + SIGKILL) ++interrupted;
        if (!std::filesystem::exists(data)) continue;

        OpenOptions options;
        options.create = false;
        const auto database = Database::open(data, options);
        ASSERT_TRUE(database) << database.error().message;
        if (!database->describe("default")) {
            ASSERT_EQ(acknowledged, 0U);
            continue;
        }
        check_round(*database, round, acknowledged);
        const auto stats = database->stats({});
        ASSERT_TRUE(stats) << stats.error().message;
        EXPECT_EQ(stats->chunks, stats->vectors);
        EXPECT_GE(stats->chunks, expected);
        expected = stats->chunks;
        if (round % 10 != 9) continue;
        const auto report = database->check();
        ASSERT_TRUE(report) << report.error().message;
        ASSERT_TRUE(report->clean()) << report->problems.front();
        EXPECT_EQ(report->chunks, expected);
    }
    // Otherwise the machine was too fast for this test to show anything.
    EXPECT_GE(interrupted, kRounds / 2);
}

}  // namespace
}  // namespace braid
