#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "braid/answer.hpp"
#include "braid/core/byte_budget.hpp"
#include "braid/core/charge.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::engine {

/// Admits the answers of a batch, each made under a budget of its own, to the budget of the whole:
/// in order, whichever is ready first, as soon as those before it are admitted. One that does not
/// fit becomes an error and its memory is freed at once, so a batch never holds more than its
/// budget plus what is being made. Safe for concurrent use.
class BatchAdmission {
public:
    /// Both must outlive it.
    BatchAdmission(std::vector<Result<Answer>>& answers, const CallLimits& limits)
        : answers_(answers), limits_(limits), made_(answers.size()) {}

    /// Answer `i` is ready, made under `own`.
    void done(std::size_t i, const CallLimits& own) {
        if (!limits_.bytes) return;
        const std::scoped_lock lock(mutex_);
        made_[i] = own.bytes;
        for (; next_ < made_.size() && made_[next_]; ++next_) {
            const auto budget = std::exchange(made_[next_], nullptr);
            if (!answers_[next_]) continue;
            const std::size_t bytes = budget->used();
            budget->give_back(bytes);  // they move, and do not count twice
            if (const auto fits = core::charge(limits_, bytes); !fits) {
                answers_[next_] = tl::unexpected(fits.error());
            }
        }
    }

private:
    std::vector<Result<Answer>>& answers_;
    const CallLimits& limits_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<ByteBudget>> made_;
    std::size_t next_ = 0;
};

}  // namespace braid::engine
