// Bytes put in, taken out, flipped and cut off anywhere in a closed database: what was acknowledged
// is there, or the loss is reported.

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/local/manifest.hpp"
#include "core/share.hpp"
#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

using FileBytes = std::vector<std::byte>;
using Files = std::map<std::string, FileBytes>;

constexpr const char* kLogFile = "log-000001";
constexpr const char* kMarkFile = "log-000001-durable";

/// Written in several sessions, in records of one chunk and more, and closed.
struct AcknowledgedDatabase {
    explicit AcknowledgedDatabase(std::mt19937_64& rng) {
        const DatabaseInMemory database;
        must(database.open()->create_collection("c", words_schema()));
        for (int session = 0; session < 3; ++session) {
            const auto backend = database.open();
            for (int record = 0; record < 4; ++record) {
                std::vector<Chunk> batch;
                for (std::uint64_t i = 0; i <= rng() % 4; ++i) {
                    ids.push_back("chunk-" + std::to_string(1000 + ids.size()));
                    batch.push_back(make_chunk(ids.back(), std::string(rng() % 200, 'w')));
                }
                must(backend->upsert("c", "default", std::move(batch), {}));
            }
        }
        for (const auto& entry : must(database.collection("c")->list())) {
            files[entry.name] = DatabaseInMemory::read(*database.collection("c"), entry.name);
        }
    }

    Ids ids;
    Files files;
};

/// As a version without marks has left them.
void forget_the_mark(Files& files) {
    files.erase(kMarkFile);
    local::Manifest manifest = must(local::read_manifest(files.at("manifest"), "manifest"));
    manifest.format = local::kReplacingFormat;
    files.at("manifest") = local::write_manifest(manifest);
}

/// One change to a file, at a random place.
std::string change(std::mt19937_64& rng, FileBytes& file) {
    const std::size_t at = file.empty() ? 0 : rng() % file.size();
    const auto here = file.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t count = 1 + (rng() % 3 == 0 ? rng() % 400 : rng() % 3);
    const std::string place = " at " + std::to_string(at);
    switch (rng() % 4) {
        case 0: {
            FileBytes extra(count);
            for (std::byte& byte : extra) byte = static_cast<std::byte>(rng());
            file.insert(here, extra.begin(), extra.end());
            return std::to_string(count) + " bytes put in" + place;
        }
        case 1:
            file.erase(here,
                       here + std::min(static_cast<std::ptrdiff_t>(count), file.end() - here));
            return std::to_string(count) + " bytes taken out" + place;
        case 2:
            if (!file.empty()) *here ^= static_cast<std::byte>(1U << (rng() % 8));
            return "a bit flipped" + place;
        default:
            file.resize(at);
            return "cut" + place;
    }
}

void put(const DatabaseInMemory& database, const Files& files) {
    for (const auto& [name, bytes] : files) must(database.collection("c")->create(name, bytes));
}

struct Seen {
    Ids ids;
    bool problem = false;  // `check` finds damage
    bool note = false;     // opening it said something
};

Seen look(const DatabaseInMemory& database, const local::LocalOptions& options) {
    const auto opened = must(database.try_open(options));
    const CheckReport report = must(opened.backend->check({}));
    Seen seen{{}, !report.clean(), false};
    for (const std::string& note : opened.notes) {
        // Which says nothing of what was lost.
        seen.note |= note.find("does not record its length") == std::string::npos;
    }
    for (const CollectionInfo& info : must(opened.backend->collections({}))) {
        if (info.damage.empty()) seen.ids = ids_in(*opened.backend, info.name);
    }
    return seen;
}

/// Bytes of the log that are gone must stand in a file of their own.
void expect_nothing_thrown_away(const DatabaseInMemory& database, const FileBytes& before) {
    const auto folder = database.collection("c");
    const FileBytes log = DatabaseInMemory::read(*folder, kLogFile);
    ASSERT_LE(log.size(), before.size());
    FileBytes whole = log;
    for (const auto& entry : must(folder->list())) {
        if (!entry.name.starts_with("cut-")) continue;
        const FileBytes kept = DatabaseInMemory::read(*folder, entry.name);
        whole.insert(whole.end(), kept.begin(), kept.end());
    }
    EXPECT_EQ(whole, before);
}

