// Verifying the database, and reads that give up, over HTTP and JSON-RPC.

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "server/http_fixture.hpp"
#include "server/key_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::http_request;
using braid::testing::HttpTest;
using braid::testing::key_entry;
using braid::testing::ring;
using braid::testing::send;

class CheckOverHttp : public HttpTest {};

TEST_F(CheckOverHttp, SaysThatAllIsWell) {
    add_notes();
    const Value report = json("POST", "/v1/check");
    EXPECT_EQ(at(report, "clean"), Value(true));
    EXPECT_EQ(at(report, "collections"), Value(1));
    EXPECT_EQ(at(report, "chunks"), Value(3));
    EXPECT_EQ(at(report, "records"), Value(1));
    EXPECT_EQ(at(report, "problems"), Value(Array{}));
    const Value reply =
        json("POST", "/rpc", R"({"jsonrpc": "2.0", "id": 1, "method": "braid.check"})");
    EXPECT_EQ(at(reply, "result"), report);
    const Value wrong = json("POST", "/rpc",
                             R"({"jsonrpc": "2.0", "id": 1, "method": "braid.check",
                             "params": {"path": "/etc"}})");
    EXPECT_EQ(at(wrong, "error.data.code"), Value("invalid_argument"));
    EXPECT_EQ(code(ask("GET", "/v1/check"), 405), "method_not_allowed");
}

TEST_F(CheckOverHttp, IsForThoseWhoAdministerEverything) {
    add_notes();
    HttpAppOptions options;
    options.keys = ring(key_entry("owner", R"("collections": {"*": "admin"})") + "," +
                        key_entry("writer", R"("collections": {"*": "write"})") + "," +
                        key_entry("some", R"("collections": {"notes": "admin"})") + "," +
                        key_entry("most", R"("collections": {"*": "admin", "notes": "read"})") +
                        "," + key_entry("low", R"("collections": {"*": "admin"},
                                            "principal": {"clearance": "normal"})"));
    restart(std::move(options));
    const auto as = [&](const std::string& name) {
        return ask("POST", "/v1/check", "", braid::testing::bearer(name));
    };
    EXPECT_EQ(as("owner").status, 200);
    for (const std::string name : {"writer", "some", "most", "low"}) {
        EXPECT_EQ(code(as(name), 403), "permission_denied") << name;
    }
    EXPECT_EQ(code(ask("POST", "/v1/check"), 401), "unauthenticated");
}

TEST_F(CheckOverHttp, TakesItsTimeAndEndsWithItsClient) {
    add_notes();
    HttpAppOptions options;
    options.max_deadline = std::chrono::milliseconds(0);
    restart(std::move(options));
    EXPECT_EQ(at(json("POST", "/v1/check"), "clean"), Value(true));
    const std::stop_source gone;
    gone.request_stop();
    auto request = http_request("POST", "/v1/check", "");
    request.gone = gone.get_token();
    EXPECT_EQ(code(send(*app, request), 499), "cancelled");
}

TEST_F(CheckOverHttp, EveryReadGivesUpAtTheDeadlineAndWhenItsClientIsGone) {
    add_notes();
    const std::string collection = "/v1/collections/notes";
    const std::vector<std::vector<std::string>> reads{
        {"POST", collection + "/facets", R"({"field": "kind"})"},
        {"POST", collection + "/count", "{}"},
        {"GET", collection + "/stats", ""},
        {"GET", collection + "/chunks", ""},
        {"POST", collection + "/get", R"({"chunk_ids": ["oak"]})"},
        {"GET", collection + "/chunks/oak", ""},
        {"GET", collection + "/chunks/fox%230/neighbors", ""},
        {"GET", collection + "/documents/fox", ""},
    };
    const std::stop_source gone;
    gone.request_stop();
    for (const auto& read : reads) {
        EXPECT_EQ(ask(read[0], read[1], read[2]).status, 200) << read[1];
        auto request = http_request(read[0], read[1], read[2]);
        request.gone = gone.get_token();
        EXPECT_EQ(code(send(*app, request), 499), "cancelled") << read[1];
    }
    HttpAppOptions options;
    options.max_deadline = std::chrono::milliseconds(0);
    restart(std::move(options));
    for (const auto& read : reads) {
        EXPECT_EQ(code(ask(read[0], read[1], read[2]), 504), "deadline_exceeded") << read[1];
    }
}

TEST_F(CheckOverHttp, CompactingRemovesWhatWasDeleted) {
    add_notes();
    EXPECT_EQ(ask("DELETE", "/v1/collections/notes/chunks/oak").status, 200);
    EXPECT_EQ(at(json("POST", "/v1/check"), "superseded"), Value(2));
    const Value report = json("POST", "/v1/collections/notes/compact");
    EXPECT_EQ(at(report, "chunks"), Value(2));
    EXPECT_LT(at(report, "bytes_after").as_int(), at(report, "bytes_before").as_int());
    EXPECT_EQ(at(json("POST", "/v1/check"), "superseded"), Value(0));
    EXPECT_EQ(code(ask("POST", "/v1/collections/none/compact"), 404), "not_found");
    HttpAppOptions options;
    options.keys = ring(key_entry("writer", R"("collections": {"*": "write"})") + "," +
                        key_entry("low", R"("collections": {"*": "admin"},
                                            "principal": {"clearance": "normal"})"));
    restart(std::move(options));
    for (const std::string name : {"writer", "low"}) {
        const auto refused =
            ask("POST", "/v1/collections/notes/compact", "", braid::testing::bearer(name));
        EXPECT_EQ(code(refused, 403), "permission_denied") << name;
    }
}

}  // namespace
}  // namespace braid::server
