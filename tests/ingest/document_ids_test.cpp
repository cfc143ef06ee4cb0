#include "braid/ingest/document_ids.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/ingest/directory.hpp"
#include "core/temporary_folder.hpp"

namespace braid::ingest {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class DocumentIds : public ::testing::Test {
protected:
    DocumentIds() : database(*Database::in_memory()) {
        EXPECT_TRUE(database.create_collection("default"));
    }

    DirectoryReport ingest(const std::vector<fs::path>& roots, bool replace = false) {
        DirectoryOptions options;
        options.replace = replace;
        auto report = ingest_directory(database, roots, options);
        EXPECT_TRUE(report) << (report ? "" : report.error().message);
        return report ? *report : DirectoryReport{};
    }
    fs::path at(const std::string& name) const { return folder.path() / name; }
    /// The content of each document's one chunk, as "id: content".
    Names stored() {
        Names out;
        for (const std::string& id : ids) {
            const auto found = *database.get({}, Names{id + "#0"});
            if (found[0]) out.push_back(id + ": " + found[0]->content);
        }
        EXPECT_EQ(out.size(), *database.count({}));
        return out;
    }

    braid::testing::TemporaryFolder folder;
    Database database;
    Names ids{"README.md",        "p1/README.md",   "p2/README.md", "a/docs/README.md",
              "b/docs/README.md", "docs/README.md", "sub/a.txt",    "a.txt"};
};

TEST_F(DocumentIds, TwoFoldersWithAFileOfTheSameNameKeepBoth) {
    folder.write("p1/README.md", "one");
    folder.write("p2/README.md", "two");
    const DirectoryReport first = ingest({at("p1"), at("p2")});
    EXPECT_EQ(first.written, 2U);
    EXPECT_EQ(first.renamed, Names{"p2/README.md"});
    ASSERT_EQ(first.warnings.size(), 1U);
    EXPECT_NE(first.warnings[0].find("p2/README.md"), std::string::npos) << first.warnings[0];
    EXPECT_EQ(stored(), (Names{"README.md: one", "p2/README.md: two"}));

    // Whichever way they are named later, in whichever order, they are recognised.
    for (const auto& roots : std::vector<std::vector<fs::path>>{
             {at("p2"), at("p1")}, {at("p2")}, {at("p2/README.md")}, {at("p1/../p2/")}}) {
        const DirectoryReport again = ingest(roots);
        EXPECT_EQ(again.unchanged, roots.size());
        EXPECT_TRUE(again.warnings.empty());
    }
    folder.write("p2/README.md", "two, changed");
    ingest({at("p2")});
    EXPECT_EQ(stored(), (Names{"README.md: one", "p2/README.md: two, changed"}));
}

TEST_F(DocumentIds, ALaterFolderOverwritesNothing) {
    folder.write("p1/README.md", "one");
    folder.write("p2/README.md", "two");
    ingest({at("p1")});
    ingest({at("p2")});
    EXPECT_EQ(stored(), (Names{"README.md: one", "p2/README.md: two"}));
}

TEST_F(DocumentIds, FoldersOfTheSameNameTakeTheNamesAboveThem) {
    folder.write("a/docs/README.md", "of a");
    folder.write("b/docs/README.md", "of b");
    folder.write("docs/README.md", "of docs");
    ids.push_back(folder.path().filename().string() + "/docs/README.md");
    ingest({at("a/docs"), at("b/docs"), at("docs")});
    EXPECT_EQ(stored(),
              (Names{"README.md: of a", "docs/README.md: of b", ids.back() + ": of docs"}));
    EXPECT_EQ(ingest({at("docs"), at("a/docs"), at("b/docs")}).unchanged, 3U);
}

TEST_F(DocumentIds, AFolderWithinAFolderIsNotStoredTwice) {
    folder.write("notes/sub/a.txt", "text");
    ingest({at("notes")});
    EXPECT_EQ(ingest({at("notes/sub")}).unchanged, 1U);
    // Nor read twice.
    const DirectoryReport report = ingest({at("notes"), at("notes/sub"), at("notes/sub/a.txt")});
    EXPECT_EQ(report.files, 1U);
    EXPECT_EQ(report.unchanged, 1U);
    EXPECT_EQ(stored(), Names{"sub/a.txt: text"});
    // A link to the folder is the folder.
    fs::create_directory_symlink(at("notes"), at("link"));
    EXPECT_EQ(ingest({at("link")}).unchanged, 1U);
}

TEST_F(DocumentIds, WhatAnEarlierVersionStoredIsRecognised) {
    folder.write("p1/README.md", "one");
    folder.write("p2/README.md", "two");
    ingest({at("p1")});
    const auto forget_the_file = [&] {
        MetadataUpdate update;
        update.chunk_id = "README.md#0";
        update.metadata.set(kSourceKey, Value());
        ASSERT_TRUE(database.update("default", {update}));
    };
    forget_the_file();
    // Unchanged: nothing is doubled, and from now on it is known whose it is.
    EXPECT_EQ(ingest({at("p1")}).unchanged, 1U);
    ingest({at("p2")});
    EXPECT_EQ(stored(), (Names{"README.md: one", "p2/README.md: two"}));

    // Changed: replaced, and said.
    forget_the_file();
    folder.write("p1/README.md", "one, changed");
    const DirectoryReport report = ingest({at("p1")});
    ASSERT_EQ(report.warnings.size(), 1U);
    EXPECT_NE(report.warnings[0].find("earlier version"), std::string::npos) << report.warnings[0];
    EXPECT_EQ(stored(), (Names{"README.md: one, changed", "p2/README.md: two"}));
}

TEST_F(DocumentIds, ChunksThatCameFromNoFileAreLeftAlone) {
    Chunk mine;
    mine.chunk_id = "README.md#0";
    mine.content = "by hand";
    ASSERT_TRUE(database.add("default", {mine}));
    folder.write("p1/README.md", "one");
    ingest({at("p1")});
    EXPECT_EQ(stored(), (Names{"README.md: by hand", "p1/README.md: one"}));

    // Nor those of a document of that name, whatever ids they have.
    Chunk other;
    other.chunk_id = "by-hand";
    other.document_id = "a.txt";
    other.content = "by hand";
    ASSERT_TRUE(database.add("default", {other}));
    folder.write("p1/a.txt", "two");
    EXPECT_EQ(ingest({at("p1")}).renamed, Names{"p1/a.txt"});
    EXPECT_EQ(*database.count({}), 4U);
}

TEST_F(DocumentIds, ReplaceTakesThePlacesOfAFolderThatWasMoved) {
    folder.write("p1/README.md", "one");
    folder.write("p1/a.txt", "text");
    ingest({at("p1")});
    fs::rename(at("p1"), at("p2"));
    folder.write("p2/a.txt", "text, changed");
    const DirectoryReport report = ingest({at("p2")}, true);
    EXPECT_EQ(report.unchanged, 1U);
    EXPECT_EQ(report.written, 1U);
    EXPECT_EQ(stored(), (Names{"README.md: one", "a.txt: text, changed"}));
    EXPECT_EQ(ingest({at("p2")}).unchanged, 2U);
    // Not of files of the same run.
    folder.write("p1/README.md", "another");
    ingest({at("p1"), at("p2")}, true);
    EXPECT_EQ(stored().size(), 3U);
}

TEST_F(DocumentIds, EveryEndOfThePathIsAnIdTheShortestFirst) {
    const FileIds file = file_ids("/srv/ada/notes/sub/a.md", "sub/a.md");
    EXPECT_EQ(file.ids, (Names{"a.md", "sub/a.md", "notes/sub/a.md", "ada/notes/sub/a.md",
                               "srv/ada/notes/sub/a.md"}));
    EXPECT_EQ(file.preferred, 1U);
    EXPECT_EQ(file.key, file_ids("/srv/ada/notes/sub/a.md", "a.md").key);
    EXPECT_NE(file.key, file_ids("/srv/bob/notes/sub/a.md", "sub/a.md").key);
    EXPECT_EQ(file_ids("/target.md", "link.md").ids, (Names{"link.md", "target.md"}));
    const std::string deep = "/" + std::string(300, 'x') + "/" + std::string(300, 'y');
    EXPECT_EQ(file_ids(deep, std::string(300, 'y')).ids.size(), 1U);
}

}  // namespace
}  // namespace braid::ingest
