#include "braid/retrieval/matches.hpp"

#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "braid/core/code_point_offsets.hpp"
#include "braid/text/analyzer.hpp"
#include "braid/text/highlight.hpp"

namespace braid::retrieval {
namespace {

using Terms = std::unordered_set<std::string>;

/// The words of a clause that a content may match, patterns apart.
void add_terms(const text::Analyzer& analyzer, const QueryClause& clause, Terms& terms) {
    if (clause.occur == QueryClause::Occur::Not) return;
    for (const QueryClause& one : clause.clauses) add_terms(analyzer, one, terms);
    if (!clause.field.empty() && clause.field != "content") return;
    if (clause.kind != QueryClause::Kind::Word && clause.kind != QueryClause::Kind::Phrase) return;
    std::vector<text::Token> tokens;
    analyzer.analyze_query(clause.text, tokens);
    for (text::Token& token : tokens) terms.insert(std::move(token.term));
}

void add_terms(const text::Analyzer& analyzer, const LegRun& run, Terms& terms) {
    for (const auto& phrasing : run.leg.phrasings) terms.insert(phrasing.begin(), phrasing.end());
    if (run.leg.clause) add_terms(analyzer, *run.leg.clause, terms);
    if (!run.result) return;
    for (const PatternWords& pattern : run.result->patterns) {
        terms.insert(pattern.words.begin(), pattern.words.end());
    }
}

/// None if the collection's analysis is not to be had here.
std::optional<text::Highlighter> highlighter_of(const Work& work, const Schema& schema,
                                                const CollectionRun* run) {
    auto analyzer = text::Analyzer::create(
        {.name = schema.analyzer, .language = schema.language, .stop_words = schema.stop_words});
    if (!analyzer) return std::nullopt;
    Terms terms;
    bool read = false;  // as query language: an operator is no word, even where no term is left
    for (std::size_t i = 0; run != nullptr && i < run->legs.size(); ++i) {
        if (run->legs[i].leg.kind != LegKind::Sparse) continue;
        add_terms(*analyzer, run->legs[i], terms);
        read = read || run->legs[i].leg.clause != nullptr;
    }
    if (terms.empty() && !read) return text::Highlighter(*std::move(analyzer), work.request.query);
    return text::Highlighter(*std::move(analyzer), std::move(terms));
}

std::vector<TextRange> ranges_in(const text::Highlighter& highlighter, std::string_view text) {
    std::vector<TextRange> ranges;
    core::CodePointOffsets offsets(text);
    for (const text::ByteRange& match : highlighter.matches(text)) {
        const std::size_t begin = offsets.of(match.begin);
        ranges.push_back({begin, offsets.of(match.end)});
    }
    return ranges;
}

}  // namespace

void mark_matches(Work& work, const std::vector<CollectionRun>& runs) {
    for (std::size_t c = 0; c < work.plan.collections.size(); ++c) {
        const CollectionPlan& collection = work.plan.collections[c];
        const CollectionRun* run = nullptr;
        for (const CollectionRun& one : runs) {
            if (one.index == c) run = &one;
        }
        std::optional<text::Highlighter> highlighter;
        for (Hit& hit : work.answer.hits) {
            if (hit.collection != collection.name) continue;
            if (!highlighter) highlighter = highlighter_of(work, collection.schema, run);
            if (!highlighter) break;
            hit.matches = ranges_in(*highlighter, hit.chunk.content);
        }
    }
}

}  // namespace braid::retrieval
