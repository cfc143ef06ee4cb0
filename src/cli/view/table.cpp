#include "braid/cli/view/table.hpp"

#include <algorithm>
#include <limits>

#include "braid/text/display_width.hpp"

namespace braid::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kMinColumn = 8;

}  // namespace

std::vector<std::size_t> Table::widths(std::size_t total) const {
    std::vector<std::size_t> out;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t width = text::display_width(columns_[i].name);
        for (const auto& row : rows_) width = std::max(width, text::display_width(row[i]));
        out.push_back(width);
        sum += width + kGap;
    }
    for (std::size_t i = out.size(); i-- > 0 && sum > total + kGap;) {
        if (columns_[i].right || columns_[i].whole || out[i] <= kMinColumn) continue;
        const std::size_t cut = std::min(out[i] - kMinColumn, sum - total - kGap);
        out[i] -= cut;
        sum -= cut;
    }
    return out;
}

std::string Table::row_text(const std::vector<std::string>& cells,
                            const std::vector<std::size_t>& widths) const {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) text += std::string(kGap, ' ');
        text += columns_[i].right ? padded_left(cells[i], widths[i]) : padded(cells[i], widths[i]);
    }
    text.resize(text.find_last_not_of(' ') + 1);
    return text;
}

void Table::print(Output& out) const {
    const std::size_t room = out.on_terminal() ? out.width() : std::numeric_limits<int>::max();
    const std::vector<std::size_t> columns = widths(room);
    std::vector<std::string> names;
    names.reserve(columns_.size());
    for (const Column& column : columns_) names.push_back(column.name);
    out.line(std::string(out.style().dim) + row_text(names, columns) +
             std::string(out.style().reset));
    for (const auto& row : rows_) out.line(row_text(row, columns));
}

}  // namespace braid::cli
