#include "braid/server/http/problem.hpp"

#include <algorithm>
#include <utility>

#include "braid/json/json.hpp"
#include "braid/net/http/response_head.hpp"

namespace braid::server {
namespace {

net::OutgoingResponse write(int status, std::string_view code, std::string_view detail,
                            std::string_view instance) {
    const Object body{{"type", "about:blank"}, {"title", net::reason_of(status)},
                      {"status", status},      {"detail", detail},
                      {"instance", instance},  {"code", code}};
    net::OutgoingResponse response;
    response.status = status;
    response.headers.push_back({"Content-Type", "application/problem+json"});
    response.body = json::print(body);
    if (status == 503) response.headers.push_back({"Retry-After", "1"});
    return response;
}

}  // namespace

net::OutgoingResponse problem(const Error& error, std::string_view instance) {
    const ErrorFacts& facts = error_facts(error.code);
    auto response = write(facts.http_status, facts.name, error.message, instance);
    if (facts.http_status == 503) response.headers.push_back({"Retry-After", "1"});
    return response;
}

net::OutgoingResponse problem(DoorError error, std::string_view detail, std::string_view instance) {
    const DoorErrorFacts& facts = facts_of(error);
    return write(facts.http_status, facts.name, detail, instance);
}

}  // namespace braid::server
