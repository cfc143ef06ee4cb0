#include "braid/eval/measures.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "braid/core/nearest.hpp"
#include "braid/eval/lines.hpp"

namespace braid::eval {
namespace {

struct KindFacts {
    std::string_view name;
    std::string_view alias;  // empty: none
    MeasureKind kind;
    bool needs_cutoff;
    bool takes_relevance;
};

constexpr std::array<KindFacts, 7> kKinds{{
    {"nDCG", "NDCG", MeasureKind::NDcg, false, false},
    {"AP", "MAP", MeasureKind::Ap, false, true},
    {"RR", "MRR", MeasureKind::Rr, false, true},
    {"P", "Precision", MeasureKind::Precision, true, true},
    {"R", "Recall", MeasureKind::Recall, true, true},
    {"Success", "", MeasureKind::Success, true, true},
    {"Judged", "", MeasureKind::Judged, false, false},
}};

const KindFacts& facts_of(MeasureKind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

tl::unexpected<Error> refuse(std::string_view measure, std::string_view why) {
    return invalid_argument("measure " + shown(measure) + ": " + std::string(why));
}

Result<KindFacts> find_kind(std::string_view word, std::string_view measure) {
    std::vector<std::string_view> names;
    std::string all;
    for (const KindFacts& facts : kKinds) {
        if (word == facts.name || (!word.empty() && word == facts.alias)) return facts;
        names.push_back(facts.name);
        all.append(all.empty() ? "" : ", ").append(facts.name);
    }
    std::string why = "there is no " + shown(word);
    if (const auto nearest = core::nearest(word, names)) {
        why.append("; did you mean ").append(*nearest).append("?");
    }
    return refuse(measure, why + " (known: " + all + ")");
}

/// A whole number of at least 1; nullopt if it is none.
std::optional<std::int32_t> positive(std::string_view digits) {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 1) {
        return std::nullopt;
    }
    return value;
}

/// The n of "rel=n".
std::optional<std::int32_t> relevance_of(std::string_view argument) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    if (trimmed(argument.substr(0, equals)) != "rel") return std::nullopt;
    return positive(trimmed(argument.substr(equals + 1)));
}

/// A judged query's relevances along two orders of the hits; see evaluate().
struct Ranking {
    std::vector<std::int32_t> by_trec_eval;
    std::vector<std::int32_t> by_smaller_id;
};

/// Relevances of the hits when these are sorted by falling score of type Score, equal ones as
/// `before` orders their ids.
template <class Score, class Before>
std::vector<std::int32_t> relevances(const JudgedQuery& judged, const RankedList& list,
                                     Before before) {
    struct Key {
        Score score;
        const ScoredDocument* hit;
    };
    std::vector<Key> keys;
    keys.reserve(list.hits.size());
    for (const ScoredDocument& hit : list.hits) {
        keys.push_back({static_cast<Score>(hit.score), &hit});
    }
    std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
        if (a.score != b.score) return a.score > b.score;
        return before(a.hit->document, b.hit->document);
    });
    std::vector<std::int32_t> found;
    found.reserve(keys.size());
    for (const Key& key : keys) found.push_back(relevance_in(judged, key.hit->document));
    return found;
}

double discount(std::size_t position) {
    return std::log2(static_cast<double>(position + 2));
}

double ndcg(const JudgedQuery& judged, std::span<const std::int32_t> top, std::size_t cutoff) {
    double dcg = 0.0;
    for (std::size_t i = 0; i < top.size(); ++i) {
        if (top[i] > 0) dcg += top[i] / discount(i);
    }
    std::vector<std::int32_t> ideal;
    for (const Judgement& judgement : judged.judgements) {
        if (judgement.relevance > 0) ideal.push_back(judgement.relevance);
    }
    std::sort(ideal.begin(), ideal.end(), std::greater<>());
    double ideal_dcg = 0.0;
    for (std::size_t i = 0; i < std::min(ideal.size(), cutoff); ++i) {
        ideal_dcg += ideal[i] / discount(i);
    }
    return ideal_dcg > 0.0 ? dcg / ideal_dcg : 0.0;
}

/// Sum of the precisions at each relevant hit.
double precision_sum(std::span<const std::int32_t> top, std::int32_t least) {
    double sum = 0.0;
    double relevant = 0.0;
    for (std::size_t i = 0; i < top.size(); ++i) {
        if (top[i] < least) continue;
        relevant += 1.0;
        sum += relevant / static_cast<double>(i + 1);
    }
    return sum;
}

double reciprocal_rank(std::span<const std::int32_t> top, std::int32_t least) {
    const auto first = std::find_if(top.begin(), top.end(), [&](auto r) { return r >= least; });
    return first == top.end() ? 0.0 : 1.0 / static_cast<double>(first - top.begin() + 1);
}

