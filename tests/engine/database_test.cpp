#include "braid/database.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/applications.hpp"
#include "core/present.hpp"
#include "core/temporary_folder.hpp"
#include "embed/fake_embedder.hpp"

namespace braid {
namespace {

using braid::testing::TemporaryFolder;

/// Makes the embedders "fake" (dimension 16) and "other" (dimension 24).
Result<std::shared_ptr<const Embedder>> fake_embedder(const VectorSpec& spec) {
    return std::make_shared<const embed::FakeEmbedder>(spec.embedder == "fake" ? 16 : 24);
}

Chunk chunk_of(const std::string& id, const std::string& text) {
    Chunk chunk;
    chunk.chunk_id = id;
    chunk.content = text;
    return chunk;
}

Schema fake_schema() {
    Schema schema;
    schema.vectors.embedder = "fake";
    return schema;
}

Request ask(const std::string& query) {
    Request request;
    request.query = query;
    request.collections = {"notes"};
    return request;
}

std::vector<Chunk> numbered(int count) {
    std::vector<Chunk> chunks;
    chunks.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        chunks.push_back(chunk_of("c" + std::to_string(i), "common word" + std::to_string(i)));
    }
    return chunks;
}

TEST(Database, EmbedsWhatItStoresAndWhatItIsAsked) {
    auto db = Database::in_memory({.embedders = fake_embedder});
    ASSERT_TRUE(db);
    ASSERT_TRUE(db->create_collection("notes", fake_schema()));
    ASSERT_TRUE(db->add("notes", {chunk_of("a", "red foxes hunt at dusk"),
                                  chunk_of("b", "the harbour freezes in winter")}));
    const auto first = db->retrieve(ask("red foxes"));
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->hits.front().chunk.chunk_id, "a");
    EXPECT_TRUE(first->hits.front().dense_score.has_value());
    EXPECT_TRUE(first->hits.front().sparse_score.has_value());
    EXPECT_EQ(first->query_embedding_cached, false);
    EXPECT_EQ(db->retrieve(ask("red foxes"))->query_embedding_cached, true);
}

TEST(Database, SuggestsWordsNearThoseNobodyHolds) {
    auto db = Database::in_memory();
    ASSERT_TRUE(db && db->create_collection("notes"));
    Chunk secret = chunk_of("secret", "Quagga quaggas");
    secret.sensitivity = "restricted";
    ASSERT_TRUE(db->add("notes", {chunk_of("a", "Foxes were hunting at dusk"),
                                  chunk_of("b", "The hunter sleeps"), secret}));
    const auto ask_as_typed = [](std::string query) {
        Request request = ask(std::move(query));
        request.typos = false;
        return request;
    };
    const auto answer = db->retrieve(ask_as_typed("huntign"));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(answer->hits.empty());
    ASSERT_FALSE(answer->suggestions.empty());
    EXPECT_EQ(answer->suggestions[0].word, "huntign");
    EXPECT_EQ(answer->suggestions[0].instead, "hunting");
    EXPECT_EQ(answer->suggestions[0].chunks, 1U);
    // What may not be seen is not suggested.
    EXPECT_FALSE(db->retrieve(ask_as_typed("quaga"))->suggestions.empty());
    EXPECT_TRUE(db->retrieve(ask_as_typed("quaga"), {.clearance = "normal"})->suggestions.empty());
    EXPECT_TRUE(db->retrieve(ask_as_typed("foxes"))->suggestions.empty());
}

TEST(Database, FindsDoctrineForAMissionAndItsCodes) {
    auto db = Database::in_memory();
    ASSERT_TRUE(db && db->create_collection("doctrine"));
    std::vector<Chunk> chunks{chunk_of("a", "cross the river"), chunk_of("b", "cross the ridge")};
    chunks[0].metadata.set("mos_code", "12B");
    chunks[1].metadata.set("mos_code", "11B");
    ASSERT_TRUE(db->add("doctrine", chunks, "arcnet_doctrine"));
    const auto all = find_relevant_doctrine(*db, "cross", {}, "doctrine");
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_EQ(all->hits.size(), 2U);
    const auto some = find_relevant_doctrine(*db, "cross", {"12B", "12C"}, "doctrine");
    ASSERT_TRUE(some);
    ASSERT_EQ(some->hits.size(), 1U);
    EXPECT_EQ(some->hits[0].chunk.chunk_id, "a");
}

