#include "braid/eval/queries.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "braid/eval/lines.hpp"
#include "braid/json/json.hpp"

namespace braid::eval {
namespace {

bool is_tsv_header(std::string_view line) {
    constexpr std::array<std::string_view, 4> ids{"query-id", "qid", "_id", "id"};
    constexpr std::array<std::string_view, 2> texts{"text", "query"};
    const std::vector<std::string_view> columns = split_at(line, '\t');
    return columns.size() == 2 &&
           std::find(ids.begin(), ids.end(), trimmed(columns[0])) != ids.end() &&
           std::find(texts.begin(), texts.end(), trimmed(columns[1])) != texts.end();
}

Result<Query> query_of_tsv(std::string_view line, const Lines& lines) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
        return lines.complain("expected an id, a tab and the query's text, but found no tab");
    }
    return Query{std::string(trimmed(line.substr(0, tab))),
                 std::string(trimmed(line.substr(tab + 1)))};
}

Result<Query> query_of_json(std::string_view line, json::Parser& parser, const Lines& lines) {
    const Result<Value> value = parser.parse(line);
    if (!value) return lines.complain(value.error().message);
    const Value* id = value->find("_id");
    const Value* text = value->find("text");
    if (id == nullptr || !(id->is_string() || id->is_int())) {
        return lines.complain("expected a JSON object whose \"_id\" is a string");
    }
    if (text == nullptr || !text->is_string()) {
        return lines.complain("expected a JSON object whose \"text\" is a string");
    }
    return Query{id->is_string() ? id->as_string() : std::to_string(id->as_int()),
                 std::string(trimmed(text->as_string()))};
}

Result<> check(const Query& query, const Lines& lines) {
    if (!is_word(query.id)) {
        return lines.complain("the id " + shown(query.id) + " is empty or holds white space");
    }
    if (query.text.empty()) return lines.complain("query " + shown(query.id) + " has no text");
    return {};
}

}  // namespace

Result<std::vector<Query>> parse_queries(std::string_view text, std::string_view source) {
    std::vector<Query> queries;
    std::unordered_map<std::string, std::size_t> line_of;
    json::Parser parser;
    Lines lines(text, source);
    BRAID_TRY(std::optional<std::string_view> line, lines.next());
    const bool json = line && trimmed(*line).starts_with('{');
    if (line && !json && is_tsv_header(*line)) {
        BRAID_TRY(line, lines.next());
    }
    while (line) {
        BRAID_TRY(Query query,
                  json ? query_of_json(*line, parser, lines) : query_of_tsv(*line, lines));
        BRAID_CHECK(check(query, lines));
        const auto [first, is_new] = line_of.try_emplace(query.id, lines.number());
        if (!is_new) {
            return lines.complain("query " + shown(query.id) + " is already on line " +
                                  std::to_string(first->second));
        }
        queries.push_back(std::move(query));
        BRAID_TRY(line, lines.next());
    }
    return queries;
}

Result<std::vector<Query>> read_queries(const std::string& path) {
    BRAID_TRY(const std::string text, read_file(path));
    return parse_queries(text, path);
}

}  // namespace braid::eval
