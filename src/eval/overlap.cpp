#include "braid/eval/overlap.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "braid/core/numbers.hpp"
#include "braid/eval/html.hpp"
#include "braid/eval/report_assets.hpp"

namespace braid::eval {
namespace {

constexpr std::size_t kQueryText = 100;  // code points of a query that are shown

std::vector<std::string> documents_of(const RankedList& list, std::size_t depth) {
    std::vector<std::string> documents;
    for (const ScoredDocument& hit : list.hits) {
        if (documents.size() == depth) break;
        documents.push_back(hit.document);
    }
    return documents;
}

QueryOverlap overlap_of_lists(const RankedList& first, const RankedList& second,
                              std::size_t depth) {
    QueryOverlap out;
    out.query = first.query;
    out.first = documents_of(first, depth);
    out.second = documents_of(second, depth);
    out.same = out.first == out.second;
    const std::size_t longer = std::max(out.first.size(), out.second.size());
    if (longer == 0) return out;
    out.same_first =
        !out.first.empty() && !out.second.empty() && out.first.front() == out.second.front();
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < out.first.size(); ++i) places.emplace(out.first[i], i);
    std::size_t common = 0;
    double ranks = 0;
    for (std::size_t i = 0; i < out.second.size(); ++i) {
        const auto found = places.find(out.second[i]);
        if (found == places.end()) continue;
        ++common;
        ranks += std::abs(static_cast<double>(found->second) - static_cast<double>(i));
    }
    out.overlap = static_cast<double>(common) / static_cast<double>(longer);
    if (common > 0) out.moved = ranks / static_cast<double>(common);
    return out;
}

std::unordered_map<std::string_view, std::string_view> texts_of(std::span<const Query> queries) {
    std::unordered_map<std::string_view, std::string_view> texts;
    for (const Query& query : queries) texts.emplace(query.id, query.text);
    return texts;
}

std::string label_of(const QueryOverlap& query,
                     const std::unordered_map<std::string_view, std::string_view>& texts) {
    const auto text = texts.find(query.query);
    if (text == texts.end()) return query.query;
    return query.query + "  " + shortened(text->second, kQueryText);
}

std::span<const QueryOverlap> differing(const RunOverlap& overlap, std::size_t shown) {
    const auto end = std::ranges::find(overlap.queries, true, &QueryOverlap::same);
    const auto count = static_cast<std::size_t>(end - overlap.queries.begin());
    return std::span(overlap.queries).first(std::min(count, shown));
}

std::string summary_of(const RunOverlap& overlap) {
    return core::count_of(overlap.queries.size(), "query", "queries") + ", first " +
           std::to_string(overlap.depth) + " documents: " + core::fixed(overlap.overlap * 100, 1) +
           " % are in both lists, on average " + core::fixed(overlap.moved, 2) +
           " ranks apart. The first document is the same for " + core::grouped(overlap.same_first) +
           " queries, the whole list for " + core::grouped(overlap.same) + ".";
}

Array list_value(const std::vector<std::string>& documents) {
    return Array(documents.begin(), documents.end());
}

/// A table cell; what the other list lacks is marked.
std::string cell_of(const std::vector<std::string>& documents, std::size_t place,
                    const std::vector<std::string>& other) {
    if (place >= documents.size()) return "<td></td>";
    const std::string& document = documents[place];
    const bool common = std::ranges::find(other, document) != other.end();
    const std::string text = escaped(document);
    return "<td>" + (common ? text : "<b>" + text + "</b>") + "</td>";
}

}  // namespace

