#pragma once

#include <string>
#include <vector>

#include "braid/cli/view/output.hpp"
#include "braid/text/columns.hpp"

namespace braid::cli {

/// Rows in aligned columns. On a terminal, what does not fit its width is cut, the last column
/// first.
class Table {
public:
    struct Column {
        std::string name;
        bool right = false;  // numbers
        bool whole = false;  // never cut
    };

    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// As many cells as columns.
    void add(std::vector<std::string> cells) { rows_.push_back(cells_of(std::move(cells))); }
    void print(Output& out) const;

private:
    text::Cells cells_of(std::vector<std::string> texts) const;
    /// Reduces the widths by what does not fit a line of `total` columns.
    void narrow(std::vector<std::size_t>& widths, std::size_t total) const;

    std::vector<Column> columns_;
    std::vector<text::Cells> rows_;
};

}  // namespace braid::cli
