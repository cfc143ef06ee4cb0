#include "braid/backend.hpp"

#include <exception>
#include <new>

#include "braid/core/search_legs.hpp"

namespace braid {

std::vector<Result<LegResult>> core::search_legs(const Backend& backend,
                                                 const SnapshotPtr& snapshot,
                                                 std::span<const Leg> legs,
                                                 const CallLimits& limits,
                                                 decltype(run_parallel)& run) {
    std::vector<Result<LegResult>> results(legs.size());
    run(legs.size(), [&](std::size_t i) {
        try {
            results[i] = backend.search_leg(snapshot, legs[i], limits);
        } catch (const std::bad_alloc&) {
            results[i] = fail(ErrorCode::ResourceExhausted, "out of memory");
        } catch (const std::exception& error) {  // a library below us, or a user's backend
            results[i] = fail(ErrorCode::Unavailable, error.what());
        }
    });
    return results;
}

std::vector<Result<LegResult>> Backend::search(const SnapshotPtr& snapshot,
                                               std::span<const Leg> legs,
                                               const CallLimits& limits) const {
    return core::search_legs(*this, snapshot, legs, limits, core::run_parallel);
}

}  // namespace braid
