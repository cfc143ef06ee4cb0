#include "braid/embed/http_embedder.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "embed/base64.hpp"
#include "embed/fake_embedder.hpp"
#include "net/http_test_server.hpp"
#include "net/test_answers.hpp"

namespace braid::embed {
namespace {

using net::half_of;
using net::HttpTestServer;
using net::ReceivedRequest;
using net::replying;
using net::silent;
using net::stopping;
using net::TestConnection;
using std::chrono::milliseconds;

constexpr std::string_view kKey = "sk-very-secret-0123456789";

HttpEmbedderOptions options_for(const HttpTestServer& server, std::size_t dimension = 8) {
    HttpEmbedderOptions options;
    options.base_url = server.url("/v1");
    options.api_key = kKey;
    options.model = "test-model";
    options.dimension = dimension;
    options.max_attempts = 3;
    options.first_backoff = milliseconds(1);
    options.max_backoff = milliseconds(2);
    options.request_timeout = milliseconds(20'000);
    return options;
}

std::vector<std::string> inputs_of(const ReceivedRequest& request) {
    std::vector<std::string> inputs;
    const auto body = json::parse(request.body);
    if (!body) return inputs;
    for (const Value& input : body->find("input")->as_array()) inputs.push_back(input.as_string());
    return inputs;
}

std::string joined(const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
    return text;
}

/// The body a truthful endpoint sends: items in a shuffled order, as base64 or as numbers.
std::string answer_to(const std::vector<std::string>& inputs, std::size_t dimension, bool base64) {
    const FakeEmbedder model(dimension);
    std::vector<std::string> items;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::vector<float> vector = model.vector_of(inputs[i]);
        Value embedding = base64_of(vector);
        if (!base64) embedding = Array(vector.begin(), vector.end());
        items.push_back(json::print(Object{{"index", i}, {"embedding", std::move(embedding)}}));
    }
    std::shuffle(items.begin(), items.end(), std::mt19937(5));
    return R"({"object":"list","data":[)" + joined(items) + "]}";
}

HttpTestServer::Handler truthful(std::size_t dimension = 8) {
    return [=](const ReceivedRequest& request, TestConnection& connection) {
        const auto body = json::parse(request.body);
        const bool base64 = body->find("encoding_format")->as_string() == "base64";
        connection.reply(200, answer_to(inputs_of(request), dimension, base64));
        return true;
    };
}

Result<std::vector<Embedding>> embed(const Embedder& embedder, std::vector<std::string_view> texts,
                                     const CallLimits& limits = {}) {
    return embedder.embed(texts, TextRole::Passage, limits);
}

/// The error of embedding two texts at a server that answers like this.
Error error_of(HttpTestServer::Handler handler, const CallLimits& limits = {}) {
    const HttpTestServer server(std::move(handler));
    const auto embedder = make_http_embedder(options_for(server));
    EXPECT_TRUE(embedder);
    const auto answer = embed(**embedder, {"one", "two"}, limits);
    EXPECT_FALSE(answer);
    if (answer) return {ErrorCode::Conflict, "no error"};
    EXPECT_EQ(answer.error().message.find(kKey), std::string::npos) << answer.error().message;
    return answer.error();
}

TEST(HttpEmbedder, PassesTheTraceContextOn) {
    const HttpTestServer server(truthful());
    const auto embedder = make_http_embedder(options_for(server));
    ASSERT_TRUE(embedder);
    CallLimits limits;
    ASSERT_TRUE(embed(**embedder, {"one"}, limits));
    limits.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    ASSERT_TRUE(embed(**embedder, {"two"}, limits));
    const auto requests = server.requests();
    ASSERT_EQ(requests.size(), 2U);
    EXPECT_FALSE(requests[0].headers.contains("traceparent"));
    EXPECT_EQ(requests[1].headers.at("traceparent"), limits.traceparent);
}

TEST(HttpEmbedder, EmbedsInOrderWhateverTheOrderOfTheAnswer) {
    for (const bool base64 : {true, false}) {
        const HttpTestServer server(truthful());
        HttpEmbedderOptions options = options_for(server);
        options.ask_base64 = base64;
        const auto embedder = make_http_embedder(options);
        ASSERT_TRUE(embedder);
        const std::vector<std::string_view> texts{"red fox", "blue \"whale\"\n", "", "gr\xC3\xBCn"};
        const auto answer = (*embedder)->embed(texts, TextRole::Query, {});
        ASSERT_TRUE(answer) << answer.error().message;
        ASSERT_EQ(answer->size(), texts.size());
        for (std::size_t i = 0; i < texts.size(); ++i) {
            // An empty text is sent as a space.
            EXPECT_EQ((*answer)[i].vector,
                      FakeEmbedder(8).vector_of(texts[i].empty() ? " " : texts[i]));
        }
        const auto requests = server.requests();
        ASSERT_EQ(requests.size(), 1U);
        EXPECT_EQ(requests[0].method, "POST");
        EXPECT_EQ(requests[0].target, "/v1/embeddings");
        EXPECT_EQ(requests[0].headers.at("authorization"), "Bearer " + std::string(kKey));
        EXPECT_EQ(requests[0].headers.at("content-type"), "application/json");
        const auto body = json::parse(requests[0].body);
        EXPECT_EQ(body->find("model")->as_string(), "test-model");
        EXPECT_EQ(body->find("dimensions")->as_int(), 8);
        EXPECT_EQ(inputs_of(requests[0])[2], " ");
    }
}

TEST(HttpEmbedder, SendsBatchesNoLargerThanAllowed) {
    const HttpTestServer server(truthful(1536));
    HttpEmbedderOptions options = options_for(server, 1536);
    options.max_batch = 7;
    const auto embedder = make_http_embedder(options);
    ASSERT_TRUE(embedder);
    std::vector<std::string> texts;
    texts.reserve(30);
    for (int i = 0; i < 30; ++i) texts.push_back("text " + std::to_string(i));
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const auto answer = (*embedder)->embed(views, TextRole::Passage, {});
    ASSERT_TRUE(answer) << answer.error().message;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        EXPECT_EQ((*answer)[i].vector, FakeEmbedder(1536).vector_of(texts[i]));
    }
    const auto requests = server.requests();
    EXPECT_EQ(requests.size(), 5U);
    for (const auto& request : requests) EXPECT_LE(inputs_of(request).size(), 7U);
    EXPECT_TRUE((*embedder)->embed({}, TextRole::Passage, {})->empty());
}

TEST(HttpEmbedder, LearnsTheDimensionWhenNotTold) {
    const HttpTestServer server(truthful(12));
    const auto embedder = make_http_embedder(options_for(server, 0));
    ASSERT_TRUE(embedder) << embedder.error().message;
    EXPECT_EQ((*embedder)->fingerprint().dimension, 12U);
    EXPECT_TRUE(embed(**embedder, {"a", "b"}));
    for (const auto& request : server.requests()) {
        EXPECT_EQ(json::parse(request.body)->find("dimensions"), nullptr);
    }
}

TEST(HttpEmbedder, PutsThePrefixOfTheRoleBefore) {
    const HttpTestServer server(truthful());
    HttpEmbedderOptions options = options_for(server);
    options.query_prefix = "query: ";
    options.passage_prefix = "passage: ";
    const auto embedder = make_http_embedder(options);
    const std::string_view text = "fox";
    ASSERT_TRUE((*embedder)->embed(std::span(&text, 1), TextRole::Query, {}));
    ASSERT_TRUE((*embedder)->embed(std::span(&text, 1), TextRole::Passage, {}));
    EXPECT_EQ(inputs_of(server.requests()[0])[0], "query: fox");
    EXPECT_EQ(inputs_of(server.requests()[1])[0], "passage: fox");
    EXPECT_EQ((*embedder)->fingerprint().query_prefix, "query: ");
}

TEST(HttpEmbedder, TriesAgainAfterFailures) {
    const auto served = std::make_shared<std::atomic<int>>(0);
    const HttpTestServer server([=](const ReceivedRequest& request, TestConnection& connection) {
        const int turn = (*served)++;
        if (turn == 0) connection.reply(500, "oops");
        if (turn == 1) connection.reply(429, "", "Retry-After: 0\r\n");
        if (turn == 2) connection.reply(200, answer_to(inputs_of(request), 8, true));
        return true;
    });
    const auto embedder = make_http_embedder(options_for(server));
    const auto answer = embed(**embedder, {"one"});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(server.requests().size(), 3U);
}

TEST(HttpEmbedder, ReportsAnEndpointThatKeepsFailing) {
    EXPECT_EQ(error_of(replying("x", 500)).code, ErrorCode::Unavailable);
    EXPECT_EQ(error_of(replying("x", 429)).code, ErrorCode::Unavailable);
    EXPECT_EQ(error_of([](const ReceivedRequest&, TestConnection&) { return false; }).code,
              ErrorCode::Unavailable);
}

TEST(HttpEmbedder, HalvesBatchesTheEndpointFindsTooLarge) {
    for (const int status : {413, 400}) {
        const HttpTestServer server(
            [=](const ReceivedRequest& request, TestConnection& connection) {
                const auto inputs = inputs_of(request);
                if (inputs.size() > 3) {
                    connection.reply(status, "too large");
                } else {
                    connection.reply(200, answer_to(inputs, 8, true));
                }
                return true;
            });
        const auto embedder = make_http_embedder(options_for(server));
        const std::vector<std::string_view> texts{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
        const auto answer = (*embedder)->embed(texts, TextRole::Passage, {});
        ASSERT_TRUE(answer) << answer.error().message;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            EXPECT_EQ((*answer)[i].vector, FakeEmbedder(8).vector_of(texts[i]));
        }
        // 10 and 5 refused, then 3, 3, 3, 1.
        EXPECT_EQ(server.requests().size(), 6U);
    }
}

TEST(HttpEmbedder, SaysWhatTheEndpointRefusedButNotTheKey) {
    const std::string echo =
        R"({"error":{"message":"model gone, key )" + std::string(kKey) + R"( noted"}})";
    const Error refused = error_of(replying(echo, 400));
    EXPECT_EQ(refused.code, ErrorCode::InvalidArgument);
    EXPECT_NE(refused.message.find("model gone"), std::string::npos);
    EXPECT_EQ(error_of(replying(echo, 413)).code, ErrorCode::InvalidArgument);
    EXPECT_EQ(error_of(replying(echo, 404)).code, ErrorCode::InvalidArgument);
    const Error denied = error_of(replying(echo, 401));
    EXPECT_EQ(denied.code, ErrorCode::PermissionDenied);
    EXPECT_EQ(denied.message.find("noted"), std::string::npos);
}

TEST(HttpEmbedder, RefusesAnswersThatBreakTheContract) {
    const std::string one = R"({"index":0,"embedding":[1,2,3,4,5,6,7,8]})";
    const std::string two = R"({"index":1,"embedding":[1,2,3,4,5,6,7,8]})";
    for (const std::vector<std::string>& items : std::vector<std::vector<std::string>>{
             {one},
             {one, one},
             {one, two, two},
             {one, R"({"index":7,"embedding":[1,2,3,4,5,6,7,8]})"},
             {one, R"({"index":1,"embedding":[1,2,3]})"},
             {one, R"({"index":1,"embedding":[1,2,3,4,5,6,7,null]})"},
             {one, R"({"index":1,"embedding":"AADAfwAAwH8AAMB/AADAfwAAwH8AAMB/AADAfwAAwH8="})"}}) {
        const std::string data = joined(items);
        SCOPED_TRACE(data);
        EXPECT_EQ(error_of(replying(R"({"data":[)" + data + "]}")).code, ErrorCode::Corruption);
    }
    EXPECT_EQ(error_of(replying("<html>")).code, ErrorCode::Corruption);
    EXPECT_EQ(error_of(replying("")).code, ErrorCode::Corruption);
    EXPECT_EQ(error_of(replying("", 204)).code, ErrorCode::Unavailable);
}

TEST(HttpEmbedder, SurvivesATruncatedBody) {
    const std::string whole = answer_to({"one", "two"}, 8, true);
    EXPECT_EQ(error_of(half_of(whole, true)).code, ErrorCode::Unavailable);
    // Without a length only the JSON shows that something is missing.
    EXPECT_EQ(error_of(half_of(whole, false)).code, ErrorCode::Corruption);
}

TEST(HttpEmbedder, StopsReadingAHugeBody) {
    EXPECT_EQ(error_of(net::huge()).code, ErrorCode::ResourceExhausted);
}

TEST(HttpEmbedder, HonoursDeadlineAndCancellation) {
    const auto deadline = std::chrono::steady_clock::now() + milliseconds(100);
    EXPECT_EQ(error_of(silent(), {.deadline = deadline, .stop = {}}).code,
              ErrorCode::DeadlineExceeded);
    std::stop_source source;
    EXPECT_EQ(error_of(stopping(source), {.deadline = {}, .stop = source.get_token()}).code,
              ErrorCode::Cancelled);
}

TEST(HttpEmbedder, TimesOutOnAnEndpointThatNeverAnswers) {
    const HttpTestServer server(silent());
    HttpEmbedderOptions options = options_for(server);
    options.request_timeout = milliseconds(50);
    options.max_attempts = 2;
    const auto answer = embed(**make_http_embedder(options), {"one"});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::Unavailable);
}

