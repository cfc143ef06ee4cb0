#include "braid/cli/view/table.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace braid::cli {
namespace {

constexpr std::size_t kMinColumn = 8;

}  // namespace

text::Cells Table::cells_of(std::vector<std::string> texts) const {
    text::Cells cells;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        cells.push_back({.text = std::move(texts[i]), .right = columns_[i].right});
    }
    return cells;
}

void Table::narrow(std::vector<std::size_t>& widths, std::size_t total) const {
    const std::size_t gaps = widths.empty() ? 0 : (widths.size() - 1) * text::kColumnGap;
    std::size_t sum = std::accumulate(widths.begin(), widths.end(), gaps);
    for (std::size_t i = widths.size(); i-- > 0 && sum > total;) {
        if (columns_[i].right || columns_[i].whole || widths[i] <= kMinColumn) continue;
        const std::size_t cut = std::min(widths[i] - kMinColumn, sum - total);
        widths[i] -= cut;
        sum -= cut;
    }
}

void Table::print(Output& out) const {
    std::vector<std::string> names;
    names.reserve(columns_.size());
    for (const Column& column : columns_) names.push_back(column.name);
    std::vector<text::Cells> rows{cells_of(std::move(names))};
    rows.insert(rows.end(), rows_.begin(), rows_.end());
    std::vector<std::size_t> widths = text::column_widths(rows);
    narrow(widths, out.on_terminal() ? out.width() : std::numeric_limits<int>::max());
    out.line(std::string(out.style().dim) + text::aligned(rows.front(), widths) +
             std::string(out.style().reset));
    for (std::size_t i = 1; i < rows.size(); ++i) out.line(text::aligned(rows[i], widths));
}

}  // namespace braid::cli
