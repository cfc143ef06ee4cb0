#include "braid/eval/report.hpp"

#include <set>

#include <gtest/gtest.h>

#include "braid/eval/html.hpp"
#include "eval/random_case.hpp"

namespace braid::eval {
namespace {

std::string report_of(const Qrels& qrels, const std::vector<eval::Run>& runs,
                      const std::vector<Query>& queries, const ReportOptions& options = {}) {
    const Result<Comparison> comparison =
        compare(qrels, runs, default_measures(), {.resamples = 100});
    EXPECT_TRUE(comparison.has_value());
    return html_report({qrels, runs, *comparison, queries}, options);
}

std::size_t occurrences(std::string_view text, std::string_view piece) {
    std::size_t count = 0;
    for (std::size_t at = text.find(piece); at != std::string_view::npos;
         at = text.find(piece, at + piece.size())) {
        ++count;
    }
    return count;
}

/// What is wrong with the nesting of a page's elements; empty if nothing is.
std::string nesting_error(std::string_view page) {
    const std::set<std::string_view> alone{"meta", "input", "!doctype"};
    std::vector<std::string_view> open;
    for (std::size_t at = page.find('<'); at != std::string_view::npos; at = page.find('<', at)) {
        const std::size_t end = page.find('>', at);
        if (end == std::string_view::npos) return "a tag does not end";
        std::string_view tag = page.substr(at + 1, end - at - 1);
        at = end;
        const bool closes = tag.starts_with('/');
        if (closes) tag.remove_prefix(1);
        const std::string_view name = tag.substr(0, tag.find_first_of(" /"));
        if (alone.contains(name) || tag.ends_with('/')) continue;
        if (!closes) {
            open.push_back(name);
            // Style and script are text up to their own end.
            if (name == "style" || name == "script") at = page.find("</" + std::string(name), at);
        } else if (open.empty() || open.back() != name) {
            return "</" + std::string(name) + "> closes <" +
                   (open.empty() ? "" : std::string(open.back())) + ">";
        } else {
            open.pop_back();
        }
    }
    return open.empty() ? "" : "<" + std::string(open.back()) + "> stays open";
}

TEST(HtmlReport, IsOneWholePageThatNeedsNothingElse) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const Qrels qrels = testing_data::random_qrels(rng);
        std::vector<eval::Run> runs;
        for (std::size_t i = 0; i <= seed % 4; ++i) {
            runs.push_back(testing_data::random_run(rng, "run" + std::to_string(i)));
        }
        const std::string page = report_of(qrels, runs, {{"q1", "first query"}});
        EXPECT_EQ(nesting_error(page), "");
        for (const std::string_view outside :
             {"http://", "https://", "src=", "href=", "url(", "@import"}) {
            EXPECT_EQ(occurrences(page, outside), 0U) << outside;
        }
        EXPECT_EQ(occurrences(page, ">nan"), 0U);
        EXPECT_EQ(occurrences(page, "\"nan"), 0U);
        EXPECT_EQ(occurrences(page, "inf\""), 0U);
        EXPECT_EQ(occurrences(page, "<tr><td class=\"id\">"), qrels.queries.size());
    }
}

TEST(HtmlReport, ShowsEverySectionForTwoRunsAndFewerForOne) {
    std::mt19937 rng(1);
    const Qrels qrels = testing_data::random_qrels(rng);
    const eval::Run first = testing_data::random_run(rng, "first");
    const eval::Run second = testing_data::random_run(rng, "second");

    const std::string two = report_of(qrels, {first, second}, {}, {.title = "T", .note = "N"});
    for (const std::string_view piece :
         {"<title>T</title>", "<h1>T</h1>", " · N</p>", "<h2>Results</h2>",
          "<h2>Difference from first</h2>", "<h2>Gains and losses per query</h2>",
          "<h2>Recall by depth</h2>", "<h2>Score distributions</h2>", "<h2>Every query</h2>"}) {
        EXPECT_EQ(occurrences(two, piece), 1U) << piece;
    }
    const std::string one = report_of(qrels, {first}, {});
    EXPECT_EQ(occurrences(one, "Difference from"), 0U);
    EXPECT_EQ(occurrences(one, "<h2>Gains and losses"), 0U);
    EXPECT_EQ(occurrences(one, "<h2>Every query</h2>"), 1U);
}

TEST(HtmlReport, EscapesAllTextThatComesFromOutside) {
    const std::string evil = "</script><img onerror=\"x('y')\">&";
    const Qrels qrels{{{"q" + evil, {{"d", 1}, {"e", 0}}}}};
    const std::vector<eval::Run> runs{{"a" + evil, {{"q" + evil, {{"e", 2.0}, {"d", 1.0}}}}},
                                      {"b" + evil, {{"q" + evil, {{"d", 2.0}}}}}};

    const std::string page =
        report_of(qrels, runs, {{"q" + evil, "text" + evil}}, {.title = evil, .note = evil});

    EXPECT_EQ(occurrences(page, "<img"), 0U);
    EXPECT_EQ(occurrences(page, "</script>"), 2U);
    EXPECT_EQ(nesting_error(page), "");
    EXPECT_GT(occurrences(page, "text&lt;/script&gt;&lt;img onerror=&quot;x(&#39;y&#39;)&quot;"),
              1U);
}

TEST(HtmlReport, TakesRunsWithoutHitsAndUnheardOfScores) {
    const Qrels qrels{{{"q", {{"d", 1}}}}};
    const double huge = std::numeric_limits<double>::max();
    const double tiny = std::numeric_limits<double>::denorm_min();
    const std::vector<eval::Run> runs{{"empty", {}},
                                      {"huge", {{"q", {{"d", huge}, {"e", -huge}}}}},
                                      {"tiny", {{"q", {{"d", tiny}, {"e", 0.0}}}}},
                                      {"near", {{"q", {{"d", 1e17 + 64}, {"e", 1e17}}}}}};
    const std::string page = report_of(qrels, runs, {});
    EXPECT_EQ(nesting_error(page), "");
    EXPECT_EQ(occurrences(page, "\"nan"), 0U);
    EXPECT_LT(page.size(), 100'000U);
}

TEST(Escaped, LeavesNothingThatMarkupCouldBeMadeOf) {
    EXPECT_EQ(escaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
    EXPECT_EQ(escaped(std::string_view("\0\x01\x7F\n\t", 5)),
              "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\n\t");
    EXPECT_EQ(escaped("né"), "né");
}

TEST(Shortened, CutsBetweenCodePoints) {
    EXPECT_EQ(shortened("né", 2), "né");
    EXPECT_EQ(shortened("née", 2), "né…");
    EXPECT_EQ(shortened("abc", 0), "…");
    EXPECT_EQ(shortened("", 0), "");
}

}  // namespace
}  // namespace braid::eval
