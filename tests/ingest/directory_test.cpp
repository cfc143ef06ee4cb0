#include "braid/ingest/directory.hpp"

#include <atomic>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "braid/ingest/new_source.hpp"
#include "core/present.hpp"
#include "core/temporary_folder.hpp"

namespace braid::ingest {
namespace {

namespace fs = std::filesystem;

/// Somebody stops the run while it embeds.
class Interrupted final : public Embedder {
public:
    explicit Interrupted(std::stop_source& stop) : stop_(stop) {}
    const EmbedderFingerprint& fingerprint() const override { return fingerprint_; }
    Result<std::vector<Embedding>> embed(std::span<const std::string_view> texts, TextRole /*role*/,
                                         const CallLimits& limits) const override {
        if (!at_work) {  // while the collection is created
            std::vector<Embedding> embeddings(texts.size());
            for (Embedding& one : embeddings) one.vector = {1, 0, 0, 0};
            return embeddings;
        }
        stop_.request_stop();
        if (limits.stopped()) return fail(ErrorCode::Cancelled, "stopped");
        return fail(ErrorCode::Unavailable, "not stopped");
    }
    std::size_t count_tokens(std::string_view text) const override { return text.size(); }

    static inline std::atomic<bool> at_work = false;

private:
    std::stop_source& stop_;
    EmbedderFingerprint fingerprint_{.model = "interrupted",
                                     .model_hash = "interrupted",
                                     .dimension = 4,
                                     .pooling = "none",
                                     .query_prefix = {},
                                     .passage_prefix = {},
                                     .token_limit = 256,
                                     .runtime = "none",
                                     .cpu_level = "any"};
};

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
    write("bad.txt", std::string(100, 'x'));
    write("empty.md", "");
    write("good.md", "fine");
    DirectoryOptions options;
    options.max_file_bytes = 50;
    const DirectoryReport report = ingest(options);
    EXPECT_EQ(report.written, 1U);
    ASSERT_EQ(report.failed.size(), 1U);
    EXPECT_NE(report.failed[0].find("bad.txt"), std::string::npos);
    EXPECT_NE(report.failed[0].find("100 bytes"), std::string::npos) << report.failed[0];
    options.strict = true;
    EXPECT_FALSE(ingest_directory(database, {root}, options));
}

TEST_F(IngestDirectory, BadLinesAreNamedAndDoNotStopTheOthers) {
    write("a.jsonl", "{\"text\": \"one\"}\nnot json\n{\"text\": \"two\"}\n");
    DirectoryOptions options;
    options.strict = true;
    const auto strict = ingest_directory(database, {root}, options);
    ASSERT_FALSE(strict);
    EXPECT_NE(strict.error().message.find("line 2"), std::string::npos) << strict.error().message;
    EXPECT_EQ(count(), 0U);
    const DirectoryReport first = ingest();
    EXPECT_EQ(first.failed_lines, 1U);
    EXPECT_EQ(first.outcomes.at(0).failed_lines, 1U);
    ASSERT_EQ(first.warnings.size(), 1U);
    EXPECT_NE(first.warnings[0].find("a.jsonl:2: "), std::string::npos) << first.warnings[0];
    EXPECT_GT(count(), 0U);
    // Of a file that is not read again it is still known.
    const DirectoryReport again = ingest();
    EXPECT_EQ(again.unchanged, 1U);
    EXPECT_EQ(again.failed_lines, 1U);
    ASSERT_EQ(again.warnings.size(), 1U);
    EXPECT_NE(again.warnings[0].find("1 line could not be read"), std::string::npos);
    write("a.jsonl", "{\"text\": \"one\"}\n");
    EXPECT_EQ(ingest().failed_lines, 0U);
    EXPECT_EQ(ingest().failed_lines, 0U);
}

TEST_F(IngestDirectory, ANewSourceWithoutTextIsSkipped) {
    const auto put = [&](const std::string& name, const std::string& bytes) {
        return ingest_source(
            database,
            {.document_id = {}, .name = name, .bytes = bytes, .title = {}, .metadata = {}}, {});
    };
    ASSERT_TRUE(put("a.md", "Words."));
    EXPECT_EQ(count(), 1U);
    for (const auto& [bytes, reason] : {std::pair<std::string, std::string>{"", "empty"},
                                        {"---\ntags: x\n---\n", "without text"}}) {
        const auto report = put("a.md", bytes);
        ASSERT_TRUE(report) << report.error().message;
        EXPECT_EQ(report->written, 0U);
        EXPECT_EQ(report->outcomes.at(0).state, FileState::Skipped);
        EXPECT_EQ(report->outcomes.at(0).reason, reason);
    }
    EXPECT_EQ(count(), 0U);
    EXPECT_TRUE(put("a.pdf", ""));
}

TEST_F(IngestDirectory, SaysWhatBecameOfEveryFile) {
    write("a.md", "text");
    write("empty.md", "");
    write("blank.md", "  \n");
    write("picture.png", "\x89PNG");
    write("program", std::string("\x7F"
                                 "ELF\0\1",
                                 6));
    write(".hidden", "no");
    write("binary.md", std::string(500, '\0') + "text");
    write("binary.txt", std::string(500, '\1') + std::string(500, '\0'));
    const DirectoryReport report = ingest();
    EXPECT_EQ(report.outcomes.size(), 8U);
    EXPECT_TRUE(report.failed.empty());
    EXPECT_EQ(skipped_by_reason(report.outcomes),
              "1 empty, 1 hidden, 1 not text (.md), 1 not text (.txt), 1 of an unsupported format, "
              "1 unsupported (.png), 1 without text");
    EXPECT_EQ(count_of_state(report.outcomes, FileState::Stored), 1U);

    // Named itself, it is an error that says what is supported.
    const auto named = ingest_directory(database, {root / "picture.png"}, {});
    ASSERT_TRUE(named);
    ASSERT_EQ(named->failed.size(), 1U);
    EXPECT_NE(named->failed[0].find("Markdown"), std::string::npos) << named->failed[0];
}

TEST_F(IngestDirectory, ChunksKnowWhereTheyCameFrom) {
    write("sub/a.md",
          "---\ntitle: T\ndate: 2024-05-01\ntags: [x, \"y z\"]\nauthor: Ada\n---\n"
          "\nOne.\n\n## Part\n\nTwo\nlines.\n");
    ingest();
    const Chunk chunk = present((*database.get({}, std::vector<std::string>{"sub/a.md#1"}))[0]);
    const std::string place = fs::canonical(root).generic_string();
    EXPECT_EQ(chunk.title, "T");
    EXPECT_TRUE(chunk.created_at);
    EXPECT_EQ(*chunk.metadata.find("source"), Value(place + "/sub/a.md"));
    EXPECT_EQ(*chunk.metadata.find("source_root"), Value(place));
    EXPECT_EQ(*chunk.metadata.find("source_path"), Value("sub/a.md"));
    EXPECT_EQ(*chunk.metadata.find("source_line"), Value(12));
    EXPECT_EQ(*chunk.metadata.find("source_end_line"), Value(13));
    EXPECT_EQ(*chunk.metadata.find("source_format"), Value("markdown"));
    EXPECT_EQ(*chunk.metadata.find("author"), Value("Ada"));
    EXPECT_EQ(*chunk.metadata.find("tags"), Value(Array{"x", "y z"}));
}

TEST_F(IngestDirectory, WhatIsGoneIsSaidAndPrunedIfAsked) {
    write("a.md", "one");
    write("b.md", "two");
    ingest();
    fs::remove(root / "b.md");
    DirectoryReport report = ingest();
    EXPECT_EQ(report.gone, std::vector<std::string>{"b.md"});
    ASSERT_EQ(report.warnings.size(), 1U);
    EXPECT_NE(report.warnings[0].find("--prune"), std::string::npos);
    EXPECT_EQ(count(), 2U);
    DirectoryOptions options;
    options.prune = true;
    options.dry_run = true;
    EXPECT_EQ(ingest(options).gone.size(), 1U);
    EXPECT_EQ(count(), 2U);
    options.dry_run = false;
    report = ingest(options);
    EXPECT_EQ(report.removed, 1U);
    EXPECT_TRUE(report.warnings.empty());
    EXPECT_EQ(count(), 1U);

    // What a pattern leaves out is not gone, nor what cannot be read at the moment.
    write("c.md", "three");
    ingest();
    options.walk.include = {"a.md"};
    EXPECT_TRUE(ingest(options).gone.empty());
    options.walk = {};
    options.max_file_bytes = 4;
    EXPECT_TRUE(ingest(options).gone.empty());
    EXPECT_EQ(count(), 2U);
}

TEST_F(IngestDirectory, WhatIsGoneFromAFolderBelowIsSaid) {
    write("a/one.md", "# One\n\nText.\n");
    write("a/.kept/two.md", "# Two\n\nText.\n");
    write("ab/three.md", "# Three\n\nText.\n");
    for (const char* const below : {"a", "a/.kept", "ab"}) {
        ASSERT_TRUE(ingest_directory(database, {root / below}, {}));
    }
    DirectoryOptions options;
    options.prune = true;
    // The folder of hidden files is left out, but they are there.
    EXPECT_TRUE(ingest(options).gone.empty());
    fs::remove(root / "a/one.md");
    fs::remove(root / "a/.kept/two.md");
    fs::remove(root / "ab/three.md");
    const auto of_a = ingest_directory(database, {root / "a"}, options);
    ASSERT_TRUE(of_a);
    EXPECT_EQ(of_a->gone, (std::vector<std::string>{"one.md", "two.md"}));
    EXPECT_EQ(ingest(options).gone, std::vector<std::string>{"three.md"});
    EXPECT_EQ(count(), 0U);
}

TEST_F(IngestDirectory, ADryRunChangesNothing) {
    write("a.md", "one");
    DirectoryOptions options;
    options.dry_run = true;
    const DirectoryReport report = ingest(options);
    EXPECT_EQ(report.written, 1U);
    EXPECT_EQ(report.chunks, 1U);
    EXPECT_EQ(count(), 0U);
}

TEST_F(IngestDirectory, ManyFilesGoTogetherAndABadOneAlone) {
    for (int i = 0; i < 300; ++i) {
        write("f" + std::to_string(i) + ".md", "text of " + std::to_string(i));
    }
    ASSERT_TRUE(
        database.create_collection("typed", {.metadata = {{"year", MetadataType::Number}}}));
    write("f7.md", "---\nyear: never\n---\ntext");
    DirectoryOptions options;
    options.collection = "typed";
    const DirectoryReport report = ingest(options);
    EXPECT_EQ(report.written, 299U);
    ASSERT_EQ(report.failed.size(), 1U);
    EXPECT_NE(report.failed[0].find("f7.md"), std::string::npos);
    EXPECT_EQ(ingest(options).unchanged, 299U);
}

TEST_F(IngestDirectory, DocumentsAreKeptWholeBesideTheirChunks) {
    ASSERT_TRUE(database.create_collection("whole"));
    write("a.md", "# A\n\n## One\nfirst\n\n## Two\nsecond\n");
    write("b.md", "# B\n\nother\n");
    DirectoryOptions options;
    options.documents = "whole";
    EXPECT_EQ(ingest(options).chunks, 3U);
    const ReadScope whole{.collection = "whole"};
    EXPECT_EQ(*database.count(whole), 2U);
    const Chunk a = present((*database.get(whole, std::vector<std::string>{"a.md"}))[0]);
    EXPECT_EQ(a.document_id, "a.md");
    EXPECT_EQ(a.title, "A");
    EXPECT_NE(a.content.find("first"), std::string::npos);
    EXPECT_NE(a.content.find("second"), std::string::npos);
    EXPECT_EQ(ingest(options).unchanged, 2U);
    fs::remove(root / "a.md");
    options.prune = true;
    EXPECT_EQ(ingest(options).removed, 2U);
    EXPECT_EQ(*database.count(whole), 1U);
    EXPECT_EQ(count(), 1U);
}

TEST_F(IngestDirectory, TokensAreCounted) {
    write("a.md", "one two three\n");
    EXPECT_EQ(ingest().tokens, estimate_tokens("one two three"));
}

TEST_F(IngestDirectory, StopsWhileItEmbeds) {
    write("a.md", "# A\n\nText.\n");
    std::stop_source stop;
    OpenOptions open;
    open.embedders = [&](const VectorSpec&) -> Result<std::shared_ptr<const Embedder>> {
        return std::make_shared<const Interrupted>(stop);
    };
    auto other = *Database::in_memory(open);
    Schema schema;
    schema.vectors.embedder = "interrupted";
    const auto created = other.create_collection("default", schema);
    ASSERT_TRUE(created) << created.error().message;
    Interrupted::at_work = true;
    DirectoryOptions options;
    options.stop = stop.get_token();
    const auto report = ingest_directory(other, {root}, options);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::Cancelled);
    EXPECT_TRUE(report.error().message.starts_with("interrupted; what was written stays"))
        << report.error().message;
}

TEST_F(IngestDirectory, SaysWhenThereIsNoSuchPath) {
    const auto report = ingest_directory(database, {root / "nothing"}, {});
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace braid::ingest