TEST(Database, RetrievesATopicInItsOwnWords) {
    auto db = Database::in_memory({.embedders = fake_embedder});
    Schema schema;
    schema.vectors.embedder = "fake";
    ASSERT_TRUE(db && db->create_collection("papers", schema));
    ASSERT_TRUE(db->add("papers", {chunk_of("a", "deep sleep"), chunk_of("b", "dreams")}, "sleep"));
    ASSERT_TRUE(db->add("papers", {chunk_of("c", "deep water")}, "floods"));
    const auto answer =
        retrieve_topic(*db, "sleep", "deep",
                       {.alpha = 0.25, .k_semantic = 1, .k_lexical = 2, .k_context = 2}, "papers");
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->profile, "topic");
    ASSERT_FALSE(answer->hits.empty());
    EXPECT_EQ(answer->hits[0].chunk.chunk_id, "a");
    for (const Hit& hit : answer->hits) EXPECT_EQ(hit.namespace_, "sleep");
    EXPECT_EQ(answer->hits[0].receipt.sources.at(0).weight, 0.25);
    EXPECT_EQ(answer->sources.at(0).depth, 1U);
    EXPECT_EQ(answer->sources.at(1).depth, 2U);
    EXPECT_EQ(retrieve_topic(*db, "floods", "deep", {}, "papers")->hits.size(), 1U);
}

TEST(Database, KeepsAnEmbedderUnderItsFullName) {
    auto db = Database::in_memory({.embedders = fake_embedder});
    ASSERT_TRUE(db);
    for (const auto& [given, kept] :
         {std::pair("bge", "bge-small-en-v1.5"), std::pair("all-MiniLM-L6-v2", "minilm"),
          std::pair("fake", "fake")}) {
        Schema schema;
        schema.vectors.embedder = given;
        const std::string name = "of-" + std::string(kept, 3);
        ASSERT_TRUE(db->create_collection(name, schema));
        EXPECT_EQ(db->describe(name)->schema.vectors.embedder, kept);
    }
}

TEST(Database, AnswersBatchesOneFailureAtATime) {
    auto db = Database::in_memory();
    ASSERT_TRUE(db->create_collection("notes"));
    ASSERT_TRUE(db->add("notes", {chunk_of("a", "red foxes")}));
    const std::vector<Request> requests{ask("foxes"), ask(" "), ask("red")};
    const auto answers = db->retrieve_batch(requests);
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_TRUE(answers[0] && answers[2]);
    ASSERT_FALSE(answers[1]);
    EXPECT_EQ(answers[1].error().code, ErrorCode::InvalidArgument);
}

TEST(Database, AnswersByWordsWhenTheEmbedderIsGone) {
    const TemporaryFolder directory;
    {
        auto db = Database::open(directory.path(), {.embedders = fake_embedder});
        ASSERT_TRUE(db) << db.error().message;
        ASSERT_TRUE(db->create_collection("notes", fake_schema()));
        ASSERT_TRUE(db->add("notes", {chunk_of("a", "red foxes")}));
    }
    const EmbedderFactory broken =
        [](const VectorSpec&) -> Result<std::shared_ptr<const Embedder>> {
        return fail(ErrorCode::Unavailable, "the model cannot be had");
    };
    const auto db = Database::open(directory.path(), {.embedders = broken});
    const auto answer = db->retrieve(ask("foxes"));
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->complete);
    EXPECT_EQ(answer->hits.size(), 1U);
}

TEST(Database, RefusesAnEmbedderThatIsNotTheOneThatMadeTheVectors) {
    const TemporaryFolder directory;
    {
        auto db = Database::open(directory.path(), {.embedders = fake_embedder});
        ASSERT_TRUE(db->create_collection("notes", fake_schema()));
        ASSERT_TRUE(db->add("notes", {chunk_of("a", "red foxes")}));
    }
    const EmbedderFactory swapped =
        [](const VectorSpec&) -> Result<std::shared_ptr<const Embedder>> {
        return std::make_shared<const embed::FakeEmbedder>(24);
    };
    auto db = Database::open(directory.path(), {.embedders = swapped});
    const auto answer = db->retrieve(ask("foxes"));
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->complete);
    EXPECT_NE(answer->sources[0].error.find("braid reembed"), std::string::npos)
        << answer->sources[0].error;
    const auto added = db->add("notes", {chunk_of("b", "blue")});
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, ErrorCode::Conflict);
}

