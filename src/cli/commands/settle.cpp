#include "braid/cli/commands/settle.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace braid::cli {

Result<> wait_until_settled(const Session& session, const service::Service& service,
                            const std::string& collection) {
    constexpr auto interval = std::chrono::milliseconds(20);
    const std::stop_token stop = session.interrupts.token();
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
        service::StatsRequest request;
        request.at.collection = collection;
        BRAID_TRY(const auto report, service.run(std::move(request)));
        // A caller who may not see everything is not told.
        if (!report.stats.index || report.stats.index->pending.empty()) return {};
        never.wait_for(lock, stop, interval, [] { return false; });
    }
    return fail(ErrorCode::Cancelled, "interrupted while indexes were being built");
}

}  // namespace braid::cli
