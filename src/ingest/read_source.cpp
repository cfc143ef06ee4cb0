#include "braid/ingest/read_source.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "braid/core/utf8.hpp"
#include "braid/ingest/code.hpp"
#include "braid/ingest/compression.hpp"
#include "braid/ingest/encoding.hpp"
#include "braid/ingest/format.hpp"
#include "braid/ingest/html.hpp"
#include "braid/ingest/markdown.hpp"
#include "braid/ingest/office.hpp"
#include "braid/ingest/pdf.hpp"
#include "braid/ingest/records.hpp"
#include "braid/ingest/structured_text.hpp"

namespace braid::ingest {
namespace {

Result<SourceDocument> parse_text(const DetectedFormat& detected, std::string_view text,
                                  FailedLines& failed_lines) {
    switch (detected.format) {
        case Format::Markdown:
            return parse_markdown(text);
        case Format::Code:
            return parse_code(text, detected.language);
        case Format::Html:
            return parse_html(text);
        case Format::Xml:
            return parse_xml(text);
        case Format::Rst:
            return parse_rst(text);
        case Format::Org:
            return parse_org(text);
        case Format::Json:
            return parse_json(text);
        case Format::JsonLines:
            return parse_json_lines(text, failed_lines);
        case Format::Csv:
            return parse_csv(text);
        case Format::Tsv:
            return parse_csv(text, '\t');
        case Format::Notebook:
            return parse_notebook(text);
        default:
            return parse_plain(text);
    }
}

Result<SourceDocument> parse_bytes(Format format, std::string_view bytes, std::size_t max_bytes) {
    switch (format) {
        case Format::Mail:
            return parse_mail(bytes);
        case Format::Docx:
            return parse_docx(bytes, max_bytes);
        case Format::Pptx:
            return parse_pptx(bytes, max_bytes);
        case Format::Xlsx:
            return parse_xlsx(bytes, max_bytes);
        case Format::Odt:
            return parse_odt(bytes, max_bytes);
        case Format::Epub:
            return parse_epub(bytes, max_bytes);
        default:
            return parse_pdf(bytes);
    }
}

/// Archives hold texts with arbitrary bytes: whatever is not UTF-8 becomes U+FFFD.
void make_valid(SourceDocument& document, std::vector<std::string>& warnings) {
    bool replaced = false;
    const auto fix = [&](std::string& text) {
        if (core::is_valid_utf8(text)) return;
        replaced = true;
        std::string valid;
        for (std::size_t at = 0; at < text.size();) {
            const core::Decoded next = core::decode_at(text, at);
            // Byte for byte, so that the positions of blocks do not change.
            valid += next.code_point == core::kInvalidBytes ? std::string(next.length, '?')
                                                            : text.substr(at, next.length);
            at += next.length;
        }
        text = std::move(valid);
    };
    fix(document.text);
    if (document.title) fix(*document.title);
    for (Section& section : document.sections) {
        if (section.heading) fix(*section.heading);
    }
    for (auto& [key, value] : document.metadata) {
        if (value.is_string()) fix(value.as_string());
    }
    if (replaced) warnings.emplace_back("some bytes are not UTF-8 and were replaced by \"?\"");
}

void bound(SourceDocument& document, std::vector<std::string>& warnings) {
    std::string keys;
    for (const std::string& key : bound_metadata(document)) {
        keys += (keys.empty() ? "" : ", ") + std::string(core::cut_at_most(key, 100));
        if (keys.size() > 200) {
            keys += ", …";
            break;
        }
    }
    if (!keys.empty()) {
        warnings.push_back("its metadata was too long to stand at every chunk and was cut: " +
                           keys);
    }
}

}  // namespace

Result<ReadSource> read_source(std::string_view name, std::string bytes, const ReadLimits& limits) {
    if (compression_of(bytes) != Compression::None) {
        BRAID_TRY(bytes, decompressed(bytes, limits.unpacked_bytes));
        name = unpacked_name(name);
    }
    const auto detected = detect_format(name, bytes);
    if (!detected || compression_of(bytes) != Compression::None) {
        return invalid_argument("its format is not supported; braid reads " +
                                std::string(supported_formats()));
    }
    ReadSource out;
    out.format = format_name(detected->format);
    if (is_text_format(detected->format)) {
        const bool markup = detected->format == Format::Html || detected->format == Format::Xml;
        const std::string declared = markup ? declared_encoding(bytes) : std::string();
        DecodedText decoded = decode_text(std::move(bytes), declared);
        out.encoding = decoded.encoding;
        if (!decoded.exact) {
            out.warnings.push_back("some bytes are not " + decoded.encoding +
                                   " and were replaced by U+FFFD");
        }
        if (decoded.text.find('\n') == std::string::npos) {  // old Macintosh line ends
            std::ranges::replace(decoded.text, '\r', '\n');
        }
        BRAID_TRY(out.document, parse_text(*detected, decoded.text, out.failed_lines));
    } else {
        BRAID_TRY(out.document, parse_bytes(detected->format, bytes, limits.unpacked_bytes));
    }
    make_valid(out.document, out.warnings);
    bound(out.document, out.warnings);
    out.document.metadata.set(kFormatKey, out.format);
    if (!out.encoding.empty() && out.encoding != "UTF-8") {
        out.document.metadata.set(kEncodingKey, out.encoding);
    }
    return out;
}

}  // namespace braid::ingest
