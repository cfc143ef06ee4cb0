#include "braid/index/view.hpp"

#include <unordered_map>

namespace braid::index {

std::vector<QueryTerm> counted(std::span<const std::string> terms) {
    std::vector<QueryTerm> out;
    std::unordered_map<std::string_view, std::size_t> seen;
    for (const std::string& term : terms) {
        const auto [found, inserted] = seen.try_emplace(term, out.size());
        if (inserted) {
            out.push_back({term, 1});
        } else {
            out[found->second].repeated += 1;
        }
    }
    return out;
}

}  // namespace braid::index
