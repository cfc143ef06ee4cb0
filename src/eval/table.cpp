#include "braid/eval/table.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "braid/core/numbers.hpp"
#include "braid/text/columns.hpp"

namespace braid::eval {
namespace {

enum class Tone { Plain, Bold, Dim, Good, Bad };

struct Cell {
    std::string text;
    Tone tone = Tone::Plain;
};

using Row = std::vector<Cell>;

std::string_view escape_of(Tone tone) {
    switch (tone) {
        case Tone::Plain:
            return "";
        case Tone::Bold:
            return "\x1b[1m";
        case Tone::Dim:
            return "\x1b[2m";
        case Tone::Good:
            return "\x1b[32m";
        case Tone::Bad:
            return "\x1b[31m";
    }
    return "";
}

constexpr std::string_view kReset = "\x1b[0m";

std::string painted(const std::string& text, Tone tone, bool color) {
    if (!color || tone == Tone::Plain || text.empty()) return text;
    return std::string(escape_of(tone)) + text + std::string(kReset);
}

std::string lines_of(const std::vector<Row>& rows, bool color) {
    std::vector<text::Cells> table;
    for (const Row& row : rows) {
        text::Cells& cells = table.emplace_back();
        for (const Cell& cell : row) {
            const bool painted = color && cell.tone != Tone::Plain;
            cells.push_back({.text = cell.text,
                             .style = painted ? escape_of(cell.tone) : "",
                             .unstyle = painted ? kReset : ""});
        }
    }
    const std::vector<std::size_t> widths = text::column_widths(table);
    std::string out;
    for (const text::Cells& cells : table) out += text::aligned(cells, widths) + "\n";
    return out;
}

Tone tone_of(const Difference& difference) {
    if (mark_of(difference).empty()) return Tone::Plain;
    return difference.mean > 0.0 ? Tone::Good : Tone::Bad;
}

void add_run(std::vector<Row>& rows, const ComparedRun& run, const std::string& baseline) {
    Row means{{run.name, Tone::Bold}};
    Row intervals{{""}};
    Row differences{{"  against " + baseline, Tone::Dim}};
    for (std::size_t m = 0; m < run.intervals.size(); ++m) {
        means.push_back({core::fixed(run.evaluation.means[m], 4)});
        const Interval& interval = run.intervals[m];
        intervals.push_back(
            {core::fixed(interval.low, 3) + "–" + core::fixed(interval.high, 3), Tone::Dim});
        if (run.differences.empty()) continue;
        const Difference& difference = run.differences[m];
        means.back().tone = tone_of(difference);
        const std::string_view mark = mark_of(difference);
        if (!mark.empty()) {
            means.back().text += difference.mean > 0.0 ? " ▲" : " ▼";
            means.back().text += mark;
        }
        differences.push_back({core::signed_fixed(difference.mean, 4), Tone::Dim});
    }
    rows.push_back(std::move(means));
    rows.push_back(std::move(intervals));
    if (!run.differences.empty()) rows.push_back(std::move(differences));
}

Row header(std::vector<std::string> leading, const Comparison& comparison) {
    Row row;
    for (std::string& name : leading) row.push_back({std::move(name), Tone::Bold});
    for (const Measure& measure : comparison.measures)
        row.push_back({name_of(measure), Tone::Bold});
    return row;
}

std::string explanation(const Comparison& comparison) {
    const std::string confidence = core::fixed(comparison.options.confidence * 100.0, 0);
    std::string text = "means over " +
                       core::count_of(comparison.queries.size(), "judged query", "judged queries") +
                       ", below them " + confidence + " % bootstrap intervals (" +
                       core::grouped(comparison.options.resamples) + " resamples, seed " +
                       std::to_string(comparison.options.seed) + ")\n";
    if (comparison.runs.size() > 1) {
        text += "▲ better, ▼ worse than " + comparison.runs.front().name +
                " by a paired randomisation test: * p < 0.05, ** p < 0.01, *** p < 0.001";
        text += comparison.runs.size() > 2 ? " (Holm-corrected)\n" : "\n";
    }
    return text;
}

}  // namespace

std::string to_table(const Comparison& comparison, const TableOptions& options) {
    std::vector<Row> rows{header({"run"}, comparison)};
    for (const ComparedRun& run : comparison.runs) {
        add_run(rows, run, comparison.runs.front().name);
    }
    std::string out = lines_of(rows, options.color) + "\n";
    out += painted(explanation(comparison), Tone::Dim, options.color);
    for (const ComparedRun& run : comparison.runs) {
        if (run.evaluation.missing == 0) continue;
        out += run.name + " lacks " +
               core::count_of(run.evaluation.missing, "judged query", "judged queries") +
               ", counted as 0\n";
    }
    return out;
}

std::string to_query_table(const Comparison& comparison, const TableOptions& options) {
    std::vector<Row> rows{header({"query", "run"}, comparison)};
    for (std::size_t q = 0; q < comparison.queries.size(); ++q) {
        for (const ComparedRun& run : comparison.runs) {
            Row row{{comparison.queries[q]}, {run.name}};
            for (std::size_t m = 0; m < comparison.measures.size(); ++m) {
                row.push_back({core::fixed(run.evaluation.values[m][q], 4)});
                const double gain =
                    run.evaluation.values[m][q] - comparison.runs.front().evaluation.values[m][q];
                if (gain > 0.0) row.back().tone = Tone::Good;
                if (gain < 0.0) row.back().tone = Tone::Bad;
            }
            rows.push_back(std::move(row));
        }
    }
    return lines_of(rows, options.color);
}

}  // namespace braid::eval
