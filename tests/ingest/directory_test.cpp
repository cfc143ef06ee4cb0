#include "braid/ingest/directory.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/present.hpp"
#include "core/temporary_folder.hpp"

namespace braid::ingest {
namespace {

namespace fs = std::filesystem;

class IngestDirectory : public ::testing::Test {
protected:
    IngestDirectory() : database(*Database::in_memory()), root(folder.path()) {
        EXPECT_TRUE(database.create_collection("default"));
    }

    void write(const std::string& name, const std::string& text) { folder.write(name, text); }
    DirectoryReport ingest(const DirectoryOptions& options = {}) {
        auto report = ingest_directory(database, {root}, options);
        EXPECT_TRUE(report) << (report ? "" : report.error().message);
        return report ? *report : DirectoryReport{};
    }
    std::uint64_t count() { return *database.count({}); }

    braid::testing::TemporaryFolder folder;
    Database database;
    fs::path root;
};

TEST_F(IngestDirectory, ReadsTextFilesAndSkipsThemWhenUnchanged) {
    write("people/ada.md", "# Ada\n\n## Overview\nShe keeps the lamps.\n");
    write("notes.TXT", "Plain words.");
    write(".hidden/secret.md", "# no");
    write("picture.png", "\x89PNG");
    const DirectoryReport first = ingest();
    EXPECT_EQ(first.files, 2U);
    EXPECT_EQ(first.written, 2U);
    EXPECT_EQ(count(), 2U);
    const Chunk chunk =
        present((*database.get({}, std::vector<std::string>{"people/ada.md#0"}))[0]);
    EXPECT_EQ(chunk.title, "Ada");
    EXPECT_EQ(chunk.section_title, "Overview");
    EXPECT_EQ(chunk.document_id, "people/ada.md");

    const DirectoryReport second = ingest();
    EXPECT_EQ(second.unchanged, 2U);
    EXPECT_EQ(second.written, 0U);

    write("notes.TXT", "Plain words, changed.");
    const DirectoryReport third = ingest();
    EXPECT_EQ(third.unchanged, 1U);
    EXPECT_EQ(third.written, 1U);
}

TEST_F(IngestDirectory, AChangedFileIsReplacedWholeInOneWrite) {
    write("a.md", "# A\n\n## One\nfirst\n\n## Two\nsecond\n");
    ingest();
    Chunk stray;
    stray.chunk_id = "stray";
    stray.document_id = "a.md";
    stray.content = "of an older program";
    ASSERT_TRUE(database.add("default", {stray}));
    const std::uint64_t records = database.check()->records;
    write("a.md", "# A\n\n## One\nchanged\n");
    EXPECT_EQ(ingest().removed, 2U);
    EXPECT_EQ(count(), 1U);
    EXPECT_EQ(database.check()->records, records + 1);
}

TEST_F(IngestDirectory, RemovesChunksThatAChangedFileNoLongerHas) {
    write("a.md", "# A\n\n## One\nfirst\n\n## Two\nsecond\n\n## Three\nthird\n");
    ingest();
    EXPECT_EQ(count(), 3U);
    write("a.md", "# A\n\n## One\nfirst\n");
    const DirectoryReport report = ingest();
    EXPECT_EQ(report.removed, 2U);
    EXPECT_EQ(count(), 1U);
}

TEST_F(IngestDirectory, ReportsBadFilesAndGoesOn) {
    write("bad.txt", "ab\xFF\xFEzz");
    write("empty.md", "");
    write("good.md", "fine");
    const DirectoryReport report = ingest();
    EXPECT_EQ(report.written, 1U);
    ASSERT_EQ(report.failed.size(), 2U);
    EXPECT_NE(report.failed[0].find("bad.txt"), std::string::npos);
    EXPECT_NE(report.failed[0].find("UTF-8"), std::string::npos) << report.failed[0];
}

TEST_F(IngestDirectory, SaysWhenThereIsNoSuchPath) {
    const auto report = ingest_directory(database, {root / "nothing"}, {});
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace braid::ingest
