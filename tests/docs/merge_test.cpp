#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "backend/random_data.hpp"
#include "braid/docs/column_format.hpp"
#include "braid/docs/columns_builder.hpp"
#include "braid/docs/columns_merge.hpp"
#include "braid/docs/columns_reader.hpp"
#include "braid/docs/documents_builder.hpp"
#include "braid/docs/documents_format.hpp"
#include "braid/docs/documents_merge.hpp"
#include "braid/docs/documents_reader.hpp"
#include "braid/docs/merge_order.hpp"
#include "braid/store/memory_sections.hpp"

namespace braid::docs {
namespace {

constexpr std::string_view kAllSections[] = {
    kBlocksSection,        kDictionarySection,   kIndexSection,    kIdsSection,
    kDocumentsSection,     kDocumentOfSection,   kStartsSection,   kOrderSection,
    kCreatedKnownSection,  kCreatedSection,      kVersionsSection, kLabelsSection,
    kLengthsSection,       kExpiringRowsSection, kExpiriesSection, kColumnNamesSection,
    kColumnOffsetsSection, kColumnDataSection};

struct Row {
    Chunk chunk;
    std::uint32_t label = 0;
    std::uint32_t length = 0;
};
using Rows = std::map<std::string, Row>;

/// Rows as builders write them: what a merge must come to, byte for byte.
struct Built {
    explicit Built(const Rows& rows, DocumentsOptions options = {}) {
        DocumentsBuilder documents_builder(sections, "", std::move(options));
        ColumnsBuilder columns_builder;
        for (const auto& [id, row] : rows) {
            columns_builder.add(row.chunk);
            EXPECT_TRUE(documents_builder.add(row.chunk, row.label, row.length).has_value());
        }
        EXPECT_TRUE(documents_builder.finish().has_value());
        EXPECT_TRUE(columns_builder.finish(sections, "").has_value());
        documents = DocumentsReader::open(sections, "").value();
        columns = ColumnsReader::open(sections, "", *documents).value();
    }
    Built(const Built&) = delete;
    Built& operator=(const Built&) = delete;
    Built(Built&&) = delete;
    Built& operator=(Built&&) = delete;
    ~Built() = default;

    store::MemorySections sections;
    std::optional<DocumentsReader> documents;
    std::optional<ColumnsReader> columns;
};

/// Segments, some of whose rows died.
struct Segments {
    std::vector<std::unique_ptr<Built>> built;
    std::vector<Bits> staying;

    void add(const Rows& rows, const Rows& live) {
        auto& bits = staying.emplace_back(make_bits(rows.size()));
        std::size_t row = 0;
        for (const auto& [id, here] : rows) {
            const auto found = live.find(id);
            if (found != live.end() && found->second.chunk.version == here.chunk.version) {
                set_bit(bits, row);
            }
            ++row;
        }
        built.push_back(std::make_unique<Built>(rows));
    }

