// An embedder that is slow, down or cold costs the dense leg at most. Latches and a server on
// loopback that never answers; no test here waits for a clock to succeed but for short deadlines.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/database.hpp"
#include "braid/engine/embedder_settings.hpp"
#include "braid/json/json.hpp"
#include "core/temporary_folder.hpp"
#include "embed/fake_embedder.hpp"
#include "net/http_test_server.hpp"

namespace braid {
namespace {

using net::HttpTestServer;

/// Loads when it is allowed to; the first time, which makes the collection, at once.
struct SlowLoading {
    std::atomic<bool> slow = false;
    std::atomic<int> loads = 0;
    std::atomic<bool> go = false;

    void finish() {
        go = true;
        go.notify_all();
    }
    EmbedderFactory factory() {
        return [this](const VectorSpec&) -> Result<std::shared_ptr<const Embedder>> {
            ++loads;
            if (slow) go.wait(false);
            return std::make_shared<const embed::FakeEmbedder>(16);
        };
    }
};

Schema schema_with(const std::string& embedder) {
    Schema schema;
    schema.vectors.embedder = embedder;
    return schema;
}

Chunk a_fox() {
    Chunk chunk;
    chunk.chunk_id = "fox";
    chunk.content = "red foxes hunt at dusk";
    return chunk;
}

Request about_foxes() {
    Request request;
    request.query = "red foxes";
    request.collections = {"notes"};
    return request;
}

/// A database whose vectors were made by another that is gone: its embedder is loaded anew.
Result<Database> cold_database(const std::filesystem::path& folder, EmbedderFactory factory,
                               const std::string& embedder) {
    OpenOptions options;
    options.embedders = std::move(factory);
    {
        BRAID_TRY(Database first, Database::open(folder, options));
        BRAID_CHECK(first.create_collection("notes", schema_with(embedder)));
        BRAID_CHECK(first.add("notes", {a_fox()}));
    }
    return Database::open(folder, options);
}

TEST(WordsBeforeVectors, AModelThatLoadsIsNotWaitedForBeyondTheDeadline) {
    const braid::testing::TemporaryFolder folder;
    SlowLoading model;
    auto db = cold_database(folder.path(), model.factory(), "fake");
    ASSERT_TRUE(db) << db.error().message;
    // Closing the database waits for what loads.
    const std::shared_ptr<void> finally(nullptr, [&](void*) { model.finish(); });
    model.slow = true;
    model.loads = 0;
    Request hurried = about_foxes();
    hurried.deadline_ms = 300;
    for (int i = 0; i < 3; ++i) {
        const auto answer = db->retrieve(hurried);
        ASSERT_TRUE(answer) << answer.error().message;
        ASSERT_EQ(answer->hits.size(), 1U);
        EXPECT_FALSE(answer->complete);
        EXPECT_FALSE(answer->hits.front().dense_score.has_value());
    }
    const auto context = db->context(hurried, 100);
    ASSERT_TRUE(context) << context.error().message;
    EXPECT_TRUE(context->tokens_estimated);
    EXPECT_FALSE(context->complete);

    model.finish();
    const auto patient = db->retrieve(about_foxes());
    ASSERT_TRUE(patient) << patient.error().message;
    EXPECT_TRUE(patient->complete);
    EXPECT_TRUE(patient->hits.front().dense_score.has_value());
    EXPECT_EQ(model.loads, 1);  // by the first; all others found it at work
}

TEST(WordsBeforeVectors, ALoadThatFailsIsTriedAgainByTheNextQuery) {
    const braid::testing::TemporaryFolder folder;
    std::atomic<int> failures = 0;
    auto db = cold_database(
        folder.path(),
        [&](const VectorSpec&) -> Result<std::shared_ptr<const Embedder>> {
            if (failures-- > 0) return fail(ErrorCode::NotFound, "no model file");
            return std::make_shared<const embed::FakeEmbedder>(16);
        },
        "fake");
    ASSERT_TRUE(db) << db.error().message;
    failures = 1;
    const auto words = db->retrieve(about_foxes());
    ASSERT_TRUE(words) << words.error().message;
    EXPECT_FALSE(words->complete);
    EXPECT_NE(words->sources.front().error.find("no model file"), std::string::npos);
    EXPECT_TRUE(db->retrieve(about_foxes())->complete);
}

/// Answers like an embedding endpoint until it is told to hang, or to fail.
class FickleEndpoint {
public:
    enum class Mood { Answers, Hangs, Fails };

    FickleEndpoint()
        : server_([this](const net::ReceivedRequest& request, net::TestConnection& connection) {
              ++requests;
              if (mood == Mood::Hangs) {
                  connection.say_nothing();
                  return false;
              }
              if (mood == Mood::Fails) {
                  connection.reply(500, "{}");
              } else {
                  connection.reply(200, body_for(request.body));
              }
              return true;
          }) {}

    EmbedderFactory factory() const {
        return engine::make_embedder_factory({.openai_base_url = server_.url("/v1"),
                                              .openai_api_key = "none",
                                              .openai_model = "letters"});
    }

    std::atomic<Mood> mood = Mood::Answers;
    std::atomic<int> requests = 0;

private:
    static std::string body_for(const std::string& request) {
        const auto body = json::parse(request);
        const std::size_t inputs = body->find("input")->as_array().size();
        std::string data;
        for (std::size_t i = 0; i < inputs; ++i) {
            data += (i == 0 ? "" : ",") + std::string(R"({"embedding":[1,0.5,0.25],"index":)") +
                    std::to_string(i) + "}";
        }
        return R"({"data":[)" + data + "]}";
    }

    HttpTestServer server_;
};

TEST(WordsBeforeVectors, AnEndpointThatHangsCostsTheDenseLegOnly) {
    const braid::testing::TemporaryFolder folder;
    FickleEndpoint endpoint;
    auto db = cold_database(folder.path(), endpoint.factory(), "openai");
    ASSERT_TRUE(db) << db.error().message;
    endpoint.mood = FickleEndpoint::Mood::Hangs;  // its probe for the dimension, to begin with
    Request hurried = about_foxes();
    hurried.deadline_ms = 400;
    const auto cold = db->retrieve(hurried);
    ASSERT_TRUE(cold) << cold.error().message;
    EXPECT_EQ(cold->hits.size(), 1U);
    EXPECT_FALSE(cold->complete);
}

TEST(WordsBeforeVectors, AnEndpointThatFailsIsAskedTwiceForAQuery) {
    const braid::testing::TemporaryFolder folder;
    FickleEndpoint endpoint;
    auto db = cold_database(folder.path(), endpoint.factory(), "openai");
    ASSERT_TRUE(db) << db.error().message;
    ASSERT_TRUE(db->retrieve(about_foxes())->complete);
    endpoint.mood = FickleEndpoint::Mood::Fails;
    endpoint.requests = 0;
    Request other = about_foxes();
    other.query = "foxes at dusk";
    const auto answer = db->retrieve(other);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->hits.size(), 1U);
    EXPECT_FALSE(answer->complete);
    EXPECT_EQ(endpoint.requests, 2);
}

}  // namespace
}  // namespace braid