/// Like the fake, but of another runtime, and perhaps with other vectors.
class OtherRuntime final : public Embedder {
public:
    explicit OtherRuntime(bool same_vectors)
        : same_(same_vectors), inner_(16), fingerprint_(inner_.fingerprint()) {
        fingerprint_.runtime = "fake 2";
    }
    const EmbedderFingerprint& fingerprint() const override { return fingerprint_; }
    Result<std::vector<Embedding>> embed(std::span<const std::string_view> texts, TextRole role,
                                         const CallLimits& limits) const override {
        auto embeddings = inner_.embed(texts, role, limits);
        for (Embedding& embedding : *embeddings) {
            if (!same_) embedding.vector[3] += 0.4F;
        }
        return embeddings;
    }
    std::size_t count_tokens(std::string_view text) const override {
        return inner_.count_tokens(text);
    }

private:
    bool same_;
    embed::FakeEmbedder inner_;
    EmbedderFingerprint fingerprint_;
};

TEST(Database, ComparesTestTextsWhenTheRuntimeIsAnother) {
    for (const bool same : {true, false}) {
        const TemporaryFolder directory;
        {
            auto db = Database::open(directory.path(), {.embedders = fake_embedder});
            ASSERT_TRUE(db->create_collection("notes", fake_schema()));
            ASSERT_TRUE(db->add("notes", {chunk_of("a", "red foxes")}));
        }
        const EmbedderFactory later =
            [&](const VectorSpec&) -> Result<std::shared_ptr<const Embedder>> {
            return std::make_shared<const OtherRuntime>(same);
        };
        const auto db = Database::open(directory.path(), {.embedders = later});
        const auto answer = db->retrieve(ask("foxes"));
        ASSERT_TRUE(answer && answer->complete);
        ASSERT_EQ(answer->warnings.size(), 1U);
        EXPECT_NE(answer->warnings[0].find("fake 2"), std::string::npos);
        EXPECT_EQ(answer->warnings[0].find("braid reembed") == std::string::npos, same)
            << answer->warnings[0];
    }
}

TEST(Reembed, GivesEveryChunkANewVectorAndKeepsVersions) {
    const TemporaryFolder directory;
    const OpenOptions options{.embedders = fake_embedder};
    Version before = 0;
    {
        auto db = Database::open(directory.path(), options);
        ASSERT_TRUE(db->create_collection("notes", fake_schema()));
        ASSERT_TRUE(db->add("notes", numbered(200)));
        ASSERT_TRUE(db->add("notes", {chunk_of("c7", "common replaced")}));
        ASSERT_TRUE(db->remove({.collection = "notes"}, {.chunk_ids = {"c9"}}));
        const auto replaced = db->get({.collection = "notes"}, std::vector<std::string>{"c7"});
        before = present(replaced->at(0)).version;

        std::uint64_t last_done = 0;
        const auto report = db->reembed("notes", "other", [&](std::uint64_t done, std::uint64_t) {
            EXPECT_GE(done, last_done);
            last_done = done;
        });
        ASSERT_TRUE(report) << report.error().message;
        EXPECT_EQ(report->embedded, 199U);
        EXPECT_EQ(last_done, 199U);
        const auto answer = db->retrieve(ask("common word3"));
        ASSERT_TRUE(answer && answer->complete);
        EXPECT_TRUE(answer->warnings.empty());
    }
    auto db = Database::open(directory.path(), options);
    ASSERT_TRUE(db);
    EXPECT_EQ(db->describe("notes")->schema.vectors.dimension, 24U);
    EXPECT_EQ(db->describe("notes")->chunks, 199U);
    const auto stored = db->get({.collection = "notes"}, std::vector<std::string>{"c7"}, true);
    const Chunk chunk = present(stored->at(0));
    EXPECT_EQ(chunk.version, before);
    EXPECT_EQ(chunk.vector.size(), 24U);
    const auto later = db->add("notes", {chunk_of("c7", "common again")});
    ASSERT_TRUE(later);
    EXPECT_NE(later->version, before);
    std::size_t logs = 0;
    for (const auto& file :
         std::filesystem::directory_iterator(directory.path() / "collections" / "notes")) {
        const std::string name = file.path().filename().string();
        logs += name.starts_with("log-") && !name.ends_with("-durable");
    }
    EXPECT_EQ(logs, 1U);
}

