#include "braid/remote/write_summary.hpp"

#include <random>
#include <utility>

#include "braid/index/ids.hpp"

namespace braid::remote {

Version new_version() {
    constexpr Version kMost = (Version{1} << 53U) - 1;
    thread_local std::random_device random;
    std::uniform_int_distribution<Version> any(1, kMost);
    return any(random);
}

Result<WriteReport> sum_up(std::span<const BulkOperation> operations,
                           std::span<const BulkOutcome> outcomes, Version version) {
    WriteReport report{.version = version};
    std::uint64_t removed = 0;
    std::size_t refused = 0;
    const BulkOperation* first_refused = nullptr;
    Error why;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const bool removes = operations[i].kind == BulkOperation::Kind::Remove;
        if (outcomes[i].kind == BulkOutcome::Kind::Done) {
            ++(removes ? removed : report.written);
            if (operations[i].kind == BulkOperation::Kind::Replace) ++report.replaced;
            continue;
        }
        if (refused++ > 0) continue;
        first_refused = &operations[i];
        why = outcomes[i].kind == BulkOutcome::Kind::Conflict
                  ? Error{ErrorCode::Conflict,
                          removes ? "it was changed by another writer before its removal"
                                  : "it was changed by another writer meanwhile"}
                  : outcomes[i].error;
    }
    report.removed = removed;
    if (refused == 0) return report;
    std::string message = "chunk \"" + index::shown(first_refused->chunk_id) + "\": " + why.message;
    if (operations.size() > 1) {
        message += "; of " + std::to_string(operations.size()) + " changes, " +
                   std::to_string(operations.size() - refused) +
                   " took effect: a cluster does not write batches atomically";
    }
    return fail(why.code, std::move(message));
}

}  // namespace braid::remote
