#include "braid/net/client/retry.hpp"

#include <gtest/gtest.h>

#include "net/http_test_server.hpp"

namespace braid::net {
namespace {

using std::chrono::milliseconds;

HttpClient local_client() {
    HttpClientOptions options;
    options.allow_private = true;
    return HttpClient(options);
}

constexpr RetryPolicy kQuick{
    .max_attempts = 4, .first_backoff = milliseconds(1), .max_backoff = milliseconds(4)};

/// Answers with the given statuses in turn, the last one for ever.
HttpTestServer::Handler statuses(const std::vector<int>& list, const std::string& headers = "") {
    const auto served = std::make_shared<std::atomic<std::size_t>>(0);
    return [=](const ReceivedRequest&, TestConnection& connection) {
        const int status = list[std::min((*served)++, list.size() - 1)];
        if (status == 0) return false;
        connection.reply(status, "body", status == 200 ? "" : headers);
        return true;
    };
}

TEST(SendWithRetries, RepeatsUntilTheEndpointRecovers) {
    const HttpTestServer server(statuses({503, 0, 429, 200}));
    const auto response = send_with_retries(local_client(), {.url = server.url()}, kQuick, {});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 200);
    EXPECT_GE(server.requests().size(), 4U);
}

TEST(SendWithRetries, GivesUpAfterItsAttempts) {
    const HttpTestServer server(statuses({500}));
    const auto response = send_with_retries(local_client(), {.url = server.url()}, kQuick, {});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::Unavailable);
    EXPECT_NE(response.error().message.find("status 500"), std::string::npos);
    EXPECT_EQ(server.requests().size(), 4U);
}

TEST(SendWithRetries, DoesNotRepeatWhatCannotHelp) {
    for (const int status : {200, 301, 400, 401, 404, 413, 501, 505}) {
        SCOPED_TRACE(status);
        const HttpTestServer server(statuses({status}));
        const auto response = send_with_retries(local_client(), {.url = server.url()}, kQuick, {});
        ASSERT_TRUE(response);
        EXPECT_EQ(response->status, status);
        EXPECT_EQ(server.requests().size(), 1U);
    }
}

TEST(SendWithRetries, WaitsAsLongAsRetryAfterSays) {
    const HttpTestServer server(statuses({429, 200}, "Retry-After: 1\r\n"));
    const auto start = std::chrono::steady_clock::now();
    const auto response = send_with_retries(local_client(), {.url = server.url()}, kQuick, {});
    ASSERT_TRUE(response);
    EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(1000));
}

TEST(SendWithRetries, FailsAtOnceWhereTheWaitWouldPassTheDeadline) {
    const HttpTestServer server(statuses({429}, "Retry-After: 100\r\n"));
    const auto response = send_with_retries(
        local_client(), {.url = server.url()}, kQuick,
        {.deadline = std::chrono::steady_clock::now() + milliseconds(20'000), .stop = {}});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::DeadlineExceeded);
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST(SendWithRetries, DoesNotWaitForHours) {
    const HttpTestServer server(statuses({429}, "Retry-After: 86400\r\n"));
    const auto response = send_with_retries(local_client(), {.url = server.url()}, kQuick, {});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::Unavailable);
    EXPECT_NE(response.error().message.find("86400"), std::string::npos);
}

TEST(SendWithRetries, StopsWaitingWhenCancelled) {
    std::stop_source source;
    const HttpTestServer server([&](const ReceivedRequest&, TestConnection& connection) {
        connection.reply(429, "", "Retry-After: 300\r\n");
        source.request_stop();
        return true;
    });
    const auto response = send_with_retries(local_client(), {.url = server.url()}, kQuick,
                                            {.deadline = {}, .stop = source.get_token()});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::Cancelled);
}

TEST(ParseRetryAfter, ReadsSecondsAndDates) {
    const auto now =
        std::chrono::system_clock::from_time_t(1'445'412'480);  // 21 Oct 2015 07:28 UTC
    EXPECT_EQ(parse_retry_after("120", now), milliseconds(120'000));
    EXPECT_EQ(parse_retry_after("0", now), milliseconds(0));
    EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2015 07:29:30 GMT", now), milliseconds(90'000));
    EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2015 07:00:00 GMT", now), milliseconds(0));
    EXPECT_FALSE(parse_retry_after("", now));
    EXPECT_FALSE(parse_retry_after("soon", now));
    EXPECT_FALSE(parse_retry_after("-5", now));
    EXPECT_TRUE(parse_retry_after("9223372036854775807", now));
}

}  // namespace
}  // namespace braid::net
