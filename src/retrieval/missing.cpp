#include "braid/retrieval/missing.hpp"

#include <algorithm>

namespace braid::retrieval {

void name_what_was_missing(Work& work, bool more) {
    const Capabilities can = work.backend.capabilities();
    const auto say = [&](bool missing, const char* what) {
        if (missing) work.answer.warnings.emplace_back(what);
    };
    const bool dense = std::ranges::any_of(work.plan.collections, &CollectionPlan::dense);
    const bool sparse = std::ranges::any_of(work.plan.collections, &CollectionPlan::sparse);
    const bool nothing = work.answer.hits.empty() &&
                         std::ranges::none_of(work.answer.sources, [](const SourceReport& one) {
                             return one.source == "sparse" && (!one.ran || one.matched > 0);
                         });
    const bool explain = work.request.explain;
    say(!can.exact_dense && dense && work.request.exact,
        "this database has no exact dense search: \"exact\" was ignored");
    say(!can.scoped_statistics && sparse && !work.principal.sees_everything(),
        "this database weights words by all its chunks, including those you may not see");
    const bool fixed = !can.bm25_choice &&
                       std::ranges::any_of(work.plan.collections, [](const CollectionPlan& one) {
                           return one.sparse && !one.bm25.empty();
                       });
    say(fixed, "this database scores words only as its collections say: \"bm25\" was ignored");
    if (fixed) work.answer.unused.emplace_back("bm25");
    say(!can.snapshots && more,
        "this database has no snapshots: what is written meanwhile may change later pages");
    say(!can.query_language && sparse && nothing && work.request.typos,
        "this database corrects no misspelt words");
    say(!can.whole_ranking && explain,
        "this database does not rank whole lists: \"explain\" shows only scores");
    say(!can.exact_lengths && sparse && explain, "this database rounds the lengths of texts");
    say(!can.live_df && sparse && explain,
        "this database may count deleted chunks when it weights words");
}

}  // namespace braid::retrieval
