#include "braid/eval/clicks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "braid/eval/lines.hpp"
#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"

namespace braid::eval {
namespace {

Result<Impression> impression_of(std::string_view line) {
    BRAID_TRY(const Value json, json::parse(line));
    BRAID_TRY(json::Fields fields, json::Fields::of(json));
    Impression out;
    BRAID_TRY(out.query, fields.required("query", fields.string("query")));
    BRAID_TRY(out.shown, fields.required("shown", fields.strings("shown")));
    BRAID_TRY(out.clicked, fields.required("clicked", fields.strings("clicked")));
    BRAID_CHECK(fields.finish());
    if (out.query.empty()) return invalid_argument("\"query\" is empty");
    std::unordered_set<std::string_view> shown;
    for (const std::string& id : out.shown) {
        if (!shown.insert(id).second) {
            return invalid_argument("\"" + id + "\" was shown twice");
        }
    }
    std::unordered_set<std::string_view> clicked;
    for (const std::string& id : out.clicked) {
        if (!shown.contains(id)) {
            return invalid_argument("\"" + id + "\" was clicked but not shown");
        }
        if (!clicked.insert(id).second) {
            return invalid_argument("\"" + id + "\" was clicked twice: name it once");
        }
    }
    return out;
}

struct Seen {
    double clicks = 0;  // each by the inverse of how likely its rank is looked at
    double shown = 0;
};

constexpr double kGradesPerClick = 3;
constexpr double kMaxGrade = 30;

}  // namespace

Result<std::vector<Impression>> parse_clicks(std::string_view text, std::string_view source) {
    std::vector<Impression> impressions;
    bool any = false;
    Lines lines(text, source);
    for (;;) {
        BRAID_TRY(const auto line, lines.next());
        if (!line) break;
        auto one = impression_of(*line);
        if (!one) return lines.complain(one.error().message);
        any = any || !one->clicked.empty();
        impressions.push_back(*std::move(one));
    }
    if (!any) return invalid_argument(std::string(source) + " holds no click");
    return impressions;
}

Result<std::vector<Impression>> read_clicks(const std::string& path) {
    BRAID_TRY(const std::string text, read_file(path));
    return parse_clicks(text, path);
}

ClickJudgements judgements_of(const std::vector<Impression>& impressions, double bias) {
    ClickJudgements out;
    std::unordered_map<std::string_view, std::size_t> place;
    std::vector<std::map<std::string, Seen>> seen;  // by document id: the order of judgements
    for (const Impression& one : impressions) {
        const auto [at, added] = place.emplace(one.query, seen.size());
        if (added) {
            seen.emplace_back();
            out.queries.push_back({"c" + std::to_string(seen.size()), one.query});
        }
        auto& documents = seen[at->second];
        const std::unordered_set<std::string_view> clicked(one.clicked.begin(), one.clicked.end());
        for (std::size_t rank = 1; rank <= one.shown.size(); ++rank) {
            Seen& document = documents[one.shown[rank - 1]];
            document.shown += 1;
            if (!clicked.contains(one.shown[rank - 1])) continue;
            document.clicks += std::pow(static_cast<double>(rank), bias);
        }
    }
    for (std::size_t q = 0; q < seen.size(); ++q) {
        JudgedQuery judged{out.queries[q].id, {}};
        bool any = false;
        for (const auto& [document, counts] : seen[q]) {
            std::int32_t grade = 0;
            if (counts.clicks > 0) {
                const double share = kGradesPerClick * counts.clicks / counts.shown;
                grade = static_cast<std::int32_t>(std::clamp(std::round(share), 1.0, kMaxGrade));
                any = true;
            }
            judged.judgements.push_back({document, grade});
        }
        if (any) out.qrels.queries.push_back(std::move(judged));
    }
    return out;
}

}  // namespace braid::eval