void expect_no_silent_loss(const Ids& acknowledged, const Files& files, bool with_mark) {
    for (const bool read_only : {true, false}) {
        const DatabaseInMemory database;
        put(database, files);
        const Seen seen = look(database, {.read_only = read_only});
        if (seen.ids != acknowledged) {
            EXPECT_TRUE(seen.problem || (!with_mark && seen.note)) << "a silent loss";
        }
        expect_nothing_thrown_away(database, files.at(kLogFile));
    }
    const DatabaseInMemory database;
    put(database, files);
    const RepairReport report = must(local::repair_database(*database.home()));
    if (!report.unrepairable.empty()) return;
    const Seen mended = look(database, {.read_only = true});
    EXPECT_FALSE(mended.problem);
    if (mended.ids != acknowledged) {
        EXPECT_TRUE(!report.repaired.empty() || (!with_mark && mended.note));
        for (const auto& one : report.repaired) EXPECT_FALSE(one.lost.empty());
    }
}

TEST(RandomDamage, NeverLosesAcknowledgedChunksWithoutAReport) {
    const std::uint64_t rounds = share_of(3000);
    for (std::uint64_t seed = 0; seed < rounds; ++seed) {
        std::mt19937_64 rng(seed);
        const AcknowledgedDatabase database(rng);
        Files files = database.files;
        const bool with_mark = rng() % 5 != 0;  // without: as an older version left it
        const bool removed = with_mark && rng() % 5 == 0;
        if (!with_mark) forget_the_mark(files);
        if (removed) files.erase(kMarkFile);
        std::string hurt = kLogFile;
        if (rng() % 10 == 0) hurt = "manifest";
        if (with_mark && !removed && rng() % 10 == 0) hurt = kMarkFile;
        const std::string what = change(rng, files.at(hurt));
        SCOPED_TRACE(::testing::Message() << "seed " << seed << ": " << what << " of " << hurt
                                          << (with_mark ? "" : ", without a mark")
                                          << (removed ? ", the mark removed" : ""));
        expect_no_silent_loss(database.ids, files, with_mark);
        if (::testing::Test::HasFailure()) return;
    }
}

TEST(MissingByte, IsDamageAndARepairSavesAllRecordsButItsOwn) {
    std::mt19937_64 rng(1);
    const AcknowledgedDatabase acknowledged(rng);
    for (const bool with_mark : {true, false}) {
        Files files = acknowledged.files;
        FileBytes& log = files.at(kLogFile);
        log.erase(log.begin() + 60);
        if (!with_mark) forget_the_mark(files);
        const DatabaseInMemory database;
        put(database, files);
        const CheckReport check =
            must(must(database.try_open({.read_only = true})).backend->check({}));
        ASSERT_EQ(check.problems.size(), 1U);
        EXPECT_NE(check.problems.front().find("record 1 is lost"), std::string::npos)
            << check.problems.front();
        expect_error(must(database.try_open()).backend->describe("c", {}), ErrorCode::Corruption);
        const RepairReport report = must(local::repair_database(*database.home()));
        ASSERT_EQ(report.repaired.size(), 1U);
        EXPECT_EQ(report.repaired.front().records, 11U) << "of twelve";
        EXPECT_EQ(DatabaseInMemory::read(*database.collection("c"), "damaged-log-000001"), log);
        const Ids left = ids_in(*database.open(), "c");
        EXPECT_TRUE(std::ranges::includes(acknowledged.ids, left));
        EXPECT_GE(left.size() + 4, acknowledged.ids.size());
    }
}