    Result<MergedDocuments> merge(store::SectionSink& sink, const DocumentsOptions& options = {},
                                  const std::stop_token& stop = {}) const {
        std::vector<MergeInput> inputs;
        for (std::size_t i = 0; i < built.size(); ++i) {
            inputs.push_back({&*built[i]->documents, &*built[i]->columns, &staying[i]});
        }
        BRAID_TRY(const MergeOrder order, MergeOrder::create(inputs));
        BRAID_TRY(auto merged, merge_documents(inputs, order, options, sink, "", stop));
        BRAID_CHECK(merge_columns(inputs, order, sink, "", stop));
        return merged;
    }
};

std::optional<std::vector<std::byte>> bytes_of(const store::MemorySections& sections,
                                               std::string_view name) {
    const auto section = sections.section(name);
    if (!section) return std::nullopt;
    const auto bytes = section->bytes().value();
    return std::vector<std::byte>(bytes.begin(), bytes.end());
}

void expect_same_bytes(const store::MemorySections& merged, const store::MemorySections& built) {
    for (const std::string_view name : kAllSections) {
        EXPECT_EQ(bytes_of(merged, name), bytes_of(built, name)) << name;
    }
}

const std::vector<Value>& strange_values() {
    static const std::vector<Value> kValues = {Value(),
                                               Value(true),
                                               Value(false),
                                               Value(1),
                                               Value(1.0),
                                               Value(0.0),
                                               Value(-0.0),
                                               Value(0x1p63),
                                               Value(std::numeric_limits<std::int64_t>::max()),
                                               Value(std::numeric_limits<double>::quiet_NaN()),
                                               Value(""),
                                               Value("2025-01-01T00:00:00Z"),
                                               Value("2025-01-01T01:00:00+01:00"),
                                               Value(Array{}),
                                               Value(Array{Value(1), Value(Array{Value("a")})}),
                                               Value(Object{}),
                                               Value(Object{{"k", Value(1.0)}}),
                                               Value(Object{{"k", Value(1)}, {"a", Value("b")}})};
    return kValues;
}

Row random_row(braid::testing::RandomData& random, std::uint64_t version) {
    Row row;
    row.chunk = random.chunk(0);
    row.chunk.chunk_id += "-" + std::to_string(random.below(40));
    row.chunk.document_id += std::to_string(random.below(4));
    row.chunk.content += random.words(random.below(20));
    row.chunk.version = version;
    row.label = static_cast<std::uint32_t>(random.below(5));
    row.length = static_cast<std::uint32_t>(random.below(100));
    if (random.chance(20)) {
        row.chunk.expires_at = Timestamp{static_cast<std::int64_t>(random.below(50))};
    }
    for (const char* name : {"title", "created_at", "visibility_scope", "odd"}) {
        if (random.chance(30)) row.chunk.metadata.set(name, random.pick(strange_values()));
    }
    if (random.chance(30)) {
        row.chunk.metadata.set("only" + std::to_string(version), random.value());
    }
    return row;
}

TEST(Merge, WritesTheBytesThatBuildersWriteOfTheRowsThatStay) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        braid::testing::RandomData random(seed);
        Rows live;
        std::vector<Rows> segments(1 + random.below(9));
        std::uint64_t version = 0;
        for (Rows& rows : segments) {
            for (std::size_t count = random.below(200); count > 0; --count) {
                Row row = random_row(random, ++version);
                const std::string id = row.chunk.chunk_id;
                live[id] = row;
                rows[id] = std::move(row);
            }
            const unsigned dying = random.chance(10) ? 100 : 10;
            std::erase_if(live, [&](const auto&) { return random.chance(dying); });
        }
        Segments stored;
        for (const Rows& rows : segments) stored.add(rows, live);
        store::MemorySections merged;
        const auto facts = stored.merge(merged);
        ASSERT_TRUE(facts.has_value()) << facts.error().message;
        const Built built(live);
        expect_same_bytes(merged, built.sections);

        std::set<std::uint32_t> labels;
        bool expires = false;
        for (const auto& [id, row] : live) {
            labels.insert(row.label);
            expires = expires || row.chunk.expires_at.has_value();
        }
        EXPECT_EQ(facts->labels, labels);
        EXPECT_EQ(facts->expires, expires);
        if (HasFailure()) return;
    }
}

TEST(Merge, TakesAListOfRowsLargerThanAnyBatch) {
    Rows live;
    std::vector<Rows> segments(3);
    for (std::uint64_t i = 0; i < 15'000; ++i) {
        Row row;
        row.chunk.chunk_id =
            "file-" + std::to_string(i * 7919 % 15'000) + ".md#" + std::to_string(i % 3);
        row.chunk.document_id = "file-" + std::to_string(i % 4000);
        row.chunk.chunk_index = static_cast<std::int64_t>(i % 11);
        row.chunk.content = "some words " + std::to_string(i);
        row.chunk.version = i;
        row.chunk.metadata.set("source", "/a/long/path/to/file-" + std::to_string(i));
        if (i % 2 == 0) row.chunk.metadata.set("line", static_cast<int>(i));
        live[row.chunk.chunk_id] = row;
        segments[i % 3][row.chunk.chunk_id] = row;
    }
    Segments stored;
    for (const Rows& rows : segments) stored.add(rows, live);
    for (const std::size_t sample : {0UL, 1024UL * 1024}) {
        const DocumentsOptions options{.sample_bytes = sample};
        store::MemorySections merged;
        ASSERT_TRUE(stored.merge(merged, options).has_value());
        const Built built(live, options);
        expect_same_bytes(merged, built.sections);
    }
}

TEST(Merge, TwoRowsOfOneIdAreAnError) {
    Row row;
    row.chunk.chunk_id = "same";
    row.chunk.document_id = "d";
    const Rows rows{{"same", row}};
    Segments stored;
    stored.add(rows, rows);
    stored.add(rows, rows);
    store::MemorySections merged;
    EXPECT_EQ(stored.merge(merged).error().message, "merge: two rows have the id \"same\"");
}

TEST(Merge, StopsWhenItIsTold) {
    braid::testing::RandomData random(1);
    Rows live;
    while (live.size() < 2000) {
        Row row = random_row(random, live.size());
        row.chunk.chunk_id = std::to_string(live.size());
        live[row.chunk.chunk_id] = row;
    }
    Segments stored;
    stored.add(live, live);
    std::stop_source stop;
    stop.request_stop();
    store::MemorySections merged;
    EXPECT_EQ(stored.merge(merged, {}, stop.get_token()).error().code, ErrorCode::Cancelled);
}

}  // namespace
}  // namespace braid::docs
