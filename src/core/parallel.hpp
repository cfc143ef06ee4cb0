#pragma once

#include <cstddef>
#include <functional>

namespace braid::core {

/// How many cores this process may use: all of the machine's, unless it is bound to some.
std::size_t cores() noexcept;

/// Runs task(0) ... task(count - 1) and returns when all are done. The caller works too, so a busy
/// machine never waits for a free thread; idle, every task has a thread of its own at once (up to
/// 64). Tasks must not throw. Safe for concurrent use, also from within a task.
void run_parallel(std::size_t count, const std::function<void(std::size_t)>& task);

/// The same for tasks that compute rather than wait: uses only as many threads as other such calls
/// leave cores free. On a busy machine the caller does all the work, without having to wait for
/// threads that wait for a core.
void run_computing(std::size_t count, const std::function<void(std::size_t)>& task);

}  // namespace braid::core
