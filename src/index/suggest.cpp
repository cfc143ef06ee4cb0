#include "braid/index/suggest.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>
#include <utility>

#include "braid/core/limits.hpp"
#include "braid/core/nearest.hpp"
#include "braid/index/prepared.hpp"

namespace braid::index {
namespace {

constexpr std::size_t kMaxWords = 16;       // of the text that are looked at
constexpr std::size_t kMaxBytes = 64;       // of a word; longer ones are no typing errors
constexpr std::size_t kShortBytes = 4;      // words up to this length may differ in one letter
constexpr std::size_t kMaxCandidates = 50;  // terms whose texts are looked at

struct NearTerm {
    std::string term;
    std::size_t distance = 0;
    Words::Seen seen;
};

/// The word of the chunk that the analyzer makes this term of.
std::string surface_of(const Chunk& chunk, const Schema& schema, const text::Analyzer& analyzer,
                       std::string_view term) {
    for (const TextField& field : schema.text_fields) {
        const std::string_view text = field_text(chunk, field.name);
        std::vector<text::Token> tokens;
        analyzer.for_text(chunk.content).analyze(text, tokens);
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

/// Which bytes a word has, about. An edit adds at most one and takes at most one away: that tells
/// nearly all words apart without a table of distances.
std::uint64_t bytes_of(std::string_view word) noexcept {
    std::uint64_t bytes = 0;
    for (const char c : word) bytes |= std::uint64_t{1} << static_cast<unsigned char>(c) % 64;
    return bytes;
}

/// Terms that may be what was meant: near the query's term, or its start, as a stem is the start of
/// a word whose end is misspelt.
Result<std::vector<NearTerm>> candidates(const Words& words, std::string_view term,
                                         const CallLimits& limits) {
    const std::size_t most = most_of(term);
    const std::uint64_t bytes = bytes_of(term);
    std::set<std::pair<std::string, std::size_t>> close;
    core::StepCounter steps;
    const auto look_at = [&](std::string_view known) -> Result<> {
        if (steps.due()) BRAID_CHECK(core::check_limits(limits));
        const bool stem = known.size() >= kShortBytes && term.starts_with(known);
        const bool sized = known.size() <= term.size() + most && term.size() <= known.size() + most;
        if (!stem && !sized) return {};
        const int changes = std::popcount(bytes ^ bytes_of(known));
        if (!stem && static_cast<std::size_t>(changes) > 2 * most) return {};
        const std::size_t distance = core::edit_distance(term, known, most);
        if (stem || distance <= most) close.emplace(known, distance);
        return {};
    };
    BRAID_CHECK(words.each(look_at));
    std::vector<NearTerm> near;
    for (const auto& [known, distance] : close) {
        if (steps.due(256)) BRAID_CHECK(core::check_limits(limits));
        BRAID_TRY(Words::Seen seen, words.seen(known));
        if (seen.chunks > 0) near.push_back({known, distance, std::move(seen)});
    }
    std::ranges::sort(near, [](const NearTerm& a, const NearTerm& b) {
        return std::tie(a.distance, b.seen.chunks, a.term) <
               std::tie(b.distance, a.seen.chunks, b.term);
    });
    if (near.size() > kMaxCandidates) near.resize(kMaxCandidates);
    return near;
}

}  // namespace

Result<std::vector<Suggestion>> suggest_words(const Words& words, const Schema& schema,
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
        BRAID_TRY(const Words::Seen there, words.seen(token.term));
        if (there.chunks > 0) continue;
        const std::string word(text.substr(token.begin, token.end - token.begin));
        std::vector<std::pair<std::size_t, Suggestion>> found;
        BRAID_TRY(const auto nearest, candidates(words, token.term, limits));
        for (const NearTerm& near : nearest) {
            BRAID_TRY(const Chunk chunk, words.chunk(near.seen.first));
            std::string instead = surface_of(chunk, schema, analyzer, near.term);
            const std::size_t most = most_of(word);
            const std::size_t distance =
                core::edit_distance(core::ascii_lower(word), core::ascii_lower(instead), most);
            if (distance <= most) {
                found.push_back({distance, {word, std::move(instead), near.seen.chunks}});
            }
        }
        std::ranges::stable_sort(found, {}, [](const auto& pair) { return pair.first; });
        if (found.size() > limit) found.resize(limit);
        for (auto& [distance, suggestion] : found) suggestions.push_back(std::move(suggestion));
    }
    return suggestions;
}

}  // namespace braid::index
