#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "braid/core/lru_cache.hpp"

namespace braid::llm {

using Texts = std::vector<std::string>;

struct TextsBytes {
    std::size_t operator()(const Texts& texts) const noexcept {
        std::size_t sum = 0;
        for (const std::string& text : texts) sum += text.size() + sizeof(std::string);
        return sum;
    }
};

/// What a model said.
using TextCache = core::LruCache<Texts, TextsBytes>;

}  // namespace braid::llm
