#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <utility>

#include "braid/core/waiting.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::core {

/// What an errand and those who wait for it share.
class ErrandState : private WaitObserver {
public:
    ErrandState() = default;
    ~ErrandState() override = default;
    ErrandState(const ErrandState&) = delete;
    ErrandState& operator=(const ErrandState&) = delete;
    ErrandState(ErrandState&&) = delete;
    ErrandState& operator=(ErrandState&&) = delete;

    /// Runs the work on this thread and reports that it is done.
    void run(const std::function<void()>& work);
    /// DeadlineExceeded or Cancelled if the limits end before the work does.
    Result<> await(const CallLimits& limits);
    bool done() const;

    std::stop_source stop;

private:
    void wait_begins() noexcept override { set_waiting(true); }
    void wait_ends() noexcept override { set_waiting(false); }
    void set_waiting(bool waiting) noexcept;

    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    bool done_ = false;
    bool waiting_ = false;  // for a disk or another machine
};

/// Work on its own thread. Nobody has to wait for it longer than he wants to.
template <class T>
class Errand {
public:
    Errand(Errand&&) noexcept = default;
    Errand& operator=(Errand&&) = delete;
    Errand(const Errand&) = delete;
    Errand& operator=(const Errand&) = delete;
    /// Asks the work to stop if it is still running; does not wait.
    ~Errand() {
        if (state_) state_->stop.request_stop();
    }

    /// Its outcome: may be asked for any number of times, from any thread. DeadlineExceeded or
    /// Cancelled once the limits end; the work continues.
    Result<T> wait(const CallLimits& limits) const {
        BRAID_CHECK(state_->await(limits));
        return *state_->result;  // NOLINT(bugprone-unchecked-optional-access): it is done
    }

    bool done() const { return state_->done(); }

private:
    friend class Crew;
    struct State final : ErrandState {
        std::optional<Result<T>> result;
    };

    explicit Errand(std::shared_ptr<State> state) : state_(std::move(state)) {}

    std::shared_ptr<State> state_;
};

/// Those who run errands. Destroying it asks all of them to stop and waits until they have. Safe
/// for concurrent use.
class Crew {
public:
    Crew();
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    Crew(Crew&&) = delete;
    Crew& operator=(Crew&&) = delete;

    /// Starts `work(limits)`, a Result<T>, at once. It is given the caller's limits with a stop of
    /// its own, and must own what it uses, apart from what outlives the crew. If it throws, it
    /// fails with ResourceExhausted for a lack of memory, otherwise with Unavailable.
    template <class T, class Work>
    Errand<T> send(CallLimits limits, Work work) {
        auto state = std::make_shared<typename Errand<T>::State>();
        limits.stop = state->stop.get_token();
        start(state, [result = &state->result, limits = std::move(limits), work = std::move(work)] {
            try {
                result->emplace(work(limits));
            } catch (const std::bad_alloc&) {
                result->emplace(fail(ErrorCode::ResourceExhausted, "out of memory"));
            } catch (const std::exception& thrown) {
                result->emplace(fail(ErrorCode::Unavailable, thrown.what()));
            }
        });
        return Errand<T>(std::move(state));
    }

private:
    struct Members;
    void start(std::shared_ptr<ErrandState> errand, std::function<void()> work);

    std::shared_ptr<Members> members_;
};

/// From now on crews are destroyed without waiting. For a program that ends by itself, and not by
/// returning from main, when errands are left: `errands_left()` says so.
void leave_errands_behind() noexcept;
bool errands_left() noexcept;

}  // namespace braid::core
