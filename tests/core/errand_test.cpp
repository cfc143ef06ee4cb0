// Work that its caller may stop waiting for. Latches, not clocks, say who comes first.

#include "braid/core/errand.hpp"

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace braid::core {
namespace {

using std::chrono::milliseconds;

CallLimits over_in(milliseconds time) {
    CallLimits limits;
    limits.deadline = std::chrono::steady_clock::now() + time;
    return limits;
}

/// Waits until it is asked to stop.
Result<int> until_stopped(const CallLimits& limits) {
    while (!limits.stopped()) std::this_thread::sleep_for(milliseconds(1));
    return fail(ErrorCode::Cancelled, "stopped");
}

TEST(Errand, GivesWhatItsWorkGave) {
    Crew crew;
    const auto errand = crew.send<int>({}, [](const CallLimits&) -> Result<int> { return 7; });
    EXPECT_EQ(*errand.wait({}), 7);
    EXPECT_EQ(*errand.wait({}), 7);  // as often as one likes
}

TEST(Errand, WorkGoesOnWhenACallerStopsWaiting) {
    Crew crew;
    std::latch go(1);
    const auto errand = crew.send<int>({}, [&](const CallLimits&) -> Result<int> {
        go.wait();
        return 7;
    });
    EXPECT_EQ(errand.wait(over_in(milliseconds(0))).error().code, ErrorCode::DeadlineExceeded);
    std::stop_source stop;
    stop.request_stop();
    CallLimits cancelled;
    cancelled.stop = stop.get_token();
    EXPECT_EQ(errand.wait(cancelled).error().code, ErrorCode::Cancelled);
    go.count_down();
    EXPECT_EQ(*errand.wait({}), 7);
}

TEST(Errand, LettingGoOfItAsksItToStop) {
    Crew crew;
    const auto stopped = std::make_shared<std::latch>(1);
    {
        const auto errand = crew.send<int>({}, [stopped](const CallLimits& limits) {
            auto result = until_stopped(limits);
            stopped->count_down();
            return result;
        });
    }
    stopped->wait();
}

TEST(Errand, ACrewWaitsForAllItSent) {
    std::atomic<int> back = 0;
    {
        Crew crew;
        std::vector<Errand<int>> errands;
        for (int i = 0; i < 8; ++i) {
            errands.push_back(crew.send<int>({}, [&back](const CallLimits& limits) {
                auto result = until_stopped(limits);
                ++back;
                return result;
            }));
        }
        EXPECT_TRUE(errands_left());
    }
    EXPECT_EQ(back, 8);
}

TEST(Errand, WhatItThrowsIsItsFailure) {
    Crew crew;
    const auto errand = crew.send<int>(
        {}, [](const CallLimits&) -> Result<int> { throw std::runtime_error("no luck"); });
    const auto result = errand.wait({});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error(), (Error{ErrorCode::Unavailable, "no luck"}));
}

class CountingObserver final : public WaitObserver {
public:
    void wait_begins() noexcept override { ++begun; }
    void wait_ends() noexcept override { ++ended; }

    std::atomic<int> begun = 0;
    std::atomic<int> ended = 0;
};

TEST(Errand, WhoWaitsForOneThatWaitsIsSeenToWait) {
    Crew crew;
    std::latch seen(1);
    CountingObserver observer;
    const auto errand = crew.send<int>({}, [&](const CallLimits&) -> Result<int> {
        const Waiting waiting;
        seen.wait();
        return 7;
    });
    observe_waits(&observer);
    std::jthread watcher([&] {
        while (observer.begun == 0) std::this_thread::sleep_for(milliseconds(1));
        seen.count_down();
    });
    EXPECT_EQ(*errand.wait({}), 7);
    EXPECT_EQ(observe_waits(nullptr), &observer);
    EXPECT_GE(observer.begun, 1);
    EXPECT_EQ(observer.begun, observer.ended);
}

}  // namespace
}  // namespace braid::core
