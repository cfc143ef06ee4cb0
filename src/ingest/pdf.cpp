#include "braid/ingest/pdf.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "braid/core/utf8.hpp"
#include "braid/ingest/markdown.hpp"

namespace braid::ingest {

Result<SourceDocument> parse_pdf(std::string_view bytes, const ChildLimits& limits) {
    auto printed = run_apart({"pdftotext", "-q", "-enc", "UTF-8", "-", "-"}, bytes, limits);
    if (!printed && printed.error().code == ErrorCode::NotFound) {
        return invalid_argument("PDF needs the program pdftotext (Debian: poppler-utils)");
    }
    if (!printed) return tl::unexpected<Error>(std::move(printed).error());
    BRAID_CHECK(core::require_utf8(*printed, "what pdftotext printed"));
    DocumentBuilder builder;
    std::string_view rest = *printed;
    for (std::uint64_t page = 1; !rest.empty(); ++page) {
        const std::size_t end = std::min(rest.find('\f'), rest.size());
        builder.page(page);
        const SourceDocument text = parse_plain(rest.substr(0, end));
        for (const Section& section : text.sections) {
            for (const Block& block : section.blocks) builder.block(text.text_of(block));
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return builder.take();
}

}  // namespace braid::ingest
