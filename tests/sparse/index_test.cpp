#include <cstring>
#include <map>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "braid/sparse/index_merge.hpp"
#include "braid/sparse/index_statistics.hpp"
#include "braid/sparse/joint_rows.hpp"
#include "core/share.hpp"
#include "sparse/sparse_corpus.hpp"

namespace braid::sparse {
namespace {

constexpr std::array kSections{kHeaderSection,   kLengthsSection, kClassesSection,  kLabelsSection,
                               kPostingsSection, kTermsSection,   kTermIndexSection};
/// Of version 3, with positions.
constexpr std::array kForwardSections{kForwardSection, kForwardOffsetsSection, kColumnsSection,
                                      kPositionsSection, kPositionOffsetsSection};

std::vector<std::string_view> sections_of(bool positions) {
    std::vector<std::string_view> names(kSections.begin(), kSections.end());
    if (positions) names.insert(names.end(), kForwardSections.begin(), kForwardSections.end());
    return names;
}

std::vector<std::byte> bytes_of(const store::SectionSource& source, std::string_view name) {
    const auto section = source.section(name);
    EXPECT_TRUE(section) << section.error().message;
    const auto bytes = section->bytes();
    return {bytes->begin(), bytes->end()};
}

/// Rows dealt out to several indexes, some of them dropped.
struct Dealt {
    std::vector<Corpus> parts;
    std::vector<std::vector<std::uint32_t>> numbers;
    Corpus kept;  // what the merged index is to hold
};

Dealt deal(const Corpus& corpus, std::size_t parts, std::mt19937_64& rng) {
    const Corpus empty{.fields = corpus.fields, .rows = {}, .positions = corpus.positions};
    Dealt dealt{.parts = std::vector<Corpus>(parts, empty),
                .numbers = std::vector<std::vector<std::uint32_t>>(parts),
                .kept = empty};
    for (const Corpus::Row& row : corpus.rows) {
        const std::size_t part = below(rng, parts);
        dealt.parts[part].rows.push_back(row);
        if (below(rng, 4) == 0) {
            dealt.numbers[part].push_back(kDroppedRow);
            continue;
        }
        dealt.numbers[part].push_back(static_cast<std::uint32_t>(dealt.kept.rows.size()));
        dealt.kept.rows.push_back(row);
    }
    return dealt;
}

TEST(SparseIndex, AMergedIndexHasTheBytesOfOneBuiltAtOnce) {
    for (std::uint64_t seed = 0; seed < share_of(60); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        Corpus corpus =
            random_corpus(rng, {.rows = static_cast<std::uint32_t>(below(rng, 700)),
                                .fields = static_cast<std::uint32_t>(1 + below(rng, 3)),
                                .words = below(rng, 8) == 0 ? 600U : 12U,
                                .vocabulary = 1 + below(rng, 200),
                                .labels = static_cast<std::uint32_t>(1 + below(rng, 400))});
        corpus.positions = below(rng, 2) == 0;
        Dealt dealt = deal(corpus, 1 + below(rng, 4), rng);
        if (below(rng, 2) == 0) {
            // Some with forward lists, some without: then the merged index has none.
            for (Corpus& part : dealt.parts) {
                part.positions = below(rng, 2) == 0;
            }
            corpus.positions = std::ranges::all_of(dealt.parts, &Corpus::positions);
            dealt.kept.positions = corpus.positions;
        }
        std::vector<store::MemorySections> sources(dealt.parts.size());
        std::vector<IndexReader> readers;
        readers.reserve(sources.size());
        std::vector<MergeInput> inputs;
        for (std::size_t i = 0; i < sources.size(); ++i) {
            dealt.parts[i].build(sources[i]);
            readers.push_back(must_open(sources[i]));
            inputs.push_back({&readers[i], dealt.numbers[i]});
        }
        // Little room: the postings are sorted in several rounds.
        const WriteOptions options{.column_bytes = 4096, .sort_bytes = below(rng, 2) * 100'000};
        store::MemorySections merged;
        const auto done = merge_indexes(inputs, options, merged);
        ASSERT_TRUE(done) << done.error().message;
        store::MemorySections fresh;
        dealt.kept.build(fresh, {.column_bytes = 4096});
        for (const std::string_view name : sections_of(corpus.positions)) {
            EXPECT_EQ(bytes_of(merged, name), bytes_of(fresh, name)) << name;
        }
        EXPECT_EQ(must_open(merged).has_positions(), corpus.positions);
        if (testing::Test::HasFailure()) return;
    }
}

TEST(SparseIndex, APositionIsWhereItWasPut) {
    for (std::uint64_t seed = 0; seed < share_of(40); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        Corpus corpus = random_corpus(rng, {.rows = 20,
                                            .fields = static_cast<std::uint32_t>(1 + below(rng, 3)),
                                            .words = seed % 4 == 0 ? 70'000U : 300U,
                                            .vocabulary = 1 + below(rng, 50)});
        corpus.positions = true;
        store::MemorySections sections;
        corpus.build(sections);
        const IndexReader reader = must_open(sections);
        std::map<std::uint32_t, std::string> terms;
        ASSERT_TRUE(reader.dictionary().each([&](std::string_view term, const TermEntry& entry) {
            terms[entry.id] = term;
            return true;
        }));
        const auto facts = reader.row_facts(true);
        ASSERT_TRUE(facts);
        for (std::uint32_t row = 0; row < reader.rows(); ++row) {
            const auto positions = facts->positions(row);
            ASSERT_TRUE(positions) << positions.error().message;
            auto cursor = facts->terms(row);
            ASSERT_TRUE(cursor);
            std::size_t at = 0;
            while (cursor->next()) {
                const auto& expected = corpus.rows[row].positions.at(terms.at(cursor->term()));
                for (std::uint32_t f = 0; f < corpus.fields; ++f) {
                    for (const std::uint32_t position : expected[f]) {
                        ASSERT_LT(at, positions->size());
                        EXPECT_EQ((*positions)[at++], position);
                    }
                }
            }
            EXPECT_EQ(at, positions->size());
        }
        if (testing::Test::HasFailure()) return;
    }
}

TEST(SparseIndex, WithoutPositionsOfOneAMergedIndexHasNone) {
    Corpus with{.positions = true};
    with.add_word(with.rows.emplace_back(), 0, "a");
    Corpus without;
    without.add_word(without.rows.emplace_back(), 0, "b");
    std::array<store::MemorySections, 2> sources;
    with.build(sources[0]);
    without.build(sources[1]);
    const std::array readers{must_open(sources[0]), must_open(sources[1])};
    EXPECT_TRUE(readers[0].has_positions());
    EXPECT_FALSE(readers[1].has_positions());
    const std::array<std::uint32_t, 1> first{0};
    const std::array<std::uint32_t, 1> second{1};
    for (const bool turned : {false, true}) {
        const std::array inputs{MergeInput{&readers[turned ? 1 : 0], first},
                                MergeInput{&readers[turned ? 0 : 1], second}};
        store::MemorySections merged;
        ASSERT_TRUE(merge_indexes(inputs, {}, merged));
        EXPECT_FALSE(must_open(merged).has_positions());
    }
}

TEST(SparseIndex, RefusesPositionsThatAreNotAsManyAsTheWords) {
    IndexBuilder builder(1, true);
    const std::array<std::uint32_t, 1> lengths{2};
    const std::array<std::uint32_t, 1> positions{0};
    ASSERT_TRUE(builder.add(0, lengths, std::array{TermCounts{"a", {2}, positions}}));
    store::MemorySections sink;
    const auto finished = builder.finish(sink);
    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().message, "a row of 2 words has 1 positions");
}

TEST(SparseIndex, MergingSaysWhichNumberIsWrong) {
    Corpus corpus;
    corpus.add_word(corpus.rows.emplace_back(), 0, "a");
    corpus.add_word(corpus.rows.emplace_back(), 0, "b");
    store::MemorySections source;
    corpus.build(source);
    const IndexReader reader = must_open(source);
    const auto message = [&](std::vector<std::uint32_t> first, std::vector<std::uint32_t> second) {
        const std::array inputs{MergeInput{&reader, first}, MergeInput{&reader, second}};
        store::MemorySections sink;
        const auto merged = merge_indexes(inputs, {}, sink);
        return merged ? "" : merged.error().message;
    };
    EXPECT_EQ(message({0, 1}, {2, 3}), "");
    EXPECT_EQ(message({0, 1}, {1, 2}), "merge: two rows would become row 1");
    EXPECT_EQ(message({0, 1}, {3, 4}), "merge: no row becomes row 2");
    EXPECT_EQ(message({1, 0}, {2, 3}), "merge: no row becomes row 0");
    EXPECT_EQ(message({0}, {1, 2}), "merge: 1 numbers for 2 rows");
}

/// In several rounds, of which some are told the terms, some wrong ones, and some none.
Result<> remove(const IndexReader& reader, const Corpus& corpus,
                std::span<const std::uint32_t> rows, std::mt19937_64& rng, RemovedRows& removed) {
    for (std::size_t begin = 0; begin < rows.size();) {
        const std::size_t size = std::min<std::size_t>(1 + below(rng, 3), rows.size() - begin);
        const std::uint64_t kind = below(rng, 4);
        RemovedRows::TermsOfRow terms_of;
        if (kind > 0) {
            terms_of = [&, kind](std::uint32_t row) -> Result<std::vector<std::string>> {
                std::vector<std::string> terms;
                for (const auto& [term, counts] : corpus.rows[row].terms) terms.push_back(term);
                if (kind == 2 && !terms.empty()) terms.pop_back();
                if (kind == 2) terms.emplace_back("a word that is nowhere");
                if (kind == 3 && !terms.empty()) terms.push_back(terms.front());
                return terms;
            };
        }
        BRAID_CHECK(removed.add(reader, rows.subspan(begin, size), terms_of));
        begin += size;
    }
    return {};
}

TEST(SparseIndex, StatisticsAreSumsOverVisibleLabelsWithoutRemovedRows) {
    for (std::uint64_t seed = 0; seed < share_of(100); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Corpus corpus =
            random_corpus(rng, {.rows = static_cast<std::uint32_t>(below(rng, 600)),
                                .fields = 2,
                                .words = 8,
                                .vocabulary = 60,
                                .labels = static_cast<std::uint32_t>(1 + below(rng, 300))});
        store::MemorySections sections;
        corpus.build(sections);
        const IndexReader reader = must_open(sections);
        const std::uint64_t share = below(rng, 4);
        const auto visible = [&](std::uint32_t label) { return (label / 7 * 31) % 3 <= share; };
        std::vector<std::uint32_t> gone;
        VisibleTotals expected;
        std::map<std::string, std::uint64_t> frequencies;
        for (std::uint32_t row = 0; row < corpus.rows.size(); ++row) {
            if (below(rng, 5) == 0) {
                gone.push_back(row);
                continue;
            }
            if (!visible(corpus.rows[row].label)) continue;
            ++expected.rows;
            for (std::size_t f = 0; f < 2; ++f) {
                expected.total_lengths[f] += corpus.rows[row].lengths[f];
            }
            for (const auto& [term, counts] : corpus.rows[row].terms) ++frequencies[term];
        }
        RemovedRows removed;
        ASSERT_TRUE(remove(reader, corpus, gone, rng, removed));
        const auto statistics = IndexStatistics::create(reader, visible, &removed);
        ASSERT_TRUE(statistics) << statistics.error().message;
        EXPECT_EQ(statistics->totals().rows, expected.rows);
        EXPECT_EQ(statistics->totals().total_lengths, expected.total_lengths);
        for (std::uint64_t rank = 0; rank < 62; ++rank) {
            const auto found = frequencies.find(word_of(rank));
            EXPECT_EQ(*statistics->document_frequency(word_of(rank)),
                      found == frequencies.end() ? 0 : found->second);
        }
        std::map<std::string, std::uint64_t> every;
        ASSERT_TRUE(statistics->each([&](std::string_view term, std::uint64_t df) {
            every.emplace(std::string(term), df);
        }));
        EXPECT_EQ(every, frequencies);
        if (testing::Test::HasFailure()) return;
    }
}

TEST(SparseIndex, ThousandsOfLabelsTakeFewBytesAndAreCountedExactly) {
    std::mt19937_64 rng(11);
    const CorpusShape shape{.rows = 12'000, .words = 6, .vocabulary = 40};
    CorpusShape labelled = shape;
    labelled.labels = 10'000;
    const Corpus corpus = random_corpus(rng, labelled);
    Corpus plain = corpus;
    for (Corpus::Row& row : plain.rows) row.label = 0;
    store::MemorySections with;
    store::MemorySections without;
    corpus.build(with);
    plain.build(without);
    const auto size = [](const store::SectionSource& source) {
        return bytes_of(source, kPostingsSection).size();
    };
    const IndexReader reader = must_open(with);
    EXPECT_LE(size(with), size(without) + reader.header().postings / 8);
    const auto visible = [](std::uint32_t label) { return label / 7 % 3 == 1; };
    const auto statistics = IndexStatistics::create(reader, visible, nullptr);
    ASSERT_TRUE(statistics) << statistics.error().message;
    std::map<std::string, std::uint64_t> frequencies;
    for (const Corpus::Row& row : corpus.rows) {
        if (!visible(row.label)) continue;
        for (const auto& [term, counts] : row.terms) ++frequencies[term];
    }
    for (const auto& [term, df] : frequencies) {
        EXPECT_EQ(*statistics->document_frequency(term), df) << term;
    }
}

TEST(SparseIndex, ACopyOfRemovedRowsStaysAsItIs) {
    std::mt19937_64 rng(12);
    const Corpus corpus =
        random_corpus(rng, {.rows = 300, .words = 8, .vocabulary = 20, .labels = 3});
    store::MemorySections sections;
    corpus.build(sections);
    const IndexReader reader = must_open(sections);
    const auto all = [](std::uint32_t) { return true; };
    RemovedRows removed;
    std::vector<std::uint32_t> rows(300);
    std::iota(rows.begin(), rows.end(), 0U);
    ASSERT_TRUE(remove(reader, corpus, std::span(rows).first(100), rng, removed));
    const RemovedRows copy = removed;
    ASSERT_TRUE(remove(reader, corpus, std::span(rows).subspan(100), rng, removed));
    EXPECT_EQ(IndexStatistics::create(reader, all, &removed)->totals().rows, 0U);
    const auto earlier = IndexStatistics::create(reader, all, &copy);
    EXPECT_EQ(earlier->totals().rows, 200U);
    for (std::uint64_t rank = 0; rank < 20; ++rank) {
        std::uint64_t df = 0;
        for (std::uint32_t row = 100; row < 300; ++row) {
            df += corpus.rows[row].terms.contains(word_of(rank)) ? 1 : 0;
        }
        EXPECT_EQ(*earlier->document_frequency(word_of(rank)), df);
        EXPECT_EQ(
            *IndexStatistics::create(reader, all, &removed)->document_frequency(word_of(rank)), 0U);
    }
}

TEST(SparseIndex, RefusesRowsThatMakeNoSense) {
    IndexBuilder builder(2);
    const std::array<std::uint32_t, 2> lengths{1, 1};
    const std::string longest(kMaxIndexTermBytes, 'x');
    const std::string longer(kMaxIndexTermBytes + 1, 'x');
    const auto add = [&](std::vector<TermCounts> terms) {
        const auto added = builder.add(0, lengths, terms);
        return added ? "" : added.error().message;
    };
    EXPECT_EQ(add({{longest, {1}}}), "");
    EXPECT_EQ(add({{longer, {1}}}), "a term of 256 bytes; 255 is the limit");
    EXPECT_EQ(add({{"a", {0, 0, 1}}}), "term \"a\" occurs nowhere");
    EXPECT_EQ(add({{"a", {1}}, {"b", {1}}, {"a", {1}}}), "term \"a\" is given twice");
    EXPECT_EQ(builder.rows(), 1U);
    const auto added = builder.add(0, std::span(lengths).first(1), {});
    EXPECT_EQ(added.error().message, "a row has 1 lengths, the index 2 fields");
    store::MemorySections sections;
    ASSERT_TRUE(builder.finish(sections));
    EXPECT_EQ(must_open(sections).dictionary().terms(), 1U);
}

/// Sections as they were written, but for one that a test damages. With checksums, as files have.
class DamagedSections final : public store::SectionSource, public store::BlockGuard {
public:
    DamagedSections(const store::MemorySections& good, std::string_view damaged,
                    std::vector<std::byte> bytes, bool guarded)
        : good_(&good), damaged_(damaged), bytes_(std::move(bytes)), guarded_(guarded) {
        original_ = bytes_of(good, damaged);
    }

    Result<store::Section> section(std::string_view name) const override {
        if (name != damaged_) return good_->section(name);
        return store::Section(bytes_, damaged_, guarded_ ? this : nullptr);
    }
    Result<> verify(std::uint64_t offset, std::uint64_t length) const override {
        if (length == 0) return {};
        if (std::memcmp(bytes_.data() + offset, original_.data() + offset, length) == 0) return {};
        return fail(ErrorCode::Corruption, "damaged");
    }
    Result<> intact() const override { return {}; }

private:
    const store::MemorySections* good_;
    std::string damaged_;
    std::vector<std::byte> bytes_;
    std::vector<std::byte> original_;
    bool guarded_;
};

/// Intersects the lists of the query's terms.
Result<> intersect(const IndexReader& reader, const Query& query) {
    BRAID_TRY(const auto scorer, RowScorer::create(reader, query));
    BRAID_TRY(const auto bounds, QueryBounds::create(reader, scorer));
    const std::size_t count = std::min(bounds.terms().size(), JointRows::kMostTerms);
    std::vector<std::size_t> terms(count);
    for (std::size_t i = 0; i < count; ++i) terms[i] = i;
    const std::vector<std::uint8_t> least(count, 1);
    if (count == 0) return {};
    JointRows rows(reader, scorer.facts(), bounds, terms);
    for (std::uint32_t window = 0; window < reader.header().windows(); ++window) {
        for (const std::uint16_t row : rows.find(window, least, {})) {
            EXPECT_LT(window * kWindowRows + row, reader.rows());
        }
    }
    return {};
}

/// Everything a reader can be asked; true if all of it could be answered.
bool use_all(const store::SectionSource& source, const Query& query, SearchResult& found) {
    const auto reader = IndexReader::open(source);
    if (!reader) return false;
    const std::span queries(&query, 1);
    auto result = search(*reader, queries, {.k = 20});
    if (!result) return false;
    found = *std::move(result);
    bool good = exhaustive_search(*reader, queries, {.k = 5}).has_value();
    good &= intersect(*reader, query).has_value();
    std::size_t terms = 0;
    good &= reader->dictionary()
                .each([&](std::string_view, const TermEntry&) { return ++terms > 0; })
                .has_value();
    good &= reader->dictionary()
                .each_near("w12", 1, [](auto, const auto&, auto) { return true; })
                .has_value();
    const auto statistics =
        IndexStatistics::create(*reader, [](std::uint32_t label) { return label > 0; }, nullptr);
    good &= statistics && statistics->each([](std::string_view, std::uint64_t) {}).has_value();
    std::vector<std::uint32_t> numbers(reader->rows());
    for (std::uint32_t row = 0; row < numbers.size(); ++row) numbers[row] = row;
    const MergeInput input{&*reader, numbers};
    store::MemorySections merged;
    good &= merge_indexes(std::span(&input, 1), {}, merged).has_value();
    return good;
}

TEST(SparseIndex, DamageIsAnErrorOrDoesNotMatterAndNeverACrash) {
    for (const bool positions : {false, true}) {
        std::mt19937_64 rng(1);
        Corpus corpus = random_corpus(
            rng, {.rows = 300, .fields = 2, .words = 4, .vocabulary = 30, .labels = 5});
        corpus.positions = positions;
        store::MemorySections good;
        corpus.build(good, {.column_bytes = 400});
        const Query query = corpus.query({"w0", "w1", "w2", "w9", "w20"}, {}, {1, 2});
        SearchResult expected;
        ASSERT_TRUE(use_all(good, query, expected));
        for (const std::string_view name : sections_of(positions)) {
            const auto bytes = bytes_of(good, name);
            const std::size_t step = 1 + bytes.size() / 60;
            for (std::size_t size = 0; size < bytes.size(); size += step) {
                SCOPED_TRACE(testing::Message() << name << " cut to " << size);
                SearchResult found;
                if (use_all(DamagedSections(
                                good, name,
                                {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)},
                                false),
                            query, found)) {
                    EXPECT_EQ(found.rows, expected.rows);
                }
            }
            for (int flip = 0; flip < 150 && !bytes.empty(); ++flip) {
                const std::size_t at = below(rng, bytes.size());
                auto flipped = bytes;
                flipped[at] ^= std::byte{1} << below(rng, 8);
                SCOPED_TRACE(testing::Message() << name << " byte " << at);
                SearchResult found;
                if (use_all(DamagedSections(good, name, flipped, true), query, found)) {
                    EXPECT_EQ(found.rows, expected.rows);
                }
                use_all(DamagedSections(good, name, flipped, false), query, found);
            }
        }
    }
}

}  // namespace
}  // namespace braid::sparse
