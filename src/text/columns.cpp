#include "braid/text/columns.hpp"

#include <algorithm>

#include "braid/core/utf8.hpp"
#include "braid/text/display_width.hpp"

namespace braid::text {

std::string clipped(std::string_view text, std::size_t width) {
    if (display_width(text) <= width) return std::string(text);
    if (width == 0) return {};
    std::string out;
    std::size_t used = 0;
    for (std::size_t at = 0; at < text.size();) {
        const core::Decoded step = core::decode_at(text, at);
        const std::size_t columns = !step.valid() ? 1 : display_width(step.code_point);
        if (used + columns + 1 > width) break;
        out += text.substr(at, step.length);
        used += columns;
        at += step.length;
    }
    out.resize(out.find_last_not_of(' ') + 1);
    return out + "…";
}

std::string padded(std::string_view text, std::size_t width) {
    const std::string out = clipped(text, width);
    return out + std::string(width - display_width(out), ' ');
}

std::string padded_left(std::string_view text, std::size_t width) {
    const std::string out = clipped(text, width);
    return std::string(width - display_width(out), ' ') + out;
}

std::vector<std::size_t> column_widths(std::span<const Cells> rows) {
    std::vector<std::size_t> widths;
    for (const Cells& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t c = 0; c < row.size(); ++c) {
            widths[c] = std::max(widths[c], display_width(row[c].text));
        }
    }
    return widths;
}

std::string aligned(const Cells& row, std::span<const std::size_t> widths) {
    std::string line;
    std::size_t gap = 0;
    for (std::size_t c = 0; c < row.size(); ++c) {
        const std::string shown = clipped(row[c].text, widths[c]);
        const std::size_t spare = widths[c] - display_width(shown);
        if (row[c].right) gap += spare;
        if (!shown.empty()) {
            line.append(gap, ' ').append(row[c].style).append(shown).append(row[c].unstyle);
            gap = 0;
        }
        if (!row[c].right) gap += spare;
        gap += kColumnGap;
    }
    return line;
}

}  // namespace braid::text
