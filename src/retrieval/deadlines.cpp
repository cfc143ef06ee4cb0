#include "braid/retrieval/deadlines.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <string_view>

namespace braid::retrieval {

Result<CallLimits> limits_for(const Request& request, const Principal& principal,
                              CallLimits limits) {
    limits.realm = principal.name;
    const auto add = [&](std::string_view part) {
        limits.realm += '\0';
        limits.realm += part;
    };
    if (principal.clearance) add(*principal.clearance);
    for (const std::string& scope : principal.scopes) add(scope);
    limits.interactive = true;
    if (!request.deadline_ms) return limits;
    if (*request.deadline_ms < 1) return invalid_argument("\"deadline_ms\" must be 1 or more");
    const auto deadline = Clock::now() + std::chrono::milliseconds(*request.deadline_ms);
    if (!limits.deadline || deadline < *limits.deadline) limits.deadline = deadline;
    return limits;
}

void keep_time_to_answer(Work& work) {
    using std::chrono::milliseconds;
    CallLimits* const ends[] = {&work.vector_limits, &work.wait_limits, &work.leg_limits,
                                &work.stage_limits};
    for (CallLimits* const limits : ends) *limits = work.limits;
    work.vector_limits.bytes.reset();  // an embedder may hold them longer than the answer lives
    if (!work.limits.deadline) return;
    const Clock::duration left = std::max(*work.limits.deadline - Clock::now(), Clock::duration(0));
    const Clock::duration kept = std::min(
        std::clamp<Clock::duration>(left / 8, milliseconds(5), milliseconds(200)), left / 2);
    Clock::time_point end = *work.limits.deadline - kept;
    for (CallLimits* const limits : ends) {
        limits->deadline = end;
        end += kept / static_cast<int>(std::size(ends));
    }
}

}  // namespace braid::retrieval
