#include "braid/eval/report.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "braid/core/numbers.hpp"
#include "braid/eval/diagnostics.hpp"
#include "braid/eval/html.hpp"
#include "braid/eval/plots.hpp"
#include "braid/eval/report_assets.hpp"
#include "braid/eval/report_queries.hpp"

namespace braid::eval {
namespace {

/// A p-value as prose has it: "p = 0.013", "p < 0.001".
std::string p_text(double p_value) {
    if (p_value < 0.001) return "p < 0.001";
    return "p = " + core::fixed(p_value, p_value < 0.1 ? 3 : 2);
}

constexpr std::size_t kRecallDepth = 100;
constexpr std::size_t kBins = 48;
constexpr std::size_t kExtremes = 4;  // greatest gains and losses listed per run

std::string swatch(std::size_t series) {
    return "<span class=\"swatch s" + std::to_string(series % kSeries) + "\"></span>";
}

std::string percent(double share) {
    return core::fixed(share * 100.0, 0) + " %";
}

std::string section(std::string_view heading, std::string_view note, const std::string& body) {
    return "<section><h2>" + escaped(heading) + "</h2><p class=\"note\">" + escaped(note) + "</p>" +
           body + "</section>\n";
}

/// Writes the page piece by piece; what every piece needs is looked up once.
class Report {
public:
    explicit Report(const ReportInput& input)
        : input_(input),
          comparison_(input.comparison),
          baseline_(input.comparison.runs.front()),
          measure_(name_of(input.comparison.measures.front())) {
        std::unordered_map<std::string_view, std::string_view> texts;
        for (const Query& query : input.queries) texts.emplace(query.id, query.text);
        for (const std::string& id : comparison_.queries) {
            const auto text = texts.find(id);
            texts_.push_back(text == texts.end() ? std::string_view() : text->second);
        }
    }

    std::string header(const ReportOptions& options) const;
    std::string findings() const;
    std::string scoreboard() const;
    std::string differences() const;
    std::string gains() const;
    std::string recall() const;
    std::string distributions() const;
    std::string queries() const;
    std::string footer() const;

private:
    bool single() const { return comparison_.runs.size() == 1; }
    /// The colour of a run; a baseline is grey, a run on its own is not.
    std::size_t series(std::size_t run) const { return single() ? 1 : run; }
    std::string finding(const ComparedRun& run) const;
    std::string board_cell(std::size_t run, std::size_t measure, const Interval& scale,
                           double best) const;
    std::string gains_of(std::size_t run) const;
    std::string extremes(std::string_view heading, const ComparedRun& run,
                         std::span<const std::size_t> queries) const;
    std::string query_label(std::size_t query, std::size_t length) const;

