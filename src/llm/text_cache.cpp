#include "braid/llm/text_cache.hpp"

#include <iterator>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace braid::llm {
namespace {

// Nodes of the list and the map, roughly.
constexpr std::size_t kEntryOverhead = 192;

struct Entry {
    std::string key;
    TextCache::Texts texts;

    std::size_t bytes() const noexcept {
        std::size_t sum = key.size() + kEntryOverhead;
        for (const std::string& text : texts) sum += text.size() + sizeof(std::string);
        return sum;
    }
};

}  // namespace

struct TextCache::State {
    explicit State(std::size_t bytes) : max_bytes(bytes) {}

    const std::size_t max_bytes;
    mutable std::mutex mutex;
    std::list<Entry> entries;  // most recently used first
    std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key;
    Stats stats;

    void drop_oldest() {
        const auto oldest = std::prev(entries.end());
        stats.bytes -= oldest->bytes();
        by_key.erase(oldest->key);
        entries.erase(oldest);
    }
};

TextCache::TextCache(std::size_t max_bytes) : state_(std::make_unique<State>(max_bytes)) {}
TextCache::~TextCache() = default;

std::optional<TextCache::Texts> TextCache::find(std::string_view key) {
    const std::scoped_lock lock(state_->mutex);
    const auto found = state_->by_key.find(key);
    if (found == state_->by_key.end()) {
        ++state_->stats.misses;
        return std::nullopt;
    }
    ++state_->stats.hits;
    state_->entries.splice(state_->entries.begin(), state_->entries, found->second);
    return found->second->texts;
}

TextCache::Texts TextCache::insert(std::string_view key, Texts texts) {
    const std::scoped_lock lock(state_->mutex);
    if (const auto held = state_->by_key.find(key); held != state_->by_key.end()) {
        return held->second->texts;
    }
    Entry entry{.key = std::string(key), .texts = texts};
    const std::size_t bytes = entry.bytes();
    if (bytes > state_->max_bytes) return texts;
    while (state_->stats.bytes > state_->max_bytes - bytes) state_->drop_oldest();
    state_->entries.push_front(std::move(entry));
    state_->by_key.emplace(state_->entries.front().key, state_->entries.begin());
    state_->stats.bytes += bytes;
    return texts;
}

TextCache::Stats TextCache::stats() const {
    const std::scoped_lock lock(state_->mutex);
    Stats stats = state_->stats;
    stats.entries = state_->entries.size();
    return stats;
}

}  // namespace braid::llm
