#include "braid/core/search_legs.hpp"

#include <exception>
#include <new>

namespace braid {

std::vector<Result<LegResult>> core::search_legs(
    std::span<const Leg> legs, const std::function<Result<LegResult>(const Leg&)>& search_leg,
    decltype(run_parallel)& run) {
    std::vector<Result<LegResult>> results(legs.size());
    run(legs.size(), [&](std::size_t i) {
        try {
            results[i] = search_leg(legs[i]);
        } catch (const std::bad_alloc&) {
            results[i] = fail(ErrorCode::ResourceExhausted, "out of memory");
        } catch (const std::exception& error) {  // a library below us, or a user's backend
            results[i] = fail(ErrorCode::Unavailable, error.what());
        }
    });
    return results;
}

std::vector<Result<LegResult>> search_each(
    std::span<const Leg> legs, const std::function<Result<LegResult>(const Leg&)>& search_leg) {
    return core::search_legs(legs, search_leg, core::run_parallel);
}

}  // namespace braid
