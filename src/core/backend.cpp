#include "braid/backend.hpp"

#include <exception>
#include <new>

#include "braid/core/parallel.hpp"

namespace braid {

std::vector<Result<LegResult>> Backend::search(const SnapshotPtr& snapshot,
                                               std::span<const Leg> legs,
                                               const CallLimits& limits) const {
    std::vector<Result<LegResult>> results(legs.size());
    core::run_parallel(legs.size(), [&](std::size_t i) {
        try {
            results[i] = search_leg(snapshot, legs[i], limits);
        } catch (const std::bad_alloc&) {
            results[i] = fail(ErrorCode::ResourceExhausted, "out of memory");
        } catch (const std::exception& error) {  // a library below us, or a user's backend
            results[i] = fail(ErrorCode::Unavailable, error.what());
        }
    });
    return results;
}

}  // namespace braid