    const ReportInput& input_;
    const Comparison& comparison_;
    const ComparedRun& baseline_;
    std::string measure_;
    std::vector<std::string_view> texts_;  // by query; empty where unknown
};

std::string Report::header(const ReportOptions& options) const {
    std::size_t judgements = 0;
    for (const JudgedQuery& judged : input_.qrels.queries) judgements += judged.judgements.size();
    std::string facts =
        core::count_of(comparison_.runs.size(), "run", "runs") + " · " +
        core::count_of(comparison_.queries.size(), "judged query", "judged queries") + " · " +
        core::count_of(judgements, "judgement", "judgements");
    if (!single()) facts += " · baseline " + baseline_.name;
    if (!options.note.empty()) facts += " · " + options.note;
    return "<h1>" + escaped(options.title) + "</h1><p class=\"facts\">" + escaped(facts) + "</p>\n";
}

std::string Report::finding(const ComparedRun& run) const {
    const Difference& difference = run.differences.front();
    const bool significant = !mark_of(difference).empty();
    const bool better = difference.mean > 0.0;
    const std::string verdict = !significant ? "cannot be told apart from "
                                : better     ? "is better than "
                                             : "is worse than ";
    const std::string sign = !significant ? "<span class=\"sign even\">●</span>"
                             : better     ? "<span class=\"sign up\">▲</span>"
                                          : "<span class=\"sign down\">▼</span>";
    return "<li>" + sign + "<span><b>" + escaped(run.name) + "</b> " + verdict + "<b>" +
           escaped(baseline_.name) + "</b> on " + measure_ + ": " +
           core::fixed(run.evaluation.means.front(), 4) + " against " +
           core::fixed(baseline_.evaluation.means.front(), 4) + " (" +
           core::signed_fixed(difference.mean, 4) + ", " + p_text(difference.p_adjusted) +
           "). It gains on " + core::count_of(difference.better, "query", "queries") +
           ", loses on " + core::grouped(difference.worse) + " and ties on " +
           core::grouped(difference.equal) + ".</span></li>";
}

std::string Report::findings() const {
    std::string items;
    for (const ComparedRun& run : comparison_.runs) {
        if (!run.differences.empty()) items += finding(run);
    }
    return items.empty() ? "" : "<ul class=\"findings\">" + items + "</ul>\n";
}

std::string Report::board_cell(std::size_t run, std::size_t measure, const Interval& scale,
                               double best) const {
    const ComparedRun& compared = comparison_.runs[run];
    const double mean = compared.evaluation.means[measure];
    const Interval& interval = compared.intervals[measure];
    std::string cell = single() || mean < best ? "<td>" : "<td class=\"best\">";
    cell += "<span class=\"value\">" + core::fixed(mean, 4) + "</span>";
    if (run > 0) {
        const Difference& difference = compared.differences[measure];
        const std::string_view mark = mark_of(difference);
        if (!mark.empty()) {
            cell += difference.mean > 0.0 ? " <small class=\"up\">▲" : " <small class=\"down\">▼";
            cell += std::string(mark) + "</small>";
        }
    }
    cell += whisker_plot({mean, interval}, scale, baseline_.evaluation.means[measure], series(run));
    return cell + "<small class=\"interval\">" + core::fixed(interval.low, 3) + " – " +
           core::fixed(interval.high, 3) + "</small></td>";
}

std::string Report::scoreboard() const {
    std::vector<Interval> scales;
    std::vector<double> best;
    std::string head = "<th>run</th>";
    for (std::size_t m = 0; m < comparison_.measures.size(); ++m) {
        std::vector<Estimate> estimates;
        estimates.reserve(comparison_.runs.size());
        for (const ComparedRun& run : comparison_.runs) {
            estimates.push_back({run.evaluation.means[m], run.intervals[m]});
        }
        scales.push_back(scale_of(estimates));
        best.push_back(
            std::max_element(estimates.begin(), estimates.end(),
                             [](const Estimate& a, const Estimate& b) { return a.mean < b.mean; })
                ->mean);
        head += "<th>" + name_of(comparison_.measures[m]) + "</th>";
    }
    std::string rows;
    for (std::size_t run = 0; run < comparison_.runs.size(); ++run) {
        const ComparedRun& compared = comparison_.runs[run];
        std::string remark = run == 0 && !single() ? "baseline" : "";
        if (compared.evaluation.missing > 0) {
            remark += (remark.empty() ? "lacks " : ", lacks ") +
                      core::count_of(compared.evaluation.missing, "query", "queries");
        }
        rows += "<tr><td class=\"name\">" + swatch(series(run)) + escaped(compared.name) +
                "<small>" + remark + "</small></td>";
        for (std::size_t m = 0; m < comparison_.measures.size(); ++m) {
            rows += board_cell(run, m, scales[m], best[m]);
        }
        rows += "</tr>";
    }
    std::string note = "Means over all judged queries; the line below each is its " +
                       percent(comparison_.options.confidence) + " bootstrap interval.";
    if (!single()) {
        note += " ▲ and ▼ mark significant differences from " + baseline_.name +
                ": * p < 0.05, ** p < 0.01, *** p < 0.001.";
    }
    return section("Results", note,
                   "<div class=\"scroll\"><table class=\"board\"><thead><tr>" + head +
                       "</tr></thead><tbody>" + rows + "</tbody></table></div>");
}

std::string Report::differences() const {
    if (single()) return "";
    std::vector<ForestGroup> groups;
    for (std::size_t m = 0; m < comparison_.measures.size(); ++m) {
        ForestGroup group{name_of(comparison_.measures[m]), {}};
        for (std::size_t run = 1; run < comparison_.runs.size(); ++run) {
            const ComparedRun& compared = comparison_.runs[run];
            const Difference& difference = compared.differences[m];
            const std::string tip =
                compared.name + ", " + group.title + ": " + core::signed_fixed(difference.mean, 4) +
                "\ninterval " + core::signed_fixed(difference.interval.low, 4) + " to " +
                core::signed_fixed(difference.interval.high, 4) + "\n" +
                p_text(difference.p_value) + ", corrected " + p_text(difference.p_adjusted) + "\n" +
                core::grouped(difference.better) + " queries better, " +
                core::grouped(difference.worse) + " worse, " + core::grouped(difference.equal) +
                " equal";
            group.rows.push_back({compared.name,
                                  {difference.mean, difference.interval},
                                  !mark_of(difference).empty(),
                                  run,
                                  tip});
        }
        groups.push_back(std::move(group));
    }
    return section(
        "Difference from " + baseline_.name,
        "Paired on the same queries, with intervals of the difference. Hollow dots are not "
        "significant.",
        "<figure>" + forest_plot(groups) + "</figure>");
}

std::string Report::query_label(std::size_t query, std::size_t length) const {
    const std::string_view text = texts_[query];
    return text.empty() ? "query " + comparison_.queries[query] : shortened(text, length);
}

std::string Report::extremes(std::string_view heading, const ComparedRun& run,
                             std::span<const std::size_t> queries) const {
    if (queries.empty()) return "";
    std::string items;
    for (const std::size_t query : queries) {
        const double before = baseline_.evaluation.values.front()[query];
        const double after = run.evaluation.values.front()[query];
        items += std::string("<li><span class=\"gain ") + (after > before ? "up" : "down") + "\">" +
                 core::signed_fixed(after - before, 3) + "</span><span><bdi>" +
                 escaped(query_label(query, 140)) + "</bdi> <span class=\"values\">" +
                 core::fixed(before, 3) + " → " + core::fixed(after, 3) + "</span></span></li>";
    }
    return "<div><h4>" + std::string(heading) + "</h4><ol>" + items + "</ol></div>";
}

std::string Report::gains_of(std::size_t run) const {
    const ComparedRun& compared = comparison_.runs[run];
    const std::vector<double>& before = baseline_.evaluation.values.front();
    const std::vector<double>& after = compared.evaluation.values.front();
    std::vector<std::size_t> order(comparison_.queries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return after[a] - before[a] > after[b] - before[b];
    });
    std::vector<GainBar> bars;
    for (const std::size_t query : order) {
        const double gain = after[query] - before[query];
        bars.push_back(
            {gain, comparison_.queries[query] + "  " + core::signed_fixed(gain, 4) + "\n" +
                       core::fixed(before[query], 4) + " → " + core::fixed(after[query], 4) +
                       (texts_[query].empty() ? "" : "\n" + shortened(texts_[query], 280))});
    }
    const Difference& difference = compared.differences.front();
    const std::span<const std::size_t> sorted(order);
    std::vector<std::size_t> losses(
        order.rbegin(),
        order.rbegin() + static_cast<std::ptrdiff_t>(std::min(kExtremes, difference.worse)));
    return "<div class=\"gains\"><h3>" + swatch(series(run)) + escaped(compared.name) +
           " <span class=\"aside\"><span class=\"up\">" + core::grouped(difference.better) +
           " better</span> · <span class=\"down\">" + core::grouped(difference.worse) +
           " worse</span> · " + core::grouped(difference.equal) + " equal</span></h3><figure>" +
           gains_plot(bars, "Gains and losses of " + compared.name) +
           "</figure><div class=\"extremes\">" +
           extremes("Greatest gains", compared,
                    sorted.first(std::min(kExtremes, difference.better))) +
           extremes("Greatest losses", compared, losses) + "</div></div>";
}

std::string Report::gains() const {
    if (single()) return "";
    std::string body;
    for (std::size_t run = 1; run < comparison_.runs.size(); ++run) body += gains_of(run);
    return section("Gains and losses per query",
                   "Each bar is a query: its " + measure_ + " minus that of " + baseline_.name +
                       ", greatest gain first. Rest the pointer on a bar to read the query.",
                   body);
}

std::string Report::recall() const {
    std::vector<Curve> curves;
    for (const Run& run : input_.runs) {
        curves.push_back(
            {run.name, recall_curve(input_.qrels, run, kRecallDepth), series(curves.size())});
    }
    return section("Recall by depth",
                   "Share of the relevant documents found among the first k hits, averaged over "
                   "all judged queries.",
                   "<figure>" + recall_plot(curves) + "</figure>");
}

std::string Report::distributions() const {
    std::string panels;
    for (std::size_t run = 0; run < input_.runs.size(); ++run) {
        const std::string& name = input_.runs[run].name;
        const ScoreDistribution scores = score_distribution(input_.qrels, input_.runs[run], kBins);
        const std::string aside = scores.relevant_count == 0 || scores.other_count == 0
                                      ? "nothing to compare"
                                      : "a relevant hit scores above another one in " +
                                            percent(scores.separation) + " of all pairs";
        panels += "<div class=\"panel\"><h3>" + swatch(series(run)) + escaped(name) +
                  "</h3><p class=\"note\">" + aside + "</p><figure>" +
                  distribution_plot(scores, name, series(run)) + "</figure></div>";
    }
    return section("Score distributions",
                   "Scores of the relevant hits (coloured) and of the others (grey), each as a "
                   "share of its own total, over all queries. The less they overlap, the "
                   "better a fixed score threshold works.",
                   "<div class=\"panels\">" + panels + "</div>");
}

std::string Report::queries() const {
    return section("Every query",
                   single() ? "Click a heading to sort."
                            : "Click a heading to sort. Cells are tinted by gain and loss against "
                              "the baseline.",
                   query_table(input_.qrels, comparison_, texts_));
}

std::string Report::footer() const {
    const CompareOptions& options = comparison_.options;
    std::string text =
        "Measures as in ir-measures, over all judged queries; a query without hits "
        "counts 0. Intervals: percentile bootstrap over queries, " +
        core::grouped(options.resamples) + " resamples, seed " + std::to_string(options.seed) + ".";
    if (!single()) {
        text += " p-values: two-sided paired randomisation test";
        text += comparison_.runs.size() > 2
                    ? ", Holm-corrected over the runs compared on a measure."
                    : ".";
        text += " No correction is made over measures: decide on one before you look.";
    }
    return "<footer><p>" + text + "</p></footer>\n";
}

}  // namespace

std::string html_report(const ReportInput& input, const ReportOptions& options) {
    const Report report(input);
    std::string page =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">"
        "<title>" +
        escaped(options.title) + "</title><style>" + std::string(report_style()) +
        "</style></head><body><main>\n";
    page += report.header(options) + report.findings() + report.scoreboard() +
            report.differences() + report.gains() + report.recall() + report.distributions() +
            report.queries() + report.footer();
    return page + "</main><script>" + std::string(report_script()) + "</script></body></html>\n";
}

}  // namespace braid::eval
