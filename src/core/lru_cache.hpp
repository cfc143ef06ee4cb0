#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace braid::core {

struct LruStats {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::size_t entries = 0;
    std::size_t bytes = 0;
};

/// Least-recently-used store, bounded in bytes: those of the value, as `BytesOf` counts them, of
/// the key, and of the nodes that hold both. Safe for concurrent use.
template <class T, class BytesOf>
class LruCache {
public:
    using Stats = LruStats;

    explicit LruCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}
    LruCache(const LruCache&) = delete;
    LruCache& operator=(const LruCache&) = delete;
    LruCache(LruCache&&) = delete;
    LruCache& operator=(LruCache&&) = delete;
    ~LruCache() = default;

    std::optional<T> find(std::string_view key) {
        const std::scoped_lock lock(mutex_);
        auto found = look_up(key);
        if (!found) ++stats_.misses;
        return found;
    }

    /// The same for a caller that will call find() if there is nothing: a miss does not count.
    std::optional<T> find_present(std::string_view key) {
        const std::scoped_lock lock(mutex_);
        return look_up(key);
    }

    /// Replaces the key's value. A value larger than the cache is not kept.
    void insert(std::string_view key, T value) {
        Entry entry{std::string(key), std::move(value)};
        const std::size_t bytes = bytes_of(entry);
        if (bytes > max_bytes_) return;
        const std::scoped_lock lock(mutex_);
        if (const auto old = by_key_.find(key); old != by_key_.end()) drop(old->second);
        add(std::move(entry), bytes);
    }

    /// Keeps the value unless the key has one already, and returns the one that counts: threads
    /// that made it at the same time continue with the same one. A value larger than the cache is
    /// not kept.
    T insert_once(std::string_view key, T value) {
        const std::scoped_lock lock(mutex_);
        if (const auto held = by_key_.find(key); held != by_key_.end()) return held->second->value;
        Entry entry{std::string(key), value};
        const std::size_t bytes = bytes_of(entry);
        if (bytes <= max_bytes_) add(std::move(entry), bytes);
        return value;
    }

    Stats stats() const {
        const std::scoped_lock lock(mutex_);
        Stats stats = stats_;
        stats.entries = entries_.size();
        return stats;
    }

private:
    struct Entry {
        std::string key;
        T value;
    };
    using Place = typename std::list<Entry>::iterator;

    static std::size_t bytes_of(const Entry& entry) {
        constexpr std::size_t nodes = 192;  // of the list and the map, roughly
        return entry.key.size() + BytesOf{}(entry.value) + nodes;
    }

    std::optional<T> look_up(std::string_view key) {
        const auto found = by_key_.find(key);
        if (found == by_key_.end()) return std::nullopt;
        ++stats_.hits;
        entries_.splice(entries_.begin(), entries_, found->second);
        return found->second->value;
    }

    void add(Entry entry, std::size_t bytes) {
        while (stats_.bytes > max_bytes_ - bytes) drop(std::prev(entries_.end()));
        entries_.push_front(std::move(entry));
        by_key_.emplace(entries_.front().key, entries_.begin());
        stats_.bytes += bytes;
    }

    void drop(Place entry) {
        stats_.bytes -= bytes_of(*entry);
        by_key_.erase(entry->key);
        entries_.erase(entry);
    }

    const std::size_t max_bytes_;
    mutable std::mutex mutex_;
    std::list<Entry> entries_;  // most recently used first
    std::unordered_map<std::string_view, Place> by_key_;
    Stats stats_;
};

}  // namespace braid::core
