#include "braid/server/page/page.hpp"

#include <algorithm>
#include <string>

namespace braid::server {
namespace {

/// Scripts cannot turn text into markup either, not even by mistake (trusted types).
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

}  // namespace

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
