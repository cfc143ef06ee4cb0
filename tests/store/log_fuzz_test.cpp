#include <algorithm>

#include <gtest/gtest.h>

#include "braid/store/append_log.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/log_check.hpp"
#include "braid/store/log_format.hpp"
#include "braid/store/memory_directory.hpp"
#include "store/store_helpers.hpp"

namespace braid::store {
namespace {

using testing::Bytes;
using testing::random_bytes;
using testing::replay;
using testing::Replayed;
using testing::why;

struct RandomLog {
    std::vector<Bytes> records;
    Bytes file;
};

/// Written by the log itself, one record per batch.
RandomLog random_log(std::mt19937_64& rng) {
    const auto directory = make_memory_directory();
    RandomLog log;
    const Replayed opened = replay(*directory);
    for (std::uint64_t count = rng() % 8; count > 0; --count) {
        log.records.push_back(random_bytes(rng, rng() % 100));
        EXPECT_TRUE(opened.opened->log->append(log.records.back()).has_value());
    }
    const auto view = directory->open("log").value();
    log.file.assign(view->bytes().begin(), view->bytes().end());
    return log;
}

/// Changes the file at one place or more.
void mutate(std::mt19937_64& rng, Bytes& file) {
    for (std::uint64_t changes = 1 + rng() % 3; changes > 0; --changes) {
        const std::size_t at = file.empty() ? 0 : rng() % file.size();
        const auto here = file.begin() + static_cast<std::ptrdiff_t>(at);
        switch (rng() % 6) {
            case 0:
                if (!file.empty()) *here ^= static_cast<std::byte>(1U << (rng() % 8));
                break;
            case 1:
                file.resize(at);
                break;
            case 2: {
                const Bytes extra = random_bytes(rng, 1 + rng() % 60);
                file.insert(here, extra.begin(), extra.end());
                break;
            }
            case 3:
                file.erase(here, here + std::min(static_cast<std::ptrdiff_t>(rng() % 60),
                                                 file.end() - here));
                break;
            case 4: {
                const std::size_t end = std::min(file.size(), at + rng() % 200);
                std::fill(here, file.begin() + static_cast<std::ptrdiff_t>(end), std::byte{0});
                break;
            }
            default: {  // a piece of the file once more, elsewhere
                const std::size_t from = file.empty() ? 0 : rng() % file.size();
                const Bytes piece(file.begin() + static_cast<std::ptrdiff_t>(from), file.end());
                file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), piece.begin(),
                            piece.end());
                break;
            }
        }
    }
}

TEST(LogFuzz, AMutatedLogGivesAPrefixOrAnErrorAndNeverCutsProvenRecords) {
    for (std::uint64_t seed = 0; seed < 6000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const RandomLog log = random_log(rng);
        Bytes file = log.file;
        mutate(rng, file);
        const auto directory = make_memory_directory();
        ASSERT_TRUE(directory->create("log", file).has_value());
        ASSERT_TRUE(check_log(*directory, "log").has_value());

        const Replayed replayed = replay(*directory);
        ASSERT_LE(replayed.records.size(), log.records.size());
        ASSERT_TRUE(
            std::equal(replayed.records.begin(), replayed.records.end(), log.records.begin()))
            << "a record came back that was never written";
        if (!replayed.opened) {
            ASSERT_EQ(replayed.opened.error().code, ErrorCode::Corruption);
            ASSERT_TRUE(std::ranges::equal((*directory->open("log"))->bytes(), file));
            continue;
        }
        ASSERT_TRUE(replayed.opened->log->append(random_bytes(rng, 10)).has_value());
        ASSERT_EQ(replay(*directory).records.size(), replayed.records.size() + 1);
        const auto check = check_log(*directory, "log");
        ASSERT_TRUE(check.has_value() && check->problems.empty()) << "what opened is sound";
    }
}

TEST(LogFuzz, HeadersWithValidChecksumsAndWildFieldsAreSurvived) {
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const std::uint64_t log_id = rng() % 2;
        Bytes file = encode_log_header({log_id, rng() % 3 == 0 ? rng() : 1});
        for (std::uint64_t count = rng() % 10; count > 0; --count) {
            const auto pick = [&](std::initializer_list<std::uint64_t> values) {
                return values.begin()[rng() % values.size()];
            };
            const Bytes payload = random_bytes(rng, rng() % 50);
            const auto length = pick({payload.size(), payload.size(), 0, 1, 0xFFFF'FFFF, rng()});
            encode_record_header(file,
                                 {pick({log_id, log_id, rng()}), static_cast<std::uint32_t>(length),
                                  pick({1, 2, 3, rng(), ~std::uint64_t{0}}),
                                  pick({0, kLogHeaderBytes, file.size(), file.size() + 1, rng()}),
                                  pick({checksum(payload), checksum(payload), 0})},
                                 file.size());
            file.insert(file.end(), payload.begin(), payload.end());
        }
        const auto directory = make_memory_directory();
        ASSERT_TRUE(directory->create("log", file).has_value());
        const auto check = check_log(*directory, "log");
        ASSERT_TRUE(check.has_value()) << why(check);
        const auto opened = replay(*directory).opened;
        if (!opened) {
            ASSERT_EQ(opened.error().code, ErrorCode::Corruption);
        }
    }
}

TEST(LogFuzz, RandomBytesAreNoLog) {
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        Bytes file = random_bytes(rng, 1 + rng() % 300);
        if (rng() % 2 == 0) {
            const Bytes header = encode_log_header({1, 1});
            file.insert(file.begin(), header.begin(), header.end());
        }
        const auto directory = make_memory_directory();
        ASSERT_TRUE(directory->create("log", file).has_value());
        ASSERT_TRUE(check_log(*directory, "log").has_value());
        ASSERT_TRUE(replay(*directory).records.empty());
    }
}

}  // namespace
}  // namespace braid::store
