#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "backend/random_data.hpp"
#include "braid/docs/column_format.hpp"
#include "braid/docs/columns_builder.hpp"
#include "braid/docs/columns_reader.hpp"
#include "braid/docs/documents_builder.hpp"
#include "braid/docs/filter_matcher.hpp"
#include "braid/store/memory_sections.hpp"
#include "store/store_helpers.hpp"

namespace braid::docs {
namespace {

std::vector<Chunk> column_chunks(unsigned seed, std::size_t count) {
    braid::testing::RandomData random(seed);
    std::map<std::string, Chunk> chunks;
    for (std::size_t i = 0; i < count; ++i) {
        Chunk chunk = random.chunk(0);
        chunk.chunk_id += "-" + std::to_string(random.below(100'000));
        // What a field of the chunk lacks may stand in the metadata.
        for (const char* name : {"title", "created_at", "visibility_scope", "chunk_index"}) {
            if (random.chance(20)) chunk.metadata.set(name, random.value());
        }
        if (random.chance(30)) {
            chunk.metadata.set("deep", Object{{"a", Object{{"b", random.value()}}}});
        }
        if (random.chance(10)) chunk.metadata.set("deep.a", random.value());
        chunks[chunk.chunk_id] = std::move(chunk);
    }
    std::vector<Chunk> rows;
    for (auto& [id, chunk] : chunks) rows.push_back(std::move(chunk));
    return rows;
}

/// Rows in sections, and their readers.
struct Stored {
    explicit Stored(const std::vector<Chunk>& rows) {
        DocumentsBuilder builder(sections, "p/");
        ColumnsBuilder columns_builder;
        for (const Chunk& chunk : rows) {
            EXPECT_TRUE(builder.add(chunk, 0, 0).has_value());
            columns_builder.add(chunk);
        }
        EXPECT_TRUE(builder.finish().has_value());
        const auto finished = columns_builder.finish(sections, "p/");
        EXPECT_TRUE(finished.has_value());
        documents = DocumentsReader::open(sections, "p/").value();
        columns = ColumnsReader::open(sections, "p/", *documents).value();
    }
    Stored(const Stored&) = delete;
    Stored& operator=(const Stored&) = delete;
    Stored(Stored&&) = delete;
    Stored& operator=(Stored&&) = delete;
    ~Stored() = default;

    store::MemorySections sections;
    std::optional<DocumentsReader> documents;
    std::optional<ColumnsReader> columns;
};

Schema plain_schema() {
    Schema schema;
    schema.levels.default_level = "normal";
    return schema;
}

void expect_same(const Stored& stored, const std::vector<Chunk>& rows, const Filter& filter) {
    const Schema schema = plain_schema();
    const auto matcher = FilterMatcher::create(filter, schema);
    const auto found = stored.columns->matching(filter, schema, {});
    ASSERT_EQ(matcher.has_value(), found.has_value());
    if (!matcher) {
        EXPECT_EQ(matcher.error(), found.error());
        return;
    }
    ASSERT_EQ(found->size(), make_bits(rows.size()).size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
        ASSERT_EQ(has_bit(*found, row), matcher->matches(rows[row]))
            << "row " << row << ", field " << filter.field;
    }
    std::size_t bits = 0;
    for (const std::uint64_t word : *found) bits += static_cast<std::size_t>(std::popcount(word));
    EXPECT_LE(bits, rows.size()) << "nothing behind the last row";
}

TEST(Columns, MatchAsTheMatcherDoesOnRandomChunksAndFilters) {
    for (unsigned seed = 0; seed < 30; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        braid::testing::RandomData random(seed + 1000);
        const auto rows = column_chunks(seed, seed % 5 == 0 ? seed : 130);
        const Stored stored(rows);
        for (int i = 0; i < 150; ++i) {
            expect_same(stored, rows, random.filter());
            if (::testing::Test::HasFatalFailure()) return;
        }
    }
}

const std::vector<Value>& odd_values() {
    static const std::vector<Value> kValues = {
        Value(),
        Value(true),
        Value(false),
        Value(1),
        Value(1.0),
        Value(-0.0),
        Value(0),
        Value(0.5),
        Value(std::numeric_limits<std::int64_t>::max()),
        Value(0x1p63),
        Value(-0x1p63),
        Value(std::numeric_limits<std::int64_t>::min()),
        Value(std::numeric_limits<double>::quiet_NaN()),
        Value(1e300),
        Value(""),
        Value("a"),
        Value("ab"),
        Value("2025-01-01T00:00:00Z"),
        Value("2025-01-01T01:00:00+01:00"),
        Value("2025-01-01"),
        Value("2024-12-31x"),
        Value("2026-06-01T12:00:00.5Z"),
        Value("zzz"),
        Value(Array{}),
        Value(Array{Value(1), Value("a")}),
        Value(Array{Value("a"), Value("a")}),
        Value(Array{Value(), Value(true), Value(Array{Value(1)})}),
        Value(Object{}),
        Value(Object{{"k", Value(1)}}),
        Value(Object{{"k", Value(1.0)}}),
        Value(Array{Value(Object{{"k", Value(1)}}), Value("2025-01-01T00:00:00Z")})};
    return kValues;
}

TEST(Columns, MatchAsTheMatcherDoesOnEveryPairOfOddValuesAndOperators) {
    std::vector<Chunk> rows;
    for (std::size_t i = 0; i < odd_values().size() + 2; ++i) {
        Chunk chunk;
        chunk.chunk_id = std::to_string(1000 + i);
        chunk.document_id = "2025-01-01";
        if (i < odd_values().size()) {
            chunk.metadata.set("x", odd_values()[i]);
            chunk.metadata.set("created_at", odd_values()[i]);
            chunk.metadata.set("visibility_scope", odd_values()[i]);
        } else {
            chunk.created_at = Timestamp{1'735'689'600'000'000};  // 2025-01-01
            chunk.visibility_scope = {"a", "2025-01-01"};
            chunk.sensitivity = "restricted";
        }
        rows.push_back(std::move(chunk));
    }
    const Stored stored(rows);
    using Op = Filter::Op;
    for (const std::string field : {"x", "metadata.x", "x.k", "created_at", "visibility_scope",
                                    "sensitivity", "document_id", "chunk_id", "chunk_index"}) {
        for (const Value& operand : odd_values()) {
            for (const Op op : {Op::Eq, Op::Ne, Op::Gt, Op::Gte, Op::Lt, Op::Lte, Op::Contains}) {
                expect_same(stored, rows, Filter::compare(op, field, operand));
            }
            for (const Value& other : odd_values()) {
                for (const Op op : {Op::In, Op::Nin, Op::Between}) {
                    expect_same(stored, rows, Filter::compare(op, field, Array{operand, other}));
                }
                if (::testing::Test::HasFatalFailure()) return;
            }
        }
        for (const bool exists : {true, false}) {
            expect_same(stored, rows, Filter::compare(Op::Exists, field, exists));
        }
    }
}

TEST(Columns, MatchAsTheMatcherDoesWhereEveryRowHasOneValue) {
    std::vector<Chunk> rows;
    for (std::size_t i = 0; i < 9000; ++i) {
        Chunk chunk;
        chunk.chunk_id = std::to_string(100'000 + i);
        chunk.document_id = "document " + std::to_string(i / 7);
        chunk.metadata.set("kind", "kind " + std::to_string(i % 8));
        chunk.metadata.set("number", static_cast<std::int64_t>(i * i % 1000));
        if (i % 70 != 69) chunk.metadata.set("most", static_cast<std::int64_t>(i % 3));
        rows.push_back(std::move(chunk));
    }
    const Stored stored(rows);
    using Op = Filter::Op;
    for (const Filter& filter :
         {Filter::compare(Op::Eq, "kind", "kind 3"), Filter::compare(Op::Ne, "kind", "kind 3"),
          Filter::compare(Op::Gte, "number", 400), Filter::compare(Op::Eq, "most", 1),
          Filter::compare(Op::Nin, "most", Array{1, 2}), Filter::compare(Op::Contains, "kind", "7"),
          Filter::compare(Op::Between, "number", Array{100, 200}),
          Filter::compare(Op::Eq, "document_id", "document 9"),
          Filter::compare(Op::Exists, "kind", true), Filter::compare(Op::Exists, "most", false)}) {
        expect_same(stored, rows, filter);
    }
}

TEST(Columns, LongPathsAreReadFromTheChunks) {
    const std::string path(kMaxPathBytes + 10, 'p');
    std::vector<Chunk> rows(3);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].chunk_id = std::to_string(i);
        rows[i].document_id = "d";
        rows[i].metadata.set(path, static_cast<int>(i));
    }
    const Stored stored(rows);
    expect_same(stored, rows, Filter::compare(Filter::Op::Gte, path, 1));
    EXPECT_EQ(
        stored.columns->matching(Filter::compare(Filter::Op::Gte, path, 1), plain_schema(), {})
            .value()
            .front(),
        6U);
}

/// What tells a counted value from others; whole numbers are integers, however they are written.
std::optional<std::string> facet_name(const Value& value) {
    if (value.is_array() || value.is_object() || value.is_null()) return std::nullopt;
    if (value.is_bool()) return value.as_bool() ? "true" : "false";
    if (value.is_string()) return "s" + value.as_string();
    if (value.is_int()) return "n" + std::to_string(value.as_int());
    const double number = value.as_double();
    if (std::trunc(number) != number || std::abs(number) >= 0x1p63) {
        return "d" + std::to_string(number);
    }
    return "n" + std::to_string(static_cast<std::int64_t>(number));
}

/// As the collection counts today: on the chunks.
std::map<std::string, std::uint64_t> counted(const std::vector<Chunk>& rows, const Bits& mask,
                                             const std::string& field) {
    std::map<std::string, std::uint64_t> counts;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (!has_bit(mask, row)) continue;
        const auto value = field_value(rows[row], field, plain_schema());
        if (!value) continue;
        std::set<std::string> keys;
        if (const auto one = facet_name(*value)) keys.insert(*one);
        if (value->is_array()) {
            for (const Value& element : value->as_array()) {
                if (const auto one = facet_name(element)) keys.insert(*one);
            }
        }
        for (const std::string& one : keys) ++counts[one];
    }
    return counts;
}

TEST(Columns, FacetsCountAsTheChunksDo) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        braid::testing::RandomData random(seed);
        const auto rows = column_chunks(seed + 50, 200);
        const Stored stored(rows);
        Bits mask = make_bits(rows.size());
        for (std::size_t row = 0; row < rows.size(); ++row) {
            if (random.chance(60)) set_bit(mask, row);
        }
        std::set<std::string> fields = {"chunk_id",    "document_id",      "chunk_index",
                                        "title",       "created_at",       "section_title",
                                        "sensitivity", "visibility_scope", "deep.a.b"};
        for (const Chunk& chunk : rows) {
            for (const auto& [key, value] : chunk.metadata) fields.insert(key);
        }
        for (const std::string& field : fields) {
            const auto facets = stored.columns->facets(field, plain_schema(), mask, {});
            ASSERT_TRUE(facets.has_value()) << facets.error().message;
            std::map<std::string, std::uint64_t> found;
            for (const FacetCount& facet : *facets) {
                const std::string key = facet_name(facet.value).value_or("no value");
                EXPECT_TRUE(found.emplace(key, facet.count).second) << "counted twice: " << key;
            }
            EXPECT_EQ(found, counted(rows, mask, field)) << field;
        }
    }
}

TEST(Columns, StopWhenTheCallerDoes) {
    const auto rows = column_chunks(1, 50);
    const Stored stored(rows);
    CallLimits limits;
    limits.gone = [] { return true; };
    const Filter filter = Filter::compare(Filter::Op::Exists, "title", true);
    EXPECT_EQ(stored.columns->matching(filter, plain_schema(), limits).error().code,
              ErrorCode::Cancelled);
    EXPECT_EQ(stored.columns->facets("title", plain_schema(), make_bits(rows.size()), limits)
                  .error()
                  .code,
              ErrorCode::Cancelled);
}

class ChosenColumns final : public store::SectionSource {
public:
    std::map<std::string, store::testing::Bytes, std::less<>> parts;

