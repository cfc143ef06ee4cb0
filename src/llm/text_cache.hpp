#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid::llm {

/// Least-recently-used store of what a model said, bounded in bytes. Safe for concurrent use.
class TextCache {
public:
    using Texts = std::vector<std::string>;
    struct Stats {
        std::uint64_t hits = 0;
        std::uint64_t misses = 0;
        std::size_t entries = 0;
        std::size_t bytes = 0;
    };

    explicit TextCache(std::size_t max_bytes);
    ~TextCache();
    TextCache(const TextCache&) = delete;
    TextCache& operator=(const TextCache&) = delete;
    TextCache(TextCache&&) = delete;
    TextCache& operator=(TextCache&&) = delete;

    std::optional<Texts> find(std::string_view key);
    /// Keeps `texts` under `key` unless it holds others already, and returns those it holds:
    /// threads that asked at the same time go on with the same texts. What is larger than the cache
    /// is not kept.
    Texts insert(std::string_view key, Texts texts);
    Stats stats() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace braid::llm
