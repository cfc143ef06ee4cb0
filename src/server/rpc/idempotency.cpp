#include "braid/server/rpc/idempotency.hpp"

#include <iterator>
#include <utility>

namespace braid::server {
namespace {

constexpr std::size_t kNodeBytes = 300;  // of the list and the map, roughly

std::size_t size_of(const net::OutgoingResponse& response) {
    std::size_t bytes = response.body.size();
    for (const net::HttpHeader& header : response.headers) {
        bytes += header.name.size() + header.value.size() + sizeof(net::HttpHeader);
    }
    return bytes;
}

}  // namespace

IdempotencyStore::Begun IdempotencyStore::begin(const std::string& key, std::string_view body,
                                                Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
        const Place entry = found->second;
        const bool old = entry->response && now - entry->begun > max_age_;
        if (!old) {
            entries_.splice(entries_.begin(), entries_, entry);
            if (entry->body != body) return {State::Differs, std::nullopt};
            if (!entry->response) return {State::Running, std::nullopt};
            return {State::Done, entry->response};
        }
        drop(entry);
    }
    const std::size_t bytes = 2 * key.size() + body.size() + kNodeBytes;
    make_room(bytes);
    entries_.push_front({key, std::string(body), std::nullopt, now, bytes});
    by_key_.emplace(entries_.front().key, entries_.begin());
    bytes_ += bytes;
    return {};
}

void IdempotencyStore::finish(const std::string& key, const net::OutgoingResponse& response) {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return;
    const Place entry = found->second;
    const std::size_t bytes = size_of(response);
    if (entry->bytes + bytes > max_bytes_) {
        drop(entry);
        return;
    }
    entry->response = response;
    entry->bytes += bytes;
    bytes_ += bytes;
    entries_.splice(entries_.begin(), entries_, entry);
    make_room(0);
}

void IdempotencyStore::abandon(const std::string& key) {
    const std::lock_guard lock(mutex_);
    if (const auto found = by_key_.find(key); found != by_key_.end()) drop(found->second);
}

std::size_t IdempotencyStore::size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

std::size_t IdempotencyStore::bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

void IdempotencyStore::drop(Place entry) {
    bytes_ -= entry->bytes;
    by_key_.erase(entry->key);
    entries_.erase(entry);
}

void IdempotencyStore::make_room(std::size_t bytes) {
    // Those in progress stay: there are no more of them than requests in progress.
    for (auto entry = entries_.end(); entry != entries_.begin() && bytes_ + bytes > max_bytes_;) {
        const auto last = std::prev(entry);
        if (last->response) {
            drop(last);
        } else {
            entry = last;
        }
    }
}

}  // namespace braid::server
