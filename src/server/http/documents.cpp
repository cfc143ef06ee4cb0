#include "braid/server/http/documents.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"
#include "braid/server/mcp/write_tools.hpp"
#include "braid/service/parameters.hpp"

namespace braid::server {
namespace {

constexpr std::size_t kMostFormParts = 1000;
constexpr std::size_t kMaxPostedId = 500;

/// `name="file"` of a header; none if it has no such parameter.
std::optional<std::string> header_parameter(std::string_view header, std::string_view name) {
    for (std::size_t at = header.find(name); at != std::string_view::npos;
         at = header.find(name, at + 1)) {
        const bool begins = at == 0 || header[at - 1] == ' ' || header[at - 1] == ';';
        std::size_t value = at + name.size();
        if (!begins || value >= header.size() || header[value] != '=') continue;
        ++value;
        if (value < header.size() && header[value] == '"') {
            const std::size_t end = std::min(header.find('"', value + 1), header.size());
            return std::string(header.substr(value + 1, end - value - 1));
        }
        const std::size_t end = std::min(header.find_first_of("; \r\n", value), header.size());
        return std::string(header.substr(value, end - value));
    }
    return std::nullopt;
}

bool is_disposition(std::string_view line) {
    constexpr std::string_view name = "content-disposition:";
    return line.size() > name.size() &&
           std::ranges::equal(line.substr(0, name.size()), name, [](char a, char b) {
               return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
           });
}

/// A file name that tells what a body is, if its sender gave none.
std::string name_by_type(std::string_view content_type) {
    constexpr auto names = std::to_array<std::pair<std::string_view, std::string_view>>({
        {"text/markdown", "document.md"},
        {"text/html", "document.html"},
        {"text/csv", "document.csv"},
        {"message/rfc822", "document.eml"},
    });
    for (const auto& [type, name] : names) {
        if (content_type.starts_with(type)) return std::string(name);
    }
    return "document";
}

/// Drops folders: a browser may send those of its own machine.
std::string last_name(std::string_view path) {
    const std::size_t slash = path.find_last_of("/\\");
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

struct Posted {
    ReadScope scope;
    std::optional<std::string> name;
    std::optional<std::string> document_id;
    std::optional<std::string> title;
    Object metadata;
};

Result<Posted> read_posted(const Object& params, const service::Caller& caller) {
    json::Fields fields(params);
    Posted posted;
    BRAID_TRY(posted.scope, service::read_scope(fields, caller, service::Access::Write));
    BRAID_TRY(posted.name, fields.string("name"));
    BRAID_TRY(posted.document_id, fields.string("document_id"));
    BRAID_TRY(posted.title, fields.string("title"));
    if (const Value* const metadata = fields.any("metadata")) {
        Value value = *metadata;
        if (value.is_string()) {
            BRAID_TRY(value, json::parse(value.as_string()));
        }
        if (!value.is_object()) return invalid_argument("\"metadata\" must be a JSON object");
        if (value.find("trust") != nullptr) {
            return invalid_argument(R"("metadata.trust" cannot be set by a caller)");
        }
        posted.metadata = std::move(value.as_object());
    }
    BRAID_CHECK(fields.finish());
    return posted;
}

}  // namespace

Result<std::vector<FormPart>> read_form(std::string_view content_type, std::string_view body) {
    const auto boundary = header_parameter(content_type, "boundary");
    if (!boundary || boundary->empty() || boundary->size() > 200) {
        return invalid_argument("a form needs a \"boundary\" in its content type");
    }
    const std::string mark = "--" + *boundary;
    std::vector<FormPart> parts;
    std::size_t at = body.find(mark);
    while (at != std::string_view::npos) {
        at += mark.size();
        if (body.substr(at).starts_with("--")) return parts;
        const std::size_t head = body.find('\n', at);
        const std::size_t end = body.find("\r\n" + mark, at);
        if (head == std::string_view::npos || end == std::string_view::npos) break;
        if (parts.size() >= kMostFormParts) return invalid_argument("the form has too many parts");
        const std::size_t blank = body.find("\r\n\r\n", at);
        if (blank == std::string_view::npos || blank > end) break;
        FormPart& part = parts.emplace_back();
        part.body = body.substr(blank + 4, end > blank + 4 ? end - blank - 4 : 0);
        std::string_view lines = body.substr(head + 1, blank + 2 - head - 1);
        while (!lines.empty()) {
            const std::size_t stop = std::min(lines.find("\r\n"), lines.size());
            const std::string_view line = lines.substr(0, stop);
            lines.remove_prefix(std::min(stop + 2, lines.size()));
            if (!is_disposition(line)) continue;
            part.name = header_parameter(line, "name").value_or("");
            part.filename = header_parameter(line, "filename").value_or("");
        }
        at = end + 2;
    }
    return invalid_argument("the form is cut off: its last boundary is missing");
}

Result<Value> post_files(const service::Operations& operations, const Object& params,
                         std::string_view content_type, std::string_view body,
                         const service::Caller& caller) {
    Object fields = params;
    std::vector<FormPart> files;
    if (content_type.starts_with("multipart/form-data")) {
        BRAID_TRY(auto parts, read_form(content_type, body));
        for (FormPart& part : parts) {
            if (!part.filename.empty()) {
                files.push_back(std::move(part));
            } else if (part.name != "file") {
                fields.set(part.name, Value(part.body));
            }
        }
    } else {
        files.push_back({"file", {}, body});
    }
    BRAID_TRY(Posted posted, read_posted(fields, caller));
    const bool form = content_type.starts_with("multipart/form-data");
    if (!form && !posted.name && !posted.document_id) {
        return invalid_argument("\"name\" is required: the file's, by which it is stored");
    }
    if (files.empty()) return invalid_argument("the form holds no file");
    if (files.size() > 1 && posted.document_id) {
        return invalid_argument(
            "\"document_id\" is for a single file; otherwise the file name is the id");
    }
    Array documents;
    Array failed;
    std::set<std::string> names;
    for (const FormPart& file : files) {
        NewDocument document;
        document.name = last_name(file.filename);
        if (document.name.empty()) {
            document.name = posted.name.value_or(name_by_type(content_type));
        }
        document.id = posted.document_id.value_or(document.name);
        if (document.id.size() > kMaxPostedId) {
            return invalid_argument("\"document_id\" must have 1 to 500 bytes");
        }
        document.bytes = file.body;
        document.title = posted.title;
        document.metadata = posted.metadata;
        const std::string name = document.name;
        Result<Value> stored = invalid_argument("another file of this form has the same name");
        if (names.insert(document.id).second) {  // one would take the place of the other
            stored = ingest_document(operations, std::move(document), posted.scope, caller);
        }
        if (stored) {
            documents.push_back(*std::move(stored));
            continue;
        }
        const bool about_file = stored.error().code == ErrorCode::InvalidArgument;
        if (!about_file || files.size() == 1) {
            return tl::unexpected<Error>(std::move(stored).error());
        }
        failed.emplace_back(
            Object{{"name", Value(name)}, {"error", Value(stored.error().message)}});
    }
    if (documents.empty()) {
        return invalid_argument("none of the files could be read; " +
                                failed.front().find("name")->as_string() + ": " +
                                failed.front().find("error")->as_string());
    }
    return Value(Object{{"documents", std::move(documents)}, {"failed", std::move(failed)}});
}

Result<Value> post_document(const service::Operations& operations, const Object& params,
                            const service::Caller& caller) {
    BRAID_TRY(Value document, ingest_text(operations, params, caller, kDefaultCollection));
    return Value(Object{{"documents", Array{std::move(document)}}, {"failed", Array{}}});
}

}  // namespace braid::server
