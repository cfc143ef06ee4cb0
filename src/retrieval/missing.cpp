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
    const bool explain = work.request.explain;
    say(!can.exact_dense && dense && work.request.exact,
        "this database has no exact dense search: \"exact\" was not heeded");
    say(!can.scoped_statistics && sparse && !work.principal.sees_everything(),
        "this database weighs words by all of its chunks, also by those that may not be seen");
    say(!can.snapshots && more,
        "this database has no snapshots: what is written meanwhile may change later pages");
    say(!can.whole_ranking && explain,
        "this database does not know ranks of whole lists: \"explain\" shows scores only");
    say(!can.exact_lengths && sparse && explain, "this database rounds the lengths of texts");
    say(!can.live_df && sparse && explain,
        "this database may count deleted chunks when it weighs words");
}

}  // namespace braid::retrieval
