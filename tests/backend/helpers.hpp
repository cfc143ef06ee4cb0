#pragma once

#include <chrono>
#include <iterator>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/backend.hpp"
#include "core/present.hpp"

namespace braid::testing {

/// The value; on an error the test fails and goes on with an empty one.
template <class T>
T must(Result<T> result) {
    if (result) return *std::move(result);
    ADD_FAILURE() << error_facts(result.error().code).name << ": " << result.error().message;
    return T();
}
inline void must(const Result<>& result) {
    if (result) return;
    ADD_FAILURE() << error_facts(result.error().code).name << ": " << result.error().message;
}

/// The call must have failed in this way, with a message that holds `part`.
template <class T>
void expect_error(const Result<T>& result, ErrorCode code, std::string_view part = "") {
    ASSERT_FALSE(result.has_value()) << "it succeeded";
    EXPECT_EQ(error_facts(result.error().code).name, error_facts(code).name)
        << result.error().message;
    EXPECT_NE(result.error().message.find(part), std::string::npos)
        << "\"" << result.error().message << "\" does not mention \"" << part << "\"";
}

/// Limits of a call whose deadline has passed, of one that was cancelled, and of one with time.
inline CallLimits late_call() {
    CallLimits limits;
    limits.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
    return limits;
}
inline CallLimits stopped_call() {
    const std::stop_source source;
    source.request_stop();
    CallLimits limits;
    limits.stop = source.get_token();
    return limits;
}
inline CallLimits patient_call() {
    CallLimits limits;
    limits.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
    limits.stop = std::stop_source().get_token();
    return limits;
}

inline Chunk make_chunk(std::string id, std::string content, std::vector<float> vector = {}) {
    Chunk chunk;
    chunk.chunk_id = std::move(id);
    chunk.content = std::move(content);
    chunk.vector = std::move(vector);
    return chunk;
}

/// Words split at spaces, nothing stemmed: what the tests can compute by themselves.
inline Schema words_schema() {
    Schema schema;
    schema.analyzer = "simple";
    return schema;
}

inline Schema vectors_schema(std::size_t dimension, Metric metric = Metric::Cosine) {
    Schema schema = words_schema();
    schema.vectors = {.embedder = "external", .dimension = dimension, .metric = metric};
    return schema;
}

inline Principal reader(std::string clearance, std::vector<std::string> scopes = {}) {
    return {.name = "reader", .clearance = std::move(clearance), .scopes = std::move(scopes)};
}

inline ReadScope scope_of(std::string collection, Principal principal = {},
                          std::optional<Filter> filter = std::nullopt) {
    return {.collection = std::move(collection),
            .principal = std::move(principal),
            .filter = std::move(filter)};
}

/// For collections of words_schema(): texts of lower-case words, split at spaces.
inline Leg words_leg(ReadScope scope, const std::vector<std::string>& texts,
                     std::size_t depth = 1000) {
    Leg leg{.kind = LegKind::Sparse, .scope = std::move(scope), .depth = depth};
    for (const std::string& text : texts) {
        std::istringstream words(text);
        leg.phrasings.emplace_back(std::istream_iterator<std::string>(words),
                                   std::istream_iterator<std::string>());
    }
    return leg;
}

inline Leg vector_leg(ReadScope scope, std::vector<float> vector, std::size_t depth = 1000) {
    return {.kind = LegKind::Dense,
            .scope = std::move(scope),
            .vector = std::move(vector),
            .depth = depth};
}

inline DeleteSelector by_ids(std::vector<std::string> ids) {
    return {.chunk_ids = std::move(ids)};
}
inline DeleteSelector by_documents(std::vector<std::string> ids) {
    return {.document_ids = std::move(ids)};
}
inline DeleteSelector by_filter(Filter filter) {
    return {.filter = std::move(filter)};
}

inline std::vector<std::string> ids_of(const LegResult& result) {
    std::vector<std::string> ids;
    ids.reserve(result.hits.size());
    for (const LegHit& hit : result.hits) ids.push_back(hit.chunk_id);
    return ids;
}
inline std::vector<std::string> ids_of(const std::vector<Chunk>& chunks) {
    std::vector<std::string> ids;
    ids.reserve(chunks.size());
    for (const Chunk& chunk : chunks) ids.push_back(chunk.chunk_id);
    return ids;
}

using Ids = std::vector<std::string>;

/// One range of one document.
inline Result<std::vector<Chunk>> neighbors_of(const Reader& reader, const ReadScope& scope,
                                               const std::string& document, std::int64_t index,
                                               std::size_t before, std::size_t after) {
    const NeighborRange range{document, index, before, after};
    BRAID_TRY(auto found, reader.neighbors(scope, std::span(&range, 1)));
    EXPECT_EQ(found.size(), 1U);
    return std::move(found.front());
}

/// Rewrites a collection, in batches of a few chunks.
inline void compact_whole(Backend& backend, const std::string& collection) {
    const auto work = must(backend.compaction(collection));
    do {
        for (auto batch = must(work->pending(8)); !batch.chunks.empty();
             batch = must(work->pending(8))) {
            must(work->put(std::move(batch)));
        }
    } while (!must(work->finish()));
}

}  // namespace braid::testing
