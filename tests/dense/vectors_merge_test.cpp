#include "braid/dense/vectors_merge.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "braid/store/memory_directory.hpp"
#include "braid/store/section_file.hpp"
#include "braid/store/section_file_writer.hpp"
#include "core/share.hpp"
#include "dense/searched.hpp"
#include "dense/vectors.hpp"

namespace braid::dense {
namespace {

constexpr std::array kAllSections{kMetaSection,      kRowsSection,  kNormsSection,
                                  kTransformSection, kLinesSection, kBlocksSection};

/// One index to be merged: written, opened, with a number for each row.
struct Part {
    store::MemorySections sections;
    VectorsReader reader;
    std::vector<std::uint32_t> numbers;

    Part(const Vectors& vectors, const VectorsOptions& options,
         const std::shared_ptr<const Transform>& transform = nullptr) {
        auto builder = VectorsBuilder::create(options);
        EXPECT_TRUE(builder);
        for (const auto& vector : vectors) EXPECT_TRUE(builder->add(vector));
        if (transform != nullptr) {
            EXPECT_TRUE(builder->use(transform));
        }
        EXPECT_TRUE(builder->write(sections));
        auto opened = VectorsReader::open(sections);
        EXPECT_TRUE(opened);
        reader = *std::move(opened);
    }
};

using Parts = std::vector<std::unique_ptr<Part>>;

std::vector<VectorsInput> inputs_of(const Parts& parts) {
    std::vector<VectorsInput> inputs;
    for (const auto& part : parts) inputs.push_back({&part->reader, part->numbers});
    return inputs;
}

/// Deals the new numbers out at random, and drops that share of the rows. Returns the vectors in
/// their new order.
Vectors number_rows(std::mt19937& rng, Parts& parts, const std::vector<Vectors>& vectors,
                    double dropped) {
    Vectors merged;
    std::bernoulli_distribution drop(dropped);
    std::vector<std::size_t> left;
    for (const auto& part : vectors) left.push_back(part.size());
    while (std::ranges::any_of(left, [](std::size_t count) { return count > 0; })) {
        const std::size_t i = rng() % left.size();
        if (left[i] == 0) continue;
        const std::size_t row = vectors[i].size() - left[i]--;
        const bool gone = drop(rng);
        parts[i]->numbers.push_back(gone ? kDroppedRow : static_cast<std::uint32_t>(merged.size()));
        if (!gone) merged.push_back(vectors[i][row]);
    }
    return merged;
}

void expect_same(const store::MemorySections& a, const store::MemorySections& b) {
    for (const auto name : kAllSections) {
        SCOPED_TRACE(name);
        const auto one = a.section(name);
        const auto other = b.section(name);
        ASSERT_EQ(one.has_value(), other.has_value());
        if (one) {
            EXPECT_TRUE(std::ranges::equal(*one->bytes(), *other->bytes()));
        }
    }
}

TEST(VectorsMerge, GivesWhatBuildingAtOnceWithThatTransformGives) {
    for (unsigned seed = 0; seed < share_of(12); ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const VectorsOptions options{.dimension = seed % 2 == 0 ? 20UL : 300UL,
                                     .metric = static_cast<Metric>(seed % 3),
                                     .precision = kPrecisions[seed / 2 % 3],
                                     .codes_from = 100};
        std::vector<Vectors> vectors;
        Parts parts;
        // The first is the largest; the second has its transform, the third its own, the fourth
        // is too small for codes, and the fifth is empty.
        for (const std::size_t count : {sized(1500, 500), sized(700, 200), 150UL, 90UL, 0UL}) {
            vectors.push_back(uniform_vectors(rng, count, options.dimension));
            const bool shares = parts.size() == 1;
            parts.push_back(std::make_unique<Part>(
                vectors.back(), options, shares ? parts.front()->reader.transform() : nullptr));
        }
        const auto transform = parts.front()->reader.transform();
        const Vectors all = number_rows(rng, parts, vectors, seed % 5 == 0 ? 0 : 0.2);
        store::MemorySections merged;
        const auto done = merge_vectors(inputs_of(parts), options, merged);
        ASSERT_TRUE(done) << done.error().message;
        expect_same(merged, Part(all, options, transform).sections);
    }
}

TEST(VectorsMerge, FindsWhatScoringEveryRowFinds) {
    std::mt19937 rng(1);
    const VectorsOptions options{.dimension = 64, .metric = Metric::Cosine, .codes_from = 100};
    const std::vector<Vectors> vectors{clustered(rng, 1000, 64), clustered(rng, 800, 64)};
    Parts parts;
    for (const auto& part : vectors) parts.push_back(std::make_unique<Part>(part, options));
    const Vectors all = number_rows(rng, parts, vectors, 0.1);
    store::MemorySections merged;
    ASSERT_TRUE(merge_vectors(inputs_of(parts), options, merged));
    const auto reader = VectorsReader::open(merged);
    ASSERT_TRUE(reader);
    for (const auto& query : clustered(rng, 30, 64)) {
        const auto truth = reference_search(all, options, query, 10, {});
        const auto exact = reader->search(query, {.exact = true});
        ASSERT_TRUE(exact);
        EXPECT_EQ(exact->hits, truth);
        const auto scanned = reader->search(query, {.depth = ScanDepth{600, 300}});
        ASSERT_TRUE(scanned);
        EXPECT_EQ(scanned->method, VectorMethod::Scan);
        EXPECT_EQ(scanned->hits, truth);
    }
}

TEST(VectorsMerge, LearnsAnewWhereNoTransformSuits) {
    std::mt19937 rng(2);
    const VectorsOptions options{.dimension = 30, .codes_from = 100};
    const auto merged_id = [&](std::initializer_list<std::size_t> sizes) {
        std::vector<Vectors> vectors;
        Parts parts;
        for (const std::size_t size : sizes) {
            vectors.push_back(uniform_vectors(rng, size, 30));
            parts.push_back(std::make_unique<Part>(vectors.back(), options));
        }
        const Vectors all = number_rows(rng, parts, vectors, 0);
        store::MemorySections merged;
        EXPECT_TRUE(merge_vectors(inputs_of(parts), options, merged));
        const auto reader = VectorsReader::open(merged);
        EXPECT_TRUE(reader);
        const auto before = parts.front()->reader.meta().transform_id;
        if (reader->transform() != nullptr && reader->meta().transform_id != before) {
            EXPECT_EQ(reader->transform()->learned_from(), all.size());
            expect_same(merged, Part(all, options).sections);
        }
        return std::pair(before, reader->meta().transform_id);
    };
    const auto small = merged_id({40, 50});
    EXPECT_EQ(small.second, 0U) << "too few for codes";
    const auto first = merged_id({90, 80});
    EXPECT_EQ(first.first, 0U);
    EXPECT_NE(first.second, 0U) << "none had a transform";
    const auto near = merged_id({100, 99, 99});
    EXPECT_EQ(near.second, near.first) << "not grown fourfold";
    const auto grown = merged_id({100, 99, 99, 99, 99});
    EXPECT_NE(grown.second, grown.first) << "grown fourfold";
}

TEST(VectorsMerge, RefusesWhatDoesNotFit) {
    std::mt19937 rng(3);
    const VectorsOptions options{.dimension = 5};
    const Vectors vectors = uniform_vectors(rng, 3, 5);
    const Part part(vectors, options);
    using Numbers = std::vector<std::uint32_t>;
    const auto merged = [&](const VectorsOptions& with, const Numbers& one, const Numbers& other) {
        store::MemorySections sections;
        const std::array inputs{VectorsInput{&part.reader, one}, VectorsInput{&part.reader, other}};
        const auto done = merge_vectors(inputs, with, sections);
        if (!done) {
            EXPECT_EQ(done.error().code, ErrorCode::InvalidArgument);
        }
        return done.has_value();
    };
    const Numbers gone(3, kDroppedRow);
    EXPECT_TRUE(merged(options, {0, 2, 4}, {1, 3, 5}));
    EXPECT_TRUE(merged(options, {0, kDroppedRow, 1}, gone));
    EXPECT_TRUE(merged(options, gone, gone)) << "an index of nothing";
    EXPECT_FALSE(merged(options, {0, 1}, gone)) << "too few numbers";
    EXPECT_FALSE(merged(options, {0, 1, 3}, gone)) << "a hole";
    EXPECT_FALSE(merged(options, {0, 1, 2}, {2, 3, 4})) << "a number twice";
    EXPECT_FALSE(merged(options, {1, 0, 2}, gone)) << "numbers that do not grow";
    EXPECT_FALSE(merged({.dimension = 6}, {0, 1, 2}, gone));
    EXPECT_FALSE(merged({.dimension = 5, .metric = Metric::Dot}, {0, 1, 2}, gone));
    EXPECT_FALSE(merged({.dimension = 5, .precision = Precision::F16}, {0, 1, 2}, gone));
    store::MemorySections empty;
    ASSERT_TRUE(merge_vectors({}, options, empty));
    EXPECT_EQ(VectorsReader::open(empty)->size(), 0U);
}

TEST(VectorsMerge, ADamagedInputIsAnError) {
    std::mt19937 rng(4);
    const VectorsOptions options{.dimension = 40, .codes_from = 100};
    const auto directory = store::make_memory_directory();
    const auto writer = store::SectionFileWriter::create(*directory, "segment", 1).value();
    write_index(uniform_vectors(rng, 3000, 40), options, *writer);
    ASSERT_TRUE(writer->finish());
    const auto whole = directory->open("segment-000001").value();
    const auto sections =
        store::SectionFile::open(*directory, "segment-000001").value()->sections();
    std::vector<std::uint32_t> numbers(3000);
    std::iota(numbers.begin(), numbers.end(), 0U);
    for (const auto& section : sections) {
        SCOPED_TRACE(section.name);
        std::vector<std::byte> bytes(whole->bytes().begin(), whole->bytes().end());
        bytes[section.offset + section.length - 1] ^= std::byte{1};
        const auto damaged = store::make_memory_directory();
        ASSERT_TRUE(damaged->create("segment-000001", bytes));
        const auto file = store::SectionFile::open(*damaged, "segment-000001");
        ASSERT_TRUE(file);
        const auto reader = VectorsReader::open(**file);
        if (!reader) continue;  // found even earlier
        store::MemorySections merged;
        const std::array inputs{VectorsInput{&*reader, numbers}};
        const auto done = merge_vectors(inputs, options, merged);
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, ErrorCode::Corruption) << done.error().message;
    }
}

TEST(VectorsMerge, ALengthThatCannotBeIsCorruption) {
    std::mt19937 rng(5);
    Part part(uniform_vectors(rng, 4, 5), {.dimension = 5});
    store::MemorySections damaged;
    for (const auto name : {kMetaSection, kRowsSection, kNormsSection}) {
        const auto all = *part.sections.section(name)->bytes();
        std::vector<std::byte> bytes(all.begin(), all.end());
        if (name == kNormsSection) std::fill_n(bytes.begin(), 8, std::byte{0xff});
        ASSERT_TRUE(damaged.begin(name) && damaged.write(bytes));
    }
    const auto reader = VectorsReader::open(damaged);
    ASSERT_TRUE(reader);
    const std::vector<std::uint32_t> numbers{0, 1, 2, 3};
    store::MemorySections merged;
    const auto done =
        merge_vectors(std::array{VectorsInput{&*reader, numbers}}, {.dimension = 5}, merged);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::Corruption);
}

