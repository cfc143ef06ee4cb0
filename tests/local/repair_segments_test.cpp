// What checks and repairs say of a collection whose chunks lie in segments.
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/local/backend.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/log_format.hpp"
#include "braid/store/section_file_format.hpp"
#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

using FileBytes = std::vector<std::byte>;

local::LocalOptions kept_in_the_log() {
    local::LocalOptions options;
    options.flush_on_close_rows = 1000;
    options.compaction.background = false;
    return options;
}

/// "c" with a, b, c and d in a segment, of which d is deleted there.
struct Flushed {
    Flushed() {
        local::LocalOptions at_once = kept_in_the_log();
        at_once.flush_on_close_rows = 1;
        {
            const auto backend = database.open(at_once);
            must(backend->create_collection("c", words_schema()));
            for (const char* id : {"a", "b", "c", "d"}) {
                must(backend->upsert("c", "default", {make_chunk(id, "first")}, {}));
            }
        }
        const auto backend = database.open(at_once);
        must(backend->remove(scope_of("c"), by_ids({"d"}), {}));
    }

    /// Does something, and leaves it in the log.
    void write(const std::function<void(Backend&)>& change) const {
        change(*database.open(kept_in_the_log()));
    }
    std::string file(const std::string& beginning) const {
        for (const auto& entry : must(database.collection("c")->list())) {
            const bool marks = entry.name.ends_with("-durable");
            if (entry.name.starts_with(beginning) && !marks) return entry.name;
        }
        ADD_FAILURE() << "no " << beginning;
        return {};
    }
    FileBytes read(const std::string& name) const {
        return DatabaseInMemory::read(*database.collection("c"), name);
    }
    RepairReport repaired() const { return must(local::repair_database(*database.home())); }
    std::uint64_t superseded() const {
        const CheckReport report = must(database.open({.read_only = true})->check({}));
        EXPECT_EQ(report.problems, std::vector<std::string>());
        return report.superseded;
    }

    DatabaseInMemory database;
};

TEST(CheckOfSegments, CountsTheOldTextOfAChunkThatTheLogReplaces) {
    const Flushed it;
    const std::uint64_t before = it.superseded();
    it.write([](Backend& backend) {
        must(backend.upsert("c", "default", {make_chunk("a", "second")}, {}));
    });
    EXPECT_EQ(it.superseded(), before + 1);
    it.write([](Backend& backend) {
        must(backend.upsert("c", "default", {make_chunk("new", "second")}, {}));
    });
    EXPECT_EQ(it.superseded(), before + 1) << "nothing else is replaced";
    it.write([](Backend& backend) { must(must(backend.compaction("c"))->finish()); });
    EXPECT_EQ(it.superseded(), 0U);
}

/// The header of a file of segments or deletes, as a later version might write it.
FileBytes of_a_later_version(FileBytes bytes) {
    auto header = must(store::decode_section_header(
        std::span(bytes).first(store::kSectionFileHeaderBytes), "a file"));
    header.version = store::kSectionFileVersion + 1;
    const auto later = store::encode_section_header(header);
    std::memcpy(bytes.data(), later.data(), later.size());
    return bytes;
}

FileBytes log_of_a_later_version(FileBytes bytes) {
    constexpr std::size_t version_at = 8;
    bytes.at(version_at) = std::byte{0x7F};
    const std::size_t checked = store::kLogHeaderBytes - sizeof(std::uint64_t);
    const std::uint64_t sum = store::checksum(std::span(bytes).first(checked));
    std::memcpy(bytes.data() + checked, &sum, sizeof sum);
    return bytes;
}

TEST(RepairOfSegments, FilesOfALaterVersionAreLeftAlone) {
    for (const std::string kind : {"segment-", "deletes-", "log-"}) {
        SCOPED_TRACE(kind);
        const Flushed it;
        it.write([](Backend& backend) {
            must(backend.upsert("c", "default", {make_chunk("e", "first")}, {}));
        });
        const std::string name = it.file(kind);
        const FileBytes later = kind == "log-" ? log_of_a_later_version(it.read(name))
                                               : of_a_later_version(it.read(name));
        must(it.database.collection("c")->replace(name, later));
        const auto manifest = it.read("manifest");
        const RepairReport report = it.repaired();
        EXPECT_TRUE(report.repaired.empty());
        ASSERT_EQ(report.unrepairable.size(), 1U);
        EXPECT_NE(report.unrepairable.front().find("newer"), std::string::npos)
            << report.unrepairable.front();
        EXPECT_EQ(it.read(name), later);
        EXPECT_EQ(it.read("manifest"), manifest);
    }
}

TEST(RepairOfSegments, SaysHowManyAcknowledgedWritesALostLogHeld) {
    const Flushed it;
    it.write([](Backend& backend) {
        must(backend.upsert("c", "default", {make_chunk("a", "second")}, {}));
        must(backend.remove(scope_of("c"), by_ids({"b"}), {}));
    });
    must(it.database.collection("c")->remove(it.file("log-")));
    const RepairReport report = it.repaired();
    ASSERT_EQ(report.repaired.size(), 1U);
    std::string lost;
    for (const std::string& line : report.repaired.front().lost) lost += line + "\n";
    EXPECT_NE(lost.find("2 acknowledged writes are lost"), std::string::npos) << lost;
    EXPECT_EQ(ids_in(*it.database.open(), "c"), (Ids{"a", "b", "c"}));
}

}  // namespace
}  // namespace braid::testing
