#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "braid/backend.hpp"
#include "braid/core/code_point_offsets.hpp"
#include "braid/service/bounds.hpp"
#include "braid/service/operations.hpp"
#include "braid/text/highlight.hpp"

namespace braid::service {
namespace {

TextRange range(std::string_view text, std::size_t begin, std::size_t end) {
    core::CodePointOffsets offsets(text);
    const std::size_t first = offsets.of(begin);
    return {first, offsets.of(end)};
}

HighlightedText marked(const text::Highlighter& highlighter, std::string_view text,
                       std::size_t window) {
    HighlightedText out;
    core::CodePointOffsets offsets(text);
    for (const text::ByteRange& match : highlighter.matches(text)) {
        const std::size_t first = offsets.of(match.begin);
        out.matches.push_back({first, offsets.of(match.end)});
    }
    const text::Snippet passage = highlighter.snippet(text, window);
    const auto begin =
        passage.text.empty() ? 0 : static_cast<std::size_t>(passage.text.data() - text.data());
    out.window = range(text, begin, begin + passage.text.size());
    return out;
}

/// The highest right to a collection; none if it may not even be read.
std::optional<Access> highest(const Caller& caller, std::string_view collection) {
    for (const Access access : {Access::Admin, Access::Write, Access::Read}) {
        if (!caller.may || caller.may(access, collection)) return access;
    }
    return std::nullopt;
}

}  // namespace

Result<std::vector<HighlightedText>> Operations::perform(const HighlightRequest& wanted,
                                                         const Caller& caller) const {
    BRAID_TRY(const ReadScope scope, scope_of(wanted.at, caller, Access::Read));
    BRAID_CHECK(some_text("query", wanted.query, caller.limits.query_bytes));
    BRAID_CHECK(some_ids("texts", wanted.texts.size(), caller.limits.ids));
    BRAID_CHECK(from_to("window", wanted.window, 1, HighlightRequest::kMaxWindow));
    BRAID_TRY(const auto snapshot,
              database_.backend().snapshot(std::span(&scope.collection, 1), caller.call));
    BRAID_TRY(const Schema schema, snapshot->schema(scope.collection));
    BRAID_TRY(auto analyzer, text::Analyzer::create({.name = schema.analyzer,
                                                     .language = schema.language,
                                                     .stop_words = schema.stop_words}));
    const text::Highlighter highlighter(std::move(analyzer), wanted.query);
    std::vector<HighlightedText> out;
    out.reserve(wanted.texts.size());
    for (const std::string& text : wanted.texts) {
        out.push_back(marked(highlighter, text, wanted.window));
    }
    return out;
}

Result<CallerRights> Operations::perform(const WhoamiRequest& /*wanted*/,
                                         const Caller& caller) const {
    BRAID_TRY(const auto found, database_.collections(caller.principal));
    CallerRights rights{
        caller.principal.name, caller.sees_everything(), highest(caller, "*"), {}, caller.grants};
    for (const CollectionInfo& info : found) {
        if (const auto right = highest(caller, info.name)) {
            rights.collections.emplace_back(info.name, *right);
        }
    }
    return rights;
}

}  // namespace braid::service
