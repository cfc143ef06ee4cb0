#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "braid/core/utf8.hpp"
#include "braid/json/fields.hpp"
#include "braid/service/operations.hpp"
#include "braid/service/parameters.hpp"
#include "braid/text/highlight.hpp"

namespace braid::service {
namespace {

using json::Fields;

constexpr std::size_t kUsualWindow = 300;
constexpr std::size_t kMaxWindow = 100'000;

/// Turns offsets of bytes that only grow into offsets of code points.
class CodePointOffsets {
public:
    explicit CodePointOffsets(std::string_view text) : text_(text) {}

    std::size_t of(std::size_t byte) {
        points_ += core::count_code_points(text_.substr(at_, byte - at_));
        at_ = byte;
        return points_;
    }

private:
    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t points_ = 0;
};

Value range(std::string_view text, std::size_t begin, std::size_t end) {
    CodePointOffsets offsets(text);
    const std::size_t first = offsets.of(begin);
    return Array{first, offsets.of(end)};
}

Value marked(const text::Highlighter& highlighter, std::string_view text, std::size_t window) {
    Array matches;
    CodePointOffsets offsets(text);
    for (const text::ByteRange& match : highlighter.matches(text)) {
        const std::size_t first = offsets.of(match.begin);
        matches.emplace_back(Array{first, offsets.of(match.end)});
    }
    const text::Snippet passage = highlighter.snippet(text, window);
    const auto begin =
        passage.text.empty() ? 0 : static_cast<std::size_t>(passage.text.data() - text.data());
    return Object{{"matches", std::move(matches)},
                  {"window", range(text, begin, begin + passage.text.size())}};
}

/// The highest right to a collection; none if it may not even be read.
std::optional<Access> highest(const Caller& caller, std::string_view collection) {
    for (const Access access : {Access::Admin, Access::Write, Access::Read}) {
        if (!caller.may || caller.may(access, collection)) return access;
    }
    return std::nullopt;
}

}  // namespace

Result<Value> Operations::highlight(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_scope(fields, caller, Access::Read));
    BRAID_TRY(const std::string query, read_text(fields, "query", caller.limits.query_bytes));
    BRAID_TRY(const auto texts, read_ids(fields, "texts", caller.limits.ids));
    BRAID_TRY(const std::size_t window, read_size(fields, "window", kUsualWindow, 1, kMaxWindow));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const CollectionInfo info, database_.describe(scope.collection, caller.principal));
    BRAID_TRY(auto analyzer, text::Analyzer::create({.name = info.schema.analyzer,
                                                     .language = info.schema.language,
                                                     .stop_words = info.schema.stop_words}));
    const text::Highlighter highlighter(std::move(analyzer), query);
    Array out;
    out.reserve(texts.size());
    for (const std::string& text : texts) out.push_back(marked(highlighter, text, window));
    return Value(Object{{"texts", std::move(out)}});
}

Result<Value> Operations::whoami(const Object& params, const Caller& caller) const {
    const Fields fields(params);
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const auto found, database_.collections(caller.principal));
    Object rights;
    for (const CollectionInfo& info : found) {
        if (const auto right = highest(caller, info.name)) rights.set(info.name, name_of(*right));
    }
    const auto everywhere = highest(caller, "*");
    const std::string& name = caller.principal.name;
    return Value(Object{{"name", name.empty() ? Value() : Value(name)},
                        {"sees_everything", caller.sees_everything()},
                        {"everywhere", everywhere ? Value(name_of(*everywhere)) : Value()},
                        {"collections", std::move(rights)}});
}

}  // namespace braid::service
