#include "braid/server/http/missing.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "braid/server/http/routes.hpp"
#include "braid/server/page/page.hpp"

namespace braid::server {
namespace {

/// Callers that ask for HTML by name, not those that accept anything.
bool wants_html(const net::IncomingRequest& head) {
    return (head.method == "GET" || head.method == "HEAD") &&
           head.header("Accept").value_or("").find("text/html") != std::string_view::npos;
}

bool is_page(std::string_view path) {
    return std::ranges::any_of(routes(), [&](const Route& route) {
        return route.kind == RouteKind::Page && route.path == path;
    });
}

}  // namespace

std::optional<net::OutgoingResponse> serve_missing(const net::IncomingRequest& head) {
    if (!wants_html(head)) return std::nullopt;
    const std::string_view path = std::string_view(head.target).substr(0, head.target.find('?'));
    if (path.size() > 1 && path.ends_with('/') && is_page(path.substr(0, path.size() - 1))) {
        net::OutgoingResponse response;
        response.status = 308;
        response.headers.push_back({"Location", std::string(path.substr(0, path.size() - 1))});
        return response;
    }
    auto response = serve_page({}, kPageDocument);
    if (response) response->status = 404;
    return response;
}

}  // namespace braid::server
