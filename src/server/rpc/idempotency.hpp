#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "braid/net/http/server.hpp"

namespace braid::server {

/// Whether a repetition would get the same answer: a failure that may succeed next time must not be
/// remembered.
constexpr bool is_final(int status) noexcept {
    return status < 500 && status != 429 && status != 499;
}

/// Remembers the answers to writes with an Idempotency-Key, so that a repetition gets the same
/// answer and writes nothing. Bounded in bytes and in age: the least recently used go first. Safe
/// for concurrent use.
class IdempotencyStore {
public:
    using Clock = std::chrono::steady_clock;

    explicit IdempotencyStore(std::size_t max_bytes,
                              std::chrono::seconds max_age = std::chrono::hours(24))
        : max_bytes_(max_bytes), max_age_(max_age) {}

    enum class State {
        New,      // the caller does the work, then calls finish() or abandon()
        Done,     // `response` is the answer
        Running,  // the same request is at work
        Differs,  // the key was used for another request
    };
    struct Begun {
        State state = State::New;
        std::optional<net::OutgoingResponse> response;
    };

    /// `key` says who asks for what under which key; `body` is a hash of what is sent.
    Begun begin(const std::string& key, std::string_view body,
                Clock::time_point now = Clock::now());
    void finish(const std::string& key, const net::OutgoingResponse& response);
    /// The work was not done: the next request starts afresh.
    void abandon(const std::string& key);

    std::size_t size() const;
    std::size_t bytes() const;

private:
    struct Entry {
        std::string key;
        std::string body;
        std::optional<net::OutgoingResponse> response;  // none: at work
        Clock::time_point begun;
        std::size_t bytes = 0;
    };
    using Place = std::list<Entry>::iterator;

    void drop(Place entry);
    void make_room(std::size_t bytes);

    const std::size_t max_bytes_;
    const std::chrono::seconds max_age_;
    mutable std::mutex mutex_;
    std::list<Entry> entries_;  // most recently used first
    std::unordered_map<std::string_view, Place> by_key_;
    std::size_t bytes_ = 0;
};

}  // namespace braid::server
