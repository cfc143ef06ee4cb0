#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/segment/segment_format.hpp"
#include "braid/store/memory_directory.hpp"
#include "braid/store/memory_sections.hpp"
#include "braid/store/nested_sections.hpp"

namespace braid::testing {
namespace {

using segment::SegmentMeta;

std::vector<std::byte> bytes_of(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

TEST(NestedSections, AreReadBackFromOneSection) {
    store::MemorySections file;
    must(file.begin("group"));
    store::NestedSink sink(file);
    must(sink.begin("b"));
    must(sink.write(bytes_of("second in order")));
    must(sink.begin("a"));
    must(sink.write(bytes_of("x")));
    expect_error(sink.begin("a"), ErrorCode::InvalidArgument);
    must(sink.begin("empty"));
    must(sink.finish());
    const auto source = must(store::NestedSource::open(must(file.section("group"))));
    const auto text = must(must(source.section("b")).bytes());
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(text.data()), text.size()),
              "second in order");
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(text.data()) % store::kSectionAlignment, 0U);
    EXPECT_EQ(must(source.section("empty")).size(), 0U);
    EXPECT_EQ(must(source.section("a")).name(), "a");
    expect_error(source.section("c"), ErrorCode::NotFound);
}

TEST(NestedSections, EveryTruncationAndFlippedBitOfTheListIsCorruption) {
    store::MemorySections file;
    must(file.begin("group"));
    store::NestedSink sink(file);
    must(sink.begin("a"));
    must(sink.write(bytes_of("content")));
    must(sink.finish());
    const auto whole = must(must(file.section("group")).bytes());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        expect_error(store::NestedSource::open(store::Section(whole.first(size), "cut")),
                     ErrorCode::Corruption);
    }
    for (std::size_t bit = 128 * 8; bit < whole.size() * 8; ++bit) {
        std::vector<std::byte> flipped(whole.begin(), whole.end());
        flipped[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        expect_error(store::NestedSource::open(store::Section(flipped, "flipped")),
                     ErrorCode::Corruption);
    }
}

TEST(SegmentMeta, IsReadBack) {
    SegmentMeta meta;
    meta.dimension = 384;
    meta.labels = {{0, {1, {}}}, {7, {3, {"blue", "red"}}}};
    meta.parts = {{"default", 100, 100}, {"other", 3, 0}};
    store::MemorySections file;
    must(segment::write_meta(meta, file));
    EXPECT_EQ(must(segment::read_meta(file)), meta);
    EXPECT_EQ(meta.rows(), 103U);
    const auto whole = must(must(file.section(segment::kMetaSection)).bytes());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        store::MemorySections cut;
        must(cut.begin(segment::kMetaSection));
        must(cut.write(whole.first(size)));
        expect_error(segment::read_meta(cut), ErrorCode::Corruption);
    }
}