TEST(HttpEmbedder, IsAskedFewerTimesWhereSomebodyWaits) {
    const HttpTestServer server(replying("{}", 500));
    HttpEmbedderOptions options = options_for(server);
    options.max_attempts = 5;
    const auto embedder = make_http_embedder(options);
    ASSERT_TRUE(embedder);
    const std::string_view text = "fox";
    CallLimits waiting;
    waiting.interactive = true;
    EXPECT_EQ((*embedder)->embed(std::span(&text, 1), TextRole::Query, waiting).error().code,
              ErrorCode::Unavailable);
    EXPECT_EQ(server.requests().size(), 2U);
    EXPECT_FALSE((*embedder)->embed(std::span(&text, 1), TextRole::Passage, {}));
    EXPECT_EQ(server.requests().size(), 2U + 5U);
    options.dimension = 0;  // the probe is one of these calls
    EXPECT_FALSE(make_http_embedder(options));
    EXPECT_EQ(server.requests().size(), 2U + 5U + 2U);
}

TEST(HttpEmbedder, GivesUpInTimeWhereSomebodyWaits) {
    const HttpTestServer server(silent());
    HttpEmbedderOptions options = options_for(server);
    options.interactive_timeout = milliseconds(50);
    const auto embedder = make_http_embedder(options);
    ASSERT_TRUE(embedder);
    const std::string_view text = "fox";
    CallLimits waiting;
    waiting.interactive = true;
    const auto given_up = (*embedder)->embed(std::span(&text, 1), TextRole::Query, waiting);
    ASSERT_FALSE(given_up);
    EXPECT_EQ(given_up.error().code, ErrorCode::Unavailable);
    EXPECT_NE(given_up.error().message.find("gave up after 50 ms"), std::string::npos);
    waiting.deadline = std::chrono::steady_clock::now() + milliseconds(10);
    EXPECT_EQ((*embedder)->embed(std::span(&text, 1), TextRole::Query, waiting).error().code,
              ErrorCode::DeadlineExceeded);
}

