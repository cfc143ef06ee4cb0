#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/dense/vectors_reader.hpp"
#include "core/share.hpp"
#include "dense/vectors.hpp"

namespace braid::dense {
namespace {

constexpr std::array kSections{kMetaSection,      kRowsSection,  kNormsSection,
                               kTransformSection, kLinesSection, kBlocksSection};

/// A copy of the sections with one of them changed by `change`, or left out.
template <class Change>
store::MemorySections changed(const store::MemorySections& whole, std::string_view which,
                              Change change) {
    store::MemorySections copy;
    for (const auto name : kSections) {
        const auto section = whole.section(name);
        if (!section) continue;
        const auto all = *section->bytes();
        std::vector<std::byte> bytes(all.begin(), all.end());
        if (name == which && !change(bytes)) continue;
        EXPECT_TRUE(copy.begin(name));
        EXPECT_TRUE(copy.write(bytes));
    }
    return copy;
}

store::MemorySections small_index(std::mt19937& rng, Metric metric,
                                  Precision precision = Precision::F32) {
    store::MemorySections sections;
    write_index(uniform_vectors(rng, 200, 50),
                {.dimension = 50, .metric = metric, .precision = precision, .codes_from = 0},
                sections);
    return sections;
}

/// Opens and searches; whatever comes back, an error or an answer, is well formed.
void open_and_search(const store::MemorySections& sections, const std::vector<float>& query) {
    const auto reader = VectorsReader::open(sections);
    if (!reader) return;
    for (const bool exact : {true, false}) {
        VectorSearch search{.k = 10, .exact = exact, .depth = ScanDepth{40, 12}};
        const auto answer = reader->search(query, search);
        if (!answer) continue;
        EXPECT_LE(answer->hits.size(), 10U);
        for (const VectorHit& hit : answer->hits) EXPECT_LT(hit.row, reader->size());
    }
}

TEST(DenseDamage, ASectionOfAnotherLengthOrNoneIsCorruption) {
    std::mt19937 rng(1);
    const store::MemorySections whole = small_index(rng, Metric::Euclidean);
    ASSERT_TRUE(VectorsReader::open(whole));
    for (const auto name : kSections) {
        SCOPED_TRACE(name);
        const auto shorter = changed(whole, name, [](auto& bytes) {
            bytes.pop_back();
            return true;
        });
        const auto longer = changed(whole, name, [](auto& bytes) {
            bytes.push_back(std::byte{0});
            return true;
        });
        const auto empty = changed(whole, name, [](auto& bytes) {
            bytes.clear();
            return true;
        });
        const auto gone = changed(whole, name, [](auto&) { return false; });
        for (const auto* sections : {&shorter, &longer, &empty}) {
            const auto reader = VectorsReader::open(*sections);
            ASSERT_FALSE(reader);
            EXPECT_EQ(reader.error().code, ErrorCode::Corruption) << reader.error().message;
        }
        EXPECT_FALSE(VectorsReader::open(gone));
    }
}

TEST(DenseDamage, FlippedBytesNeverCrash) {
    std::mt19937 first(0);
    std::vector<store::MemorySections> wholes;
    for (const Precision precision : kPrecisions) {
        for (const Metric metric : {Metric::Cosine, Metric::Dot, Metric::Euclidean}) {
            wholes.push_back(small_index(first, metric, precision));
        }
    }
    for (unsigned seed = 0; seed < share_of(400); ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const store::MemorySections& whole = wholes[seed % wholes.size()];
        const auto name = kSections[rng() % kSections.size()];
        const auto damaged = changed(whole, name, [&](auto& bytes) {
            for (std::size_t i = 1 + rng() % 20; i > 0; --i) {
                bytes[rng() % bytes.size()] = static_cast<std::byte>(rng());
            }
            return true;
        });
        open_and_search(damaged, uniform_vectors(rng, 1, 50)[0]);
    }
}

TEST(DenseDamage, ANewerVersionIsRefusedByName) {
    std::mt19937 rng(2);
    const auto newer = changed(small_index(rng, Metric::Dot), kMetaSection, [](auto& bytes) {
        bytes[4] = std::byte{9};
        return true;
    });
    const auto reader = VectorsReader::open(newer);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, ErrorCode::Unsupported);
    EXPECT_NE(reader.error().message.find('9'), std::string::npos);
}

TEST(DenseDamage, ANumberThatCannotBeIsCorruptionOfTheSearchThatMeetsIt) {
    std::mt19937 rng(3);
    for (const Precision precision : kPrecisions) {
        const auto whole = small_index(rng, Metric::Cosine, precision);
        const auto damaged = changed(whole, kRowsSection, [&](auto& bytes) {
            // Not a number, whether these are numbers or what 1 stands for.
            std::fill_n(bytes.begin(), row_bytes(precision, 50), std::byte{0xff});
            return true;
        });
        const auto reader = VectorsReader::open(damaged);
        ASSERT_TRUE(reader);
        const std::array<std::uint32_t, 1> first{0};
        const auto scores = reader->score(uniform_vectors(rng, 1, 50)[0], first);
        ASSERT_FALSE(scores);
        EXPECT_EQ(scores.error().code, ErrorCode::Corruption);
    }
}

}  // namespace
}  // namespace braid::dense
