#include "braid/server/http_problem.hpp"

#include <algorithm>
#include <utility>

#include "braid/json/json.hpp"

namespace braid::server {
namespace {

constexpr std::array<std::pair<int, std::string_view>, 25> kTitles{{
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
}};

net::OutgoingResponse write(int status, std::string_view code, std::string_view detail,
                            std::string_view instance) {
    const Object body{{"type", "about:blank"}, {"title", title_of_status(status)},
                      {"status", status},      {"detail", detail},
                      {"instance", instance},  {"code", code}};
    net::OutgoingResponse response;
    response.status = status;
    response.headers.push_back({"Content-Type", "application/problem+json"});
    response.body = json::print(body);
    return response;
}

}  // namespace

std::string_view title_of_status(int status) noexcept {
    const auto* const found =
        std::ranges::find(kTitles, status, &std::pair<int, std::string_view>::first);
    return found != kTitles.end() ? found->second : "Unknown";
}

net::OutgoingResponse problem(const Error& error, std::string_view instance) {
    const ErrorFacts& facts = error_facts(error.code);
    return write(facts.http_status, facts.name, error.message, instance);
}

net::OutgoingResponse problem(DoorError error, std::string_view detail, std::string_view instance) {
    const DoorErrorFacts& facts = facts_of(error);
    return write(facts.http_status, facts.name, detail, instance);
}

}  // namespace braid::server
