#include "braid/retrieval/typos.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "braid/core/nearest.hpp"
#include "braid/core/utf8.hpp"
#include "braid/text/language.hpp"

namespace braid::retrieval {
namespace {

constexpr std::size_t kMostCorrected = 4;    // words of one query
constexpr std::size_t kMostNeighbours = 3;   // of one of them
constexpr std::size_t kMostSuggested = 10;   // looked at
constexpr std::size_t kLetters = 4;          // that a word must have
constexpr std::size_t kMostDifferences = 2;  // letters

bool is_capital(char c) {
    return c >= 'A' && c <= 'Z';
}

/// What is not ASCII is left to the analyzer.
bool is_word_letter(char c) {
    return is_capital(c) || (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}

bool is_word_sign(char c) {
    return is_word_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

/// What stands between spaces, without signs at both ends.
std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
        const std::size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
        std::string_view word = text.substr(begin, end - begin);
        while (!word.empty() && !is_word_sign(word.front())) word.remove_prefix(1);
        while (!word.empty() && !is_word_sign(word.back())) word.remove_suffix(1);
        if (!word.empty()) words.push_back(word);
        at = end;
    }
    return words;
}

QueryClause word_clause(std::string_view word, double boost) {
    QueryClause clause;
    clause.text = word;
    clause.boost = boost;
    return clause;
}

bool has_term(const std::vector<std::string>& terms, const std::string& term) {
    return std::ranges::find(terms, term) != terms.end();
}

/// Whether some collection holds the term.
bool is_held(std::span<const SearchedWords> legs, const std::string& term) {
    return std::ranges::any_of(legs, [&](const SearchedWords& one) {
        return has_term(one.leg->phrasings.front(), term) && !has_term(*one.absent, term);
    });
}

/// The nearest words that some visible chunk holds, each with its part of what they count.
Result<std::vector<Correction>> neighbours_of(const Reader& snapshot, const Leg& leg,
                                              std::string_view word) {
    BRAID_TRY(const auto suggested, snapshot.suggest(leg.scope, word, kMostSuggested));
    std::size_t nearest = kMostDifferences + 1;
    std::vector<Suggestion> kept;
    for (const Suggestion& one : suggested) {
        if (one.chunks == 0 || !std::ranges::all_of(one.instead, is_word_letter)) continue;
        const std::size_t distance = core::edit_distance(
            core::ascii_lower(word), core::ascii_lower(one.instead), kMostDifferences + 1);
        if (distance > nearest || distance > kMostDifferences) continue;
        if (distance < nearest) kept.clear();
        nearest = distance;
        if (kept.size() < kMostNeighbours) kept.push_back(one);
    }
    std::uint64_t chunks = 0;
    for (const Suggestion& one : kept) chunks += one.chunks;
    std::vector<Correction> corrections;
    for (Suggestion& one : kept) {
        const double share = static_cast<double>(one.chunks) / static_cast<double>(chunks);
        corrections.push_back({leg.scope.collection, std::string(word), std::move(one.instead),
                               share / (1.0 + static_cast<double>(nearest))});
    }
    return corrections;
}

/// Words of the query that a leg searches for and nobody holds.
Result<std::vector<std::string_view>> unknown_words(const Reader& snapshot, const Leg& leg,
                                                    std::span<const SearchedWords> legs,
                                                    std::string_view query) {
    std::vector<std::string_view> unknown;
    for (const std::string_view word : words_of(query)) {
        if (unknown.size() == kMostCorrected) break;
        if (!may_be_misspelt(word) || std::ranges::count(unknown, word) > 0) continue;
        BRAID_TRY(const auto terms, snapshot.analyze(leg.scope.collection, word));
        if (terms.size() != 1 || is_held(legs, terms.front())) continue;
        // Function words are not searched for beside others.
        if (has_term(leg.phrasings.front(), terms.front())) unknown.push_back(word);
    }
    return unknown;
}

}  // namespace

bool may_be_misspelt(std::string_view word) {
    if (core::count_code_points(word) < kLetters || !std::ranges::all_of(word, is_word_letter))
        return false;
    return std::ranges::none_of(word.substr(1), is_capital);
}

std::vector<Correction> find_typos(const Reader& snapshot, const Request& request,
                                   const Capabilities& can, std::span<const SearchedWords> legs) {
    std::vector<Correction> corrections;
    if (!request.typos || !can.query_language) return corrections;
    if (std::ranges::all_of(legs, [](const SearchedWords& one) { return one.absent->empty(); })) {
        return corrections;
    }
    const bool foreign = text::foreign_language(request.query).has_value();
    for (const SearchedWords& one : legs) {
        // Several phrasings: a model has already put it into other words.
        if (one.leg->clause || one.leg->phrasings.size() != 1) return corrections;
        const auto schema = snapshot.schema(one.leg->scope.collection);
        if (!schema || schema->bm25.variant == Bm25Variant::Okapi) return corrections;
        // Words of another language are not misspelt ones of this.
        if (foreign && schema->language == "english") return corrections;
    }
    for (const SearchedWords& one : legs) {
        // A courtesy: its failure changes nothing.
        const auto unknown = unknown_words(snapshot, *one.leg, legs, request.query);
        if (!unknown) continue;
        for (const std::string_view word : *unknown) {
            auto found = neighbours_of(snapshot, *one.leg, word);
            if (found) std::ranges::move(*found, std::back_inserter(corrections));
        }
    }
    return corrections;
}

Result<> correct_typos(const Reader& snapshot, std::string_view query,
                       std::span<const Correction> corrections, Leg& leg) {
    QueryClause all;
    all.kind = QueryClause::Kind::Group;
    bool changed = false;
    for (const std::string_view word : words_of(query)) {
        BRAID_TRY(const auto terms, snapshot.analyze(leg.scope.collection, word));
        if (terms.empty()) continue;
        all.clauses.push_back(word_clause(word, 1));
        for (const Correction& one : corrections) {
            if (one.collection != leg.scope.collection || one.word != word) continue;
            all.clauses.push_back(word_clause(one.instead, one.weight));
            changed = true;
        }
    }
    if (!changed) return {};
    leg.phrasings.clear();
    leg.clause = std::make_shared<const QueryClause>(std::move(all));
    return {};
}

}  // namespace braid::retrieval
