#include "braid/remote/remote_words.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "braid/core/nearest.hpp"
#include "braid/core/utf8.hpp"
#include "braid/remote/answer_parts.hpp"
#include "braid/remote/cluster_core.hpp"
#include "braid/remote/document.hpp"
#include "braid/remote/filter_query.hpp"

namespace braid::remote {
namespace {

constexpr std::size_t kMostNear = 1'000;   // terms of a dictionary
constexpr std::size_t kMostAlike = 1'000;  // terms that begin alike, or are as short
constexpr std::size_t kLongestPattern = 1'000;

Object terms_near(std::string_view term, std::size_t most, std::size_t exact_characters) {
    Object options;
    options.set("field", "terms");
    options.set("suggest_mode", "always");
    options.set("max_edits", std::clamp<std::size_t>(most, 1, 2));
    options.set("prefix_length", exact_characters);
    options.set("min_word_length", 1);
    options.set("max_term_freq", 1'000'000'000);
    options.set("accuracy", 0.0001);
    options.set("size", kMostNear);
    options.set("shard_size", kMostNear);
    return Object{{"text", Value(term)}, {"term", Value(std::move(options))}};
}

/// Calls `use(term, chunks)` for what a suggester of that name found.
template <class Use>
void each_near(const Value& answer, std::string_view name, const Use& use) {
    for (const Value& entry : list_in(answer, {"suggest", name})) {
        for (const Value& option : list_in(entry, {"options"})) {
            if (const std::string* const term = text_in(option, {"text"})) {
                use(*term, count_in(option, {"freq"}));
            }
        }
    }
}

Object counted_words(Value include, std::size_t size) {
    Object terms;
    terms.set("field", "words");
    terms.set("size", size);
    terms.set("shard_size", size * 2);
    terms.set("include", std::move(include));
    return Object{{"terms", Value(std::move(terms))}};
}

Value all_that_fit(const index::TreeLeaf& prefix) {
    std::string pattern = beginning_pattern(prefix.beginning) + ".*";
    const std::string word = beginning_pattern(prefix.term);
    if (!word.empty() && pattern.size() + 1 + word.size() <= kLongestPattern) {
        pattern += "|" + word;
    }
    return Value(std::move(pattern));
}

using Characters = std::span<const std::string>;

std::string literal(Characters characters) {
    std::string pattern;
    for (const std::string& one : characters) pattern += beginning_pattern(one);
    return pattern;
}

/// Fits what differs in one character at most.
std::string one_off_pattern(Characters characters) {
    std::string pattern;
    for (std::size_t i = 0; i <= characters.size(); ++i) {
        const std::string before = literal(characters.first(i));
        pattern += (i > 0 ? "|" : "(") + before + "." + literal(characters.subspan(i));
        if (i == characters.size()) break;
        pattern += "|" + before + ".?" + literal(characters.subspan(i + 1));
    }
    return pattern + ")";
}

/// What a suggester leaves out: terms that differ in as many characters as the shorter of both has,
/// which are asked for by their length, and those that differ in two, one of them the first. None:
/// there are no such terms.
std::optional<Value> other_near_terms(const index::TreeLeaf& fuzzy) {
    std::vector<std::string> characters;
    for (std::string_view rest = fuzzy.term; !rest.empty();) {
        characters.emplace_back(core::first_code_points(rest, 1));
        rest.remove_prefix(characters.back().size());
    }
    std::string pattern;
    const auto add = [&](const std::string& other) {
        if (pattern.size() + 1 + other.size() > kLongestPattern) return;
        pattern += (pattern.empty() ? "" : "|") + other;
    };
    if (characters.size() <= 2 * std::size_t{fuzzy.distance}) {
        const bool both = characters.size() <= fuzzy.distance;
        const std::size_t longest = fuzzy.distance + (both ? characters.size() : 0);
        add(".{1," + std::to_string(longest) + "}");
    }
    if (fuzzy.distance > 1 && !characters.empty()) {
        add(".?" + one_off_pattern(Characters(characters).subspan(1)));
        add("." + one_off_pattern(characters));
    }
    if (pattern.empty()) return std::nullopt;
    return Value(std::move(pattern));
}

std::string name_of(std::size_t pattern) {
    return "p" + std::to_string(pattern);
}

void add_buckets(const Value& answer, std::string_view name, const index::TreeLeaf& leaf,
                 PatternTerms& to) {
    for (const Value& bucket : list_in(answer, {"aggregations", name, "buckets"})) {
        const std::string* const term = text_in(bucket, {"key"});
        const auto difference = term != nullptr ? leaf.difference(*term) : std::nullopt;
        if (difference) to.push_back({*term, *difference, count_in(bucket, {"doc_count"})});
    }
}

}  // namespace

Object RemoteWords::over_visible(Object aggregations) const {
    return {{"size", 0},
            {"track_total_hits", false},
            {"query", all_of(visible_)},
            {"aggs", Value(std::move(aggregations))}};
}

Result<> RemoteWords::near(std::string_view term, const Nearness& nearness,
                           const Visit& visit) const {
    const std::size_t characters =
        core::count_code_points(term.substr(0, std::min(nearness.exact_prefix, term.size())));
    Object body{{"size", 0}, {"track_total_hits", false}};
    body.set("suggest", Object{{"near", Value(terms_near(term, nearness.most, characters))}});
    BRAID_TRY(const Value answer, ask_(std::move(body)));
    each_near(answer, "near", [&](const std::string& known, std::uint64_t chunks) {
        const std::size_t distance = core::edit_distance(term, known, nearness.most);
        if (distance <= nearness.most) visit(known, distance, chunks);
    });
    return {};
}

Result<> RemoteWords::expect(std::span<const std::string> terms) const {
    Array unknown;
    for (const std::string& term : terms) {
        if (seen_.try_emplace(term).second) unknown.emplace_back(term);
    }
    if (unknown.empty()) return {};
    const std::size_t size = unknown.size();
    Object first;
    first.set("size", 1);
    first.set("_source", Array{"version", "chunk"});
    first.set("sort", Array{Object{{"id", "asc"}}});
    Object counted = counted_words(std::move(unknown), size);
    counted.set("aggs", Object{{"first", Object{{"top_hits", Value(std::move(first))}}}});
    BRAID_TRY(const Value answer, ask_(over_visible({{"words", Value(std::move(counted))}})));
    for (const Value& bucket : list_in(answer, {"aggregations", "words", "buckets"})) {
        const std::string* const term = text_in(bucket, {"key"});
        const Value* const first_hits = bucket.find("first");
        if (term == nullptr || first_hits == nullptr) continue;
        for (const Value& hit : hits_of(*first_hits)) {
            const Value* const source = hit.find("_source");
            if (source == nullptr) continue;
            BRAID_TRY(Chunk chunk, read_document(*source));
            seen_[*term] = {count_in(bucket, {"doc_count"}), chunk.chunk_id};
            chunks_.try_emplace(chunk.chunk_id, std::move(chunk));
        }
    }
    return {};
}

Result<index::Words::Seen> RemoteWords::seen(std::string_view term) const {
    const std::string one(term);
    BRAID_CHECK(expect(std::span(&one, 1)));
    return seen_.find(term)->second;
}

Result<Chunk> RemoteWords::chunk(const std::string& id) const {
    const auto found = chunks_.find(id);
    if (found == chunks_.end()) return fail(ErrorCode::NotFound, "chunk \"" + id + "\" is gone");
    return found->second;
}

Result<std::vector<PatternTerms>> RemoteWords::expand(const index::WordTree& tree) const {
    const auto patterns = tree.patterns();
    std::vector<PatternTerms> found(patterns.size());
    Object words;
    Object fuzzy;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        const index::TreeLeaf& leaf = *patterns[i];
        if (leaf.kind == index::TreeLeaf::Kind::Prefix) {
            words.set(name_of(i), counted_words(all_that_fit(leaf), kMostAlike));
            continue;
        }
        fuzzy.set(name_of(i), terms_near(leaf.term, leaf.distance, 0));
        if (auto pattern = other_near_terms(leaf)) {
            words.set(name_of(i), counted_words(*std::move(pattern), kMostAlike));
        }
    }
    Value answer;
    if (!patterns.empty()) {
        Object body = over_visible(std::move(words));
        if (!fuzzy.empty()) body.set("suggest", Value(fuzzy));
        BRAID_TRY(answer, ask_(std::move(body)));
    }
    // What the cluster calls near may stand in chunks that may not be seen.
    Object counted;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        add_buckets(answer, name_of(i), *patterns[i], found[i]);
        if (fuzzy.find(name_of(i)) == nullptr) continue;
        Array near{Value(patterns[i]->term)};
        each_near(answer, name_of(i), [&](const std::string& term, std::uint64_t) {
            if (patterns[i]->difference(term)) near.emplace_back(term);
        });
        const std::size_t size = near.size();
        counted.set(name_of(i), counted_words(std::move(near), size));
    }
    if (!counted.empty()) {
        BRAID_TRY(const Value counts, ask_(over_visible(std::move(counted))));
        for (std::size_t i = 0; i < patterns.size(); ++i) {
            add_buckets(counts, name_of(i), *patterns[i], found[i]);
        }
    }
    for (PatternTerms& terms : found) {
        std::ranges::sort(terms, [](const PatternTerm& a, const PatternTerm& b) {
            return a.chunks != b.chunks ? a.chunks > b.chunks : a.term < b.term;
        });
        const auto twice = std::ranges::unique(terms, {}, &PatternTerm::term);
        terms.erase(twice.begin(), twice.end());
    }
    return found;
}

}  // namespace braid::remote
