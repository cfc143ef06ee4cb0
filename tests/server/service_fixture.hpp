#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "braid/database.hpp"
#include "braid/json/json.hpp"
#include "embed/fake_embedder.hpp"

namespace braid::testing {

/// A database in memory whose collections may name the embedder "fake".
inline Database memory_database() {
    OpenOptions options;
    options.embedders = [](const VectorSpec&) -> Result<std::shared_ptr<const Embedder>> {
        return std::make_shared<const embed::FakeEmbedder>();
    };
    auto database = Database::in_memory(options);
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

}  // namespace braid::testing
