#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"

namespace braid::eval {

struct Query {
    std::string id;
    std::string text;

    friend bool operator==(const Query&, const Query&) = default;
};

/// Reads queries in file order: BEIR's JSON lines with `_id` and `text` (other members are passed
/// over) if the first line starts with "{", else lines of `id<TAB>text`, where a first line that
/// only names the two columns ("query-id", "qid", "_id" or "id"; "text" or "query") is skipped.
///
/// `source` stands in messages for the file. InvalidArgument, with file and line, if a line is
/// malformed, an id or a text is empty, an id holds white space (no run could name it), or an id
/// appears twice (the message names both lines). A text without lines holds no queries.
Result<std::vector<Query>> parse_queries(std::string_view text, std::string_view source);
Result<std::vector<Query>> read_queries(const std::string& path);

}  // namespace braid::eval
