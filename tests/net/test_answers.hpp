#pragma once

#include <stop_token>
#include <string>

#include "net/http_test_server.hpp"

// What a server may answer, truthful or not.
namespace braid::net {

inline HttpTestServer::Handler replying(const std::string& body, int status = 200,
                                        const std::string& headers = "") {
    return [=](const ReceivedRequest&, TestConnection& connection) {
        connection.reply(status, body, headers);
        return true;
    };
}

inline HttpTestServer::Handler silent() {
    return [](const ReceivedRequest&, TestConnection& connection) {
        connection.say_nothing();
        return false;
    };
}

/// Stops `source` once the request is there, and says nothing.
inline HttpTestServer::Handler stopping(std::stop_source& source) {
    return [&](const ReceivedRequest&, TestConnection& connection) {
        source.request_stop();
        connection.say_nothing();
        return false;
    };
}

/// Half of `body`, after a head that gives its whole length, or no length at all.
inline HttpTestServer::Handler half_of(const std::string& body, bool with_length) {
    return [=](const ReceivedRequest&, TestConnection& connection) {
        const std::string head = with_length ? "Content-Length: " + std::to_string(body.size())
                                             : std::string("Connection: close");
        connection.send_raw("HTTP/1.1 200 OK\r\n" + head + "\r\n\r\n" +
                            body.substr(0, body.size() / 2));
        return false;
    };
}

/// A body of nearly a gigabyte.
inline HttpTestServer::Handler huge() {
    return [](const ReceivedRequest&, TestConnection& connection) {
        connection.send_raw("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
        const std::string block(65536, ' ');
        for (int i = 0; i < 15'000 && !connection.stopped(); ++i) connection.send_raw(block);
        return false;
    };
}

}  // namespace braid::net
