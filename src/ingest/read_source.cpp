#include "braid/ingest/read_source.hpp"

#include <utility>

#include "braid/ingest/code.hpp"
#include "braid/ingest/encoding.hpp"
#include "braid/ingest/format.hpp"
#include "braid/ingest/markdown.hpp"

namespace braid::ingest {
namespace {

SourceDocument parse_text(const DetectedFormat& detected, std::string_view text) {
    switch (detected.format) {
        case Format::Markdown:
            return parse_markdown(text);
        case Format::Code:
            return parse_code(text, detected.language);
        case Format::Plain:
            break;
    }
    return parse_plain(text);
}

}  // namespace

Result<ReadSource> read_source(std::string_view name, std::string bytes) {
    const auto detected = detect_format(name, bytes);
    if (!detected) {
        return invalid_argument("its format is not supported; braid reads " +
                                std::string(supported_formats()));
    }
    ReadSource out;
    out.format = format_name(detected->format);
    DecodedText decoded = decode_text(std::move(bytes));
    out.encoding = decoded.encoding;
    if (!decoded.exact) {
        out.warnings.push_back("some bytes are no " + decoded.encoding +
                               " and were replaced by U+FFFD");
    }
    out.document = parse_text(*detected, decoded.text);
    out.document.metadata.set(kFormatKey, out.format);
    if (!out.encoding.empty() && out.encoding != "UTF-8") {
        out.document.metadata.set(kEncodingKey, out.encoding);
    }
    return out;
}

}  // namespace braid::ingest