RunOverlap overlap_of(const Run& first, const Run& second, std::size_t depth) {
    RunOverlap out;
    out.first = first.name;
    out.second = second.name;
    out.depth = depth;
    std::unordered_map<std::string_view, const RankedList*> others;
    for (const RankedList& list : second.lists) others.emplace(list.query, &list);
    for (const RankedList& list : first.lists) {
        const auto found = others.find(list.query);
        const RankedList none{list.query, {}};
        out.queries.push_back(
            overlap_of_lists(list, found == others.end() ? none : *found->second, depth));
        if (found != others.end()) others.erase(found);
    }
    for (const RankedList& list : second.lists) {
        if (!others.contains(list.query)) continue;
        out.queries.push_back(overlap_of_lists({list.query, {}}, list, depth));
    }
    if (out.queries.empty()) return out;
    out.overlap = 0;
    for (const QueryOverlap& query : out.queries) {
        out.overlap += query.overlap;
        out.moved += query.moved;
        out.same_first += query.same_first ? 1U : 0U;
        out.same += query.same ? 1U : 0U;
    }
    const auto count = static_cast<double>(out.queries.size());
    out.overlap /= count;
    out.moved /= count;
    std::ranges::stable_sort(out.queries, {}, [](const QueryOverlap& query) {
        return std::tuple(query.same, query.overlap, query.same_first, -query.moved);
    });
    return out;
}

Value to_value(const RunOverlap& overlap, std::size_t shown) {
    Array differ;
    for (const QueryOverlap& query : differing(overlap, shown)) {
        differ.emplace_back(Object{{"query", Value(query.query)},
                                   {"overlap", query.overlap},
                                   {"moved", query.moved},
                                   {"same_first", query.same_first},
                                   {"first", list_value(query.first)},
                                   {"second", list_value(query.second)}});
    }
    return Object{{"first", Value(overlap.first)},
                  {"second", Value(overlap.second)},
                  {"depth", overlap.depth},
                  {"queries", overlap.queries.size()},
                  {"overlap", overlap.overlap},
                  {"moved", overlap.moved},
                  {"same_first", overlap.same_first},
                  {"same", overlap.same},
                  {"differ", Value(std::move(differ))}};
}

std::string to_text(const RunOverlap& overlap, std::span<const Query> queries, std::size_t shown) {
    const auto texts = texts_of(queries);
    std::string out = summary_of(overlap) + "\n";
    for (const QueryOverlap& query : differing(overlap, shown)) {
        out += "\n" + label_of(query, texts) + "\n  " + core::fixed(query.overlap * 100, 0) +
               " % in both, " + core::fixed(query.moved, 1) + " ranks apart\n";
        for (const auto& [name, documents] :
             {std::pair(overlap.first, query.first), std::pair(overlap.second, query.second)}) {
            out += "  " + name + ":";
            for (const std::string& document : documents) out += " " + document;
            out += documents.empty() ? " nothing\n" : "\n";
        }
    }
    return out;
}

std::string html_page(const RunOverlap& overlap, std::span<const Query> queries,
                      std::size_t shown) {
    const auto texts = texts_of(queries);
    const std::string title = overlap.first + " and " + overlap.second;
    std::string page = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                       escaped(title) + "</title><style>" + std::string(report_style()) +
                       "</style></head><body><main><h1>" + escaped(title) + "</h1><p>" +
                       escaped(summary_of(overlap)) +
                       " Only judgements can show which is better.</p>\n";
    for (const QueryOverlap& query : differing(overlap, shown)) {
        page += "<section><h2>" + escaped(label_of(query, texts)) + "</h2><p class=\"note\">" +
                core::fixed(query.overlap * 100, 0) + " % in both, " + core::fixed(query.moved, 1) +
                " ranks apart; bold: in one list only</p><table><thead><tr><th></th><th>" +
                escaped(overlap.first) + "</th><th>" + escaped(overlap.second) +
                "</th></tr></thead><tbody>";
        for (std::size_t i = 0; i < std::max(query.first.size(), query.second.size()); ++i) {
            page += "<tr><td>" + std::to_string(i + 1) + "</td>" +
                    cell_of(query.first, i, query.second) + cell_of(query.second, i, query.first) +
                    "</tr>";
        }
        page += "</tbody></table></section>\n";
    }
    return page + "</main></body></html>\n";
}

}  // namespace braid::eval
