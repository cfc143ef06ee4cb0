#include "braid/text/highlight.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "braid/core/nearest.hpp"
#include "braid/core/utf8.hpp"

namespace braid::text {
namespace {

bool is_space(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// `at` moved by up to `count` characters towards the start.
std::size_t back_by(std::string_view text, std::size_t at, std::size_t count) noexcept {
    for (; count > 0 && at > 0; --count) {
        --at;
        while (at > 0 && core::continues_character(text[at])) --at;
    }
    return at;
}

std::size_t forward_by(std::string_view text, std::size_t at, std::size_t count) noexcept {
    return at + core::first_code_points(text.substr(at), count).size();
}

/// A stretch of matching tokens that overlap or touch: tokens [first, last) of the matches.
struct Group {
    ByteRange range;
    std::size_t first = 0;
    std::size_t last = 0;
};

/// Requires tokens in order of their begin.
std::vector<Group> group(const std::vector<Token>& tokens) {
    std::vector<Group> groups;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const ByteRange range{tokens[i].begin, tokens[i].end};
        if (groups.empty() || range.begin > groups.back().range.end) {
            groups.push_back({range, i, i + 1});
        } else {
            groups.back().range.end = std::max(groups.back().range.end, range.end);
            groups.back().last = i + 1;
        }
    }
    return groups;
}

/// The groups [first, last) that fit into `limit` code points and hold the most distinct terms,
/// then the most matches; the earliest of equals.
std::pair<std::size_t, std::size_t> densest(std::string_view text, const std::vector<Token>& tokens,
                                            const std::vector<Group>& groups, std::size_t limit) {
    std::unordered_map<std::string_view, std::size_t> held;
    const auto add = [&](const Group& entering) {
        for (std::size_t i = entering.first; i < entering.last; ++i) ++held[tokens[i].term];
    };
    const auto remove = [&](const Group& leaving) {
        for (std::size_t i = leaving.first; i < leaving.last; ++i) {
            const auto found = held.find(tokens[i].term);
            if (--found->second == 0) held.erase(found);
        }
    };
    std::pair<std::size_t, std::size_t> best{0, 1};
    std::pair<std::size_t, std::size_t> best_score{0, 0};
    std::size_t first = 0;
    std::size_t width = 0;  // code points from the start of `first` to the end of `i`
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::size_t from = i == first ? groups[i].range.begin : groups[i - 1].range.end;
        width += core::count_code_points(text.substr(from, groups[i].range.end - from));
        add(groups[i]);
        for (; width > limit && first < i; ++first) {
            const std::size_t next = groups[first + 1].range.begin;
            width -= core::count_code_points(
                text.substr(groups[first].range.begin, next - groups[first].range.begin));
            remove(groups[first]);
        }
        const std::pair score{held.size(), groups[i].last - groups[first].first};
        if (score > best_score) {
            best_score = score;
            best = {first, i + 1};
        }
    }
    return best;
}

/// Where a window of `limit` code points around `core` starts and ends: as much before as after,
/// between words where there are any.
ByteRange window_around(std::string_view text, ByteRange core, std::size_t limit) {
    const std::size_t used =
        core::count_code_points(text.substr(core.begin, core.end - core.begin));
    const std::size_t spare = limit > used ? limit - used : 0;
    std::size_t begin = back_by(text, core.begin, spare / 2);
    std::size_t end = forward_by(text, begin, limit);
    if (end == text.size()) {
        begin = std::min(back_by(text, end, limit), std::size_t{core.begin});
    }
    if (begin > 0 && !is_space(text[begin - 1])) {
        std::size_t word = begin;
        while (word < core.begin && !is_space(text[word])) ++word;
        if (word < core.begin) begin = word;
    }
    if (end < text.size() && !is_space(text[end])) {
        std::size_t word = end;
        while (word > core.end && !is_space(text[word - 1])) --word;
        if (word > core.end) end = word;
    }
    while (begin < core.begin && is_space(text[begin])) ++begin;
    while (end > core.end && is_space(text[end - 1])) --end;
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

Snippet snippet_of(std::string_view text, const std::vector<Token>& tokens,
                   std::size_t code_points) {
    const std::vector<Group> groups = group(tokens);
    ByteRange core;
    if (!groups.empty()) {
        const auto [first, last] = densest(text, tokens, groups, code_points);
        core = {groups[first].range.begin, groups[last - 1].range.end};
    }
    const ByteRange window = window_around(text, core, code_points);
    Snippet out;
    out.text = text.substr(window.begin, window.end - window.begin);
    out.cut_before = window.begin > 0;
    out.cut_after = window.end < text.size();
    for (const Group& found : groups) {
        const std::uint32_t begin = std::max(found.range.begin, window.begin);
        const std::uint32_t end = std::min(found.range.end, window.end);
        if (begin < end) out.matches.push_back({begin - window.begin, end - window.begin});
    }
    return out;
}

}  // namespace

Highlighter::Highlighter(Analyzer analyzer, std::string_view query)
    : analyzer_(std::move(analyzer)) {
    for (std::string& term : analyzer_.query_terms(query)) terms_.insert(std::move(term));
}

std::vector<Token> Highlighter::matching_tokens(std::string_view text) const {
    std::vector<Token> tokens;
    analyzer_.analyze(text, tokens);
    std::erase_if(tokens, [this](const Token& token) { return !terms_.contains(token.term); });
    return tokens;
}

std::vector<ByteRange> Highlighter::matches(std::string_view text) const {
    std::vector<ByteRange> ranges;
    for (const Group& found : group(matching_tokens(text))) ranges.push_back(found.range);
    return ranges;
}

Snippet Highlighter::snippet(std::string_view text, std::size_t code_points) const {
    return snippet_of(text, matching_tokens(text), code_points);
}

Snippet snippet_with(std::string_view text, const std::vector<ByteRange>& matches,
                     std::size_t code_points) {
    std::vector<Token> tokens;
    tokens.reserve(matches.size());
    for (const auto& [begin, end] : matches) {
        Token& token = tokens.emplace_back();
        token.term = core::ascii_lower(text.substr(begin, end - begin));
        token.begin = begin;
        token.end = end;
    }
    return snippet_of(text, tokens, code_points);
}

}  // namespace braid::text
