#include "braid/llm/preprocess.hpp"

#include <atomic>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "llm/chat_server.hpp"

namespace braid::llm {
namespace {

using net::HttpTestServer;
using net::ReceivedRequest;
using net::TestConnection;
using std::chrono::milliseconds;
using Texts = std::vector<std::string>;

constexpr std::string_view kPhrasings = "1. fox dens\n2. \"where foxes sleep\"\n\n- fox habitat";
constexpr std::string_view kParagraph = "Foxes live\nin dens.";

bool asks_for_phrasings(const ReceivedRequest& request) {
    return message_in(request, "user").starts_with("Query: ");
}

HttpTestServer::Handler truthful() {
    return [](const ReceivedRequest& request, TestConnection& connection) {
        connection.reply(200, chat_body(asks_for_phrasings(request) ? kPhrasings : kParagraph));
        return true;
    };
}

LlmPreprocessorOptions options_to(const HttpTestServer& server) {
    LlmPreprocessorOptions options;
    options.chat = options_for(server);
    options.time_limit = milliseconds(60'000);
    options.rest_after_failure = milliseconds(0);
    return options;
}

std::shared_ptr<const QueryPreprocessor> preprocessor(const LlmPreprocessorOptions& options) {
    const auto made = make_llm_preprocessor(options);
    EXPECT_TRUE(made);
    return made ? *made : nullptr;
}

CallLimits within(milliseconds time) {
    return {.deadline = std::chrono::steady_clock::now() + time, .stop = {}};
}

TEST(LlmPreprocessor, ExpandsAQuery) {
    const HttpTestServer server(truthful());
    const auto model = preprocessor(options_to(server));
    const auto phrasings = model->expand("where do \"foxes\" live?", {});
    ASSERT_TRUE(phrasings) << phrasings.error().message;
    EXPECT_EQ(*phrasings, (Texts{"fox dens", "where foxes sleep", "fox habitat"}));
    const auto request = server.requests().front();
    EXPECT_EQ(message_in(request, "user"),
              "Query: \"where do \\\"foxes\\\" live?\"\n\nAlternatives:");
    EXPECT_TRUE(message_in(request, "system")
                    .starts_with("Given this search query, generate 3 alternative phrasings that "
                                 "would help find relevant documents. Return only the "
                                 "alternatives, one per line. "));
    EXPECT_EQ(message_in(request, "system").find("foxes"), std::string::npos);
    EXPECT_EQ(json::parse(request.body)->find("max_tokens")->as_int(), 150);
}

TEST(LlmPreprocessor, WritesAHypotheticalAnswer) {
    const HttpTestServer server(truthful());
    const auto model = preprocessor(options_to(server));
    const auto answer = model->hypothetical_answer("where do foxes live?", {});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(*answer, "Foxes live in dens.");
    const auto request = server.requests().front();
    EXPECT_EQ(message_in(request, "user"),
              "Question: \"where do foxes live?\"\n\nAnswer paragraph:");
    EXPECT_TRUE(message_in(request, "system")
                    .starts_with("Write a short paragraph that would be a perfect answer to this "
                                 "question. Write as if you're quoting from an authoritative "
                                 "source. "));
    EXPECT_EQ(json::parse(request.body)->find("max_tokens")->as_int(), 200);
}

TEST(LlmPreprocessor, RemembersRepliesByKindAndQuery) {
    const HttpTestServer server(truthful());
    const auto model = preprocessor(options_to(server));
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(model->expand("one", {}));
        ASSERT_TRUE(model->hypothetical_answer("one", {}));
        ASSERT_TRUE(model->expand("two", {}));
    }
    EXPECT_EQ(server.requests().size(), 3U);
    EXPECT_EQ(*model->expand("one", {}), (Texts{"fox dens", "where foxes sleep", "fox habitat"}));

    LlmPreprocessorOptions options = options_to(server);
    options.cache_bytes = 0;
    const auto forgetful = preprocessor(options);
    ASSERT_TRUE(forgetful->expand("one", {}));
    ASSERT_TRUE(forgetful->expand("one", {}));
    EXPECT_EQ(server.requests().size(), 5U);
}

TEST(LlmPreprocessor, DoesNotRememberFailures) {
    std::atomic<int> turns = 0;
    const HttpTestServer server([&](const ReceivedRequest&, TestConnection& connection) {
        connection.reply(200, turns++ == 0 ? chat_body("---") : chat_body("fox dens"));
        return true;
    });
    const auto model = preprocessor(options_to(server));
    EXPECT_EQ(model->expand("foxes", {}).error().code, ErrorCode::Corruption);
    EXPECT_EQ(*model->expand("foxes", {}), Texts{"fox dens"});
}

TEST(LlmPreprocessor, RefusesNonsense) {
    for (const std::string_view reply :
         {"1.\n2.\n3.", "...", "where do foxes live", "Sure:", "<think>where could they"}) {
        SCOPED_TRACE(reply);
        const HttpTestServer server(replying(chat_body(reply)));
        const auto phrasings = preprocessor(options_to(server))->expand("where do foxes live?", {});
        ASSERT_FALSE(phrasings);
        EXPECT_EQ(phrasings.error().code, ErrorCode::Corruption);
        EXPECT_TRUE(phrasings.error().message.starts_with("query expansion: "));
    }
    const HttpTestServer server(replying(chat_body("\"...\"")));
    const auto answer = preprocessor(options_to(server))->hypothetical_answer("foxes", {});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::Corruption);
}

TEST(LlmPreprocessor, RefusesQueriesThatAreNone) {
    const HttpTestServer server(truthful());
    const auto model = preprocessor(options_to(server));
    for (const std::string& query :
         {std::string(), std::string(" \n\t"), std::string("fox\xFF"), std::string(20'000, 'x')}) {
        EXPECT_EQ(model->expand(query, {}).error().code, ErrorCode::InvalidArgument);
        EXPECT_EQ(model->hypothetical_answer(query, {}).error().code, ErrorCode::InvalidArgument);
    }
    EXPECT_TRUE(server.requests().empty());
}

TEST(LlmPreprocessor, GivesUpWhenItsTimeIsOver) {
    const HttpTestServer server(silent());
    LlmPreprocessorOptions options = options_to(server);
    options.time_limit = milliseconds(60);
    const auto model = preprocessor(options);
    const auto phrasings = model->expand("foxes", {});
    ASSERT_FALSE(phrasings);
    EXPECT_EQ(phrasings.error().code, ErrorCode::Unavailable);
    EXPECT_NE(phrasings.error().message.find("gave up after 60 ms"), std::string::npos);
    // The same for an endpoint that asks for patience.
    const HttpTestServer busy(replying("", 429, "Retry-After: 5\r\n"));
    options.chat = options_for(busy);
    options.time_limit = milliseconds(4'000);
    EXPECT_EQ(preprocessor(options)->expand("foxes", {}).error().code, ErrorCode::Unavailable);
    EXPECT_EQ(busy.requests().size(), 1U);
}

TEST(LlmPreprocessor, LeavesTheSearchHalfOfTheTime) {
    // The wait it asks for would end before the deadline, but in the second half.
    const HttpTestServer server(replying("", 429, "Retry-After: 9\r\n"));
    const auto model = preprocessor(options_to(server));
    const CallLimits limits = within(milliseconds(16'000));
    EXPECT_EQ(model->expand("foxes", limits).error().code, ErrorCode::DeadlineExceeded);
    EXPECT_FALSE(limits.expired());
}

TEST(LlmPreprocessor, StopsWhenAsked) {
    std::stop_source source;
    const HttpTestServer server(net::stopping(source));
    const auto model = preprocessor(options_to(server));
    EXPECT_EQ(model->expand("foxes", {.deadline = {}, .stop = source.get_token()}).error().code,
              ErrorCode::Cancelled);
}

TEST(LlmPreprocessor, LetsAFailingEndpointRest) {
    std::atomic<bool> down = true;
    const HttpTestServer server([&](const ReceivedRequest&, TestConnection& connection) {
        connection.reply(down ? 500 : 200, chat_body("fox dens"));
        return true;
    });
    LlmPreprocessorOptions options = options_to(server);
    options.chat.max_attempts = 1;
    options.rest_after_failure = milliseconds(600'000);
    const auto resting = preprocessor(options);
    EXPECT_EQ(resting->expand("foxes", {}).error().code, ErrorCode::Unavailable);
    const auto again = resting->hypothetical_answer("foxes", {});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::Unavailable);
    EXPECT_NE(again.error().message.find("not retried yet after a failure"), std::string::npos);
    EXPECT_NE(again.error().message.find("status 500"), std::string::npos);
    EXPECT_EQ(server.requests().size(), 1U);

    options.rest_after_failure = milliseconds(1);
    const auto rested = preprocessor(options);
    EXPECT_FALSE(rested->expand("foxes", {}));
    down = false;
    std::this_thread::sleep_for(milliseconds(5));
    EXPECT_TRUE(rested->expand("foxes", {}));
}

TEST(LlmPreprocessor, DoesNotRestBecauseOneQueryWasDeclinedOrRefused) {
    std::atomic<int> turns = 0;
    const HttpTestServer server([&](const ReceivedRequest&, TestConnection& connection) {
        const int turn = turns++;
        if (turn == 0) {
            connection.reply(200, R"({"choices":[{"message":{"refusal":"never"}}]})");
        } else if (turn == 1) {
            connection.reply(200, chat_body("x", "content_filter"));
        } else if (turn == 2) {
            connection.reply(400, R"({"error":"too long"})");
        } else {
            connection.reply(200, chat_body(turn == 3 ? "..." : "fox dens"));
        }
        return true;
    });
    LlmPreprocessorOptions options = options_to(server);
    options.rest_after_failure = milliseconds(600'000);
    const auto model = preprocessor(options);
    for (int i = 0; i < 4; ++i) EXPECT_FALSE(model->expand("foxes", {}));
    EXPECT_TRUE(model->expand("foxes", {}));
}

TEST(LlmPreprocessor, DoesNotRestBecauseACallerWasInAHurry) {
    std::atomic<bool> slow = true;
    const HttpTestServer server([&](const ReceivedRequest&, TestConnection& connection) {
        if (slow) {
            connection.say_nothing();
            return false;
        }
        connection.reply(200, chat_body("fox dens"));
        return true;
    });
    LlmPreprocessorOptions options = options_to(server);
    options.rest_after_failure = milliseconds(600'000);
    const auto model = preprocessor(options);
    EXPECT_EQ(model->expand("foxes", within(milliseconds(60))).error().code,
              ErrorCode::DeadlineExceeded);
    slow = false;
    EXPECT_TRUE(model->expand("foxes", {}));
}

TEST(LlmPreprocessor, RefusesOptionsThatCannotWork) {
    LlmPreprocessorOptions options;
    for (const auto time : {milliseconds(0), milliseconds(-1), milliseconds::max()}) {
        options.time_limit = time;
        EXPECT_EQ(make_llm_preprocessor(options).error().code, ErrorCode::InvalidArgument);
    }
    options = {};
    for (const auto time : {milliseconds(-1), milliseconds::max()}) {
        options.rest_after_failure = time;
        EXPECT_EQ(make_llm_preprocessor(options).error().code, ErrorCode::InvalidArgument);
    }
    options = {};
    options.chat.model = "";
    EXPECT_EQ(make_llm_preprocessor(options).error().code, ErrorCode::InvalidArgument);
    EXPECT_TRUE(make_llm_preprocessor({}));
}

TEST(LlmPreprocessor, ServesManyThreadsWithOneAnswerToOneQuery) {
    std::atomic<int> turns = 0;
    const HttpTestServer server([&](const ReceivedRequest&, TestConnection& connection) {
        connection.reply(200, chat_body("phrasing " + std::to_string(turns++)));
        return true;
    });
    const auto model = preprocessor(options_to(server));
    constexpr int threads = 6;
    std::vector<std::vector<Result<Texts>>> answers(threads);
    {
        std::latch start(threads);
        std::vector<std::jthread> running;
        running.reserve(threads);
        for (int t = 0; t < threads; ++t) {
            running.emplace_back([&, t] {
                start.arrive_and_wait();
                for (int i = 0; i < 30; ++i) {
                    answers[static_cast<std::size_t>(t)].push_back(
                        model->expand("query " + std::to_string(i % 5), {}));
                }
            });
        }
    }
    for (std::size_t i = 0; i < 30; ++i) {
        for (const auto& thread : answers) {
            ASSERT_TRUE(thread[i]);
            EXPECT_EQ(*thread[i], *answers[0][i % 5]);
        }
    }
}

TEST(PrepareQuery, LeavesAQueryAloneUnlessAsked) {
    const PreparedQuery prepared = prepare_query(nullptr, "foxes", {}, {});
    EXPECT_EQ(prepared.variants, Texts{"foxes"});
    EXPECT_EQ(prepared.dense_text, "foxes");
    EXPECT_FALSE(prepared.hypothetical);
    EXPECT_TRUE(prepared.warnings.empty());
}

TEST(PrepareQuery, ChainsExpansionAndHypotheticalAnswer) {
    const HttpTestServer server(truthful());
    const auto model = preprocessor(options_to(server));
    const Texts expanded{"foxes", "fox dens", "where foxes sleep", "fox habitat"};
    for (const bool expand : {false, true}) {
        for (const bool hyde : {false, true}) {
            const PreparedQuery prepared =
                prepare_query(model.get(), "foxes", {.expand = expand, .hyde = hyde}, {});
            EXPECT_EQ(prepared.variants, expand ? expanded : Texts{"foxes"});
            EXPECT_EQ(prepared.dense_text, hyde ? "Foxes live in dens." : "foxes");
            EXPECT_EQ(prepared.hypothetical, hyde);
            EXPECT_TRUE(prepared.warnings.empty());
        }
    }
    EXPECT_EQ(server.requests().size(), 2U);
}

TEST(PrepareQuery, AsksForBothAtTheSameTime) {
    std::atomic<int> asked = 0;
    const HttpTestServer server([&](const ReceivedRequest&, TestConnection& connection) {
        ++asked;  // neither answer comes before both questions did
        while (asked < 2 && !connection.stopped()) std::this_thread::yield();
        connection.reply(200, chat_body("fox dens"));
        return true;
    });
    const auto model = preprocessor(options_to(server));
    const PreparedQuery prepared =
        prepare_query(model.get(), "foxes", {.expand = true, .hyde = true}, {});
    EXPECT_EQ(prepared.variants, (Texts{"foxes", "fox dens"}));
    EXPECT_EQ(prepared.dense_text, "fox dens");
}

TEST(PrepareQuery, FallsBackToThePlainQueryAndSaysWhy) {
    const Preprocessing both{.expand = true, .hyde = true};
    const auto expect_plain = [&](const QueryPreprocessor* model, std::size_t warnings,
                                  const CallLimits& limits = {}) {
        const PreparedQuery prepared = prepare_query(model, "foxes", both, limits);
        EXPECT_EQ(prepared.variants, Texts{"foxes"});
        EXPECT_EQ(prepared.dense_text, "foxes");
        EXPECT_FALSE(prepared.hypothetical);
        EXPECT_EQ(prepared.warnings.size(), warnings);
        for (const std::string& warning : prepared.warnings) {
            EXPECT_NE(warning.find("the plain query was"), std::string::npos) << warning;
            EXPECT_EQ(warning.find(kTestKey), std::string::npos) << warning;
        }
    };
    expect_plain(nullptr, 1);
    for (const auto& handler :
         {replying("", 500), replying("nonsense"), replying(chat_body("...")),
          replying(std::string(kTestKey), 400), replying("", 429, "Retry-After: 100\r\n")}) {
        const HttpTestServer server(handler);
        expect_plain(preprocessor(options_to(server)).get(), 2);
    }
    const HttpTestServer slow(silent());
    LlmPreprocessorOptions options = options_to(slow);
    options.time_limit = milliseconds(50);
    expect_plain(preprocessor(options).get(), 2);
    expect_plain(preprocessor(options_to(slow)).get(), 2, within(milliseconds(100)));
    expect_plain(preprocessor(options_to(slow)).get(), 2, within(milliseconds(-1)));
    const std::stop_source stopped;
    stopped.request_stop();
    expect_plain(preprocessor(options_to(slow)).get(), 2,
                 {.deadline = {}, .stop = stopped.get_token()});
}

TEST(PrepareQuery, KeepsWhatWorkedWhenTheOtherFailed) {
    const HttpTestServer server([](const ReceivedRequest& request, TestConnection& connection) {
        if (asks_for_phrasings(request)) {
            connection.reply(200, chat_body(kPhrasings));
        } else {
            connection.reply(400, R"({"error":"too hard"})");
        }
        return true;
    });
    const auto model = preprocessor(options_to(server));
    const PreparedQuery prepared =
        prepare_query(model.get(), "foxes", {.expand = true, .hyde = true}, {});
    EXPECT_EQ(prepared.variants.size(), 4U);
    EXPECT_EQ(prepared.dense_text, "foxes");
    ASSERT_EQ(prepared.warnings.size(), 1U);
    EXPECT_EQ(prepared.warnings.front(),
              "there is no hypothetical answer; the plain query was embedded: hypothetical "
              "answer: language model: status 400: too hard");
}

}  // namespace
}  // namespace braid::llm