double ratio(std::size_t part, std::size_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

double value_of(const Measure& measure, const JudgedQuery& judged, const Ranking& ranking) {
    const bool smaller_id = measure.kind == MeasureKind::Judged ||
                            (measure.kind == MeasureKind::Rr && measure.cutoff > 0);
    std::span<const std::int32_t> top = smaller_id ? ranking.by_smaller_id : ranking.by_trec_eval;
    const std::size_t cutoff =
        measure.cutoff > 0 ? static_cast<std::size_t>(measure.cutoff) : SIZE_MAX;
    top = top.first(std::min(top.size(), cutoff));

    const auto count = [](const auto& items, auto&& wanted) {
        return static_cast<std::size_t>(std::count_if(items.begin(), items.end(), wanted));
    };
    const auto is_relevant = [&](std::int32_t r) { return r >= measure.relevance; };
    const std::size_t found = count(top, is_relevant);
    const std::size_t relevant =
        count(judged.judgements, [&](const Judgement& j) { return is_relevant(j.relevance); });
    switch (measure.kind) {
        case MeasureKind::NDcg:
            return ndcg(judged, top, cutoff);
        case MeasureKind::Ap:
            return found == 0
                       ? 0.0
                       : precision_sum(top, measure.relevance) / static_cast<double>(relevant);
        case MeasureKind::Rr:
            return reciprocal_rank(top, measure.relevance);
        case MeasureKind::Precision:
            return ratio(found, cutoff);
        case MeasureKind::Recall:
            return ratio(found, relevant);
        case MeasureKind::Success:
            return found > 0 ? 1.0 : 0.0;
        case MeasureKind::Judged:
            return ratio(count(top, [](std::int32_t r) { return r != kUnjudged; }), top.size());
    }
    return 0.0;
}

}  // namespace

Result<Measure> parse_measure(std::string_view name) {
    const std::string_view whole = trimmed(name);
    std::string_view rest = whole;
    std::optional<std::string_view> cutoff;
    std::optional<std::string_view> argument;
    if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
        cutoff = trimmed(rest.substr(at + 1));
        rest = trimmed(rest.substr(0, at));
    }
    if (const std::size_t open = rest.find('('); open != std::string_view::npos) {
        if (!rest.ends_with(')')) return refuse(whole, "the parenthesis is not closed");
        argument = trimmed(rest.substr(open + 1, rest.size() - open - 2));
        rest = trimmed(rest.substr(0, open));
    }
    BRAID_TRY(const KindFacts facts, find_kind(rest, whole));
    Measure measure{facts.kind};
    if (argument) {
        const std::optional<std::int32_t> relevance = relevance_of(*argument);
        if (!facts.takes_relevance) {
            return refuse(whole, std::string(facts.name) + " takes no parameter in parentheses");
        }
        if (!relevance) {
            return refuse(whole,
                          "expected rel=n, n from 1, in parentheses, found " + shown(*argument));
        }
        measure.relevance = *relevance;
    }
    if (cutoff) {
        const std::optional<std::int32_t> hits = positive(*cutoff);
        if (!hits) return refuse(whole, "the cutoff after @ must be a whole number from 1");
        measure.cutoff = *hits;
    } else if (facts.needs_cutoff) {
        return refuse(whole, "needs a cutoff, as in " + std::string(facts.name) + "@10");
    }
    return measure;
}

Result<std::vector<Measure>> parse_measures(std::string_view names) {
    std::vector<Measure> measures;
    for (const std::string_view name : split_at(names, ',')) {
        BRAID_TRY(const Measure measure, parse_measure(name));
        if (std::find(measures.begin(), measures.end(), measure) == measures.end()) {
            measures.push_back(measure);
        }
    }
    return measures;
}

std::vector<Measure> default_measures() {
    return {{MeasureKind::NDcg, 10}, {MeasureKind::Rr, 10},     {MeasureKind::Recall, 100},
            {MeasureKind::Ap},       {MeasureKind::Success, 5}, {MeasureKind::Judged, 10}};
}

std::string name_of(const Measure& measure) {
    std::string name(facts_of(measure.kind).name);
    if (measure.relevance != 1) name += "(rel=" + std::to_string(measure.relevance) + ")";
    if (measure.cutoff > 0) name += "@" + std::to_string(measure.cutoff);
    return name;
}

std::int32_t relevance_in(const JudgedQuery& judged, std::string_view document) {
    const auto place = std::lower_bound(
        judged.judgements.begin(), judged.judgements.end(), document,
        [](const Judgement& judgement, std::string_view id) { return judgement.document < id; });
    const bool found = place != judged.judgements.end() && place->document == document;
    return found ? place->relevance : kUnjudged;
}

std::vector<std::int32_t> ranked_relevances(const JudgedQuery& judged, const RankedList& list) {
    return relevances<float>(judged, list, std::greater<>());
}

Evaluation evaluate(const Qrels& qrels, const Run& run, std::span<const Measure> measures) {
    std::unordered_map<std::string_view, const RankedList*> lists;
    for (const RankedList& list : run.lists) lists.emplace(list.query, &list);

    Evaluation evaluation;
    evaluation.values.assign(measures.size(), {});
    for (const JudgedQuery& judged : qrels.queries) {
        const auto list = lists.find(judged.query);
        Ranking ranking;
        if (list == lists.end()) {
            ++evaluation.missing;
        } else {
            ranking = {ranked_relevances(judged, *list->second),
                       relevances<double>(judged, *list->second, std::less<>())};
        }
        for (std::size_t m = 0; m < measures.size(); ++m) {
            evaluation.values[m].push_back(value_of(measures[m], judged, ranking));
        }
    }
    evaluation.unjudged = lists.size() - (qrels.queries.size() - evaluation.missing);
    for (const std::vector<double>& values : evaluation.values) {
        const double sum = std::accumulate(values.begin(), values.end(), 0.0);
        evaluation.means.push_back(values.empty() ? 0.0 : sum / static_cast<double>(values.size()));
    }
    return evaluation;
}

}  // namespace braid::eval
