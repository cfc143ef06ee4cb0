#include <chrono>
#include <condition_variable>
#include <mutex>

#include "braid/local/backend.hpp"
#include "braid/local/memory_left.hpp"

namespace braid::local {
namespace {

/// While chunks stream in, whatever is built is soon outdated: waits for a moment without a flush,
/// but not forever. False if told to stop.
bool wait_for_a_pause(const Collection& collection, const std::stop_token& stop) {
    constexpr auto pause = std::chrono::seconds(1);
    constexpr int patience = 10;
    if (!stop.stop_possible()) return true;
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    for (int i = 0; i < patience && collection.since_flush() < pause; ++i) {
        never.wait_for(lock, stop, pause, [] { return false; });
        if (stop.stop_requested()) return false;
    }
    return true;
}

}  // namespace

void LocalBackend::derive_by_itself(const std::string& name, const std::stop_token& stop) {
    auto found = find(name);
    // What is about to be merged gets its graph afterwards.
    if (!found || stop.stop_requested() || !(*found)->derivation_due()) return;
    if (!wait_for_a_pause(**found, stop) || (*found)->merge_due()) return;
    const auto derived = with_memory_left([&] { return (*found)->derive(stop); });
    if (!derived) note_failed_job("given a graph", name, derived.error());
}

}  // namespace braid::local
