#include "braid/exact/suggest.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "braid/core/limits.hpp"
#include "braid/core/nearest.hpp"

namespace braid::exact {
namespace {

constexpr std::size_t kMaxWords = 16;       // of the text that are looked at
constexpr std::size_t kMaxBytes = 64;       // of a word; longer ones are no typing errors
constexpr std::size_t kShortBytes = 4;      // words up to this length may differ in one letter
constexpr std::size_t kMaxCandidates = 50;  // terms whose texts are looked at

struct NearTerm {
    std::string_view term;
    std::size_t distance = 0;
    std::uint64_t chunks = 0;
    Row first = kNoRow;  // the visible row with the smallest chunk id that holds it
};

NearTerm seen_of(const VisibleRows& visible, std::string_view term,
                 const sparse::PostingList& postings) {
    NearTerm seen{.term = term};
    Row last = kNoRow;
    for (const sparse::Posting& posting : postings) {
        const Row row{posting.row};
        if (row == std::exchange(last, row) || !visible.shows(row)) continue;
        ++seen.chunks;
        const auto id = [&](Row one) -> const std::string& {
            return visible.partition().chunk(one).chunk_id;
        };
        if (seen.first == kNoRow || id(row) < id(seen.first)) seen.first = row;
    }
    return seen;
}

/// The word of the chunk that the analyzer makes this term of.
std::string surface_of(const Chunk& chunk, const Schema& schema, const text::Analyzer& analyzer,
                       std::string_view term) {
    for (const TextField& field : schema.text_fields) {
        const std::string_view text = index::field_text(chunk, field.name);
        std::vector<text::Token> tokens;
        analyzer.analyze(text, tokens);
        const auto found = std::ranges::find(tokens, term, &text::Token::term);
        if (found != tokens.end()) {
            return std::string(text.substr(found->begin, found->end - found->begin));
        }
    }
    return std::string(term);
}

std::size_t most_of(std::string_view word) {
    return word.size() <= kShortBytes ? 1 : 2;
}

/// Terms that may be what was meant: near the query's term, or its start, as a stem is the start of
/// a word whose end is misspelt.
Result<std::vector<NearTerm>> candidates(const VisibleRows& visible, std::string_view term,
                                         const CallLimits& limits) {
    const std::size_t most = most_of(term);
    std::vector<NearTerm> near;
    core::StepCounter steps;
    for (const auto& [known, postings] : visible.partition().postings()) {
        if (steps.due()) BRAID_CHECK(core::check_limits(limits));
        const bool stem = known.size() >= kShortBytes && term.starts_with(known);
        const bool sized = known.size() <= term.size() + most && term.size() <= known.size() + most;
        if (!stem && !sized) continue;
        const std::size_t distance = core::edit_distance(term, known, most);
        if (!stem && distance > most) continue;
        if (steps.due(postings.size())) BRAID_CHECK(core::check_limits(limits));
        NearTerm seen = seen_of(visible, known, postings);
        if (seen.chunks == 0) continue;
        seen.distance = distance;
        near.push_back(seen);
    }
    std::ranges::sort(near, [](const NearTerm& a, const NearTerm& b) {
        return std::tuple(a.distance, b.chunks, a.term) < std::tuple(b.distance, a.chunks, b.term);
    });
    if (near.size() > kMaxCandidates) near.resize(kMaxCandidates);
    return near;
}

}  // namespace

Result<std::vector<Suggestion>> suggest_words(const VisibleRows& visible,
                                              const text::Analyzer& analyzer, std::string_view text,
                                              std::size_t limit, const CallLimits& limits) {
    std::vector<text::Token> tokens;
    analyzer.analyze(text, tokens);
    std::vector<Suggestion> suggestions;
    std::vector<std::string> done;
    for (const text::Token& token : tokens) {
        if (done.size() == kMaxWords) break;
        if (token.term.size() > kMaxBytes || std::ranges::count(done, token.term) > 0) continue;
        done.push_back(token.term);
        const auto& postings = visible.partition().postings().find(token.term);
        if (seen_of(visible, token.term, postings).chunks > 0) continue;
        const std::string word(text.substr(token.begin, token.end - token.begin));
        std::vector<std::pair<std::size_t, Suggestion>> found;
        BRAID_TRY(const auto nearest, candidates(visible, token.term, limits));
        for (const NearTerm& near : nearest) {
            const Chunk& chunk = visible.partition().chunk(near.first);
            std::string instead =
                surface_of(chunk, visible.partition().schema(), analyzer, near.term);
            const std::size_t most = most_of(word);
            const std::size_t distance =
                core::edit_distance(core::ascii_lower(word), core::ascii_lower(instead), most);
            if (distance <= most)
                found.push_back({distance, {word, std::move(instead), near.chunks}});
        }
        std::ranges::stable_sort(found, {}, [](const auto& pair) { return pair.first; });
        if (found.size() > limit) found.resize(limit);
        for (auto& [distance, suggestion] : found) suggestions.push_back(std::move(suggestion));
    }
    return suggestions;
}

}  // namespace braid::exact