TEST(HttpEmbedder, SendsNothingWhenOffline) {
    const HttpTestServer server(truthful());
    HttpEmbedderOptions options = options_for(server);
    options.offline = true;
    const auto answer = embed(**make_http_embedder(options), {"one"});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::PermissionDenied);
    options.dimension = 0;
    EXPECT_EQ(make_http_embedder(options).error().code, ErrorCode::PermissionDenied);
    EXPECT_EQ(server.connection_count(), 0);
}

TEST(HttpEmbedder, KeepsToPublicAddressesWhereAskedTo) {
    const HttpTestServer server(truthful());
    HttpEmbedderOptions options = options_for(server);
    options.allow_private = false;
    const auto answer = embed(**make_http_embedder(options), {"one"});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::PermissionDenied);
    EXPECT_EQ(server.connection_count(), 0);
}

TEST(HttpEmbedder, RefusesTextsThatAreNotUtf8) {
    const HttpTestServer server(truthful());
    const auto answer = embed(**make_http_embedder(options_for(server)), {"ok", "\xFF"});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::InvalidArgument);
    EXPECT_TRUE(server.requests().empty());
}

TEST(HttpEmbedder, RefusesOptionsThatCannotWork) {
    const HttpTestServer server(truthful());
    const auto code = [&](auto change) {
        HttpEmbedderOptions options = options_for(server);
        change(options);
        const auto embedder = make_http_embedder(options);
        EXPECT_FALSE(embedder);
        if (embedder) return ErrorCode::Conflict;
        EXPECT_EQ(embedder.error().message.find("secret"), std::string::npos);
        return embedder.error().code;
    };
    using Options = HttpEmbedderOptions;
    EXPECT_EQ(code([](Options& o) { o.model = ""; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(code([](Options& o) { o.max_batch = 0; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(code([](Options& o) { o.max_batch = 2049; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(code([](Options& o) { o.max_attempts = 0; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(code([](Options& o) { o.dimension = 1'000'000; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(code([](Options& o) { o.base_url = "file:///x"; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(code([](Options& o) { o.base_url = "http://u:secret@h/v1"; }),
              ErrorCode::InvalidArgument);
    EXPECT_EQ(code([](Options& o) { o.api_key = "secret\nX: y"; }), ErrorCode::InvalidArgument);
}

TEST(HttpEmbedder, FindsTheEndpointFromDifferentBases) {
    const HttpTestServer server(truthful());
    for (const auto& [base, target] : std::vector<std::pair<std::string, std::string>>{
             {"", "/embeddings"},
             {"/", "/embeddings"},
             {"/v1//", "/v1/embeddings"},
             {"/openai?api-version=3", "/openai/embeddings?api-version=3"}}) {
        HttpEmbedderOptions options = options_for(server);
        options.base_url = server.url(base);
        ASSERT_TRUE(embed(**make_http_embedder(options), {"one"}));
        EXPECT_EQ(server.requests().back().target, target);
    }
}

TEST(HttpEmbedder, EstimatesTokens) {
    const HttpTestServer server(truthful());
    const auto embedder = make_http_embedder(options_for(server));
    EXPECT_EQ((*embedder)->count_tokens(""), 0U);
    EXPECT_EQ((*embedder)->count_tokens("eight by"), 2U);
    EXPECT_EQ((*embedder)->count_tokens("\xE6\x9D\xB1\xE4\xBA\xAC"), 2U);
}

TEST(HttpEmbedder, ServesManyThreadsAtOnce) {
    const HttpTestServer server(truthful());
    const auto embedder = make_http_embedder(options_for(server));
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        threads.reserve(6);
        for (int t = 0; t < 6; ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < 20; ++i) {
                    const std::string text = std::to_string(t) + " and " + std::to_string(i);
                    const auto answer = embed(**embedder, {text});
                    if (!answer || answer->front().vector != FakeEmbedder(8).vector_of(text))
                        ++wrong;
                }
            });
        }
    }
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace braid::embed
