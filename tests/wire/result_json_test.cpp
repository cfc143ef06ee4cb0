#include <functional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "braid/wire/check_json.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/context_json.hpp"
#include "braid/wire/explain_json.hpp"
#include "braid/wire/schema_json.hpp"
#include "wire/random_wire.hpp"

namespace braid::wire {
namespace {

constexpr unsigned kSeeds = 200;

/// What a client reads and writes again is what the server wrote, byte by byte.
template <class Make, class Write, class Read>
void expect_round_trips(const Make& make, const Write& write, const Read& read) {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const std::string text = json::print(write(make(rng)));
        const auto back = read(testing::parsed(text));
        ASSERT_TRUE(back) << back.error().message << "\n" << text;
        ASSERT_EQ(json::print(write(*back)), text);
    }
}

Explanation random_explanation(std::mt19937_64& rng) {
    Answer answer = testing::random_answer(rng);
    Explanation out;
    out.collection = "notes";
    out.chunk_id = testing::random_chunk(rng).chunk_id;
    out.legs = {{"dense", std::nullopt, std::nullopt, 50}, {"sparse", 1.5, 3, 100}};
    if (!answer.hits.empty()) out.hit = answer.hits.front();
    out.shown = out.hit.has_value();
    out.query_understood = answer.query_understood;
    out.phrasings = answer.phrasings;
    out.hypothetical_answer = answer.hypothetical_answer;
    out.complete = answer.complete;
    out.warnings = answer.warnings;
    out.unused = answer.unused;
    return out;
}

TEST(ResultJson, ExplanationsRoundTrip) {
    expect_round_trips(random_explanation, explanation_to_value, explanation_from_value);
}

TEST(ResultJson, ReasonsRoundTrip) {
    expect_round_trips(
        [](std::mt19937_64& rng) {
            WhyNot why;
            why.explanation = random_explanation(rng);
            why.reason = "it stands below the cut";
            if (rng() % 2 == 0) why.lost_at = "cut";
            if (rng() % 2 == 0) why.change = SuggestedChange{"top_k", Value(12)};
            if (rng() % 3 == 0) why.change = SuggestedChange{"filter", Value()};
            return why;
        },
        why_not_to_value, why_not_from_value);
}

TEST(ResultJson, ContextsRoundTrip) {
    expect_round_trips(
        [](std::mt19937_64& rng) {
            const Answer answer = testing::random_answer(rng);
            Context context;
            context.query = answer.query;
            context.text = testing::random_chunk(rng).content;
            for (const Hit& hit : answer.hits) {
                ContextPassage& passage = context.passages.emplace_back();
                passage.marker = "[1]";
                passage.collection = hit.collection;
                passage.document_id = hit.chunk.document_id;
                passage.chunk_ids = {hit.chunk.chunk_id, "another"};
                passage.title = hit.chunk.title;
                passage.section_title = hit.chunk.section_title;
                passage.source = "somewhere";
                passage.trust = "untrusted";
                passage.text = hit.chunk.content;
                passage.tokens = 7;
                passage.rank = rng() % 3;
                passage.score = passage.rank > 0 ? hit.score : 0;
            }
            context.budget = 2000;
            context.tokens = 99;
            context.tokens_estimated = rng() % 2 == 0;
            context.left_out = rng() % 4;
            context.phrasings = answer.phrasings;
            context.hypothetical_answer = answer.hypothetical_answer;
            context.complete = answer.complete;
            context.warnings = answer.warnings;
            context.unused = answer.unused;
            context.timings.total_ms = answer.timings.total_ms;
            return context;
        },
        context_to_value, context_from_value);
}

TEST(ResultJson, CheckReportsRoundTrip) {
    expect_round_trips(
        [](std::mt19937_64& rng) {
            CheckReport report;
            if (rng() % 2 == 0) report.problems = {"a line", "another"};
            if (rng() % 2 == 0) report.unfinished = {"one"};
            if (rng() % 2 == 0) report.notes = {"harmless"};
            report.collections = rng() % 9;
            report.chunks = rng() % 1000;
            report.records = rng() % 1000;
            report.bytes = rng() % (std::uint64_t{1} << 40);
            report.superseded = rng() % 5;
            return report;
        },
        check_to_value, check_from_value);
}

TEST(ResultJson, CollectionsRoundTrip) {
    expect_round_trips(
        [](std::mt19937_64& rng) {
            CollectionInfo info;
            info.name = "notes";
            info.schema = testing::random_schema(rng);
            info.chunks = rng() % 1000;
            info.documents = rng() % 1000;
            if (rng() % 2 == 0) info.namespaces = {"a", "b"};
            if (rng() % 4 == 0) info.damage = "a checksum is wrong";
            return info;
        },
        collection_to_value, collection_from_value);
}

TEST(ResultJson, StatisticsRoundTrip) {
    expect_round_trips(
        [](std::mt19937_64& rng) {
            CollectionStats stats;
            stats.chunks = rng() % 1000;
            stats.documents = rng() % 1000;
            stats.vectors = rng() % 1000;
            stats.terms = rng() % 1000;
            stats.average_length = static_cast<double>(rng() % 1000) / 7;
            stats.bytes_on_disk = rng() % 100'000;
            stats.resident_bytes = rng() % 100'000;
            if (rng() % 2 == 0) stats.parts = {{"words", 17}, {"log", 3}};
            if (rng() % 2 == 0) {
                DenseStats& dense = stats.dense.emplace();
                dense.in_graphs = 5;
                dense.queries = 9;
                if (rng() % 2 == 0) dense.points = {{"graph", 0.98, 0.99, 0.985, 0.995}};
            }
            if (rng() % 2 == 0) {
                IndexState& index = stats.index.emplace();
                index.in_memory = rng() % 100;
                if (rng() % 2 == 0) index.segments = {{"segment-1", 9, 2, 8, 4096, 512}};
                if (rng() % 2 == 0) index.pending = {"flush", "merge"};
            }
            if (rng() % 2 == 0) {
                LegProbes& probes = stats.probes.emplace();
                probes.chunks = rng() % 100;
                probes.among = rng() % 100;
                if (rng() % 2 == 0) probes.kinds = {{"first", 64, 0.5, 0.25}};
                probes.random_dense = {0.5, 0.0625};
                probes.random_sparse = {1.5, 2};
            }
            return stats;
        },
        [](const CollectionStats& stats) { return stats_to_value("notes", "default", stats); },
        stats_from_value);
}

TEST(ResultJson, FacetsRoundTrip) {
    expect_round_trips(
        [](std::mt19937_64& rng) {
            std::vector<FacetCount> facets;
            if (rng() % 4 > 0) facets.push_back({Value("x\"y"), rng() % 100});
            if (rng() % 4 > 0) facets.push_back({Value(2024), 1});
            if (rng() % 4 > 0) facets.push_back({Value(true), 1});
            return facets;
        },
        [](const std::vector<FacetCount>& facets) { return facets_to_value("kind", facets); },
        facets_from_value);
}

TEST(ResultJson, StoredChunksAreNotFilledIn) {
    expect_round_trips(testing::random_chunk, chunk_to_value, stored_chunk_from_value);
    // What users hand in gets its time from the metadata; what is stored stays as it is.
    Chunk chunk;
    chunk.chunk_id = chunk.document_id = "a";
    chunk.content = "Red foxes hunt at dusk.";
    chunk.metadata.set("created_at", "2025-12-25T10:00:00Z");
    const auto read = stored_chunk_from_value(chunk_to_value(chunk));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, chunk);
}

TEST(ResultJson, WhatIsNoResultIsAnError) {
    for (const char* const text : {"null", "[]", "{}", R"({"name": 1})", R"({"chunks": "many"})"}) {
        const Value json = testing::parsed(text);
        EXPECT_FALSE(explanation_from_value(json)) << text;
        EXPECT_FALSE(why_not_from_value(json)) << text;
        EXPECT_FALSE(context_from_value(json)) << text;
        EXPECT_FALSE(check_from_value(json)) << text;
        EXPECT_FALSE(collection_from_value(json)) << text;
        EXPECT_FALSE(stats_from_value(json)) << text;
        EXPECT_FALSE(stored_chunk_from_value(json)) << text;
    }
}

}  // namespace
}  // namespace braid::wire
