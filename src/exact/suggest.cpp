#include "braid/exact/suggest.hpp"

#include <utility>

namespace braid::exact {

Result<> VisibleWords::each(const std::function<Result<>(std::string_view)>& visit) const {
    for (const auto& [term, postings] : visible_.partition().postings()) BRAID_CHECK(visit(term));
    return {};
}

Result<index::Words::Seen> VisibleWords::seen(std::string_view term) const {
    Seen seen;
    Row last = kNoRow;
    for (const sparse::Posting& posting : visible_.partition().postings().find(term)) {
        const Row row{posting.row};
        if (row == std::exchange(last, row) || !visible_.shows(row)) continue;
        const std::string& id = visible_.partition().chunk(row).chunk_id;
        if (++seen.chunks == 1 || id < seen.first) seen.first = id;
    }
    return seen;
}

Result<Chunk> VisibleWords::chunk(const std::string& id) const {
    const Row row = visible_.find(id);
    if (row == kNoRow) return fail(ErrorCode::NotFound, "there is no chunk \"" + id + "\"");
    return visible_.partition().chunk(row);
}

}  // namespace braid::exact
