#include "braid/index/suggest.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "braid/core/edit_automaton.hpp"
#include "braid/core/limits.hpp"
#include "braid/core/nearest.hpp"
#include "braid/core/utf8.hpp"
#include "braid/index/prepared.hpp"

namespace braid::index {
namespace {

constexpr std::size_t kMaxWords = 16;  // how many words of the text are looked at
// Longer words are not typing errors.
constexpr std::size_t kMaxBytes = core::EditAutomaton::kMaxWordBytes;
constexpr std::size_t kShortBytes = 4;      // words up to this length may differ in one letter
constexpr std::size_t kMaxCandidates = 16;  // how many near terms have their texts looked at

struct NearTerm {
    std::string term;
    std::size_t distance = 0;
    Words::Seen seen;
};

/// The word of the chunk that the analyzer turns into this term.
std::string surface_of(const Chunk& chunk, const Schema& schema, const text::Analyzer& analyzer,
                       std::string_view term) {
    const text::Analyzer own = analyzer.for_text(chunk.content);
    for (const TextField& field : schema.text_fields) {
        const std::string_view text = field_text(chunk, field.name);
        std::vector<text::Token> tokens;
        own.analyze(text, tokens);
        const auto found = std::ranges::find(tokens, term, &text::Token::term);
        if (found != tokens.end()) {
            return std::string(text.substr(found->begin, found->end - found->begin));
        }
    }
    return std::string(term);
}

/// Calls `use` with every text of letters that is one typing error away from a word of ASCII
/// letters.
void each_one_off(const std::string& word, auto&& use) {
    std::string other;
    const auto with = [&](std::size_t at, std::string_view middle, std::size_t dropped) {
        other.assign(word, 0, at).append(middle).append(word, at + dropped, std::string::npos);
        use(other);
    };
    for (std::size_t i = 0; i + 1 < word.size(); ++i) {
        if (word[i] == word[i + 1]) continue;
        const std::array<char, 2> swapped{word[i + 1], word[i]};
        with(i, {swapped.data(), swapped.size()}, swapped.size());
    }
    for (std::size_t i = 0; i < word.size(); ++i) with(i, {}, 1);
    for (char letter = 'a'; letter <= 'z'; ++letter) {
        for (std::size_t i = 0; i <= word.size(); ++i) with(i, {&letter, 1}, 0);
        for (std::size_t i = 0; i < word.size(); ++i) {
            if (word[i] != letter) with(i, {&letter, 1}, 1);
        }
    }
}

bool is_ascii_word(std::string_view word) {
    return std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
}

/// A term that some chunks contain, though perhaps no visible ones.
struct CloseTerm {
    std::string term;
    std::size_t distance = 0;
    std::uint64_t most_chunks = 0;
};

/// Nearest first, then those that may occur in the most chunks.
Result<std::vector<CloseTerm>> close_terms(const Words& words, std::string_view term,
                                           const Words::Nearness& nearness) {
    std::map<std::string, CloseTerm, std::less<>> by_term;
    const auto add = [&](std::string_view known, std::size_t distance, std::uint64_t chunks) {
        auto found = by_term.find(known);
        if (found == by_term.end()) {
            const std::string key(known);
            found = by_term.emplace(key, CloseTerm{key, distance, 0}).first;
        }
        found->second.most_chunks += chunks;
    };
    BRAID_CHECK(words.near(term, nearness, add));
    std::vector<CloseTerm> close;
    for (auto& [known, one] : by_term) close.push_back(std::move(one));
    std::ranges::sort(close, [](const CloseTerm& a, const CloseTerm& b) {
        return std::tie(a.distance, b.most_chunks, a.term) <
               std::tie(b.distance, a.most_chunks, b.term);
    });
    return close;
}

bool comes_before(const NearTerm& a, const NearTerm& b) {
    return std::tie(a.distance, b.seen.chunks, a.term) <
           std::tie(b.distance, a.seen.chunks, b.term);
}

/// Whether no term still to come can be among the best.
bool is_enough(const std::vector<NearTerm>& best, const CloseTerm& next) {
    if (best.size() < kMaxCandidates) return false;
    const NearTerm& last = best.back();
    return std::tie(last.distance, next.most_chunks, last.term) <
           std::tie(next.distance, last.seen.chunks, next.term);
}

/// Terms near the query's term or near its beginning, because the stem of a word misspelt at its
/// end begins the word.
Result<std::vector<NearTerm>> candidates(const Words& words, std::string_view term,
                                         const Words::Nearness& nearness,
                                         const CallLimits& limits) {
    BRAID_TRY(const std::vector<CloseTerm> close, close_terms(words, term, nearness));
    std::vector<std::string_view> stems;
    for (std::size_t bytes = kShortBytes; bytes + nearness.most < term.size(); ++bytes) {
        stems.push_back(term.substr(0, bytes));
    }
    std::vector<std::string> expected(stems.begin(), stems.end());
    for (const CloseTerm& one : close) expected.push_back(one.term);
    BRAID_CHECK(words.expect(expected));
    std::vector<NearTerm> near;
    core::StepCounter steps;
    for (const CloseTerm& one : close) {
        if (is_enough(near, one)) break;
        if (steps.due(256)) BRAID_CHECK(core::check_limits(limits));
        BRAID_TRY(Words::Seen seen, words.seen(one.term));
        if (seen.chunks == 0) continue;
        NearTerm found{one.term, one.distance, std::move(seen)};
        near.insert(std::ranges::upper_bound(near, found, comes_before), std::move(found));
        if (near.size() > kMaxCandidates) near.pop_back();
    }
    for (const std::string_view stem : stems) {
        BRAID_TRY(Words::Seen seen, words.seen(stem));
        if (seen.chunks == 0) continue;
        near.push_back({std::string(stem), nearness.most + 1, std::move(seen)});
    }
    std::ranges::sort(near, comes_before);
    return near;
}

/// Looks for what one word may have been meant to be.
class Meant {
public:
    Meant(const Words& words, const Schema& schema, const text::Analyzer& analyzer,
          const CallLimits& limits)
        : words_(words), schema_(schema), analyzer_(analyzer), limits_(limits) {}

