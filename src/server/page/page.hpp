#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "braid/net/http/server.hpp"

namespace braid::server {

/// A file of the web page, embedded in the program.
struct PageFile {
    std::string_view name;  // "search.js"
    std::string_view type;
    std::string_view tag;  // its ETag: a hash of the body, in quotation marks
    std::string_view body;
};

/// Every file in this folder that browsers get.
std::span<const PageFile> page_files();

/// The one document behind all addresses of the page; it interprets them itself.
inline constexpr std::string_view kPageDocument = "index.html";

/// A file of the page, with a policy under which only the page's own files and this server can be
/// loaded, called or run; 304 if the caller has it. None: no such file.
std::optional<net::OutgoingResponse> serve_page(const net::IncomingRequest& request,
                                                std::string_view name);

}  // namespace braid::server