    Result<store::Section> section(std::string_view name) const override {
        const auto found = parts.find(name);
        if (found == parts.end()) return fail(ErrorCode::NotFound, std::string(name));
        return store::Section(found->second, found->first);
    }
};

void ask_everything(const ChosenColumns& chosen, const DocumentsReader& documents) {
    const auto reader = ColumnsReader::open(chosen, "", documents);
    if (!reader) return;
    using Op = Filter::Op;
    for (const char* field : {"x", "created_at", "visibility_scope"}) {
        for (const Value& operand :
             {Value("2025-01-01T00:00:00Z"), Value(1), Value(Array{Value(1), Value("a")})}) {
            (void)reader->matching(Filter::compare(Op::Eq, field, operand), Schema(), {});
        }
        (void)reader->matching(Filter::compare(Op::Gt, field, "2020-01-01"), Schema(), {});
        (void)reader->matching(Filter::compare(Op::Contains, field, "a"), Schema(), {});
        (void)reader->facets(field, Schema(), make_bits(documents.rows()), {});
    }
}

TEST(ColumnsDamage, HostileBytesAreErrorsAndNothingWorse) {
    std::vector<Chunk> rows;
    for (std::size_t i = 0; i < odd_values().size(); ++i) {
        Chunk chunk;
        chunk.chunk_id = std::to_string(1000 + i);
        chunk.document_id = "d";
        chunk.metadata.set("x", odd_values()[i]);
        if (i % 2 == 0) chunk.created_at = Timestamp{static_cast<std::int64_t>(i)};
        if (i % 3 == 0) chunk.visibility_scope = {"a", "b"};
        rows.push_back(std::move(chunk));
    }
    const Stored stored(rows);
    ChosenColumns good;
    for (const std::string_view name :
         {kColumnNamesSection, kColumnOffsetsSection, kColumnDataSection}) {
        const auto bytes =
            stored.sections.section("p/" + std::string(name)).value().bytes().value();
        good.parts[std::string(name)] = {bytes.begin(), bytes.end()};
    }
    ask_everything(good, *stored.documents);
    for (const auto& [name, bytes] : good.parts) {
        for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 300) {
            ChosenColumns cut = good;
            cut.parts[name].resize(size);
            ask_everything(cut, *stored.documents);
        }
        for (std::size_t bit = 0; bit < bytes.size() * 8; bit += 1 + bytes.size() / 1000) {
            ChosenColumns flipped = good;
            flipped.parts[name][bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
            ask_everything(flipped, *stored.documents);
        }
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            std::mt19937_64 rng(seed);
            ChosenColumns random = good;
            random.parts[name] = store::testing::random_bytes(rng, rng() % 400);
            ask_everything(random, *stored.documents);
        }
        ChosenColumns without = good;
        without.parts.erase(name);
        EXPECT_FALSE(ColumnsReader::open(without, "", *stored.documents).has_value());
    }
}

}  // namespace
}  // namespace braid::docs
