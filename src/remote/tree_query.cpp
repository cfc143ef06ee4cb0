#include "braid/remote/tree_query.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "braid/index/tree_scorer.hpp"
#include "braid/remote/filter_query.hpp"
#include "braid/remote/index_layout.hpp"

namespace braid::remote {
namespace {

using index::TreeClause;
using index::TreeLeaf;
using Occur = QueryClause::Occur;
using Terms = std::vector<std::string>;

std::string joined(const Terms& terms, char between) {
    std::string out;
    for (const std::string& term : terms) {
        if (!out.empty()) out += between;
        out += term;
    }
    return out;
}

class TreeWriter {
public:
    TreeWriter(const index::WordTree& tree, std::span<const PatternTerms> patterns)
        : tree_(tree), patterns_(patterns) {}

    Result<Value> write() {
        Value clause = group(tree_.root);
        if (terms_ <= kMostQueryTerms) return clause;
        return invalid_argument("the query is too long for a cluster: it has " +
                                std::to_string(terms_) +
                                " words, counting those of phrases once for each text field and "
                                "those that patterns stand for, and may have " +
                                std::to_string(kMostQueryTerms));
    }

private:
    Value group(const TreeClause& of) {
        Array must;
        Array must_not;
        Array should;
        for (const TreeClause& one : of.clauses) {
            Value clause = one.leaf ? leaf(*one.leaf) : group(one);
            Array& to = one.occur == Occur::Must  ? must
                        : one.occur == Occur::Not ? must_not
                                                  : should;
            to.push_back(std::move(clause));
        }
        if (must.empty() && should.empty()) return match_none();
        Object parts;
        parts.set("minimum_should_match", must.empty() ? 1 : 0);
        if (!must.empty()) parts.set("must", std::move(must));
        if (!must_not.empty()) parts.set("must_not", std::move(must_not));
        if (!should.empty()) parts.set("should", std::move(should));
        return Object{{"bool", std::move(parts)}};
    }

    Value leaf(const TreeLeaf& of) {
        if (of.is_pattern()) return pattern(of, patterns_[pattern_++]);
        Array scores;
        for (const Terms& place : of.places) scores.push_back(pool(place, of.boost));
        if (of.places.size() == 1) {
            return of.field ? where(placed(of.places.front(), *of.field), std::move(scores))
                            : std::move(scores.front());
        }
        Array fields;
        for (std::size_t field = 0; field < tree_.schema.text_fields.size(); ++field) {
            if (of.field && *of.field != field) continue;
            fields.push_back(of.between == 0 ? phrase(of, field) : near(of, field));
        }
        return where(any_of(std::move(fields)), std::move(scores));
    }

    /// Terms that differ in more characters count for less.
    Value pattern(const TreeLeaf& of, const PatternTerms& found) {
        std::map<std::uint32_t, Terms> by_difference;
        Terms all;
        for (const PatternTerm& one : found) {
            by_difference[one.difference].push_back(one.term);
            all.push_back(one.term);
        }
        if (all.empty()) return match_none();
        Array pools;
        for (const auto& [difference, terms] : by_difference) {
            pools.push_back(pool(terms, of.boost / (1.0 + difference)));
        }
        Value best = pools.size() == 1
                         ? std::move(pools.front())
                         : Value(Object{{"dis_max", Object{{"queries", std::move(pools)}}}});
        if (!of.field) return best;
        Array scores;
        scores.push_back(std::move(best));
        return where(placed(all, *of.field), std::move(scores));
    }

    /// Scores as one term that is as frequent as the most frequent of them.
    Value pool(const Terms& terms, double boost) {
        terms_ += terms.size();
        Object word;
        if (terms.size() == 1) {
            word.set("value", terms.front());
            word.set("boost", boost);
            return Object{{"term", Object{{"terms", std::move(word)}}}};
        }
        word.set("query", joined(terms, kBesides));
        word.set("analyzer", "braid_pool");
        word.set("boost", boost);
        return Object{{"match", Object{{"terms", std::move(word)}}}};
    }

    static Value where(Value condition, Array scores) {
        return Object{{"bool", Object{{"filter", Array{std::move(condition)}},
                                      {"should", std::move(scores)}}}};
    }

    static Terms in_field(const Terms& terms, std::size_t field) {
        Terms out;
        for (const std::string& term : terms) out.push_back(placed_term(field, term));
        return out;
    }

    static Value placed(const Terms& terms, std::size_t field) {
        Array words;
        for (std::string& term : in_field(terms, field)) words.emplace_back(std::move(term));
        return terms_clause("places", std::move(words));
    }

    Value phrase(const TreeLeaf& of, std::size_t field) {
        std::string text;
        std::uint32_t position = 0;
        for (std::size_t i = 0; i < of.places.size(); ++i) {
            for (; position < of.offsets[i]; ++position) {
                text += kGap;
                text += ' ';
            }
            text += joined(in_field(of.places[i], field), kBesides) + ' ';
            ++position;
            terms_ += of.places[i].size();
        }
        return Object{
            {"match_phrase", Object{{"places", Object{{"query", Value(std::move(text))}}}}}};
    }

    /// All of them in any order.
    Value near(const TreeLeaf& of, std::size_t field) {
        Array places;
        for (const Terms& place : of.places) {
            Array alternatives;
            for (const std::string& term : in_field(place, field)) {
                alternatives.emplace_back(Object{{"match", Object{{"query", Value(term)}}}});
            }
            terms_ += alternatives.size();
            places.push_back(
                alternatives.size() == 1
                    ? std::move(alternatives.front())
                    : Value(Object{
                          {"any_of", Object{{"intervals", Value(std::move(alternatives))}}}}));
        }
        const std::size_t width = std::size_t{of.offsets.back()} + of.between + 1;
        Object all;
        all.set("ordered", false);
        all.set("max_gaps", width - of.places.size());
        all.set("intervals", std::move(places));
        return Object{{"intervals", Object{{"places", Object{{"all_of", Value(std::move(all))}}}}}};
    }

    const index::WordTree& tree_;
    std::span<const PatternTerms> patterns_;
    std::size_t pattern_ = 0;  // the next one
    std::size_t terms_ = 0;
};

}  // namespace

std::size_t terms_of_a_pattern(const index::WordTree& tree) {
    const std::size_t patterns = tree.patterns().size();
    const std::size_t words = std::min(tree.terms().size(), kMostQueryTerms);
    const std::size_t room = (kMostQueryTerms - words) / std::max<std::size_t>(patterns, 1);
    return std::clamp<std::size_t>(room, 1, index::TreeScorer::kMostPatternTerms);
}

Result<Value> tree_clause(const index::WordTree& tree, std::span<const PatternTerms> patterns) {
    return TreeWriter(tree, patterns).write();
}

std::string beginning_pattern(std::string_view beginning) {
    std::string pattern;
    for (const char c : beginning) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || static_cast<signed char>(c) < 0;
        if (!plain) pattern += '\\';
        pattern += c;
    }
    return pattern;
}

}  // namespace braid::remote
