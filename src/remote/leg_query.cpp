#include "braid/remote/leg_query.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>

#include "braid/core/sha256.hpp"
#include "braid/dense/exact_rows.hpp"
#include "braid/index/view.hpp"
#include "braid/remote/answer_parts.hpp"
#include "braid/remote/filter_query.hpp"
#include "braid/remote/tree_query.hpp"

namespace braid::remote {
namespace {

Value any_word(std::span<const index::QueryTerm> terms) {
    Array words;
    for (const index::QueryTerm& term : terms) {
        Object word{{"value", Value(term.term)}, {"_name", Value(term.term)}};
        if (term.repeated != 1) word.set("boost", term.repeated);
        words.emplace_back(Object{{"term", Object{{"terms", std::move(word)}}}});
    }
    return any_of(std::move(words));
}

Array numbers(std::span<const float> vector) {
    Array out;
    out.reserve(vector.size());
    for (const float x : vector) out.emplace_back(static_cast<double>(x));
    return out;
}

Value by_score_and_id() {
    return Array{Object{{"_score", "desc"}}, Object{{"id", "asc"}}};
}

/// A cluster's scores are floats, printed with as few digits as possible.
double score_in(const Value& score) {
    return static_cast<double>(static_cast<float>(score.as_double()));
}

void sort_hits(std::vector<LegHit>& hits) {
    std::ranges::sort(hits, [](const LegHit& a, const LegHit& b) {
        return a.score != b.score ? a.score > b.score : a.chunk_id < b.chunk_id;
    });
}

tl::unexpected<Error> odd_hit() {
    return fail(ErrorCode::Unavailable,
                "a hit of the cluster does not say its score and its chunk");
}

/// The values that by_score_and_id() sorted a hit by.
Result<LegHit> sort_values(const Value& hit) {
    const Value* const sort = hit.find("sort");
    if (sort == nullptr || !sort->is_array() || sort->as_array().size() != 2 ||
        !sort->as_array()[0].is_number() || !sort->as_array()[1].is_string()) {
        return odd_hit();
    }
    return LegHit{sort->as_array()[1].as_string(), score_in(sort->as_array()[0])};
}

void append_words(const QueryClause& clause, std::string& to) {
    to += '\n' + clause.text;
    for (const QueryClause& inner : clause.clauses) append_words(inner, to);
}

}  // namespace

SearchedWords phrasings_clause(const Leg& leg) {
    SearchedWords searched;
    Array phrasings;
    std::size_t room = kMostQueryTerms;
    bool cut = false;
    for (const auto& terms : leg.phrasings) {
        auto words = index::counted(terms);
        cut = cut || words.size() > room;
        words.resize(std::min(words.size(), room));
        room -= words.size();
        if (!words.empty()) phrasings.push_back(any_word(words));
    }
    if (cut) {
        searched.warnings.push_back("a cluster searches for at most " +
                                    std::to_string(kMostQueryTerms) +
                                    " different words: those that come later were left out");
    }
    if (phrasings.size() == 1) {
        searched.clause = std::move(phrasings.front());
    } else if (!phrasings.empty()) {
        searched.clause = Object{{"dis_max", Object{{"queries", std::move(phrasings)}}}};
    }
    return searched;
}

Object sparse_body(const Leg& leg, Value words, Array scope, std::size_t size,
                   const RemoteCollection& collection) {
    Object body{
        {"size", Value(size)},
        {"stored_fields", "_none_"},  // the sort values are enough
        {"track_total_hits", Value(kMostHits)},
        {"query",
         Object{{"bool", Object{{"must", Array{std::move(words)}}, {"filter", std::move(scope)}}}}},
        {"sort", by_score_and_id()}};
    if (leg.after) {
        const auto score = static_cast<float>(leg.after->score * collection.score_factor());
        body.set("search_after", Array{static_cast<double>(score), leg.after->chunk_id});
    }
    return body;
}

Object score_body(Value words, Array scope, Array ids) {
    const std::size_t size = std::min(ids.size(), kMostHits);
    scope.push_back(terms_clause("id", std::move(ids)));
    return {{"size", Value(size)},
            {"stored_fields", "_none_"},  // the sort values are enough
            {"query", Object{{"bool", Object{{"should", Array{std::move(words)}},
                                             {"minimum_should_match", 0},
                                             {"filter", std::move(scope)}}}}},
            {"sort", by_score_and_id()}};
}

std::size_t ef_search(std::size_t hits, double recall) noexcept {
    // Recall measured for ten hits of 5,000 vectors: 0.76 without a margin, 1.00 from 100 on.
    const std::size_t factor = recall > 0.995   ? 10
                               : recall > 0.985 ? 6
                               : recall > 0.955 ? 4
                               : recall > 0.9   ? 2
                                                : 1;
    return std::clamp(hits * factor, std::size_t{60} * factor, kMostHits);
}

Object dense_body(std::span<const float> vector, Array scope, std::size_t size, double recall) {
    // Ranks all candidates, so that ties are ordered by id.
    const std::size_t ef = ef_search(size, recall);
    return {{"size", Value(size)},
            {"_source", Array{"floats"}},
            {"track_total_hits", false},
            {"sort", by_score_and_id()},
            {"query",
             Object{{"knn", Object{{"vector",
                                    Object{{"vector", numbers(vector)},
                                           {"k", Value(ef)},
                                           {"method_parameters", Object{{"ef_search", Value(ef)}}},
                                           {"filter", all_of(std::move(scope))}}}}}}}};
}

Object exact_dense_body(std::span<const float> vector, Array scope, std::size_t size,
                        Metric metric) {
    scope.emplace_back(Object{{"exists", Object{{"field", "vector"}}}});
    return {
        {"size", Value(size)},
        {"_source", Array{"floats"}},
        {"track_total_hits", true},
        {"sort", by_score_and_id()},
        {"query",
         Object{{"script_score",
                 Object{{"query", all_of(std::move(scope))},
                        {"script",
                         Object{{"source", "knn_score"},
                                {"lang", "knn"},
                                {"params", Object{{"field", "vector"},
                                                  {"query_value", numbers(vector)},
                                                  {"space_type", Value(space_of(metric))}}}}}}}}}};
}

std::string preference_of(const Leg& leg) {
    std::string question = leg.scope.collection + '\n' + leg.scope.namespace_;
    for (const auto& terms : leg.phrasings) {
        for (const std::string& term : terms) question += '\n' + term;
    }
    if (leg.clause) append_words(*leg.clause, question);
    return "q" + core::sha256_hex(question).substr(0, 16);
}

std::vector<std::string> unmatched_terms(const Leg& leg, const Value& answer) {
    std::set<std::string_view> matched;
    for (const Value& hit : hits_of(answer)) {
        for (const Value& name : list_in(hit, {"matched_queries"})) {
            if (name.is_string()) matched.insert(name.as_string());
        }
    }
    std::vector<std::string> unmatched;
    std::set<std::string_view> seen;
    for (const auto& terms : leg.phrasings) {
        for (const std::string& term : terms) {
            if (seen.insert(term).second && !matched.contains(term)) unmatched.push_back(term);
        }
    }
    return unmatched;
}

Result<std::vector<LegHit>> sparse_hits(const Value& answer, const RemoteCollection& collection) {
    std::vector<LegHit> hits;
    for (const Value& hit : hits_of(answer)) {
        BRAID_TRY(hits.emplace_back(), sort_values(hit));
        hits.back().score /= collection.score_factor();
    }
    return hits;
}

Result<std::vector<double>> vector_scores(std::span<const float> query,
                                          std::span<const std::vector<float>> vectors,
                                          Metric metric) {
    std::vector<double> scores;
    const double norm = dense::norm(query);
    for (const std::vector<float>& vector : vectors) {
        if (vector.size() != query.size()) {
            return fail(ErrorCode::Corruption,
                        "a chunk of the cluster has a vector of " + std::to_string(vector.size()) +
                            " dimensions instead of " + std::to_string(query.size()));
        }
        dense::ExactRows row(query.size(), metric);
        row.add(vector);
        std::array<double, 1> score{};
        row.score(query, norm, 0, score);
        scores.push_back(score[0]);
    }
    return scores;
}

Result<std::vector<LegHit>> dense_hits(const Value& answer, std::span<const float> query,
                                       const RemoteCollection& collection) {
    std::vector<LegHit> hits;
    std::vector<std::vector<float>> vectors;
    for (const Value& hit : hits_of(answer)) {
        const Value* const source = hit.find("_source");
        BRAID_TRY(LegHit told, sort_values(hit));
        if (source == nullptr) return odd_hit();
        hits.push_back({std::move(told.chunk_id), 0});
        BRAID_TRY(vectors.emplace_back(), read_vector(*source));
    }
    BRAID_TRY(const auto scores,
              vector_scores(query, vectors, collection.meta.schema.vectors.metric));
    for (std::size_t i = 0; i < hits.size(); ++i) hits[i].score = scores[i];
    sort_hits(hits);
    return hits;
}

}  // namespace braid::remote
