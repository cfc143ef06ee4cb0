#include "braid/index/view.hpp"

#include <unordered_map>

namespace braid::index {

std::vector<QueryTerm> query_terms(const text::Analyzer& analyzer, std::string_view text) {
    std::vector<QueryTerm> terms;
    std::unordered_map<std::string, std::size_t> seen;
    for (std::string& term : analyzer.query_terms(text)) {
        const auto [found, inserted] = seen.try_emplace(term, terms.size());
        if (inserted) {
            terms.push_back({std::move(term), 1});
        } else {
            terms[found->second].repeated += 1;
        }
    }
    return terms;
}

}  // namespace braid::index