    /// The text has the word as `word`; it is searched for as `term`.
    Result<std::vector<Suggestion>> by(std::string_view word, std::string_view term) const {
        const std::string lower = core::ascii_lower(word);
        std::vector<Suggestion> found;
        if (is_ascii_word(lower)) {
            BRAID_TRY(found, one_off(word, lower));
        } else {
            BRAID_TRY(found, near(word, lower, term, 1));
        }
        if (!found.empty() || word.size() <= kShortBytes) return found;
        return near(word, lower, term, 2);
    }

private:
    /// Compares the words themselves: stems of similar words need not be similar.
    Result<std::vector<Suggestion>> one_off(std::string_view word, const std::string& lower) const {
        std::map<std::string, std::string> by_term;  // the first word that has it
        std::vector<text::Token> tokens;
        each_one_off(lower, [&](const std::string& other) {
            tokens.clear();
            analyzer_.analyze(other, tokens);
            if (tokens.size() == 1) by_term.emplace(tokens.front().term, other);
        });
        std::vector<std::string> terms;
        for (const auto& [term, other] : by_term) terms.push_back(term);
        BRAID_CHECK(words_.expect(terms));
        std::vector<Suggestion> found;
        for (auto& [term, other] : by_term) {
            BRAID_TRY(const Words::Seen seen, words_.seen(term));
            if (seen.chunks == 0) continue;
            BRAID_TRY(const Chunk chunk, words_.chunk(seen.first));
            std::string instead = surface_of(chunk, schema_, analyzer_, term);
            // A chunk may contain the term only in another form.
            if (core::edit_distance(lower, core::ascii_lower(instead), 1) > 1) {
                instead = std::move(other);
            }
            found.push_back({std::string(word), std::move(instead), seen.chunks});
        }
        std::ranges::stable_sort(found, std::ranges::greater{}, &Suggestion::chunks);
        return found;
    }

    Result<std::vector<Suggestion>> near(std::string_view word, const std::string& lower,
                                         std::string_view term, std::size_t most) const {
        const Words::Nearness nearness{.most = most,
                                       .exact_prefix = core::first_code_points(term, 1).size()};
        BRAID_TRY(const auto nearest, candidates(words_, term, nearness, limits_));
        std::vector<std::pair<std::size_t, Suggestion>> ranked;
        for (const NearTerm& one : nearest) {
            BRAID_TRY(const Chunk chunk, words_.chunk(one.seen.first));
            std::string instead = surface_of(chunk, schema_, analyzer_, one.term);
            const std::size_t distance =
                core::edit_distance(lower, core::ascii_lower(instead), most);
            if (distance > most) continue;
            ranked.push_back({distance, {std::string(word), std::move(instead), one.seen.chunks}});
        }
        std::ranges::stable_sort(ranked, {}, [](const auto& pair) { return pair.first; });
        std::vector<Suggestion> found;
        for (auto& [distance, suggestion] : ranked) found.push_back(std::move(suggestion));
        return found;
    }

    const Words& words_;
    const Schema& schema_;
    const text::Analyzer& analyzer_;
    const CallLimits& limits_;
};

/// The words that are looked at, each once.
std::vector<text::Token> first_words(const std::vector<text::Token>& tokens) {
    std::vector<text::Token> words;
    for (const text::Token& token : tokens) {
        if (words.size() == kMaxWords) break;
        if (token.term.size() > kMaxBytes) continue;
        if (std::ranges::count(words, token.term, &text::Token::term) == 0) words.push_back(token);
    }
    return words;
}

}  // namespace

Result<std::vector<Suggestion>> suggest_words(const Words& words, const Schema& schema,
                                              const text::Analyzer& analyzer, std::string_view text,
                                              std::size_t limit, const CallLimits& limits) {
    std::vector<text::Token> tokens;
    analyzer.analyze(text, tokens);
    const Meant meant(words, schema, analyzer, limits);
    const std::vector<text::Token> first = first_words(tokens);
    std::vector<std::string> terms;
    for (const text::Token& token : first) terms.push_back(token.term);
    BRAID_CHECK(words.expect(terms));
    std::vector<Suggestion> suggestions;
    for (const text::Token& token : first) {
        BRAID_TRY(const Words::Seen there, words.seen(token.term));
        if (there.chunks > 0) continue;
        BRAID_TRY(auto found,
                  meant.by(text.substr(token.begin, token.end - token.begin), token.term));
        if (found.size() > limit) found.resize(limit);
        std::ranges::move(found, std::back_inserter(suggestions));
    }
    return suggestions;
}

}  // namespace braid::index
