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

tl::unexpected<Error> wrong_version(const std::string& id, Version found, Version expected) {
    return fail(ErrorCode::Conflict, "chunk \"" + id + "\" has version " + std::to_string(found) +
                                         ", not " + std::to_string(expected));
}

Result<WriteReport> sum_up(std::span<const BulkOperation> operations,
                           std::span<const BulkOutcome> outcomes, Version version) {
    using Kind = BulkOutcome::Kind;
    WriteReport report{.version = version};
    std::uint64_t removed = 0;
    std::size_t refused = 0;
    const BulkOperation* first_refused = nullptr;
    Error why;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const bool writes = operations[i].version != 0;
        switch (outcomes[i].kind) {
            case Kind::Replaced:
                ++report.replaced;
                [[fallthrough]];
            case Kind::Created:
                ++report.written;
                break;
            case Kind::Removed:
                ++removed;
                break;
            case Kind::Absent:
                break;
            default:
                if (refused++ > 0) break;
                first_refused = &operations[i];
                why = outcomes[i].kind == Kind::Conflict
                          ? Error{ErrorCode::Conflict,
                                  writes ? "it was changed by somebody else meanwhile"
                                         : "it was changed by somebody else before its removal"}
                          : outcomes[i].error;
        }
    }
    report.removed = removed;
    if (refused == 0) return report;
    std::string message = "chunk \"" + index::shown(first_refused->chunk_id) + "\": " + why.message;
    if (operations.size() > 1) {
        message += "; of " + std::to_string(operations.size()) + " changes, " +
                   std::to_string(operations.size() - refused) +
                   " were made and are kept: a cluster does not write batches whole";
    }
    return fail(why.code, std::move(message));
}

}  // namespace braid::remote