TEST(VectorsMerge, StopsWhenToldToAndReportsProgress) {
    std::mt19937 rng(6);
    const VectorsOptions options{.dimension = 16, .codes_from = 100};
    Part part(uniform_vectors(rng, 3000, 16), options);
    part.numbers.resize(3000);
    std::iota(part.numbers.begin(), part.numbers.end(), 0U);
    const std::array inputs{VectorsInput{&part.reader, part.numbers}};
    std::vector<double> seen;
    store::MemorySections merged;
    ASSERT_TRUE(merge_vectors(inputs, options, merged, {.stop = {}, .progress = [&](double done) {
                                                            seen.push_back(done);
                                                        }}));
    EXPECT_TRUE(std::ranges::is_sorted(seen));
    EXPECT_EQ(seen.back(), 1.0);
    for (std::size_t calls = 0; calls < seen.size(); ++calls) {
        std::stop_source source;
        std::size_t left = calls;
        if (left == 0) source.request_stop();
        store::MemorySections cut;
        const auto done = merge_vectors(inputs, options, cut,
                                        {.stop = source.get_token(), .progress = [&](double) {
                                             if (left > 0 && --left == 0) source.request_stop();
                                         }});
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, ErrorCode::Cancelled);
    }
}

}  // namespace
}  // namespace braid::dense
