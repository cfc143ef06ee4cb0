#include "braid/server/page/page.hpp"

#include <algorithm>
#include <string>

#include "braid/server/http/routes.hpp"

namespace braid::server {
namespace {

/// Scripts cannot turn text into markup either, not even by mistake (trusted types).
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

/// Those who name it, not those who take anything.
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

std::optional<net::OutgoingResponse> serve_page(const net::IncomingRequest& request,
                                                std::string_view name) {
    const auto files = page_files();
    const auto file = std::ranges::find(files, name, &PageFile::name);
    if (file == files.end()) return std::nullopt;
    const bool known =
        request.header("If-None-Match").value_or("").find(file->tag) != std::string_view::npos;
    net::OutgoingResponse response;
    response.status = known ? 304 : 200;
    if (!known) {
        response.body = file->body;
        response.headers.push_back({"Content-Type", std::string(file->type)});
    }
    response.headers.push_back({"ETag", std::string(file->tag)});
    response.headers.push_back({"Cache-Control", "no-cache"});
    response.headers.push_back({"Content-Security-Policy", std::string(kPolicy)});
    response.headers.push_back({"Referrer-Policy", "no-referrer"});
    response.headers.push_back({"Cross-Origin-Opener-Policy", "same-origin"});
    response.headers.push_back({"Cross-Origin-Resource-Policy", "same-origin"});
    return response;
}

}  // namespace braid::server
