#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "braid/core/base64.hpp"
#include "braid/core/hex.hpp"
#include "braid/ingest/encoding.hpp"
#include "braid/ingest/html.hpp"
#include "braid/ingest/markdown.hpp"
#include "braid/ingest/structured_text.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kMostNesting = 10;  // of parts within parts
constexpr std::size_t kMostParts = 1000;

/// `header`: "_" is a space.
std::string from_quoted_printable(std::string_view text, bool header) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '=') {
            out += header && text[i] == '_' ? ' ' : text[i];
            continue;
        }
        if (i + 2 < text.size() + 1 && i + 1 < text.size() && text[i + 1] == '\n') {
            i += 1;
        } else if (i + 2 < text.size() && text[i + 1] == '\r' && text[i + 2] == '\n') {
            i += 2;
        } else if (i + 2 < text.size() && core::hex_digit(text[i + 1]) >= 0 &&
                   core::hex_digit(text[i + 2]) >= 0) {
            out +=
                static_cast<char>(core::hex_digit(text[i + 1]) * 16 + core::hex_digit(text[i + 2]));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

/// With "=?utf-8?Q?…?=" decoded.
std::string header_text(std::string_view value) {
    std::string out;
    while (!value.empty()) {
        const std::size_t begin = value.find("=?");
        const std::size_t charset_end =
            begin == std::string_view::npos ? begin : value.find('?', begin + 2);
        const bool coded = charset_end != std::string_view::npos &&
                           charset_end + 2 < value.size() && value[charset_end + 2] == '?';
        const std::size_t end = coded ? value.find("?=", charset_end + 3) : std::string_view::npos;
        if (end == std::string_view::npos) return out + std::string(value);
        const std::string_view before = value.substr(0, begin);
        if (!trimmed(before).empty() || out.empty()) out += before;
        const std::string_view data = value.substr(charset_end + 3, end - charset_end - 3);
        const char kind = value[charset_end + 1];
        std::string bytes = kind == 'B' || kind == 'b' ? core::decode_mail_base64(data)
                                                       : from_quoted_printable(data, true);
        out += decode_text(std::move(bytes), value.substr(begin + 2, charset_end - begin - 2)).text;
        value.remove_prefix(end + 2);
    }
    return out;
}

struct MailPart {
    std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
    std::string_view body;

    std::string header(std::string_view name) const {
        const auto found =
            std::ranges::find(headers, name, &std::pair<std::string, std::string>::first);
        return found == headers.end() ? std::string() : found->second;
    }
};

/// "text/html; charset=utf-8": the value of "charset".
std::string parameter_of(const std::string& header, std::string_view name) {
    const std::string lower = lower_ascii(header);
    std::size_t at = lower.find(std::string(name) + "=");
    if (at == std::string::npos) return {};
    at += name.size() + 1;
    if (at < header.size() && header[at] == '"') {
        const std::size_t end = std::min(header.find('"', at + 1), header.size());
        return header.substr(at + 1, end - at - 1);
    }
    const std::size_t end = std::min(header.find_first_of("; \t\r\n", at), header.size());
    return header.substr(at, end - at);
}

MailPart read_part(std::string_view text) {
    MailPart part;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) break;
        if ((line[0] == ' ' || line[0] == '\t') && !part.headers.empty()) {
            part.headers.back().second += " " + std::string(trimmed(line));
            continue;
        }
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        part.headers.emplace_back(lower_ascii(line.substr(0, colon)),
                                  std::string(trimmed(line.substr(colon + 1))));
    }
    part.body = text;
    return part;
}

/// An attached text, by its name.
struct AttachedText {
    std::string name;
    std::string text;
    bool html = false;
};

/// The texts of a mail and its parts.
struct MailTexts {
    std::string plain;
    std::string html;
    std::vector<AttachedText> attached;
    std::vector<std::string> attachments;  // the names of the others
    std::size_t parts = 0;
};

void collect(const MailPart& part, std::size_t depth, MailTexts& out) {
    if (depth > kMostNesting || ++out.parts > kMostParts) return;
    const std::string type_header = part.header("content-type");
    const std::string type = lower_ascii(type_header.substr(0, type_header.find(';')));
    if (type.starts_with("multipart/")) {
        const std::string boundary = "--" + parameter_of(type_header, "boundary");
        if (boundary.size() < 3) return;
        std::size_t at = part.body.find(boundary);
        while (at != std::string_view::npos && out.parts <= kMostParts) {
            const std::size_t begin = part.body.find('\n', at);
            if (begin == std::string_view::npos) return;
            const std::size_t end = part.body.find(boundary, begin);
            collect(
                read_part(part.body.substr(begin + 1, std::min(end, part.body.size()) - begin - 1)),
                depth + 1, out);
            at = end;
        }
        return;
    }
    if (type == "message/rfc822") return collect(read_part(part.body), depth + 1, out);
    const std::string disposition = part.header("content-disposition");
    std::string name = parameter_of(disposition, "filename");
    if (name.empty()) name = parameter_of(type_header, "name");
    name = header_text(name);
    if (!type.empty() && !type.starts_with("text/")) {
        out.attachments.push_back(name.empty() ? type : std::move(name));
        return;
    }
    const std::string coding = lower_ascii(part.header("content-transfer-encoding"));
    std::string bytes(part.body);
    if (coding == "base64") bytes = core::decode_mail_base64(part.body);
    if (coding == "quoted-printable") bytes = from_quoted_printable(part.body, false);
    std::string text = decode_text(std::move(bytes), parameter_of(type_header, "charset")).text;
    const bool html = type == "text/html";
    if (lower_ascii(disposition).starts_with("attachment")) {
        if (name.empty()) name = type.empty() ? "text" : type;
        out.attached.push_back({std::move(name), std::move(text), html});
        return;
    }
    (html ? out.html : out.plain) += text + "\n\n";
}

void add_html_text(DocumentBuilder& builder, std::string_view text) {
    DocumentBuilder page;
    add_html(page, text);
    const SourceDocument html = page.take();
    for (const Section& section : html.sections) {
        if (section.heading) builder.heading(3, *section.heading);
        for (const Block& block : section.blocks) builder.block(html.text_of(block));
    }
}

void add_plain_text(DocumentBuilder& builder, std::string_view text) {
    const SourceDocument plain = parse_plain(text);
    for (const Section& section : plain.sections) {
        for (const Block& block : section.blocks) builder.block(plain.text_of(block));
    }
}

}  // namespace

SourceDocument parse_mail(std::string_view bytes) {
    const MailPart mail = read_part(bytes);
    DocumentBuilder builder;
    builder.set_title(header_text(mail.header("subject")));
    builder.note("author", header_text(mail.header("from")));
    builder.note("recipients", header_text(mail.header("to")));
    builder.note("message_id", mail.header("message-id"));
    builder.date(mail.header("date"));
    MailTexts texts;
    collect(mail, 0, texts);
    if (trimmed(texts.plain).empty() && !texts.html.empty()) {
        add_html_text(builder, texts.html);
    } else {
        add_plain_text(builder, texts.plain);
    }
    for (const AttachedText& one : texts.attached) {
        builder.heading(2, one.name);
        one.html ? add_html_text(builder, one.text) : add_plain_text(builder, one.text);
    }
    if (!texts.attached.empty()) builder.heading(2, "");
    std::string names;
    for (const std::string& name : texts.attachments) {
        names += (names.empty() ? "Attachments: " : ", ") + name;
    }
    builder.block(names);
    return builder.take();
}

}  // namespace braid::ingest