TEST(TruncatedLog, AtARecordIsDamageAndSaysWhichAreLost) {
    std::mt19937_64 rng(2);
    const AcknowledgedDatabase acknowledged(rng);
    Files files = acknowledged.files;
    files.at(kLogFile).resize(40);  // only the header
    const DatabaseInMemory database;
    put(database, files);
    const CheckReport check = must(must(database.try_open({.read_only = true})).backend->check({}));
    ASSERT_EQ(check.problems.size(), 1U);
    EXPECT_NE(check.problems.front().find("records 1 to 12 are lost"), std::string::npos)
        << check.problems.front();
    expect_error(must(database.try_open()).backend->describe("c", {}), ErrorCode::Corruption);
}

TEST(MissingMark, IsDamageThatARepairMends) {
    std::mt19937_64 rng(3);
    const AcknowledgedDatabase acknowledged(rng);
    for (const bool damaged : {false, true}) {
        Files files = acknowledged.files;
        if (damaged) files.at(kMarkFile).assign(1, std::byte{0});
        if (!damaged) files.erase(kMarkFile);
        const DatabaseInMemory database;
        put(database, files);
        const auto opened = must(database.try_open());
        expect_error(opened.backend->describe("c", {}), ErrorCode::Corruption,
                     "log-000001-durable, which records the log's length, is missing or damaged");
        const CheckReport check = must(opened.backend->check({}));
        ASSERT_EQ(check.problems.size(), 1U);
        EXPECT_NE(check.problems.front().find("records may be missing"), std::string::npos);
    }
    Files files = acknowledged.files;
    files.erase(kMarkFile);
    const DatabaseInMemory database;
    put(database, files);
    ASSERT_EQ(must(local::repair_database(*database.home())).repaired.size(), 1U);
    const auto backend = database.open();
    EXPECT_TRUE(must(backend->check({})).clean());
    EXPECT_EQ(ids_in(*backend, "c"), acknowledged.ids);
}

TEST(MissingMark, OfAnOlderVersionIsNoted) {
    std::mt19937_64 rng(4);
    const AcknowledgedDatabase acknowledged(rng);
    Files files = acknowledged.files;
    forget_the_mark(files);
    const DatabaseInMemory database;
    put(database, files);
    const auto opened = must(database.try_open({.read_only = true}));
    ASSERT_EQ(opened.notes.size(), 1U);
    EXPECT_NE(opened.notes.front().find("does not record its length"), std::string::npos);
    const CheckReport check = must(opened.backend->check({}));
    EXPECT_TRUE(check.clean());
    ASSERT_EQ(check.notes.size(), 1U);
    EXPECT_NE(check.notes.front().find("does not record its length"), std::string::npos);
    EXPECT_EQ(ids_in(*opened.backend, "c"), acknowledged.ids);
}

TEST(MissingMark, ThatWasRemovedUnderAWriterIsPutBackWhenItCloses) {
    const DatabaseInMemory database;
    {
        const auto backend = database.open();
        must(backend->create_collection("c", words_schema()));
        must(backend->upsert("c", "default", {make_chunk("a", "one")}, {}));
        must(database.collection("c")->remove(kMarkFile));
        EXPECT_FALSE(must(backend->check({})).clean());
        must(backend->upsert("c", "default", {make_chunk("b", "two")}, {}));
    }
    const auto backend = database.open();
    EXPECT_TRUE(must(backend->check({})).clean());
    EXPECT_EQ(ids_in(*backend, "c"), (Ids{"a", "b"}));
}

TEST(KilledWriter, LeavesAMarkThatCoversWhatItAcknowledged) {
    const DatabaseInMemory database;
    const auto backend = database.open();
    must(backend->create_collection("c", words_schema()));
    must(backend->upsert("c", "default", {make_chunk("only", "one batch")}, {}));
    // Its files while it runs, as a kill leaves them.
    Files files;
    for (const auto& entry : must(database.collection("c")->list())) {
        files[entry.name] = DatabaseInMemory::read(*database.collection("c"), entry.name);
    }
    files.at(kLogFile).back() ^= std::byte{1};
    const DatabaseInMemory left;
    put(left, files);
    expect_error(must(left.try_open()).backend->describe("c", {}), ErrorCode::Corruption,
                 "was on disk");
}

}  // namespace
}  // namespace braid::testing