TEST(Reembed, GoesOnWhereItWasInterruptedAndAnswersMeanwhile) {
    const TemporaryFolder directory;
    const OpenOptions options{.embedders = fake_embedder};
    {
        auto db = Database::open(directory.path(), options);
        ASSERT_TRUE(db->create_collection("notes", fake_schema()));
        ASSERT_TRUE(db->add("notes", numbered(300)));
        std::stop_source stop;
        const auto report = db->reembed(
            "notes", "other",
            [&](std::uint64_t done, std::uint64_t total) {
                const auto answer = db->retrieve(ask("common word3"));
                ASSERT_TRUE(answer);
                EXPECT_TRUE(answer->complete);
                ASSERT_EQ(answer->warnings.size(), 1U);
                EXPECT_NE(
                    answer->warnings[0].find(std::to_string(done) + " of " + std::to_string(total)),
                    std::string::npos)
                    << answer->warnings[0];
                if (done > 100) stop.request_stop();
            },
            {.stop = stop.get_token()});
        ASSERT_FALSE(report);
        EXPECT_EQ(report.error().code, ErrorCode::Cancelled);
    }
    auto db = Database::open(directory.path(), options);
    const auto unfinished = db->retrieve(ask("common word3"));
    ASSERT_TRUE(unfinished && unfinished->complete);
    ASSERT_EQ(unfinished->warnings.size(), 1U);
    EXPECT_NE(unfinished->warnings[0].find("braid reembed"), std::string::npos);
    ASSERT_TRUE(
        db->add("notes", {chunk_of("c3", "common changed"), chunk_of("new", "common new")}));
    ASSERT_TRUE(db->remove({.collection = "notes"}, {.chunk_ids = {"c299", "c0"}}));
    const auto report = db->reembed("notes", "other", nullptr);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_LT(report->embedded, 250U);
    EXPECT_EQ(db->describe("notes")->chunks, 299U);
    const auto answer = db->retrieve(ask("common changed"));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->hits.front().chunk.chunk_id, "c3");
    EXPECT_TRUE(answer->warnings.empty());
}

