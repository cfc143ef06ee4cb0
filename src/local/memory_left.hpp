#pragma once

#include <new>

#include "braid/result.hpp"

namespace braid::local {

/// What `job` returns, or ResourceExhausted if memory ran out: on a background thread nobody else
/// would catch that, and the process would end.
template <class Job>
auto with_memory_left(Job job) -> decltype(job()) {
    try {
        return job();
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::ResourceExhausted, "there is not enough memory");
    }
}

}  // namespace braid::local
