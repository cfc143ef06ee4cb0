#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include "braid/store/append_log.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/durable_mark.hpp"
#include "braid/store/log_check.hpp"
#include "braid/store/log_format.hpp"
#include "braid/store/memory_directory.hpp"
#include "store/store_helpers.hpp"

namespace braid::store {
namespace {

using testing::Bytes;
using testing::is_prefix;
using testing::replay;
using testing::Replayed;
using testing::to_bytes;
using testing::why;

struct WrittenLog {
    std::vector<Bytes> records;
    std::vector<std::uint64_t> starts;  // offset of each record
    Bytes file;
};

WrittenLog write_log(const std::vector<Bytes>& records) {
    const auto directory = make_memory_directory();
    WrittenLog written{records, {}, {}};
    const auto opened = replay(*directory).opened;
    for (const Bytes& record : records) {
        written.starts.push_back(opened->log->size_bytes());
        EXPECT_TRUE(opened->log->append(record).has_value());
    }
    const auto view = directory->open("log").value();
    written.file.assign(view->bytes().begin(), view->bytes().end());
    return written;
}

std::unique_ptr<Directory> holding(const Bytes& file) {
    auto directory = make_memory_directory();
    EXPECT_TRUE(directory->create("log", file).has_value());
    return directory;
}

const std::vector<Bytes>& small_records() {
    static const std::vector<Bytes> kRecords = {
        to_bytes("alpha"), {}, to_bytes("b"), to_bytes("a longer record, number four")};
    return kRecords;
}

TEST(LogDamage, AnyFlippedBitIsFoundAndOnlyTheLastRecordCanBeCut) {
    const WrittenLog log = write_log(small_records());
    const std::vector<Bytes> all_but_last(log.records.begin(), log.records.end() - 1);
    for (std::size_t bit = 0; bit < log.file.size() * 8; ++bit) {
        SCOPED_TRACE(::testing::Message() << "byte " << bit / 8 << ", bit " << bit % 8);
        Bytes file = log.file;
        file[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        const auto directory = holding(file);
        const Replayed replayed = replay(*directory);
        if (bit / 8 < log.starts.back()) {
            ASSERT_FALSE(replayed.opened.has_value());
            ASSERT_EQ(replayed.opened.error().code, ErrorCode::Corruption);
            ASSERT_TRUE(is_prefix(replayed.records, log.records));
            ASSERT_EQ((*directory->open("log"))->bytes().size(), file.size()) << "nothing is cut";
        } else {
            ASSERT_TRUE(replayed.opened.has_value()) << why(replayed.opened);
            ASSERT_EQ(replayed.records, all_but_last);
            ASSERT_EQ(replayed.opened->report.cut_offset, log.starts.back());
        }
        const auto check = check_log(*holding(file), "log");
        ASSERT_TRUE(check.has_value()) << why(check);
        ASSERT_EQ(check->problem_count, 1U);
        ASSERT_EQ(check->problems[0].acknowledged, bit / 8 < log.starts.back());
    }
}

TEST(LogDamage, NamesFileOffsetAndWhatFollows) {
    const WrittenLog log = write_log(small_records());
    Bytes file = log.file;
    file[log.starts[0] + kRecordHeaderBytes] ^= std::byte{1};
    const auto opened = replay(*holding(file)).opened;
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().message,
              "log memory/log is damaged at offset 40: the payload of record 1 is damaged, but "
              "record 2 at offset 93 follows, which was written after that place was on disk");
}

TEST(LogDamage, ATruncatedFileIsAPrefixAndTheRestOfARecordIsCut) {
    const WrittenLog log = write_log(small_records());
    for (std::size_t size = 0; size <= log.file.size(); ++size) {
        SCOPED_TRACE(::testing::Message() << "size " << size);
        const Bytes file(log.file.begin(), log.file.begin() + static_cast<std::ptrdiff_t>(size));
        const auto directory = holding(file);
        const Replayed replayed = replay(*directory);
        ASSERT_TRUE(replayed.opened.has_value()) << why(replayed.opened);
        std::size_t whole = 0;
        while (whole < log.starts.size() &&
               log.starts[whole] + kRecordHeaderBytes + log.records[whole].size() <= size) {
            ++whole;
        }
        ASSERT_EQ(replayed.records.size(), whole);
        ASSERT_TRUE(is_prefix(replayed.records, log.records));
        ASSERT_EQ(replayed.opened->report.created, size < kLogHeaderBytes);
        ASSERT_TRUE(replayed.opened->log->append(to_bytes("next")).has_value());
        ASSERT_EQ(replay(*directory).records.size(), whole + 1);
    }
}

TEST(LogDamage, ZeroedStretchesAreFoundUnlessAtTheEnd) {
    const WrittenLog log = write_log(small_records());
    for (std::size_t begin = kLogHeaderBytes; begin < log.file.size(); begin += 3) {
        for (std::size_t end = begin + 1; end <= log.file.size(); end += 5) {
            SCOPED_TRACE(::testing::Message() << "zeros from " << begin << " to " << end);
            Bytes file = log.file;
            std::fill(file.begin() + static_cast<std::ptrdiff_t>(begin),
                      file.begin() + static_cast<std::ptrdiff_t>(end), std::byte{0});
            const Replayed replayed = replay(*holding(file));
            ASSERT_TRUE(is_prefix(replayed.records, log.records));
            const bool all_there = replayed.records == log.records;
            const bool reaches_last_header = end > log.starts.back();
            if (replayed.opened) {
                ASSERT_TRUE(all_there || reaches_last_header);
            } else {
                ASSERT_EQ(replayed.opened.error().code, ErrorCode::Corruption);
            }
        }
    }
}

TEST(LogDamage, AFileThatIsNoLogIsNotOverwritten) {
    std::mt19937_64 rng(5);
    for (const std::size_t size : {1U, 7U, 8U, 39U, 40U, 41U, 5000U}) {
        SCOPED_TRACE(::testing::Message() << size << " bytes");
        const Bytes file = testing::random_bytes(rng, size);
        const auto directory = holding(file);
        const auto opened = replay(*directory).opened;
        ASSERT_FALSE(opened.has_value());
        EXPECT_EQ(opened.error().code, ErrorCode::Corruption);
        EXPECT_TRUE(std::ranges::equal((*directory->open("log"))->bytes(), file));
    }
    // What a crash leaves of a log being created is taken for what it is.
    for (const std::size_t size : {0U, 1U, 39U, 40U}) {
        EXPECT_TRUE(replay(*holding(Bytes(size))).opened->report.created);
    }
    EXPECT_FALSE(replay(*holding(Bytes(41))).opened.has_value());
}

/// A record header for a hostile file, with a valid checksum.
void add_header(Bytes& file, RecordHeader header) {
    encode_record_header(file, header, file.size());
}

Bytes header_only(std::uint64_t log_id, std::uint64_t first_sequence = 1) {
    return encode_log_header({log_id, first_sequence});
}

TEST(LogDamage, HostileLengthsAllocateNothing) {
    Bytes file = header_only(9);
    add_header(file, {9, 0xFFFF'FFFF, 1, kLogHeaderBytes, 0});
    const auto opened = replay(*holding(file)).opened;
    ASSERT_TRUE(opened.has_value()) << why(opened);
    EXPECT_EQ(opened->report.cut_bytes, kRecordHeaderBytes);
}

TEST(LogDamage, ValidRecordsInImpossiblePlacesAreCorruption) {
    const std::uint64_t empty = checksum({});
    {
        Bytes file = header_only(9, 5);
        add_header(file, {9, 0, 6, kLogHeaderBytes, empty});  // 5 belongs here
        EXPECT_EQ(replay(*holding(file)).opened.error().code, ErrorCode::Corruption);
    }
    {
        Bytes file = header_only(9);
        add_header(file, {9, 0, 1, 1'000'000, empty});  // claims more than was written: no header
        EXPECT_TRUE(replay(*holding(file)).records.empty());
    }
    {
        Bytes file = header_only(9);
        add_header(file, {8, 0, 1, kLogHeaderBytes, empty});  // of another log
        EXPECT_TRUE(replay(*holding(file)).records.empty());
    }
}

// A document may hold a copy of a log. When the record with it is torn, the records inside must
// not witness that acknowledged data is damaged, or the log would not open again.
TEST(LogDamage, ACopyOfALogInATornRecordIsNoWitness) {
    const WrittenLog inner = write_log(small_records());
    WrittenLog outer = write_log({to_bytes("x"), inner.file, to_bytes("y")});
    outer.file.resize(outer.file.size() - kRecordHeaderBytes - 2);  // "y" gone, a byte of the copy
    const Replayed replayed = replay(*holding(outer.file));
    ASSERT_TRUE(replayed.opened.has_value()) << why(replayed.opened);
    EXPECT_EQ(replayed.records, std::vector<Bytes>{to_bytes("x")});

    // Also a copy of itself, which has the right identity but stands elsewhere.
    const auto directory = make_memory_directory();
    {
        const auto opened = replay(*directory).opened;
        for (const Bytes& record : small_records()) {
            ASSERT_TRUE(opened->log->append(record).has_value());
        }
        const auto view = directory->open("log").value();
        ASSERT_TRUE(opened->log->append(view->bytes()).has_value());
    }
    const auto view = directory->open("log").value();
    const Bytes torn(view->bytes().begin(), view->bytes().end() - 1);
    const Replayed again = replay(*holding(torn));
    ASSERT_TRUE(again.opened.has_value()) << why(again.opened);
    EXPECT_EQ(again.records, small_records());
}

// Two megabytes of headers that are valid or nearly so: a search that looked at the payload of
// each would take minutes.
TEST(LogDamage, SearchingBehindDamageIsLinear) {
    Bytes file = header_only(9);
    file.resize(kLogHeaderBytes + 1);  // damage: all that follows is off by one
    for (int i = 0; i < 40'000; ++i) {
        add_header(file, {9, 1'500'000, 1, kLogHeaderBytes, 0});
    }
    const Replayed replayed = replay(*holding(file));
    ASSERT_TRUE(replayed.opened.has_value()) << why(replayed.opened);
    EXPECT_EQ(replayed.opened->report.cut_offset, kLogHeaderBytes);

    const auto check = check_log(*holding(file), "log");
    ASSERT_TRUE(check.has_value()) << why(check);
    EXPECT_GT(check->problem_count, 1U);
    EXPECT_LE(check->problems.size(), 100U);

    Bytes magics = header_only(9);
    for (int i = 0; i < 1'000'000; ++i) magics.push_back(std::byte{0xD7});
    EXPECT_TRUE(replay(*holding(magics)).opened.has_value());
}

/// The file, and the mark of its length as closing the log leaves it.
std::unique_ptr<Directory> holding_closed(const WrittenLog& log, const Bytes& file) {
    auto directory = holding(file);
    const LogHeader header = decode_log_header(log.file, "log")->value();
    EXPECT_TRUE(directory
                    ->create(durable_mark_name("log"),
                             encode_durable_mark({.log_id = header.log_id,
                                                  .bytes = log.file.size(),
                                                  .next_sequence = log.records.size() + 1}))
                    .has_value());
    return directory;
}

TEST(LogDamage, OfAClosedLogIsFoundInEveryBitOfIt) {
    const WrittenLog log = write_log(small_records());
    for (std::size_t bit = 0; bit < log.file.size() * 8; ++bit) {
        SCOPED_TRACE(::testing::Message() << "byte " << bit / 8 << ", bit " << bit % 8);
        Bytes file = log.file;
        file[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        const auto directory = holding_closed(log, file);
        const auto check = check_log(*directory, "log");
        ASSERT_TRUE(check.has_value()) << why(check);
        ASSERT_EQ(check->problem_count, 1U);
        ASSERT_TRUE(check->problems[0].acknowledged);
        const auto opened = replay(*directory).opened;
        ASSERT_FALSE(opened.has_value());
        ASSERT_EQ(opened.error().code, ErrorCode::Corruption);
        ASSERT_TRUE(std::ranges::equal((*directory->open("log"))->bytes(), file));
    }
}

TEST(LogDamage, AClosedLogThatWasTruncatedAnywhereIsDamaged) {
    const WrittenLog log = write_log(small_records());
    AppendLogOptions must_exist;
    must_exist.must_exist = true;
    for (std::size_t size = 0; size < log.file.size(); ++size) {
        SCOPED_TRACE(::testing::Message() << "size " << size);
        const Bytes file(log.file.begin(), log.file.begin() + static_cast<std::ptrdiff_t>(size));
        const auto directory = holding_closed(log, file);
        const auto opened = replay(*directory, "log", must_exist).opened;
        ASSERT_FALSE(opened.has_value());
        ASSERT_EQ(opened.error().code, ErrorCode::Corruption);
        const auto check = check_log(*directory, "log");
        ASSERT_TRUE(check.has_value()) << why(check);
        if (size < kLogHeaderBytes) continue;  // the records are not even looked for
        ASSERT_GE(check->problem_count, 1U);
        std::uint64_t lost = 0;
        for (const LogProblem& problem : check->problems) lost += problem.lost;
        ASSERT_EQ(check->records + lost, log.records.size());
    }
}

// What no mark says, the records behind the damage say, wherever they stand by now.
TEST(LogDamage, MovedRecordsAreWitnessesAndAreSaved) {
    const WrittenLog log = write_log(small_records());
    std::mt19937_64 rng(3);
    for (std::size_t at = kLogHeaderBytes; at < log.starts.back(); ++at) {
        for (const std::size_t count : {1U, 9U, 70U}) {
            SCOPED_TRACE(::testing::Message() << count << " bytes at " << at);
            const auto here = static_cast<std::ptrdiff_t>(at);
            Bytes less = log.file;
            less.erase(less.begin() + here, less.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                               at + count, log.starts.back())));
            Bytes more = log.file;
            const Bytes extra = testing::random_bytes(rng, count);
            more.insert(more.begin() + here, extra.begin(), extra.end());
            for (const Bytes& file : {less, more}) {
                const auto directory = holding(file);
                ASSERT_EQ(replay(*directory).opened.error().code, ErrorCode::Corruption);
                std::vector<std::uint64_t> sequences;
                const auto check = salvage_log(
                    *directory, "log",
                    [&](std::uint64_t sequence, std::span<const std::byte> payload) -> Result<> {
                        EXPECT_TRUE(std::ranges::equal(payload, log.records[sequence - 1]));
                        sequences.push_back(sequence);
                        return {};
                    });
                ASSERT_TRUE(check.has_value()) << why(check);
                ASSERT_EQ(sequences.back(), log.records.size()) << "the last one is not hurt";
                ASSERT_TRUE(std::ranges::is_sorted(sequences));
                std::uint64_t lost = 0;
                for (const LogProblem& problem : check->problems) lost += problem.lost;
                ASSERT_EQ(sequences.size() + lost, log.records.size());
            }
        }
    }
}

TEST(LogDamage, AMarkThatIsDamagedOrOfAnotherLogIsNoReasonToRefuse) {
    const WrittenLog log = write_log(small_records());
    const auto directory = holding_closed(log, log.file);
    const auto view = directory->open("log-durable").value();
    const Bytes mark(view->bytes().begin(), view->bytes().end());
    for (std::size_t at = 0; at <= mark.size(); ++at) {
        Bytes cut(mark.begin(), mark.begin() + static_cast<std::ptrdiff_t>(at));
        ASSERT_TRUE(directory->replace("log-durable", cut).has_value());
        ASSERT_EQ(replay(*directory).records, log.records);
    }
    const LogHeader header = decode_log_header(log.file, "log")->value();
    ASSERT_TRUE(directory
                    ->replace("log-durable", encode_durable_mark({.log_id = header.log_id + 1,
                                                                  .bytes = 1'000'000,
                                                                  .next_sequence = 1000}))
                    .has_value());
    EXPECT_EQ(replay(*directory).records, log.records);
    EXPECT_EQ(read_durable_mark(*directory, "log")->bytes, log.file.size()) << "it is set right";
}

TEST(DurableMark, GrowsWithTheLogAndStaysSmall) {
    const auto directory = make_memory_directory();
    const auto opened = replay(*directory).opened;
    std::size_t longest = 0;
    for (int i = 0; i < 5000; ++i) {
        ASSERT_TRUE(opened->log->append(to_bytes("x")).has_value());
        const auto mark = read_durable_mark(*directory, "log");
        ASSERT_TRUE(mark.has_value());
        ASSERT_EQ(mark->bytes, opened->log->size_bytes());
        ASSERT_EQ(mark->next_sequence, opened->log->next_sequence());
        longest = std::max(longest, (*directory->open("log-durable"))->bytes().size());
    }
    EXPECT_LE(longest, 100'000U);
    EXPECT_GT(longest, 10'000U) << "most of them cost no sync";
}

// The bytes as they were on the day the format was fixed.
TEST(DurableMark, HasNotChanged) {
    const Bytes mark =
        encode_durable_mark({.log_id = 0x0123456789ABCDEF, .bytes = 93, .next_sequence = 8});
    std::string hex;
    for (const std::byte byte : mark) {
        const char* digits = "0123456789abcdef";
        hex += digits[std::to_integer<unsigned>(byte) >> 4];
        hex += digits[std::to_integer<unsigned>(byte) & 15];
    }
    EXPECT_EQ(hex.substr(0, 64),
              "4252444c01000000efcdab89674523015d000000000000000800000000000000");
    EXPECT_EQ(hex.substr(64), "e624453c19b2647d");
}

TEST(LogSalvage, ReadsWhatIsLeftOnBothSidesOfDamage) {
    const WrittenLog log = write_log(small_records());
    for (std::size_t at = 0; at < log.file.size(); ++at) {
        SCOPED_TRACE(::testing::Message() << "byte " << at);
        Bytes file = log.file;
        file[at] ^= std::byte{0x10};
        std::vector<std::uint64_t> sequences;
        const auto check = salvage_log(
            *holding(file), "log",
            [&](std::uint64_t sequence, std::span<const std::byte> payload) -> Result<> {
                EXPECT_TRUE(std::ranges::equal(payload, log.records[sequence - 1]));
                sequences.push_back(sequence);
                return {};
            });
        ASSERT_TRUE(check.has_value()) << why(check);
        const std::size_t expected = log.records.size() - (at < kLogHeaderBytes ? 0 : 1);
        ASSERT_EQ(sequences.size(), expected) << "all but the damaged one";
        ASSERT_EQ(check->records, expected);
        ASSERT_TRUE(std::ranges::is_sorted(sequences));
    }
}

TEST(LogSalvage, StopsWithTheErrorOfTheCallback) {
    const WrittenLog log = write_log(small_records());
    const auto stopped =
        salvage_log(*holding(log.file), "log", [](std::uint64_t, std::span<const std::byte>) {
            return Result<>(fail(ErrorCode::Cancelled, "enough"));
        });
    ASSERT_FALSE(stopped.has_value());
    EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
    EXPECT_EQ(check_log(*make_memory_directory(), "log").error().code, ErrorCode::NotFound);
}

// A log of this version as it was on the day the format was fixed: its bytes must open for ever.
TEST(LogFormat, HasNotChanged) {
    Bytes file = header_only(0x0123456789ABCDEF, 7);
    const Bytes payload = to_bytes("hello");
    add_header(file, {0x0123456789ABCDEF, 5, 7, kLogHeaderBytes, checksum(payload)});
    file.insert(file.end(), payload.begin(), payload.end());
    std::string hex;
    for (const std::byte byte : file) {
        const char* digits = "0123456789abcdef";
        hex += digits[std::to_integer<unsigned>(byte) >> 4];
        hex += digits[std::to_integer<unsigned>(byte) & 15];
    }
    EXPECT_EQ(hex,
              "62726169646c6f670100000000000000efcdab89674523010700000000000000f382bc8517f5cd2c"
              "d74252c105000000efcdab896745230107000000000000002800000000000000fddc625c55e85595"
              "0171e326e45a812e"
              "68656c6c6f");
    const Replayed replayed = replay(*holding(file));
    ASSERT_TRUE(replayed.opened.has_value()) << why(replayed.opened);
    EXPECT_EQ(replayed.records, std::vector<Bytes>{payload});
    EXPECT_EQ(replayed.opened->report.next_sequence, 8U);
}

}  // namespace
}  // namespace braid::store
