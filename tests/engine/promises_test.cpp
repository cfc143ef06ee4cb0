// Promises that need the whole engine: what a reader may not see changes nothing that it can ask
// for, and a restart changes nothing at all.

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/database.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/answer_json.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/context_json.hpp"
#include "braid/wire/explain_json.hpp"
#include "braid/wire/schema_json.hpp"
#include "core/temporary_folder.hpp"
#include "embed/fake_embedder.hpp"

namespace braid {
namespace {

using Rng = std::mt19937;

const std::string kCollection = "notes";

OpenOptions with_fake_embedder() {
    OpenOptions options;
    options.embedders = [](const VectorSpec&) -> Result<std::shared_ptr<const Embedder>> {
        return std::make_shared<const embed::FakeEmbedder>(16);
    };
    return options;
}

std::string random_text(Rng& rng) {
    static const std::vector<std::string> kWords{"fox",  "hunting", "dusk",  "harbour",
                                                 "snow", "river",   "night", "winter"};
    std::string text;
    for (std::size_t i = 1 + rng() % 8; i-- > 0;) text += kWords[rng() % kWords.size()] + " ";
    return text;
}

Chunk random_chunk(Rng& rng, const std::string& id) {
    Chunk chunk;
    chunk.chunk_id = id;
    chunk.document_id = "doc" + std::to_string(rng() % 6);
    chunk.chunk_index = static_cast<std::int64_t>(rng() % 20);
    chunk.content = random_text(rng);
    chunk.metadata.set("kind", "k" + std::to_string(rng() % 3));
    return chunk;
}

/// Out of the reader's sight: too sensitive, or of another scope. The words are its own, too.
Chunk hidden_chunk(Rng& rng, const std::string& id) {
    Chunk chunk = random_chunk(rng, id);
    chunk.content += " foxglove huntress duskier xylophone";
    chunk.metadata.set("kind", "k" + std::to_string(rng() % 5));
    if (rng() % 2 == 0) {
        chunk.sensitivity = "restricted";
    } else {
        chunk.visibility_scope = {"board"};
    }
    return chunk;
}

/// Times are no part of a promise.
void drop_incidentals(Answer& answer) {
    answer.timings = {};
    answer.query_embedding_cached.reset();
    answer.cursor.reset();
    for (SourceReport& report : answer.sources) report.time_ms = 0;
}

template <class T, class Show>
std::string text_of(Result<T> result, Show&& show) {
    if (!result) return "error: " + result.error().message;
    return json::print(std::forward<Show>(show)(*result));
}

/// Everything a reader can ask, as text.
std::vector<std::string> all_it_can_see(const Database& db, const Principal& reader) {
    std::vector<std::string> seen;
    const ReadScope scope{kCollection, "default", reader, std::nullopt};
    const auto answer_text = [&](Answer& answer) {
        drop_incidentals(answer);
        return wire::answer_to_value(answer, db.vocabulary());
    };
    const auto chunks_text = [](const std::vector<Chunk>& chunks) {
        Array list;
        for (const Chunk& chunk : chunks) list.push_back(wire::chunk_to_value(chunk));
        return Value(std::move(list));
    };
    for (const std::string query : {"fox", "hunting at dusk", "xylophone", "huntign", "foxglov"}) {
        for (const Strategy strategy : {Strategy::Hybrid, Strategy::Sparse, Strategy::MultiHop}) {
            Request request;
            request.query = query;
            request.collections = {kCollection};
            request.strategy = strategy;
            request.expand_neighbors = 1;
            request.top_k = 4;
            request.stages = {{"collapse_duplicates", {}}};
            seen.push_back(text_of(db.retrieve(request, reader), answer_text));
            seen.push_back(text_of(db.context(request, 60, reader), [](Context& context) {
                context.timings = {};
                return wire::context_to_value(context);
            }));
            for (const std::string id : {"v3", "h0", "h1", "absent"}) {
                seen.push_back(
                    text_of(db.explain(request, id, reader), wire::explanation_to_value));
                seen.push_back(text_of(db.why_not(request, id, reader), wire::why_not_to_value));
            }
        }
    }
    seen.push_back(text_of(db.count(scope), [](std::uint64_t n) { return Value(n); }));
    seen.push_back(text_of(db.facets(scope, "kind"), [](const auto& facets) {
        return wire::facets_to_value("kind", facets);
    }));
    seen.push_back(text_of(db.stats(scope), [&](CollectionStats stats) {
        stats.resident_bytes = 0;  // of the process, not of the collection
        return wire::stats_to_value(scope.collection, scope.namespace_, stats);
    }));
    seen.push_back(text_of(db.scan(scope, "", 1000), chunks_text));
    for (const std::string id : {"v3", "h0", "h1", "absent"}) {
        seen.push_back(text_of(db.neighbors(scope, id, 2), chunks_text));
        const std::vector<std::string> ids{id};
        const auto got = db.get(scope, ids);
        seen.emplace_back(got && got->front() ? "there" : "not there");
    }
    seen.push_back(text_of(db.collections(reader), [](const std::vector<CollectionInfo>& infos) {
        Array list;
        for (const CollectionInfo& info : infos) list.push_back(wire::collection_to_value(info));
        return Value(std::move(list));
    }));
    return seen;
}

TEST(EnginePromises, HiddenChunksChangeNothingAReaderCanAskFor) {
    const Principal reader{"reader", "normal", {"team"}};
    for (unsigned seed = 0; seed < 5; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        Rng rng(seed);
        auto db = Database::in_memory(with_fake_embedder());
        ASSERT_TRUE(db);
        Schema schema;
        schema.vectors.embedder = "fake";
        ASSERT_TRUE(db->create_collection(kCollection, schema));
        std::vector<Chunk> visible;
        for (int i = 0; i < 25; ++i) {
            visible.push_back(random_chunk(rng, "v" + std::to_string(i)));
            if (rng() % 4 == 0) visible.back().visibility_scope = {"team"};
        }
        ASSERT_TRUE(db->add(kCollection, visible));
        const std::vector<std::string> before = all_it_can_see(*db, reader);

        const auto expect_unchanged = [&](const char* after) {
            const std::vector<std::string> now = all_it_can_see(*db, reader);
            ASSERT_EQ(now.size(), before.size());
            for (std::size_t i = 0; i < now.size(); ++i) {
                if (now[i] == before[i]) continue;
                const auto at = static_cast<std::size_t>(
                    std::ranges::mismatch(now[i], before[i]).in1 - now[i].begin());
                const std::size_t from = at < 80 ? 0 : at - 80;
                ADD_FAILURE() << after << " changed " << before[i].substr(from, 160) << "\ninto "
                              << now[i].substr(from, 160);
            }
        };
        std::vector<Chunk> hidden;
        hidden.reserve(8);
        for (int i = 0; i < 8; ++i) hidden.push_back(hidden_chunk(rng, "h" + std::to_string(i)));
        ASSERT_TRUE(db->add(kCollection, hidden));
        expect_unchanged("adding");
        for (Chunk& chunk : hidden) chunk = hidden_chunk(rng, chunk.chunk_id);
        ASSERT_TRUE(db->add(kCollection, hidden));
        expect_unchanged("changing");
        ASSERT_TRUE(db->remove({kCollection}, {.chunk_ids = {"h0", "h2", "h4", "h6"}}));
        expect_unchanged("removing some");
        ASSERT_TRUE(db->remove({kCollection}, {.chunk_ids = {"h1", "h3", "h5", "h7"}}));
        expect_unchanged("removing all");
        EXPECT_EQ(db->count({kCollection}), 25U);
    }
}

TEST(EnginePromises, NobodyLearnsWhatOthersAsked) {
    auto db = Database::in_memory(with_fake_embedder());
    Schema schema;
    schema.vectors.embedder = "fake";
    ASSERT_TRUE(db && db->create_collection(kCollection, schema));
    Rng rng(1);
    ASSERT_TRUE(db->add(kCollection, {random_chunk(rng, "v")}));
    Request request;
    request.query = "fox";
    request.collections = {kCollection};
    const Principal ann{"ann", "normal", {}};
    const Principal bob{"bob", "normal", {}};
    EXPECT_EQ(db->retrieve(request, ann)->query_embedding_cached, false);
    EXPECT_EQ(db->retrieve(request, bob)->query_embedding_cached, false);
    EXPECT_EQ(db->retrieve(request, ann)->query_embedding_cached, true);
}

TEST(EnginePromises, ARestartChangesNothing) {
    for (unsigned seed = 0; seed < 3; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        Rng rng(seed);
        const braid::testing::TemporaryFolder place;
        std::vector<std::string> before;
        {
            auto db = Database::open(place.path(), with_fake_embedder());
            ASSERT_TRUE(db) << db.error().message;
            Schema schema;
            schema.vectors.embedder = "fake";
            ASSERT_TRUE(db->create_collection(kCollection, schema));
            for (int i = 0; i < 30; ++i) {
                const std::string id = "v" + std::to_string(rng() % 20);
                ASSERT_TRUE(db->add(kCollection, {random_chunk(rng, id)}));
            }
            ASSERT_TRUE(db->remove({kCollection}, {.chunk_ids = {"v1", "v5"}}));
            before = all_it_can_see(*db, {});
        }
        const auto again = Database::open(place.path(), with_fake_embedder());
        ASSERT_TRUE(again);
        EXPECT_EQ(all_it_can_see(*again, {}), before);
    }
}

}  // namespace
}  // namespace braid
