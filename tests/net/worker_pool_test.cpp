#include "braid/net/http/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <vector>

#include <gtest/gtest.h>

namespace braid::net {
namespace {

constexpr std::chrono::hours kForever{1};

TEST(WorkerPool, RunsTasksInTheOrderTheyCame) {
    std::vector<int> order;
    WorkerPool pool({.computing = 1, .spare = 3, .patience = kForever});
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(pool.post([&order, i] { order.push_back(i); }));
    pool.finish();
    ASSERT_EQ(order.size(), 100U);
    EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST(WorkerPool, NoMoreComputeAtOnceThanItIsTold) {
    std::atomic<int> now = 0;
    std::atomic<int> most = 0;
    WorkerPool pool({.computing = 2, .spare = 6, .patience = kForever});
    for (int i = 0; i < 500; ++i) {
        ASSERT_TRUE(pool.post([&] {
            const int here = ++now;
            for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) {
            }
            std::this_thread::yield();
            --now;
        }));
    }
    pool.finish();
    EXPECT_LE(most, 2);
}

TEST(WorkerPool, ATaskThatWaitsMakesPlaceForTheNext) {
    for (int round = 0; round < 50; ++round) {
        std::latch second_ran(1);
        WorkerPool pool({.computing = 1, .spare = 1, .patience = kForever});
        ASSERT_TRUE(pool.post([&] {
            const core::Waiting waiting;
            const core::Waiting again;  // a wait within a wait is one
            second_ran.wait();
        }));
        ASSERT_TRUE(pool.post([&] { second_ran.count_down(); }));
        pool.finish();
    }
}

TEST(WorkerPool, WhoeverWaitsTooLongGetsASpareThread) {
    for (int round = 0; round < 20; ++round) {
        std::latch others_ran(3);
        WorkerPool pool({.computing = 1, .spare = 1, .patience = std::chrono::milliseconds(1)});
        ASSERT_TRUE(pool.post([&] { others_ran.wait(); }));
        for (int i = 0; i < 3; ++i) ASSERT_TRUE(pool.post([&] { others_ran.count_down(); }));
        others_ran.wait();
        pool.finish();
    }
}

TEST(WorkerPool, RefusesWhatTooManyWaitBefore) {
    std::latch begun(1);
    std::latch release(1);
    std::atomic<int> ran = 0;
    WorkerPool pool({.computing = 1, .max_waiting = 2, .patience = kForever});
    ASSERT_TRUE(pool.post([&] {
        begun.count_down();
        release.wait();
    }));
    begun.wait();
    EXPECT_TRUE(pool.post([&] { ++ran; }));
    EXPECT_TRUE(pool.post([&] { ++ran; }));
    EXPECT_FALSE(pool.post([&] { ++ran; }));
    release.count_down();
    pool.finish();
    EXPECT_EQ(ran, 2);
}

TEST(WorkerPool, ManyPostersAndWaitersLoseNothing) {
    std::atomic<int> ran = 0;
    {
        WorkerPool pool({.computing = 2, .spare = 3, .max_waiting = 100'000});
        const auto wait_and_run = [&ran] {
            {
                const core::Waiting waiting;
                std::this_thread::yield();
            }
            ++ran;
        };
        const auto just_run = [&ran] { ++ran; };
        std::vector<std::jthread> posters;
        posters.reserve(4);
        for (int p = 0; p < 4; ++p) {
            posters.emplace_back([&] {
                for (int i = 0; i < 500; ++i) {
                    EXPECT_TRUE(i % 3 == 0 ? pool.post(wait_and_run) : pool.post(just_run));
                }
            });
        }
        posters.clear();
        pool.finish();
    }
    EXPECT_EQ(ran, 2000);
}

}  // namespace
}  // namespace braid::net
