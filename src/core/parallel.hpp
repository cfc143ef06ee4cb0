#pragma once

#include <cstddef>
#include <functional>

namespace braid::core {

/// Runs task(0) ... task(count - 1) and returns when all are done. The caller works too, so a busy
/// machine never waits for a free thread; idle, every task has a thread of its own at once (up to
/// 64). Tasks must not throw. Safe for concurrent use, also from within a task.
void run_parallel(std::size_t count, const std::function<void(std::size_t)>& task);

}  // namespace braid::core