/// A small store of two segments with deletes, in files that can be damaged.
class SmallStore : public ::testing::Test {
protected:
    SmallStore() {
        options_.flush_rows = 2;
        options_.flush_on_close_rows = 1;
        options_.compaction.background = false;
        const auto backend = open(*root_);
        must(backend->create_collection("c", vectors_schema(2)));
        must(put(*backend,
                 {make_chunk("a", "alpha all", {1, 0}), make_chunk("b", "beta all", {0, 1})}));
        compact(*backend);
        must(put(*backend,
                 {make_chunk("c", "gamma all", {1, 1}), make_chunk("d", "delta all", {1, 2})}));
        must(backend->remove(scope_of("c"), by_ids({"b"}), {}));
    }
    std::unique_ptr<Backend> open(store::Directory& root) const {
        return std::move(must(try_open(root)).backend);
    }
    Result<local::OpenedBackend> try_open(store::Directory& root) const {
        return local::open_local_backend(must(root.subdirectory("db")), options_);
    }
    static Result<WriteReport> put(Backend& backend, std::vector<Chunk> chunks) {
        return backend.upsert("c", "default", std::move(chunks), {});
    }
    static void compact(Backend& backend) {
        const auto work = must(backend.compaction("c"));
        must(work->finish());
    }
    std::unique_ptr<store::Directory> files(store::Directory& root) const {
        return must(
            must(must(root.subdirectory("db"))->subdirectory("collections"))->subdirectory("c"));
    }
    /// The same database with one file changed.
    std::unique_ptr<store::Directory> copy_with(const std::string& file,
                                                const std::vector<std::byte>& bytes) const {
        auto copy = store::make_memory_directory();
        const auto to = files(*copy);
        for (const auto& entry : must(files(*root_)->list())) {
            const auto content = must(files(*root_)->open(entry.name));
            must(to->create(entry.name, entry.name == file ? std::span<const std::byte>(bytes)
                                                           : content->bytes()));
        }
        return copy;
    }
    /// The right answer, or a clear error; never another answer.
    void expect_right_or_error(store::Directory& root) const {
        const auto opened = try_open(root);
        if (!opened) return;
        const Backend& backend = *opened->backend;
        const std::vector<std::string> names{"c"};
        const auto snapshot = backend.snapshot(names, {});
        if (!snapshot) return;
        const auto chunks = (*snapshot)->scan(scope_of("c"), "", 100, true);
        if (chunks) {
            EXPECT_EQ(ids_of(*chunks), (Ids{"a", "c", "d"}));
        }
        Leg words{.kind = LegKind::Sparse, .scope = scope_of("c"), .phrasings = {{"all"}}};
        if (const auto hits = (*snapshot)->search_leg(words)) {
            EXPECT_EQ(hits->hits.size(), 3U);
        }
        const auto near = (*snapshot)->search_leg(vector_leg(scope_of("c"), {1, 2}));
        if (near) {
            EXPECT_EQ(near->hits.size(), 3U);
            EXPECT_EQ(near->hits.front().chunk_id, "d");
        }
    }

    std::unique_ptr<store::Directory> root_ = store::make_memory_directory();
    local::LocalOptions options_;
};

TEST_F(SmallStore, EveryTruncationOfASegmentIsAnErrorOrTheRightAnswer) {
    for (const auto& entry : must(files(*root_)->list())) {
        if (!entry.name.starts_with("segment-") && !entry.name.starts_with("deletes-")) continue;
        const auto whole = must(files(*root_)->open(entry.name))->bytes();
        const std::vector<std::byte> bytes(whole.begin(), whole.end());
        for (std::size_t size = 0; size < bytes.size(); size += 61) {
            SCOPED_TRACE(entry.name + " cut to " + std::to_string(size));
            const auto copy = copy_with(
                entry.name, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
            expect_right_or_error(*copy);
        }
    }
}

TEST_F(SmallStore, FlippedBitsAreErrorsOrTheRightAnswerAndACheckFindsThem) {
    std::size_t found = 0;
    for (const auto& entry : must(files(*root_)->list())) {
        if (!entry.name.starts_with("segment-") && !entry.name.starts_with("deletes-")) continue;
        const auto whole = must(files(*root_)->open(entry.name))->bytes();
        const std::vector<std::byte> bytes(whole.begin(), whole.end());
        for (std::size_t bit = 3; bit < bytes.size() * 8; bit += 97) {
            SCOPED_TRACE(entry.name + " bit " + std::to_string(bit));
            auto flipped = bytes;
            flipped[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
            const auto copy = copy_with(entry.name, flipped);
            expect_right_or_error(*copy);
            const auto opened = try_open(*copy);
            ASSERT_TRUE(opened.has_value());
            EXPECT_FALSE(must(opened->backend->check({})).clean());
            ++found;
        }
    }
    EXPECT_GT(found, 100U);
}

TEST_F(SmallStore, ARepairSavesWhatCanBeRead) {
    for (const auto& entry : must(files(*root_)->list())) {
        if (!entry.name.starts_with("segment-")) continue;
        const auto whole = must(files(*root_)->open(entry.name))->bytes();
        std::vector<std::byte> bytes(whole.begin(), whole.end());
        bytes[bytes.size() / 2] ^= std::byte{1};
        const auto copy = copy_with(entry.name, bytes);
        const auto home = must(copy->subdirectory("db"));
        const RepairReport report = must(local::repair_database(*home));
        ASSERT_EQ(report.repaired.size(), 1U);
        EXPECT_FALSE(report.repaired.front().lost.empty());
        const auto backend = open(*copy);
        EXPECT_TRUE(must(backend->check({})).clean());
        must(put(*backend, {make_chunk("e", "all", {5, 5})}));
    }
}

}  // namespace
}  // namespace braid::testing
