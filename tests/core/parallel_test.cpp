#include "braid/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <mutex>
#include <numeric>
#include <set>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "braid/core/fair_shared_mutex.hpp"

namespace braid::core {
namespace {

// First, before this process has threads that a child would believe to have.
TEST(RunParallel, WorksWhereNoThreadCanBeStarted) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "sanitizers need the memory that this test takes away";
#else
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        // A new thread needs address space for its stack; there is none left to get.
        const rlimit nothing{1, 1};
        (void)::setrlimit(RLIMIT_AS, &nothing);
        int tasks = 0;
        run_parallel(5, [&](std::size_t) { ++tasks; });
        ::_exit(tasks == 5 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
#endif
}

TEST(RunParallel, RunsEveryTaskOnce) {
    for (const std::size_t count : {0UL, 1UL, 2UL, 3UL, 64UL, 65UL, 1000UL}) {
        std::vector<std::atomic<int>> runs(count);
        run_parallel(count, [&](std::size_t i) { ++runs[i]; });
        for (const auto& times : runs) EXPECT_EQ(times.load(), 1);
    }
}

TEST(RunParallel, TasksRunAtTheSameTime) {
    // Each waits for all the others: one thread for two of them would hang.
    for (const std::ptrdiff_t count : {2, 4, 16}) {
        std::barrier meeting(count);
        run_parallel(static_cast<std::size_t>(count),
                     [&](std::size_t) { meeting.arrive_and_wait(); });
    }
}

TEST(RunParallel, WhatTasksWroteIsSeenByTheCaller) {
    for (int round = 0; round < 200; ++round) {
        std::vector<int> results(8, 0);
        run_parallel(results.size(), [&](std::size_t i) { results[i] = static_cast<int>(i) + 1; });
        EXPECT_EQ(std::accumulate(results.begin(), results.end(), 0), 36);
    }
}

TEST(RunParallel, MayBeCalledFromWithinATask) {
    std::atomic<int> leaves = 0;
    run_parallel(8, [&](std::size_t) {
        run_parallel(8, [&](std::size_t) { run_parallel(4, [&](std::size_t) { ++leaves; }); });
    });
    EXPECT_EQ(leaves.load(), 256);
}

TEST(RunParallel, MayBeCalledFromManyThreads) {
    std::atomic<int> tasks = 0;
    std::vector<std::thread> callers;
    callers.reserve(16);
    for (int i = 0; i < 16; ++i) {
        callers.emplace_back([&] {
            for (int round = 0; round < 50; ++round) {
                run_parallel(6, [&](std::size_t) { ++tasks; });
            }
        });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(tasks.load(), 16 * 50 * 6);
}

TEST(RunComputing, RunsEveryTaskOnce) {
    for (const std::size_t count : {0UL, 1UL, 2UL, 3UL, 64UL, 1000UL}) {
        std::vector<std::atomic<int>> runs(count);
        run_computing(count, [&](std::size_t i) { ++runs[i]; });
        for (const auto& times : runs) EXPECT_EQ(times.load(), 1);
    }
}

TEST(RunComputing, UsesNoMoreThreadsThanThereAreCores) {
    const std::size_t cores = core::cores();
    std::mutex mutex;
    std::set<std::thread::id> threads;
    run_computing(200, [&](std::size_t) {
        std::this_thread::yield();
        const std::scoped_lock lock(mutex);
        threads.insert(std::this_thread::get_id());
    });
    EXPECT_LE(threads.size(), cores);
}

TEST(RunComputing, LeavesItAllToTheCallerWhereOthersUseTheCores) {
    const std::size_t cores = core::cores();
    std::barrier meeting(static_cast<std::ptrdiff_t>(cores) + 1);
    std::vector<std::thread> others;
    others.reserve(cores);
    for (std::size_t i = 0; i < cores; ++i) {
        others.emplace_back([&] {
            run_computing(1, [&](std::size_t) {
                meeting.arrive_and_wait();
                meeting.arrive_and_wait();
            });
        });
    }
    meeting.arrive_and_wait();
    std::set<std::thread::id> threads;
    run_computing(50, [&](std::size_t) { threads.insert(std::this_thread::get_id()); });
    meeting.arrive_and_wait();
    for (std::thread& other : others) other.join();
    EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

TEST(RunComputing, MayBeCalledFromManyThreadsAndFromWithinATask) {
    std::atomic<int> tasks = 0;
    const auto nested = [&](std::size_t) { run_computing(2, [&](std::size_t) { ++tasks; }); };
    std::vector<std::thread> callers;
    callers.reserve(8);
    for (int i = 0; i < 8; ++i) {
        callers.emplace_back([&] {
            for (int round = 0; round < 50; ++round) run_computing(3, nested);
        });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(tasks.load(), 8 * 50 * 3 * 2);
}

TEST(FairSharedMutex, AStreamOfReadersDoesNotStarveAWriter) {
    FairSharedMutex mutex;
    std::atomic<bool> stop = false;
    std::vector<std::thread> readers;
    readers.reserve(4);
    for (int i = 0; i < 4; ++i) {
        readers.emplace_back([&] {
            while (!stop) {
                const std::shared_lock lock(mutex);
                std::this_thread::yield();
            }
        });
    }
    int written = 0;
    for (int i = 0; i < 100; ++i) {
        const std::unique_lock lock(mutex);
        ++written;
    }
    stop = true;
    for (std::thread& thread : readers) thread.join();
    EXPECT_EQ(written, 100);
}

TEST(FairSharedMutex, WritersAreAlone) {
    FairSharedMutex mutex;
    int guarded = 0;
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 500; ++round) {
                {
                    const std::unique_lock lock(mutex);
                    ++guarded;
                }
                const std::shared_lock lock(mutex);
                EXPECT_GT(guarded, 0);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(guarded, 2000);
}

}  // namespace
}  // namespace braid::core
