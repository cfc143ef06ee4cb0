// A folder of every format braid reads: one file each with a sentence of its own, found again by
// its words.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "braid/database.hpp"
#include "braid/ingest/directory.hpp"
#include "core/temporary_folder.hpp"
#include "ingest/ordinary_files.hpp"

namespace braid::ingest {
namespace {

TEST(WholeFolder, EveryFileIsFoundOrNamed) {
    braid::testing::TemporaryFolder folder;
    const auto files = ordinary_files(172);
    for (const auto& [name, bytes] : files) folder.write("in/" + name, bytes);
    const std::map<std::string, std::string> others = {
        {"picture.png", "\x89PNG\r\n\x1A\n"},
        {"empty.md", ""},
        {"old.doc", std::string("\xD0\xCF\x11\xE0\0\0", 6)},
        {"broken.docx", "PK\x03\x04 and no more"}};
    for (const auto& [name, bytes] : others) folder.write("in/" + name, bytes);
    auto database = *Database::in_memory();
    ASSERT_TRUE(database.create_collection("default"));
    const auto report = ingest_directory(database, {folder.path() / "in"}, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->written, files.size());
    EXPECT_EQ(report->outcomes.size(), files.size() + others.size());
    ASSERT_EQ(report->failed.size(), 1U);
    EXPECT_NE(report->failed[0].find("broken.docx"), std::string::npos);
    for (const FileOutcome& file : report->outcomes) {
        if (file.state != FileState::Stored) {
            EXPECT_TRUE(others.contains(file.path.substr(file.path.rfind('/') + 1))) << file.path;
            EXPECT_FALSE(file.reason.empty());
        }
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
        const auto answer =
            database.retrieve({.query = "where is the " + word_of(i) + "?", .top_k = 1});
        ASSERT_TRUE(answer);
        ASSERT_FALSE(answer->hits.empty()) << files[i].first;
        EXPECT_EQ(answer->hits[0].chunk.document_id, files[i].first);
        EXPECT_NE(answer->hits[0].chunk.content.find(sentence_of(i)), std::string::npos)
            << files[i].first;
    }
    const auto again = ingest_directory(database, {folder.path() / "in"}, {});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->unchanged, files.size());
    EXPECT_EQ(again->chunks, 0U);
}

}  // namespace
}  // namespace braid::ingest