/// Who began to write when nobody made vectors is not refused because somebody does now.
TEST(Reembed, RefusesNoWriteOfAChunkThatHadNoVectorYet) {
    for (int round = 0; round < 5; ++round) {
        auto db = Database::in_memory({.embedders = fake_embedder});
        ASSERT_TRUE(db->create_collection("notes", {}));
        ASSERT_TRUE(db->add("notes", numbered(100)));
        std::atomic<bool> done{false};
        std::atomic<int> added{0};
        std::jthread writer([&] {
            for (int i = 0; !done && i < 2000; ++i) {
                const auto report =
                    db->add("notes", {chunk_of("w" + std::to_string(i), "common written")});
                ASSERT_TRUE(report) << report.error().message;
                ++added;
            }
        });
        const auto report = db->reembed("notes", "other", nullptr);
        done = true;
        writer.join();
        ASSERT_TRUE(report) << report.error().message;
        const auto chunks = db->scan({.collection = "notes"}, "", 10'000, true);
        ASSERT_TRUE(chunks);
        EXPECT_EQ(chunks->size(), 100U + static_cast<unsigned>(added));
        for (const Chunk& chunk : *chunks) EXPECT_EQ(chunk.vector.size(), 24U) << chunk.chunk_id;
    }
}

TEST(Reembed, LosesNoWriteMadeMeanwhile) {
    auto db = Database::in_memory({.embedders = fake_embedder});
    ASSERT_TRUE(db->create_collection("notes", fake_schema()));
    ASSERT_TRUE(db->add("notes", numbered(200)));
    std::atomic<bool> done{false};
    std::atomic<int> added{0};
    std::jthread writer([&] {
        for (int i = 0; !done && i < 2000; ++i) {
            ASSERT_TRUE(db->add("notes", {chunk_of("w" + std::to_string(i), "common written")}));
            ++added;
        }
    });
    const auto report = db->reembed("notes", "other", nullptr);
    done = true;
    writer.join();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(db->describe("notes")->chunks, 200U + static_cast<unsigned>(added));
    const auto chunks = db->scan({.collection = "notes"}, "", 10'000, true);
    ASSERT_TRUE(chunks);
    for (const Chunk& chunk : *chunks) EXPECT_EQ(chunk.vector.size(), 24U) << chunk.chunk_id;
}

TEST(Database, ChecksItselfAndMakesCopies) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "data";
    auto db = Database::open(path, {.embedders = fake_embedder});
    ASSERT_TRUE(db);
    ASSERT_TRUE(db->create_collection("notes", fake_schema()));
    ASSERT_TRUE(db->add("notes", numbered(50)));
    const auto checked = db->check();
    ASSERT_TRUE(checked) << checked.error().message;
    EXPECT_TRUE(checked->clean());
    EXPECT_EQ(checked->chunks, 50U);
    const auto copied = db->backup(folder.path() / "copy");
    ASSERT_TRUE(copied) << copied.error().message;
    EXPECT_EQ(copied->chunks, 50U);
    EXPECT_FALSE(db->backup(folder.path() / "copy")) << "it is not empty any more";
    const auto copy = Database::open(folder.path() / "copy", {.embedders = fake_embedder});
    ASSERT_TRUE(copy);
    const auto here = db->retrieve(ask("word7"));
    const auto there = copy->retrieve(ask("word7"));
    ASSERT_TRUE(here && there);
    ASSERT_EQ(here->hits.size(), there->hits.size());
    for (std::size_t i = 0; i < here->hits.size(); ++i) {
        EXPECT_EQ(here->hits[i].chunk, there->hits[i].chunk);
        EXPECT_EQ(here->hits[i].score, there->hits[i].score);
    }
    const auto memory = Database::in_memory();
    ASSERT_TRUE(memory);
    EXPECT_TRUE(memory->backup(folder.path() / "of-memory"));
}

TEST(Database, ACopyThatFailsLeavesNothing) {
    namespace fs = std::filesystem;
    const TemporaryFolder folder;
    auto db = Database::open(folder.path() / "data");
    ASSERT_TRUE(db);
    ASSERT_TRUE(db->create_collection("c"));
    Chunk chunk;
    chunk.chunk_id = "a";
    chunk.content = "a fox";
    ASSERT_TRUE(db->add("c", {chunk}));
    fs::resize_file(folder.path() / "data/collections/c/log-000001", 60);  // half of it is gone
    EXPECT_FALSE(db->backup(folder.path() / "copy"));
    EXPECT_FALSE(fs::exists(folder.path() / "copy"));
    fs::create_directory(folder.path() / "empty");
    EXPECT_FALSE(db->backup(folder.path() / "empty"));
    EXPECT_TRUE(fs::is_empty(folder.path() / "empty"));
    fs::create_directory(folder.path() / "used");
    fs::create_directory(folder.path() / "used" / "mine");
    EXPECT_FALSE(db->backup(folder.path() / "used"));
    EXPECT_TRUE(fs::exists(folder.path() / "used" / "mine"));
}

TEST(Database, CopiesOneMomentWhileOthersWrite) {
    const TemporaryFolder folder;
    auto db = Database::in_memory();
    ASSERT_TRUE(db);
    for (const std::string name : {"first", "second"}) ASSERT_TRUE(db->create_collection(name));
    std::atomic<bool> stop = false;
    // What is in "second" came into "first" before.
    const std::jthread writer([&] {
        for (int i = 0; i < 2000 && !stop; ++i) {
            const Chunk chunk = chunk_of("c" + std::to_string(i), "word");
            EXPECT_TRUE(db->add("first", {chunk}));
            EXPECT_TRUE(db->add("second", {chunk}));
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    });
    for (int i = 0; i < 8; ++i) {
        const auto path = folder.path() / ("copy" + std::to_string(i));
        const auto copied = db->backup(path);
        ASSERT_TRUE(copied) << copied.error().message;
        OpenOptions options;
        options.read_only = true;
        const auto copy = Database::open(path, options);
        ASSERT_TRUE(copy);
        const auto first = copy->count({.collection = "first"});
        const auto second = copy->count({.collection = "second"});
        ASSERT_TRUE(first && second);
        EXPECT_TRUE(*first == *second || *first == *second + 1) << *first << " " << *second;
    }
    stop = true;
}

TEST(Database, ReadsGiveUpWhenToldTo) {
    auto db = Database::in_memory();
    ASSERT_TRUE(db);
    ASSERT_TRUE(db->create_collection("notes"));
    ASSERT_TRUE(db->add("notes", numbered(3)));
    const std::stop_source source;
    source.request_stop();
    CallLimits stopped;
    stopped.stop = source.get_token();
    CallLimits late;
    late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
    const ReadScope scope{.collection = "notes"};
    const std::vector<std::string> ids{"c1"};
    for (const auto& [limits, code] :
         {std::pair(stopped, ErrorCode::Cancelled), std::pair(late, ErrorCode::DeadlineExceeded)}) {
        EXPECT_EQ(db->get(scope, ids, false, limits).error().code, code);
        EXPECT_EQ(db->neighbors(scope, "c1", 1, limits).error().code, code);
        EXPECT_EQ(db->count(scope, limits).error().code, code);
        EXPECT_EQ(db->facets(scope, "chunk_id", 5, limits).error().code, code);
        EXPECT_EQ(db->stats(scope, limits).error().code, code);
        EXPECT_EQ(db->scan(scope, "", 5, false, limits).error().code, code);
        EXPECT_EQ(db->check(limits).error().code, code);
    }
}

}  // namespace
}  // namespace braid
