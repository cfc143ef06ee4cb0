#include "braid/eval/report_queries.hpp"

#include <algorithm>
#include <cmath>

#include "braid/core/numbers.hpp"
#include "braid/eval/html.hpp"
#include "braid/json/json.hpp"

namespace braid::eval {
namespace {

/// The values of all measures, rounded as they are shown: [measure][run][query].
Value shown_values(const Comparison& comparison) {
    Array measures;
    Array names;
    for (std::size_t m = 0; m < comparison.measures.size(); ++m) {
        Array runs;
        for (const ComparedRun& run : comparison.runs) {
            Array values;
            for (const double value : run.evaluation.values[m]) {
                values.emplace_back(std::round(value * 1e4) / 1e4);
            }
            runs.emplace_back(std::move(values));
        }
        measures.emplace_back(std::move(runs));
        names.emplace_back(name_of(comparison.measures[m]));
    }
    Array runs;
    for (const ComparedRun& run : comparison.runs) runs.emplace_back(run.name);
    return Object{
        {"measures", std::move(names)}, {"runs", std::move(runs)}, {"values", std::move(measures)}};
}

/// JSON that cannot end the script element it stands in.
std::string embedded(const Value& value) {
    std::string out;
    for (const char c : json::print(value)) {
        if (c == '<') {
            out += "\\u003c";
        } else {
            out += c;
        }
    }
    return out;
}

std::string heading(std::string_view name, std::string_view attributes) {
    return "<th" + std::string(attributes) + "><button>" + escaped(name) + "</button></th>";
}

std::string value_cell(double value, double baseline) {
    const double gain = value - baseline;
    std::string style = "number";
    if (gain > 5e-4) style += " gainful";
    if (gain < -5e-4) style += " lossy";
    return "<td class=\"" + style + "\" style=\"--size:" + core::fixed(std::abs(gain), 3) + "\">" +
           core::fixed(value, 3) + "</td>";
}

/// `text` is null if no query has one.
std::string row(const JudgedQuery& judged, const Comparison& comparison, std::size_t query,
                const std::string_view* text) {
    const auto relevant =
        std::count_if(judged.judgements.begin(), judged.judgements.end(),
                      [](const Judgement& judgement) { return judgement.relevance >= 1; });
    std::string out = "<tr><td class=\"id\">" + escaped(judged.query) + "</td>";
    if (text != nullptr) {
        out += "<td class=\"text\" dir=\"auto\">" + escaped(*text) + "</td>";
    }
    out += "<td class=\"number\" data-sort=\"" + std::to_string(relevant) + "\">" +
           std::to_string(relevant) + "</td>";
    const double baseline = comparison.runs.front().evaluation.values.front()[query];
    Interval spread{baseline, baseline};
    for (const ComparedRun& run : comparison.runs) {
        const double value = run.evaluation.values.front()[query];
        spread = {std::min(spread.low, value), std::max(spread.high, value)};
        out += value_cell(value, baseline);
    }
    if (comparison.runs.size() > 1) {
        out += "<td class=\"number\">" + core::fixed(spread.high - spread.low, 3) + "</td>";
    }
    return out + "</tr>\n";
}

}  // namespace

std::string query_table(const Qrels& qrels, const Comparison& comparison,
                        std::span<const std::string_view> texts) {
    const bool known = std::any_of(texts.begin(), texts.end(),
                                   [](std::string_view text) { return !text.empty(); });
    std::string head = heading("id", "") + (known ? heading("query", "") : "") +
                       heading("relevant", " class=\"number\"");
    for (const ComparedRun& run : comparison.runs) {
        head += heading(run.name, " class=\"number\" data-run");
    }
    if (comparison.runs.size() > 1) head += heading("spread", " class=\"number\"");
    std::string rows;
    for (std::size_t q = 0; q < qrels.queries.size(); ++q) {
        rows += row(qrels.queries[q], comparison, q, known ? &texts[q] : nullptr);
    }
    return "<div class=\"controls\" hidden><select id=\"measure\" aria-label=\"measure\"></select>"
           "<input id=\"filter\" type=\"search\" placeholder=\"Filter by id or words\" "
           "aria-label=\"filter\"><output id=\"count\"></output></div>"
           "<div class=\"queries\"><table><thead><tr>" +
           head + "</tr></thead><tbody>" + rows +
           "</tbody></table></div><script type=\"application/json\" id=\"values\">" +
           embedded(shown_values(comparison)) + "</script>";
}

}  // namespace braid::eval
