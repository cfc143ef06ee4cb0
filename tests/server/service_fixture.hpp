#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "braid/database.hpp"
#include "braid/json/json.hpp"
#include "embed/fake_embedder.hpp"

namespace braid::testing {

/// Collections may name the embedder "fake".
inline OpenOptions fake_embedders() {
    OpenOptions options;
    options.embedders = [](const VectorSpec&) -> Result<std::shared_ptr<const Embedder>> {
        return std::make_shared<const embed::FakeEmbedder>();
    };
    return options;
}

/// In memory, with fake embedders.
inline Database memory_database() {
    auto database = Database::in_memory(fake_embedders());
    EXPECT_TRUE(database);
    return *std::move(database);
}

inline Value parsed(const std::string& text) {
    const auto value = json::parse(text);
    EXPECT_TRUE(value) << text;
    return value.value_or(Value());
}

/// Members and elements by a path such as "result.chunks.0.score"; null where there is none.
inline Value at(const Value& value, const std::string& path) {
    const Value* here = &value;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        const std::string key = path.substr(begin, end - begin);
        begin = end + 1;
        if (here->is_array()) {
            const std::size_t index = std::stoul(key);
            if (index >= here->as_array().size()) return {};
            here = &here->as_array()[index];
        } else {
            here = here->find(key);
            if (here == nullptr) return {};
        }
    }
    return *here;
}

/// What differs between two databases that hold the same: times, cursors, and versions, which are
/// opaque and each database's own.
inline void drop_own(Value& value) {
    if (value.is_array()) {
        for (Value& element : value.as_array()) drop_own(element);
    }
    if (!value.is_object()) return;
    for (const std::string_view key :
         {"timings", "latency_ms", "time_ms", "query_embedding_time_ms", "cursor", "version"}) {
        value.as_object().erase(key);
    }
    for (auto& [key, member] : value.as_object()) drop_own(member);
}

}  // namespace braid::testing
