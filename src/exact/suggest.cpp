#include "braid/exact/suggest.hpp"

#include <utility>

#include "braid/core/edit_automaton.hpp"

namespace braid::exact {

Result<> VisibleWords::near(std::string_view term, const Nearness& nearness,
                            const Visit& visit) const {
    const std::size_t most = nearness.most;
    const std::string_view prefix = term.substr(0, nearness.exact_prefix);
    core::EditAutomaton automaton(term, most);
    for (const auto& [known, postings] : visible_.partition().postings()) {
        if (known.size() > term.size() + most || term.size() > known.size() + most) continue;
        if (!known.starts_with(prefix)) continue;
        automaton.shrink(0);
        if (automaton.grow(known) != std::string_view::npos) continue;
        if (const std::size_t distance = automaton.distance(); distance <= most) {
            visit(known, distance, postings.size());
        }
    }
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
